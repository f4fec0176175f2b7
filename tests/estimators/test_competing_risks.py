"""Trees of competing risks: optimal, consistent with `SurTree`, and the same after a file."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from problems import Case, cases, limits_of, row_hazard
from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EventStratifiedKFold,
    SurTree,
    SurTreeCV,
    Tree,
    leaf_curves,
    leaf_incidence,
    leaf_incidence_band,
)
from surtree.data.causes import read_cause_target
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.estimators.cause_prediction import CauseLimits
from surtree.export import export_methods
from surtree.metrics import (
    concordance_index_censored,
    normalized_integrated_brier_score,
)
from surtree.outcomes.incidence import cause_events, cause_limits, incidence_of
from surtree.report._validation import validation_html
from surtree.solver import reference
from surtree.summary.findings import read_findings
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.row_sums import RowSums
from surtree.validation.verdict import prediction_verdicts

X, Y = load_melanoma(backend="pandas")


def target_of(case: Case, cause: np.ndarray) -> np.ndarray:
    y = np.empty(len(case.y), dtype=[("cause", int), ("time", float)])
    y["cause"], y["time"] = np.where(case.y["event"], cause, 0), case.y["time"]
    return y


@st.composite
def cause_cases(draw):
    """Draw a table, a cause of each event, and which causes count."""
    case = draw(cases(max_rows=14))
    n = len(case.y)
    n_causes = draw(st.integers(1, 4))
    cause = np.array(draw(st.lists(st.integers(1, n_causes), min_size=n, max_size=n)))
    y = target_of(case, cause)
    found = sorted(set(y["cause"].tolist()) - {0})
    kind = draw(st.sampled_from(["all", "one", "several", "weights"]))
    if kind == "all":
        causes = None
    elif kind == "one":
        causes = draw(st.sampled_from(found))
    elif kind == "several":
        causes = draw(st.lists(st.sampled_from(found), min_size=1, unique=True))
    else:
        weights = st.sampled_from([0.25, 1.0, 1.5])
        causes = {cause: draw(weights) for cause in found}
    return case, y, causes


def weights_of(causes, found):
    if causes is None:
        return [1.0] * len(found)
    if isinstance(causes, dict):
        return [causes[cause] for cause in found]
    chosen = [causes] if isinstance(causes, int) else causes
    return [float(cause in chosen) for cause in found]


def expected_losses(case, y, causes, holds):
    """Return the optimal loss of every size by definition: nothing of the estimator is used."""
    weight = np.ones(len(y)) if case.weight is None else case.weight
    found = sorted(set(y["cause"].tolist()) - {0})
    weights = weights_of(causes, found)
    lines, constant, counted = [], 0.0, np.zeros(len(y), dtype=bool)
    for cause, counts in zip(found, weights, strict=True):
        own = np.empty(len(y), dtype=[("event", bool), ("time", float)])
        own["event"], own["time"] = y["cause"] == cause, y["time"]
        hazard = row_hazard(own, weight, case.entry)
        lines += [weight * own["event"], weight * hazard]
        constant -= counts * (weight * own["event"]) @ np.log(hazard)
        counted |= own["event"] & (counts > 0)
    objective = CauseHazards(
        causes=tuple(found), weights=tuple(weights), shrinkage=case.limits.get("shrinkage", 0.0)
    )
    ones = np.ones(len(y))
    counts = {"samples": ones, "counted_events": counted.astype(float)}
    rows = RowSums(objective, np.stack(lines), counts, ones, 0 * ones)
    limits = CauseLimits(**vars(limits_of(case)))
    return constant - np.asarray(reference.solve(holds, rows, limits).gains)


@settings(max_examples=60, deadline=None)
@given(cause_cases())
def test_every_size_is_optimal(drawn):
    case, y, causes = drawn
    model = CompetingRisksTree(causes=causes, **case.limits)
    model.fit(case.X, y, case.weight, case.entry)
    holds = model.encoder_.transform(case.X)
    expected = expected_losses(case, y, causes, np.asarray(holds, dtype=bool))
    found = [size.loss for size in model.path_]
    best = expected[np.minimum(np.arange(len(found)), expected.size - 1)]
    np.testing.assert_allclose(found, best, rtol=1e-9, atol=1e-9)
    assert model.status_ == "optimal"
    assert model.gap_ == 0.0
    # The loss on the training rows is the one that was minimised, but for leaves without events.
    loss = model.loss(case.X, y, case.weight, case.entry)
    assert loss >= model.unpenalised_loss_ - 1e-9
    n_channels = len(model.causes_) * model.tree_.n_leaves
    assert loss <= model.unpenalised_loss_ + 0.5 * 1.5 * n_channels + 1e-9
    saved = Tree.from_dict(json.loads(json.dumps(model.tree_.to_dict())))
    assert saved == model.tree_


def test_one_cause_is_a_survival_tree():
    X, y = load_gbsg2()
    cause = y["event"].astype(int)
    ours = CompetingRisksTree(max_depth=3, shrinkage=2.0, leaf_curve="baseline")
    ours.fit(X, (cause, y["time"]))
    theirs = SurTree(max_depth=3, shrinkage=2.0).fit(X, y)
    assert ours.loss_ == theirs.loss_
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()
    assert ours.apply(X).tolist() == theirs.apply(X).tolist()
    assert ours.score(X, (cause, y["time"])) == theirs.score(X, y)
    np.testing.assert_allclose(
        ours.predict_cumulative_incidence(X, return_array=True),
        1 - theirs.predict_survival_function(X, return_array=True),
        atol=1e-12,
    )


def test_one_of_two_causes_is_a_survival_tree_with_the_other_censored():
    model = CompetingRisksTree(max_depth=2, causes=1).fit(X, Y)
    alone = SurTree(max_depth=2).fit(X, (Y["cause"] == 1, Y["time"]) and _events_of(1))
    assert model.loss_ == pytest.approx(alone.loss_, rel=1e-12)
    assert model.apply(X).tolist() == alone.apply(X).tolist()
    np.testing.assert_allclose(model.predict(X, cause=1), alone.predict(X))
    assert model.predict(X, cause=2).min() > 0  # it is predicted, too


def _events_of(cause):
    y = np.empty(len(Y), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = Y["cause"] == cause, Y["time"]
    return y


@pytest.mark.parametrize("kind", ["baseline", "kaplan-meier", "shrunk"])
def test_incidences_and_survival_add_up_to_one(kind):
    model = CompetingRisksTree(max_depth=2, shrinkage=2.0, leaf_curve=kind).fit(X, Y)
    curves = leaf_curves(model)
    for leaf, curve in zip(model.tree_.leaves, curves, strict=True):
        total = incidence_of(model.tree_, int(leaf)).sum(axis=0) + curve.survival.y
        np.testing.assert_allclose(total, 1.0, atol=1e-12)
    for cause in model.causes_:
        rows = model.predict_cumulative_incidence(X, cause, return_array=True)
        place = np.searchsorted(model.tree_.leaves, model.apply(X))
        ours = np.stack([one.y for one in leaf_incidence(model, cause)])[place]
        assert np.array_equal(rows, ours)
        assert (np.diff(rows, axis=1) >= 0).all()


def test_a_weight_of_two_is_a_row_twice():
    weight = np.random.default_rng(0).integers(1, 4, len(Y))
    rows = np.repeat(np.arange(len(Y)), weight)
    one = CompetingRisksTree(max_depth=2).fit(X, Y, weight)
    other = CompetingRisksTree(max_depth=2).fit(X.iloc[rows], Y[rows])
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-9)
    np.testing.assert_allclose(one.predict(X, 2), other.predict(X, 2), rtol=1e-9)
    for cause in (1, 2):
        np.testing.assert_allclose(
            one.predict_cumulative_incidence(X, cause, return_array=True),
            other.predict_cumulative_incidence(X, cause, return_array=True),
            atol=1e-12,
        )


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(len(Y))
    one = CompetingRisksTree(max_depth=3).fit(X, Y)
    other = CompetingRisksTree(max_depth=3).fit(X.iloc[order], Y[order])
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-12)
    assert one.apply(X).tolist() == other.apply(X).tolist()


@pytest.mark.parametrize("causes", [None, 2, [1, 2], {1: 1.0, 2: 0.5}])
def test_a_saved_model_predicts_the_same(causes, tmp_path):
    model = CompetingRisksTree(max_depth=2, causes=causes, shrinkage=1.0, leaf_curve="shrunk")
    model.fit(X, Y).save(tmp_path / "model.json")
    loaded = CompetingRisksTree.load(tmp_path / "model.json")
    assert loaded.causes == causes
    assert loaded.status_ == "optimal"
    assert loaded.tree_ == model.tree_
    assert loaded.main_cause_ == model.main_cause_
    assert pickle.loads(pickle.dumps(model)).tree_ == model.tree_
    for cause in (1, 2):
        assert loaded.predict(X, cause).tolist() == model.predict(X, cause).tolist()
        for leaf in model.tree_.leaves:
            bands = [leaf_incidence_band(one, int(leaf), cause) for one in (loaded, model)]
            for one, other in zip(*bands, strict=True):
                np.testing.assert_array_equal(one.y, other.y)


def test_files_of_other_models_say_how_to_load_them(tmp_path):
    CompetingRisksTree(max_depth=1).fit(X, Y).save(tmp_path / "causes.json")
    with pytest.raises(ValueError, match=r"load it with CompetingRisksTree\.load"):
        SurTree.load(tmp_path / "causes.json")
    SurTree(max_depth=1).fit(X, _events_of(1)).save(tmp_path / "one.json")
    with pytest.raises(ValueError, match=r"load it with SurTree\.load"):
        CompetingRisksTree.load(tmp_path / "one.json")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda tree: tree["risk"][0].update(by_cause=[[0], [0]]), "causes"),
        (lambda tree: tree["risk"][0]["by_cause"].pop(), "causes"),
        (lambda tree: tree["baseline"]["of_cause"].pop(), "causes"),
        (lambda tree: tree["baseline"].pop("of_cause"), "causes"),
        (lambda tree: tree["baseline"]["of_cause"][0]["times"].pop(), "causes"),
        (lambda tree: tree["objective"]["parameters"].pop(), "parameters"),
        (lambda tree: tree["nodes"]["sums"].pop("events_2"), "events_2"),
    ],
)
def test_a_damaged_tree_is_refused(change, fault):
    saved = json.loads(json.dumps(CompetingRisksTree(max_depth=1).fit(X, Y).tree_.to_dict()))
    change(saved)
    with pytest.raises(ValueError, match=fault):
        Tree.from_dict(saved)


def test_targets_of_all_shapes_are_the_same():
    frame = pd.DataFrame({"why": Y["cause"], "when": Y["time"]})
    expected = read_cause_target(Y, len(Y))
    for y in (
        frame,
        pl.DataFrame(frame),
        (Y["cause"], Y["time"]),
        (Y["cause"].astype(float), Y["time"]),
    ):
        target = read_cause_target(y, len(Y))
        assert target.cause.tolist() == expected.cause.tolist()
        assert target.time.tolist() == expected.time.tolist()
        assert target.causes == (1, 2)


@pytest.mark.parametrize(
    ("y", "fault"),
    [
        (None, "target y is None"),
        (Y["time"], "1 columns, not two"),
        ((Y["cause"] - 1, Y["time"]), "holds -1 in row"),
        ((Y["cause"] + 0.5, Y["time"]), "not a whole number"),
        ((np.where(Y["cause"] == 1, "x", "y"), Y["time"]), "holds texts"),
        ((Y["time"], Y["cause"].astype(str)), "texts, not numbers"),
        ((0 * Y["cause"], Y["time"]), "All 205 rows are censored"),
        ((Y["cause"], -Y["time"]), "negative times"),
        ((Y["cause"][:3], Y["time"]), "inconsistent numbers|has 3"),
    ],
)
def test_bad_targets_are_refused_in_words(y, fault):
    with pytest.raises(ValueError, match=fault):
        CompetingRisksTree().fit(X, y)


@pytest.mark.parametrize(
    "causes", [0, -1, 1.5, "1", [], {1: 0.0}, {1: -1.0}, [1, "x"], {1: np.inf}]
)
def test_bad_choices_of_causes_are_refused(causes):
    for model in (CompetingRisksTree(causes=causes), CompetingRisksTreeCV(causes=causes)):
        with pytest.raises(ValueError, match="causes must be"):
            model.fit(X, Y)


def test_causes_that_are_not_there_or_too_many_are_refused():
    with pytest.raises(ValueError, match="No row has an event of cause 7"):
        CompetingRisksTree(causes=[1, 7]).fit(X, Y)
    many = np.where(Y["cause"] > 0, np.arange(len(Y)) % 6 + 1, 0)
    with pytest.raises(ValueError, match="4 hazards apart at most, not 6"):
        CompetingRisksTree().fit(X, (many, Y["time"]))
    model = CompetingRisksTree(causes=[2, 3], max_depth=1).fit(X, (many, Y["time"]))
    assert model.causes_ == (1, 2, 3, 4, 5, 6)
    with pytest.raises(ValueError, match="There is no cause 9"):
        model.predict(X, 9)


def test_a_time_before_the_cause_is_told_to_be_exchanged():
    exchanged = pd.DataFrame({"days": Y["time"], "cause": Y["cause"]})
    message = "The columns of y are exchanged: 'days' holds .* numbers, as a time does, and 'cause'"
    for y in (exchanged, exchanged.assign(days=np.ceil(Y["time"]))):
        with pytest.raises(ValueError, match=message):
            CompetingRisksTree().fit(X, y)


def test_minimum_events_are_of_the_causes_that_count():
    model = CompetingRisksTree(max_depth=2, causes=2, min_events_leaf=4).fit(X, Y)
    assert model.tree_.n_leaves > 1
    assert cause_events(model.tree_, 2)[model.tree_.leaves].min() >= 4


def test_limits_of_a_relative_risk_are_exact_and_shrink():
    tree = CompetingRisksTree(max_depth=1).fit(X, Y).tree_
    node, (low, high) = (
        0,
        cause_limits(tree=CompetingRisksTree(max_depth=0).fit(X, Y).tree_, node=0, cause=2),
    )
    assert low < 1 < high
    assert cause_limits(tree, node, 2, 0.5)[0] > low


def test_entry_times_change_the_tree_as_a_later_start_does():
    rng = np.random.default_rng(0)
    entry = np.floor(rng.random(len(Y)) * Y["time"] * 0.9)
    model = CompetingRisksTree(max_depth=2).fit(X, Y, entry=entry)
    assert model.loss(X, Y, entry=entry) == pytest.approx(model.unpenalised_loss_, abs=0.5 * 8)
    with pytest.raises(ValueError, match="not before the row's time"):
        CompetingRisksTree().fit(X, Y, entry=Y["time"])


def test_cross_validation_of_one_cause_is_that_of_a_survival_tree():
    X, y = load_gbsg2()
    cause = y["event"].astype(int)
    settings = {"max_depth": 2, "cv": 3, "shrinkage": (1.0, 5.0), "leaf_curve": "baseline"}
    ours = CompetingRisksTreeCV(**settings).fit(X, (cause, y["time"]))
    theirs = SurTreeCV(**settings).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert np.array_equal(ours.sizes_.held_out, theirs.sizes_.held_out)
    for name in ("concordance", "brier"):
        assert ours.held_out_.mean(name) == pytest.approx(theirs.held_out_.mean(name), abs=1e-9)


def test_each_cause_that_counts_has_held_out_scores_of_its_own():
    search = CompetingRisksTreeCV(max_depth=2, cv=3, shrinkage=3.0).fit(X, Y)
    scores = search.held_out_
    assert list(scores.of_cause) == [1, 2]
    for name in ("loss", "loss_without_tree"):
        parts = [getattr(scores.of_cause[cause], name) for cause in (1, 2)]
        np.testing.assert_allclose(getattr(scores, name), np.sum(parts, axis=0))
    np.testing.assert_array_equal(scores.concordance, scores.of_cause[1].concordance)
    assert not np.array_equal(scores.brier, scores.of_cause[2].brier)
    text = str(scores)
    for cause in (1, 2):
        assert f"cause {cause}: loss per row" in text
    assert text.count("concordance (Wolbers' C without censoring weights)") == 2
    assert "Harrell" not in text
    one = CompetingRisksTreeCV(max_depth=1, cv=3, causes=2).fit(X, Y).held_out_
    assert list(one.of_cause) == [2]


def test_scores_of_a_cause_are_those_of_fits_of_its_own():
    folds = list(EventStratifiedKFold(3).split(X, Y["cause"] > 0))
    options = {"max_depth": 1, "max_splits": 1, "shrinkage": 1.0}
    search = CompetingRisksTreeCV(1, cv=folds, shrinkage=1.0, scoring=_one_split).fit(X, Y)
    for k, (train, test) in enumerate(folds):
        model = CompetingRisksTree(**options).fit(X.iloc[train], Y[train])
        for cause, scores in search.held_out_.of_cause.items():
            rows, new = X.iloc[test], Y[test]
            c = concordance_index_censored(
                new["cause"], new["time"], model.predict(rows, cause), cause=cause
            ).cindex
            assert scores.concordance[k] == pytest.approx(c)
            curves = model.predict_cumulative_incidence(rows, cause)
            saved = normalized_integrated_brier_score(Y[train], new, curves, cause=cause)
            assert scores.brier[k] == pytest.approx(saved)


def _one_split(model, X, y):
    return float(model.tree_.n_splits)


def test_the_verdict_has_a_line_for_each_cause():
    search = CompetingRisksTreeCV(max_depth=2, cv=3).fit(X, Y)
    good = replace(search.held_out_.of_cause[1], loss=np.zeros(3), corrected=True)
    bad = replace(good, loss=good.loss_without_tree + 1.0)
    scores = replace(search.held_out_, of_cause={1: good, 2: bad})
    verdicts = prediction_verdicts(None, scores, 2, {1: "melanoma"})
    assert [verdict.heading for verdict in verdicts] == [
        "melanoma: predicts new data better than no tree",
        "cause 2: not clearly better than no tree",
    ]
    assert [verdict.is_good for verdict in verdicts] == [True, False]
    search.best_estimator_.held_out_ = scores
    search.cause_names_ = {1: "melanoma", 2: "other <causes>"}
    page = validation_html(read_findings(search))
    assert page.count('class="verdict"') == 2
    assert "melanoma: concordance (Wolbers" in page
    assert "other &lt;causes&gt;: concordance" in page
    text = export_methods(search)
    assert "Wolbers' C of melanoma" in text
    assert "Wolbers' C of other <causes>" in text
    assert "Harrell" not in text
    assert "melanoma: held-out C" in search._repr_html_()


@pytest.mark.parametrize("scoring", ["loss", "concordance", "concordance_ipcw", "integrated_brier"])
def test_cross_validation_chooses_and_fits(scoring, tmp_path):
    search = CompetingRisksTreeCV(max_depth=2, cv=3, shrinkage=3.0, scoring=scoring, causes=1)
    search.fit(X, Y)
    assert isinstance(search.best_estimator_, CompetingRisksTree)
    assert search.best_estimator_.causes == search.causes == 1
    assert search.predict(X, 2).tolist() == search.best_estimator_.predict(X, 2).tolist()
    curves = search.predict_cumulative_incidence(X.head(2), 1)
    assert curves[0](1000) >= 0
    search.save(tmp_path / "model.json")
    loaded = CompetingRisksTree.load(tmp_path / "model.json")
    assert loaded.held_out_ == search.held_out_
    assert clone(search).get_params()["causes"] == 1


def test_folds_without_a_cause_still_know_it():
    y = Y.copy()
    y["cause"][:] = np.where(y["cause"] == 1, 1, 0)
    y["cause"][np.flatnonzero(y["cause"] == 1)[0]] = 2  # once, so that some fold never has it
    search = CompetingRisksTreeCV(max_depth=1, cv=3, shrinkage=1.0).fit(X, y)
    assert np.isfinite(search.sizes_.held_out).all()
    assert search.best_estimator_.causes_ == (1, 2)


def test_time_limits_leave_a_tree_and_a_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    y = rng.integers(0, 3, 3000), rng.exponential(size=3000) + 0.01
    model = CompetingRisksTree(max_depth=4, n_thresholds=None, time_limit=0.5)
    with pytest.warns(UserWarning, match="time limit"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.lower_bound_ <= model.loss_
    assert replace(model.tree_).total_loss == pytest.approx(model.loss_)


def test_without_a_cause_the_main_one_is_meant():
    model = CompetingRisksTree(max_depth=1, causes={1: 0.5, 2: 1.0}).fit(X, Y)
    assert model.main_cause_ == 2
    assert model.predict(X).tolist() == model.predict(X, 2).tolist()
    assert model.score(X, Y) == model.score(X, Y, cause=2) != model.score(X, Y, cause=1)


def test_rows_of_weight_zero_have_no_causes():
    weight = (Y["cause"] != 2).astype(float)
    model = CompetingRisksTree(max_depth=2).fit(X, Y, weight)
    rows = weight > 0
    other = CompetingRisksTree(max_depth=2).fit(X[rows], Y[rows])
    assert model.causes_ == other.causes_ == (1,)
    assert model.loss_ == other.loss_
    search = CompetingRisksTreeCV(max_depth=1, cv=3, shrinkage=1.0).fit(X, Y, weight)
    assert search.causes_ == (1,)
    with pytest.raises(ValueError, match="No row has an event of cause 2"):
        CompetingRisksTree(causes=2).fit(X, Y, weight)
