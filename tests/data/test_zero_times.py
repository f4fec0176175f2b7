"""Times of zero: a censored row is left out with a warning, an event is a step at zero."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import SurTree, SurTreeCV, audit_tree, cost_complexity_path
from surtree.data.target import read_target
from surtree.export import export_python, export_sql
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.metrics import (
    brier_score,
    calibration,
    censoring_distribution,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)
from surtree.plot import plot_curves, plot_tree
from surtree.report import write_report
from surtree.tree.curves import confidence_band, leaf_curves

mpl.use("Agg")

SEEDS = st.integers(0, 2**32 - 1)
ESTIMATORS = {
    "SurTree": SurTree(max_depth=2),
    "SurTreeCV": SurTreeCV(max_depth=2, cv=3),
    "GreedyTree": GreedyTree(max_depth=2),
    "LocalSearchTree": LocalSearchTree(max_depth=2, n_restarts=3),
    "ConditionalInferenceTree": ConditionalInferenceTree(),
}


def structured(event, time):
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def draw(seed, n=120, *, censored_at_zero=True):
    """Return rows with whole times, zero among them, of which some are censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    time = np.floor(rng.exponential(3 * np.exp(X[:, 0])))
    event = rng.random(n) < 0.7
    time[:4], event[:4] = [0, 0, 9, 12], [True, False, True, True]
    if not censored_at_zero:
        event |= time == 0
    return X, structured(event, time)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_are_censored_at_zero_are_left_out_with_one_warning(name):
    X, y = draw(0)
    nothing = ~y["event"] & (y["time"] == 0)
    expected = ESTIMATORS[name].fit(X[~nothing], y[~nothing])
    tree, loss = expected.tree_, expected.tree_.unpenalised_loss
    message = f"^{nothing.sum()} of 120 rows are censored at time zero: .* and are left out$"
    with pytest.warns(UserWarning, match=message) as caught:
        found = ESTIMATORS[name].fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.tree_ == tree
    if name == "SurTreeCV":
        np.testing.assert_array_equal(found.sizes_.held_out, expected.sizes_.held_out)
    # Where rows are judged, they add nothing either, and there is nothing to warn of.
    empty = int(np.sum(tree.n_events[tree.leaves] == 0)) * (tree.objective.shrinkage == 0)
    assert found.loss(X, y) == pytest.approx(loss + 0.5 * empty)
    assert found.score(X, y) == found.score(X[~nothing], y[~nothing])


def test_an_audit_and_a_path_leave_them_out_too():
    X, y = draw(1)
    model = SurTree(max_depth=2).fit(*_without(X, y))
    with pytest.warns(UserWarning, match="rows are censored at time zero") as caught:
        found = audit_tree(model, X, y)
    assert len(caught) == 1
    assert found.loss == pytest.approx(model.loss_)
    assert found.gap == pytest.approx(0)
    with pytest.warns(UserWarning, match="rows are censored at time zero") as caught:
        path = cost_complexity_path(X, y, estimator=SurTree(max_depth=2))
    assert len(caught) == 1
    assert path.losses[0] == pytest.approx(model.loss_)


def _without(X, y):
    kept = y["event"] | (y["time"] > 0)
    return X[kept], y[kept]


def test_a_row_of_weight_zero_needs_no_warning():
    X, y = draw(2)
    nothing = ~y["event"] & (y["time"] == 0)
    weighted = SurTree(max_depth=2).fit(X, y, sample_weight=np.where(nothing, 0.0, 1.0))
    assert weighted.tree_ == SurTree(max_depth=2).fit(*_without(X, y)).tree_


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_hazards_and_curves_are_those_of_scikit_survival(seed):
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    X, y = draw(seed, censored_at_zero=False)
    # Theirs has no curve for a leaf without events.
    model = SurTree(max_depth=2, min_events_leaf=1).fit(X, y)
    tree, leaf = model.tree_, model.apply(X)
    assert model.unique_times_[0] == 0
    times, hazard = nonparametric.nelson_aalen_estimator(y["event"], y["time"])
    np.testing.assert_allclose(tree.baseline.at(times), hazard, rtol=1e-12)
    # The hazard of a leaf adds up that of its rows, the step at zero included.
    row_hazard = hazard[np.searchsorted(times, y["time"])]
    for curve in leaf_curves(tree, "kaplan-meier"):
        rows = leaf == curve.leaf
        assert tree.hazard[curve.leaf] == pytest.approx(row_hazard[rows].sum())
        own_times, survival = nonparametric.kaplan_meier_estimator(
            y["event"][rows], y["time"][rows]
        )
        np.testing.assert_allclose(curve.survival(own_times), survival, atol=1e-12)
        own_times, own_hazard = nonparametric.nelson_aalen_estimator(
            y["event"][rows], y["time"][rows]
        )
        np.testing.assert_allclose(curve.cumulative_hazard(own_times), own_hazard, atol=1e-12)
        at_zero = np.mean(y["event"][rows] & (y["time"][rows] == 0))
        assert curve.survival(0) == pytest.approx(1 - at_zero)
        lower, upper = confidence_band(tree, curve.leaf, kind="kaplan-meier")
        assert lower(0) <= curve.survival(0) <= upper(0) or at_zero in (0, 1)
        assert curve.median == (0 if at_zero >= 0.5 else curve.median)
    assert tree.risk[0].round_at_risk[0] == tree.n_samples[tree.leaves[0]]


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_metrics_are_those_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    (_, train), (_, test) = draw(seed), draw(seed + 1)
    # Nobody is left out by the censoring of the last row, and both tables end together.
    for y in (train, test):
        y["time"] = np.minimum(y["time"], 14)
        y["event"][y["time"] >= 12] = True
        y["time"][2] = 14
        # Where events and censorings are tied, theirs are weighed in another way.
        y["time"][~y["event"]] += 0.25
    rng = np.random.default_rng(seed)
    times, risk = np.array([0.0, 0.5, 3.0, 9.0]), rng.integers(0, 8, len(test)) / 8
    survival = -np.sort(-rng.random((len(test), len(times))), axis=1)
    expected = nonparametric.CensoringDistributionEstimator().fit(train).predict_proba(times)
    np.testing.assert_allclose(censoring_distribution(train)(times), expected)
    assert concordance_index_ipcw(train, test, risk, tau=9.0).cindex == pytest.approx(
        metrics.concordance_index_ipcw(train, test, risk, tau=9.0)[0]
    )
    # Theirs takes no times of zero.
    later = test["time"] + 1
    assert concordance_index_censored(test["event"], later, risk) == pytest.approx(
        metrics.concordance_index_censored(test["event"], later, risk)
    )
    np.testing.assert_allclose(
        brier_score(train, test, survival, times),
        metrics.brier_score(train, test, survival, times)[1],
    )
    auc, mean = cumulative_dynamic_auc(train, test, risk, times)
    expected_auc, expected_mean = metrics.cumulative_dynamic_auc(train, test, risk, times)
    np.testing.assert_allclose(auc, expected_auc)
    assert mean == pytest.approx(expected_mean)
    groups = calibration(test, np.full(len(test), 0.9), horizon=0.0)
    _, km = nonparametric.kaplan_meier_estimator(test["event"], test["time"])
    assert groups.observed[0] == pytest.approx(km[0])


@pytest.mark.parametrize("scoring", ["loss", "concordance", "concordance_ipcw", "integrated_brier"])
def test_cross_validation_scores_trees_with_events_at_zero(scoring):
    X, y = draw(3, n=240, censored_at_zero=False)
    search = SurTreeCV(max_depth=2, cv=4, scoring=scoring).fit(X, y)
    assert np.isfinite(search.sizes_.held_out).all()
    assert search.best_estimator_.unique_times_[0] == 0


@pytest.fixture(scope="module")
def early():
    """A model one leaf of which has half of its events at zero."""
    X, y = draw(4, n=240, censored_at_zero=False)
    sick = X[:, 0] < -0.7
    y["time"][sick & (np.arange(240) % 3 > 0)] = 0
    y["event"][y["time"] == 0] = True
    model = SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, y)
    assert min(curve.median for curve in leaf_curves(model.tree_, "kaplan-meier")) == 0
    return model, X, y


def test_a_median_of_zero_is_shown_and_exported(early, tmp_path):
    model, X, _ = early
    assert 0 in model.predict_median(X)
    assert "       0\n" in str(model.tree_)
    namespace: dict[str, object] = {}
    exec(export_python(model.tree_, value="median", leaf_curve="kaplan-meier"), namespace)
    median = [namespace["predict"]({f"x{k}": v for k, v in enumerate(row)}) for row in X]
    expected = model.predict_median(X)
    assert [np.inf if value is None else value for value in median] == expected.tolist()
    assert " THEN 0" in export_sql(model.tree_, value="median", leaf_curve="kaplan-meier") or (
        " ELSE 0" in export_sql(model.tree_, value="median", leaf_curve="kaplan-meier")
    )
    page = write_report(model, tmp_path / "zero.html").read_text(encoding="utf-8")
    assert "median survival 0" in page


def test_it_can_be_saved_drawn_and_reported(early, tmp_path):
    model, X, y = early
    model.save(tmp_path / "m.json")
    loaded = SurTree.load(tmp_path / "m.json")
    assert loaded.tree_ == model.tree_
    assert loaded.predict_survival_function(X)[0](0) == model.predict_survival_function(X)[0](0)
    for plot in (plot_tree, plot_curves):
        ax = plot(model.tree_)
        ax.figure.canvas.draw()
        mpl.pyplot.close(ax.figure)
    survival = model.predict_survival_function(X)
    assert 0 < integrated_brier_score(y, y, survival) < 0.3
    assert 0 < integrated_brier_score(y, y, survival, interval=(0, 1)) < 0.3


@pytest.mark.parametrize("unit", [1e-100, 1e-30, 1e30, 1e98])
def test_very_small_and_very_large_times_are_times(unit, tmp_path):
    X, y = draw(5, censored_at_zero=False)
    plain = SurTree(max_depth=2).fit(X, y)
    y["time"] *= unit
    model = SurTree(max_depth=2).fit(X, y)
    assert model.loss_ == plain.loss_
    assert [c.at_risk.tolist() for c in model.tree_.risk] == [
        c.at_risk.tolist() for c in plain.tree_.risk
    ]
    assert write_report(model, tmp_path / "r.html").stat().st_size > 10_000
    ax = plot_curves(model.tree_)
    ax.figure.canvas.draw()
    mpl.pyplot.close(ax.figure)
    curves = model.predict_survival_function(X)
    assert integrated_brier_score(y, y, curves) == pytest.approx(
        integrated_brier_score(*[structured(y["event"], y["time"] / unit)] * 2,
                               plain.predict_survival_function(X))
    )  # fmt: skip


# What is refused.


def test_events_at_zero_alone_have_no_curve():
    X = np.arange(8.0)[:, None]
    event = np.arange(8) % 2 == 0
    y = structured(event, np.where(event, 0.0, 3.0))
    for estimator in ESTIMATORS.values():
        with pytest.raises(
            ValueError, match=r"Every event is at time zero \(4 of 8 rows\): a survival"
        ):
            estimator.fit(X, y)
    y["time"] = 0
    with pytest.raises(ValueError, match="Every event is at time zero"):
        SurTree().fit(X, y)
    y["event"] = False
    with pytest.raises(ValueError, match="All 8 rows are censored"):
        SurTree().fit(X, y)


def test_with_entry_times_an_event_at_zero_is_refused():
    X, y = draw(6)
    entry = np.zeros(len(y))
    n_events = int(np.sum(y["event"] & (y["time"] == 0)))
    with pytest.raises(ValueError, match=f"not before .* in {n_events} rows"):
        SurTree().fit(X, y, entry=entry)
    later = y["event"] & (y["time"] == 0)
    X, y, entry = X[~later], y[~later], entry[~later]
    with pytest.warns(UserWarning, match="rows are censored at time zero"):
        entered = SurTree(max_depth=2).fit(X, y, entry=entry)
    assert entered.loss_ == pytest.approx(SurTree(max_depth=2).fit(*_without(X, y)).loss_)


def test_a_negative_zero_is_zero():
    target = read_target(structured([True, False, True], [-0.0, -0.0, 2.0]), 3)
    assert not np.signbit(target.time).any()
