"""EffectTree: optimal trees of treatment effects, and what may be said about them."""

import gzip
import json
import re
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[1] / "r"))
from effect_cases import EFFECTS

from surtree import (
    EffectTree,
    NotRandomisedWarning,
    SurTree,
    audit_tree,
    column_costs,
    correct_effects,
    evaluate,
    heterogeneity_test,
    leaf_curves,
    validate,
)
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.data.target_array import make_target
from surtree.datasets import load_rossi
from surtree.effects._prognosis import NullModel
from surtree.effects.heterogeneity import _Draws
from surtree.estimators._arms import ArmLimits
from surtree.export import (
    export_dot,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)
from surtree.fitting.training import make_problem, read_training_data
from surtree.outcomes.arm_effects import leaf_arm_curve, leaf_effects, theta_ratios
from surtree.plot import plot_tree
from surtree.report import write_report

REFERENCE = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "r" / "effects.json.gz").read_bytes())
)["effects"]


def trial(seed, n=200, n_arms=2, effect=0.0, missing=True):
    """Draw a trial with prognosis, and with an effect where column a is above zero."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 1),
            "b": rng.integers(0, 3, n).astype(float),
            "c": rng.choice(["u", "v", "w"], n),
        }
    )
    arm = rng.permutation(np.arange(n) % n_arms)
    rate = np.exp(0.6 * (X["b"] == 1) + effect * arm * (X["a"] > 0))
    if missing:
        X.loc[rng.random(n) < 0.1, "b"] = np.nan
    time = np.ceil(rng.exponential(20 / rate))
    event = rng.random(n) < 0.7
    return X, make_target(event, time), arm


def brute_force(model, X, y, arm, weight, entry):
    """Return the best loss of at most one split, cut by cut, from the row sums in NumPy."""
    data = read_training_data(model, RowInputs(X, y, weight, entry, treatment=arm))
    encoder = encoder_of(model)
    make_problem(encoder, data)
    answers = encoder.transform(X)[np.asarray(data.present)]
    objective, values = data.sums.objective, data.sums.values
    target, n_arms = data.target, len(data.target.labels)
    best = float(objective.gain(values.sum(axis=1)))
    for right in answers.T.astype(bool):
        sides = right, ~right
        least = min(
            (target.event & (target.arm == place) & side).sum()
            for side in sides
            for place in range(n_arms)
        )
        if least >= model.min_events_arm and all(side.any() for side in sides):
            gain = sum(float(objective.gain(values[:, side].sum(axis=1))) for side in sides)
            best = max(best, gain)
    return data.sums.constant - best


@pytest.mark.parametrize("objective", ["effect", "both"])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_split_is_that_of_brute_force(seed, objective):
    rng = np.random.default_rng(seed)
    n_arms = 2 + seed % 3
    X, y, arm = trial(seed, 90, n_arms)
    weight = rng.choice([0.5, 1.0, 2.0], len(y)) if seed % 2 else None
    entry = np.floor(y["time"] * rng.random(len(y)) * 0.9) if seed % 3 == 0 else None
    model = EffectTree(
        1, objective=objective, min_events_arm=seed % 4, shrinkage=float(2 * (seed % 2))
    )
    model.fit(X, y, arm, weight, entry)
    expected = brute_force(model, X, y, arm, weight, entry)
    assert model.loss_ == pytest.approx(expected, rel=1e-9)
    assert (model.gap_, model.status_) == (0.0, "optimal")
    assert (model.tree_.arms.n_events[model.tree_.leaves] >= model.min_events_arm).all()
    without_penalty = model.loss(X, y, arm, weight, entry)
    empty = model.tree_.sums[model.tree_.leaves, 0::2] == 0
    if not empty.any():
        assert without_penalty == pytest.approx(model.unpenalised_loss_, rel=1e-9)


@pytest.mark.parametrize("name", EFFECTS)
def test_ratios_of_thetas_are_those_of_a_poisson_model_in_r(name):
    rows, _ = EFFECTS[name]()
    expected, model = REFERENCE[name], rows.model
    ours = np.log(theta_ratios(model.tree_)[0])
    for leaf, log_ratio in zip(expected["leaf"], expected["effect"], strict=True):
        assert ours[int(leaf)] == pytest.approx(log_ratio, abs=1e-8)
    if "both" in name:  # half the deviance: relative to a model with a hazard for every row
        assert model.loss_ == pytest.approx(expected["deviance"][0] / 2, rel=1e-9)
    # And the curves of arms.
    tree = model.tree_
    for leaf in tree.leaves:
        for arm in (0, 1):
            curve = leaf_arm_curve(tree, leaf, arm, kind="kaplan-meier").survival
            found = expected["curves"][f"{leaf}.{arm}"]
            np.testing.assert_allclose(curve(found["time"]), found["survival"], atol=1e-12)


@pytest.mark.parametrize("objective", ["effect", "both"])
def test_shrinkage_draws_effects_together(objective):
    X, y, arm = trial(3, effect=-1.0)
    # Rows with a low value live long, and arms have unequal numbers of them.
    y["time"] *= np.where(X["a"] > 0, 1, 9)
    y, arm = y[(arm == 1) | (X["b"] != 0)], arm[(arm == 1) | (X["b"] != 0)]
    X = X.loc[(trial(3)[2] == 1) | (X["b"] != 0)]
    plain, shrunk = (
        EffectTree(1, 1, objective=objective, shrinkage=prior, thresholds={"a": [0.0]}).fit(
            X[["a"]], y, arm
        )
        for prior in (0.0, 20.0)
    )
    spread = [np.ptp(np.log([one.ratio for one in model.effects_])) for model in (plain, shrunk)]
    assert spread[1] < spread[0]
    for effect in shrunk.effects_:
        assert effect.limits[0] < effect.ratio < effect.limits[1]


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_predictions_are_those_of_leaf_and_arm():
    X, y, arm = trial(1, n_arms=3)
    names = np.array(["drug", "placebo", "surgery"])[arm]
    model = EffectTree(1, reference="placebo", leaf_curve="baseline").fit(X, y, names)
    assert model.arms_ == ("placebo", "drug", "surgery")
    effects = {(effect.leaf, effect.arm): effect for effect in model.effects_}
    ratios, leaves = model.predict_effect(X), model.apply(X)
    assert ratios.shape == (len(X), 2)
    assert ratios[0, 1] == effects[leaves[0], "surgery"].ratio
    np.testing.assert_array_equal(model.predict(X), np.log(ratios))
    risk = model.predict_risk(X, "drug") / model.predict_risk(X, "placebo")
    np.testing.assert_allclose(risk, ratios[:, 0])
    each = model.predict_risk(X, names)
    assert each[0] == model.predict_risk(X.head(1), names[0])[0]
    (curve,) = model.predict_survival_function(X.head(1), "drug")
    (hazard,) = model.predict_cumulative_hazard_function(X.head(1), "drug")
    assert curve(10.0) == pytest.approx(np.exp(-hazard(10.0)))
    array = model.predict_survival_function(X, names, return_array=True)
    assert array.shape == (len(X), model.unique_times_.size)
    np.testing.assert_array_equal(array[0], model.predict_survival_function(X, names)[0].y)
    assert model.predict_median(X.head(1), "drug")[0] == pytest.approx(
        curve.x[np.argmax(curve.y <= 0.5)]
    )
    with pytest.raises(ValueError, match="'sugar', which is none of"):
        model.predict_risk(X, "sugar")


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_the_curve_of_an_arm_is_that_of_its_rows():
    X, y, arm = trial(2)
    model = EffectTree(1).fit(X, y, arm)
    leaf = int(model.tree_.leaves[0])
    own = (model.apply(X) == leaf) & (arm == 1)
    alone = SurTree(0).fit(X[own], y[own])
    (expected,) = leaf_curves(alone, "kaplan-meier")
    times = np.linspace(0, y["time"][own].max(), 30)
    (curve,) = model.predict_survival_function(X[own].head(1), 1)
    np.testing.assert_allclose(curve(times), expected.survival(times), atol=1e-12)
    assert model.tree_.arms.risk[0][1].last_time == y["time"][own].max()


def test_dividing_rows_of_persons_changes_nothing():
    X, y, arm = trial(4)
    half = y["time"] / 2
    pieces = pd.concat([X, X], ignore_index=True)
    start = np.concatenate([0 * half, half])
    time, event = np.concatenate([half, y["time"]]), np.concatenate([0 * y["event"], y["event"]])
    for objective in ("effect", "both"):
        model = EffectTree(2, objective=objective)
        whole = model.fit(X, y, arm)
        tree, effects = whole.tree_, whole.effects_
        person = np.tile(np.arange(len(y)), 2)
        divided = make_target(event.astype(bool), time)
        model.fit(pieces, divided, np.tile(arm, 2), entry=start, id=person)
        assert model.tree_.cuts == tree.cuts
        assert model.tree_.total_loss == pytest.approx(tree.total_loss, rel=1e-9)
        for one, other in zip(model.effects_, effects, strict=True):
            assert one.ratio == pytest.approx(other.ratio)


def test_a_file_has_the_counts_of_arms_where_weights_of_one_leaf_are_whole(tmp_path):
    X = np.arange(12.0)[:, None]
    y = np.array([(True, 1.0 + k % 5) for k in range(12)], dtype=[("event", bool), ("time", float)])
    weight = np.where(X[:, 0] < 6, 1.5, 1.0)
    model = EffectTree(max_depth=1, min_support=0.0, min_events_arm=1, n_thresholds=None)
    model.fit(X, y, np.arange(12) % 2, weight)
    model.save(tmp_path / "model.json")
    assert EffectTree.load(tmp_path / "model.json").tree_ == model.tree_


def test_a_model_is_saved_with_its_arms(tmp_path):
    X, y, arm = trial(5)
    model = EffectTree(2, objective="both").fit(X, y, arm == 1)
    model.save(tmp_path / "model.json")
    again = EffectTree.load(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    assert again.arms_ == (False, True)
    assert again.effects_ == model.effects_
    assert again.get_params() == model.get_params()
    text = (tmp_path / "model.json").read_text()
    saved = json.loads(text)
    for damage, fault in (
        (lambda arms: arms["n_events"][0].reverse(), "arms are not those of its rows"),
        (lambda arms: arms["labels"].append("more"), "arms are not those of its rows"),
        (lambda arms: arms.update(labels=["a", "a"]), "different labels"),
        (lambda arms: arms["n_samples"][0].append(1), "lines of different lengths"),
        (lambda arms: arms["risk"].pop(), "arms are not those of its rows"),
    ):
        damaged = json.loads(text)
        damage(damaged["trees"][0]["arms"])
        (tmp_path / "damaged.json").write_text(json.dumps(damaged))
        with pytest.raises(ValueError, match=fault):
            EffectTree.load(tmp_path / "damaged.json")
    saved["parameters"]["objective"] = "effect"
    (tmp_path / "damaged.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="another shrinkage or objective"):
        EffectTree.load(tmp_path / "damaged.json")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"treatment": np.zeros(60)}, "1 arm "),
        ({"treatment": np.arange(60) % 5}, "two to 4 arms"),
        ({"treatment": np.arange(59) % 2}, "the arm of each of 60 rows"),
        ({"treatment": np.where(np.arange(60) < 3, np.nan, 1.0)}, "no arm in 3 of 60 rows"),
        ({"reference": "sugar"}, "none of the arms"),
        ({"objective": "all"}, "objective must be one of"),
        ({"min_events_arm": -1}, "min_events_arm must be a whole number"),
        ({"sample_weight": trial(6, 60)[2].astype(float)}, "1 of 2 arms have no row"),
    ],
)
def test_bad_input_is_refused(given, fault):
    X, y, arm = trial(6, 60)
    own = {"objective", "min_events_arm", "reference"}
    model = EffectTree(1, **{name: given[name] for name in given.keys() & own})
    rest = {name: given[name] for name in given.keys() - own}
    with pytest.raises(ValueError, match=fault):
        model.fit(X, y, **{"treatment": arm} | rest)


def test_four_limits_are_the_most():
    assert ArmLimits(1, min_events_leaf=3, min_events_arm=2, n_arms=4).min_events_leaf == 0
    with pytest.raises(ValueError, match="4 are possible at once"):
        ArmLimits(1, min_samples_leaf=30, min_events_arm=2, n_arms=4)


def test_arms_that_were_not_drawn_by_lot_are_noticed():
    X, y, _ = trial(7)
    rng = np.random.default_rng(7)
    chosen = (rng.random(len(y)) < np.where(X["a"] > 0, 0.85, 0.15)).astype(int)
    with pytest.warns(NotRandomisedWarning, match="'a > 0.*' tells them apart"):
        EffectTree(1).fit(X, y, chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(40):
            EffectTree(1).fit(*trial(seed))


def test_heterogeneity_is_found_where_it_is():
    found = heterogeneity_test(EffectTree(1), *trial(8, 400, effect=-1.5), n_draws=99)
    assert found.p_value == 0.01
    assert "Evidence that the effect differs" in str(found)
    none = heterogeneity_test(EffectTree(1), *trial(8, 400), n_draws=99)
    assert none.p_value > 0.05
    assert "No evidence that the effect differs" in str(none)
    assert "for everybody" in str(none)
    # The same seed gives the same draws.
    again = heterogeneity_test(EffectTree(1), *trial(8, 400), n_draws=99)
    assert again == none


def test_one_effect_for_everybody_is_no_heterogeneity():
    """Prognosis and a strong effect for all: p-values are spread as they must be, roughly."""
    p_values = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
        arm = rng.permutation(np.arange(150) % 2)
        time = rng.exponential(1 / np.exp(0.8 * X["a"] - 1.0 * arm))
        end = rng.uniform(0, 3, 150)
        y = make_target(time <= end, np.minimum(time, end))
        p_values.append(heterogeneity_test(EffectTree(1), X, y, arm, n_draws=39).p_value)
    assert np.mean(np.array(p_values) <= 0.1) <= 0.25
    assert 0.3 <= np.mean(p_values) <= 0.7


def late_trial(seed):
    """Draw a trial whose treatment works late, for everybody: most rows of high risk die before."""
    rng = np.random.default_rng([seed, 3])
    n = 300
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    arm = rng.permutation(np.arange(n) % 2)
    hazard = rng.exponential(1 / np.exp(1.5 * X["a"]))
    later = np.where(arm == 1, 0.15, 1.0)
    time = np.where(hazard < 0.3, hazard, 0.3 + (hazard - 0.3) / later)
    end = rng.uniform(0, 3, n)
    return X, make_target(time <= end, np.minimum(time, end)), arm


def test_an_effect_that_comes_late_for_everybody_is_no_heterogeneity():
    p_values = [
        heterogeneity_test(EffectTree(1), *late_trial(seed), n_draws=39).p_value
        for seed in range(30)
    ]
    assert np.mean(np.array(p_values) <= 0.1) <= 0.2
    assert np.mean(p_values) >= 0.4


def test_the_common_effect_is_not_drawn_to_one_by_prognosis():
    """A Cox model of the arms alone says 0.57 where 0.4 is true."""
    rng = np.random.default_rng(5)
    n = 3000
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    arm = rng.permutation(np.arange(n) % 2)
    time = rng.exponential(1 / np.exp(1.2 * X["a"] + 0.8 * X["b"] + np.log(0.4) * arm))
    y = make_target(time <= 2, np.minimum(time, 2))
    test = heterogeneity_test(EffectTree(1), X, y, arm, n_draws=1)
    assert test.overall[0] == pytest.approx(0.4, abs=0.04)
    (lower, upper), *_ = test.limits
    assert lower < 0.4 < upper < 0.5
    correction = correct_effects(EffectTree(1), X, y, arm, n_repeats=1)
    assert correction.overall == test.overall
    for one in correction.leaves:
        assert one.corrected == pytest.approx(0.4, abs=0.08)
        assert one.limits[0] < 0.4 < one.limits[1]


def test_rows_of_one_person_are_one_row():
    X, y, arm = trial(9, 120)
    twice = pd.concat([X, X], ignore_index=True)
    start = np.concatenate([np.zeros(120), y["time"] / 2])
    time = np.concatenate([y["time"] / 2, y["time"]])
    event = np.concatenate([np.zeros(120, bool), y["event"]])
    given = np.tile(arm, 2), None, start, np.tile(np.arange(120), 2)
    divided = heterogeneity_test(EffectTree(1), twice, make_target(event, time), *given, n_draws=99)
    whole = heterogeneity_test(EffectTree(1), X, y, arm, n_draws=99)
    assert divided.statistic == pytest.approx(whole.statistic, rel=1e-6)
    assert divided.overall == pytest.approx(whole.overall)
    # Draws are others, of the same trials.
    assert np.mean(divided.drawn) == pytest.approx(np.mean(whole.drawn), rel=0.25)


def test_chance_is_corrected_away_and_effects_are_kept():
    chance = correct_effects(EffectTree(2), *trial(10, 400), n_repeats=2)
    assert chance.slope < 0.5
    real = correct_effects(EffectTree(1), *trial(10, 800, effect=-2.0), n_repeats=2)
    assert 0.5 < real.slope <= 1
    assert 0 < real.error < 0.3
    one, other = sorted(leaf.corrected for leaf in real.leaves)
    assert one < 0.45
    assert other > 0.6
    for leaf in real.leaves:
        assert leaf.limits[0] < leaf.corrected < leaf.limits[1]
    assert "of the differences between leaves in new data" in str(real)


def test_without_splits_there_is_nothing_to_correct():
    found = correct_effects(EffectTree(0), *trial(11), n_repeats=1)
    assert np.isnan(found.slope)
    assert found.leaves[0].corrected == pytest.approx(found.overall[0])


def test_a_tree_of_effects_on_real_rows(tmp_path):
    X, y = load_rossi()
    aid = X.pop("financial_aid")
    model = EffectTree(max_depth=2).fit(X, y, aid)
    assert model.score(X, y, aid) > 0
    with pytest.raises(ValueError, match="only the chosen tree does"):
        leaf_effects(model.path_[0].tree)
    model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="it is of treatment effects"):
        SurTree.load(tmp_path / "model.json")


def test_pictures_and_pages_have_a_curve_for_each_arm(tmp_path):
    X, y, arm = trial(12, n_arms=3)
    model = EffectTree(1).fit(X, y, arm)
    ax = plot_tree(model)
    texts = {text.get_text() for text in ax.texts}
    assert {"0", "1", "2", "2\nover 0"} <= texts
    # A line at one half, and a thick line, a thin one and ticks for each arm.
    assert [len(panel.lines) for panel in ax.child_axes] == [10, 10]
    plt.close(ax.figure)
    write_report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.count('aria-label="Survival of each arm in leaf ') == 2
    assert "Not tested: nothing is known about whether effects differ." in page
    assert "from an arbitrary zero" in page
    model.heterogeneity_ = heterogeneity_test(model, X, y, arm, n_draws=9)
    model.correction_ = correct_effects(model, X, y, arm, n_repeats=1)
    write_report(model, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "differs between rows (p = " in page
    assert "of the differences between leaves in new data" in page
    for effect in model.effects_:
        assert f"{effect.arm} over 0: {effect.ratio:.3g}" in page


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_exports_give_the_effect(tmp_path):
    X, y, arm = trial(13)
    model = EffectTree(2).fit(X, y, arm)
    names = {}
    exec(export_python(model, value="effect"), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [names["predict"](row) for row in rows] == model.predict_effect(X).tolist()
    assert export_sql(model, value="effect").startswith("/* hazard ratio of 1 over 0 */")
    effect = model.effects_[0]
    for export in (export_text, export_dot, export_mermaid):
        assert f"1 over 0: {effect.ratio:.2f}"[:-1] in export(model)
    three = EffectTree(1).fit(*trial(13, n_arms=3))
    with pytest.raises(ValueError, match="for two arms"):
        export_sql(three, value="effect")
    with pytest.raises(ValueError, match="not kept"):
        export_sql(SurTree(1).fit(X, y), value="effect")


def test_the_page_says_what_happens(capsys):
    page = (Path(__file__).parents[2] / "docs" / "treatment-effects.md").read_text()
    blocks = re.findall(r"```(python)?\n(.*?)```", page, re.DOTALL)
    names = {}
    for (kind, code), (_, said) in zip(blocks[:6:2], blocks[1:6:2], strict=True):
        assert kind == "python"
        exec(code, names)
        assert capsys.readouterr().out == said


@pytest.mark.parametrize("ask", [validate, audit_tree, evaluate, column_costs])
def test_every_verb_wants_to_know_the_arm(ask):
    X, y, arm = trial(14)
    model = EffectTree(1).fit(X, y, arm)
    with pytest.raises(ValueError, match="needs the arm of each row: pass treatment"):
        ask(model, X, y)
    with pytest.raises(ValueError, match=r"takes no treatment|knows of no arms"):
        ask(SurTree(1).fit(X, y), X, y, treatment=arm)


def test_more_than_two_arms_are_tested_and_corrected():
    X, y, arm = trial(15, 300, n_arms=3)
    found = heterogeneity_test(EffectTree(1), X, y, arm, n_draws=19)
    assert len(found.overall) == 2
    assert 0 < found.p_value <= 1
    corrected = correct_effects(EffectTree(1), X, y, arm, n_repeats=1)
    assert len(corrected.overall) == 2
    assert [one.arm for one in corrected.leaves] == [1, 2, 1, 2]


def test_weights_and_entry_times_are_tested_and_corrected():
    X, y, arm = trial(16)
    rng = np.random.default_rng(16)
    entry = np.floor(y["time"] * rng.random(len(y)) * 0.5)
    twice = np.repeat(np.arange(len(y)), 2)
    given = {"n_draws": 9}
    weighted = heterogeneity_test(EffectTree(1), X, y, arm, np.full(len(y), 2.0), entry, **given)
    copied = heterogeneity_test(
        EffectTree(1), X.iloc[twice], y[twice], arm[twice], None, entry[twice], **given
    )
    # Limits on leaves count rows, whatever their weight, so prognosis may differ a little.
    assert weighted.statistic == pytest.approx(copied.statistic, rel=0.05)
    # All weights twice as large are no more evidence.
    single = heterogeneity_test(EffectTree(1), X, y, arm, None, entry, **given)
    assert weighted.p_value == single.p_value
    weight = rng.choice([0.0, 1.0, 1.5], len(y))
    found = correct_effects(EffectTree(1), X, y, arm, weight, entry, n_repeats=1)
    assert np.isfinite(found.slope)


def test_events_that_recur_are_drawn_again():
    """A person stays at risk after an event: draws have about as many events as the rows."""
    X, y, arm = trial(17, 150)
    twice = pd.concat([X, X], ignore_index=True)
    start = np.concatenate([np.zeros(150), y["time"]])
    time = np.concatenate([y["time"], y["time"] + np.roll(y["time"], 1)])
    event = np.concatenate([y["event"], np.roll(y["event"], 1)])
    given = RowInputs(
        twice,
        make_target(event, time),
        entry=start,
        id=np.tile(np.arange(150), 2),
        treatment=np.tile(arm, 2),
    )
    data = read_training_data(EffectTree(1), given)
    source = _Draws.of(data.target, NullModel.of(EffectTree(1), data))
    rng = np.random.default_rng(0)
    drawn = [source.draw(rng)[0].event.sum() for _ in range(20)]
    assert np.mean(drawn) == pytest.approx(data.target.event.sum(), rel=0.25)
