"""How predictions of causes and of arms are judged: against sums that anybody can check."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surtree import CompetingRisksTree, EffectTree, evaluate, leaf_incidence, validate
from surtree.data.target import Target
from surtree.datasets import load_melanoma, load_rossi
from surtree.outcomes.measures import JudgedTimes, Predictions, effect_metrics, objects
from surtree.survival.step_function import StepFunction
from surtree.validation.verdict import prediction_verdicts

X, Y = load_melanoma(backend="pandas")
CAUSES = CompetingRisksTree(max_depth=2).fit(X, Y)
TRIAL, TRIAL_Y = load_rossi(backend="pandas")
AID = TRIAL.pop("financial_aid").to_numpy()
EFFECTS = EffectTree(max_depth=1).fit(TRIAL, TRIAL_Y, AID)


def test_each_cause_of_each_leaf_is_compared_with_its_rows():
    result = evaluate(CAUSES, X, Y, horizons=[2000.0], n_bootstraps=5)
    for cause in (1, 2):
        expected = CAUSES.score(X, Y, cause=cause)
        assert result[f"cause_{cause}_concordance"].value == pytest.approx(expected)
    leaves, tree = CAUSES.apply(X), CAUSES.tree_
    for leaf in result.leaves:
        cause, inside = int(leaf.channel[-1]), leaves == leaf.leaf
        assert leaf.n_events == np.count_nonzero(Y["cause"][inside] == cause)
        # On its own rows a leaf is right, and its incidence is the observed one.
        if leaf.n_events:
            assert leaf.expected == pytest.approx(leaf.n_events)
        curve = leaf_incidence(CAUSES, cause)[int(np.searchsorted(tree.leaves, leaf.leaf))]
        assert leaf.predicted[0] == curve(2000.0) == pytest.approx(leaf.observed[0])
    assert result.calibration.cause == result.decision.cause == 1


def test_each_arm_of_each_leaf_is_compared_with_its_rows():
    result = evaluate(EFFECTS, TRIAL, TRIAL_Y, treatment=AID, horizons=[30.0], n_bootstraps=5)
    leaves = EFFECTS.apply(TRIAL)
    assert [(leaf.leaf, leaf.channel) for leaf in result.leaves] == [
        (1, "no"), (1, "yes"), (2, "no"), (2, "yes"),
    ]  # fmt: skip
    for leaf in result.leaves:
        inside = (leaves == leaf.leaf) & (leaf.channel == AID)
        assert leaf.n_rows == np.count_nonzero(inside)
        assert leaf.n_events == TRIAL_Y["event"][inside].sum()
        assert leaf.predicted[0] == pytest.approx(leaf.observed[0])
    overall = evaluate(
        EffectTree(max_depth=0).fit(TRIAL, TRIAL_Y, AID),
        *(TRIAL, TRIAL_Y),
        treatment=AID,
        horizons=[30.0],
        n_bootstraps=5,
    )
    # Of one leaf, arms are as observed, so that nothing is between predicted and observed gain.
    assert overall["effect_calibration_at_30"].value == pytest.approx(0, abs=1e-12)
    assert overall["c_for_benefit"].value == 0.5


@pytest.mark.parametrize("kind", ["causes", "arms"])
def test_a_lazy_table_has_the_same_figures(kind):
    if kind == "causes":
        model, frame, names = CAUSES, X.assign(**{n: Y[n] for n in ("cause", "time")}), {}
        y, given = ("cause", "time"), (X, Y)
    else:
        model, names = EFFECTS, {"treatment": "aid"}
        frame = TRIAL.assign(event=TRIAL_Y["event"], time=TRIAL_Y["time"], aid=AID)
        y, given = ("event", "time"), (TRIAL, TRIAL_Y)
    arrays = {"treatment": AID} if names else {}
    expected = evaluate(model, *given, **arrays, n_bootstraps=1)
    lazy = evaluate(model, pl.from_pandas(frame).lazy(), y, **names)
    for one, other in zip(lazy.measures, expected.measures, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-12)
    for one, other in zip(lazy.leaves, expected.leaves, strict=True):
        assert (one.leaf, one.channel, one.n_rows) == (other.leaf, other.channel, other.n_rows)
        assert one.ratio == pytest.approx(other.ratio)


def test_c_for_benefit_counts_all_pairs_of_pairs():
    rng = np.random.default_rng(3)
    n, horizon = 18, 1.0
    time, arm = rng.exponential(1.2, n), np.arange(n) % 2
    group = rng.integers(0, 3, n)
    alive = rng.uniform(size=(3, 2))
    curves = [StepFunction(np.array([0.5]), np.array([value]), 1.0) for value in alive.ravel()]
    predicted = Predictions(np.zeros(n), objects(curves), group * 2 + arm, leaf=group)
    target = Target(np.ones(n, dtype=bool), time).with_arms(arm, ("a", "b"))
    times = JudgedTimes(np.array([horizon]), (0.1, 1.5))
    concordance, difference = (
        metric.score(predicted, target, None).value for metric in effect_metrics(times, "ab")
    )
    gain = alive[:, 1] - alive[:, 0]
    survived = (time > horizon).astype(int)
    pairs = {
        g: [
            survived[i] - survived[j]
            for i, j in product(np.flatnonzero(group == g), repeat=2)
            if arm[i] == 1 and arm[j] == 0
        ]
        for g in range(3)
    }
    above = total = 0.0
    for g, h in product(range(3), repeat=2):
        mass = np.mean(group == g) * np.mean(group == h)
        greater = np.mean([one > other for one, other in product(pairs[g], pairs[h])])
        total += mass * greater
        above += mass * greater * (0.5 if g == h else gain[g] > gain[h])
    assert concordance == pytest.approx(above / total)
    observed = survived[arm == 1].mean() - survived[arm == 0].mean()
    assert difference == pytest.approx(gain[group].mean() - observed)


def test_a_validation_of_causes_is_kept_and_shown(tmp_path):
    from surtree import export, write_report

    model = CompetingRisksTree(max_depth=1).fit(X, Y)
    model.validation_ = validate(CompetingRisksTree(max_depth=1), X, Y, n_bootstraps=20)
    assert model.validation_.causes == (1, 2)
    model.save(tmp_path / "model.json")
    loaded = CompetingRisksTree.load(tmp_path / "model.json")
    assert loaded.validation_ == model.validation_
    one, two = prediction_verdicts(model.validation_, None, 1, {1: "melanoma"})
    assert one.heading == "melanoma: predicts new data better than no tree"
    assert two.heading.startswith("cause 2: not ")
    loaded.cause_names_ = {1: "melanoma"}
    write_report(loaded, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "melanoma: concordance (Wolbers&#x27; C" in page or "melanoma: concordance" in page
    assert "predicted incidence of cause 1" in page
    assert "Observed incidence is the Aalen-Johansen estimate" in export.export_methods(loaded)


def test_a_validation_of_effects_leaves_the_verdict_to_the_test():
    model = EffectTree(max_depth=1).fit(TRIAL, TRIAL_Y, AID)
    model.validation_ = validate(model, TRIAL, TRIAL_Y, treatment=AID, n_bootstraps=20)
    (verdict,) = prediction_verdicts(model.validation_, None, 1)
    assert not verdict.is_good
    assert "heterogeneity_test" in verdict.text
    from surtree import export

    assert "C-for-benefit (van Klaveren" in export.export_methods(model)


def test_new_rows_may_lack_a_cause():
    rows = Y["cause"] != 2
    result = evaluate(CAUSES, X[rows], Y[rows], horizons=[2000.0], n_bootstraps=5)
    assert "no event of cause 2" in result["cause_2_concordance"].reason
    assert result["cause_2_calibration_at_2000"].value > 0
    assert sum(leaf.n_events for leaf in result.leaves if leaf.channel == "cause 2") == 0


def test_row_order_and_copies_change_nothing():
    frame = pd.concat([TRIAL, TRIAL])
    given = {"treatment": np.tile(AID, 2), "n_bootstraps": 1, "horizons": [30.0]}
    twice = evaluate(EFFECTS, frame, np.tile(TRIAL_Y, 2), **given)
    once = evaluate(EFFECTS, TRIAL, TRIAL_Y, **given | {"treatment": AID})
    for name in ("c_for_benefit", "effect_calibration_at_30"):
        assert twice[name].value == pytest.approx(once[name].value, rel=1e-9, abs=1e-12)
