"""What holds for the curves of all kinds on random rows: shrinkage, follow-up, compact counts."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import BeyondFollowUpWarning, SurTree, Tree, leaf_curves
from surtree._support.parameters import LEAF_CURVES
from surtree.datasets import load_gbsg2
from surtree.tree.at_risk import CENSORED_PLACES
from surtree.tree.leaf_curve import event_counts


def draw(seed):
    """Return table, target, weights and entry times of random rows; the last two may be None."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    X = rng.integers(0, 3, (n, 2)).astype(float)
    time = rng.integers(1, 12, n) + 0.5 * rng.integers(0, 2)
    event = rng.random(n) < rng.uniform(0.2, 1)
    event[0] = True
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    weight = rng.choice([0.3, 1.0, 2.0, 7.0], n) if rng.random() < 0.5 else None
    entry = np.floor(rng.random(n) * time) if rng.random() < 0.5 else None
    return X, y, weight, entry


def fit(seed, shrinkage=0.0, kind="shrunk"):
    X, y, weight, entry = draw(seed)
    model = SurTree(max_depth=2, shrinkage=shrinkage, leaf_curve=kind).fit(X, y, weight, entry)
    return model, (X, y, weight, entry)


SEEDS = st.integers(0, 10**6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.01, 0.5, 3.0, 100.0]))
def test_the_hazard_of_a_shrunk_curve_is_the_formula_by_the_rows(seed, shrinkage):
    model, (X, y, weight, entry) = fit(seed, shrinkage)
    leaf_of_row = model.apply(X)
    weight = np.ones(len(y)) if weight is None else weight
    entry = np.full(len(y), -1.0) if entry is None else entry
    for curve in leaf_curves(model):
        survival, cumulative = 1.0, 0.0
        for time in model.unique_times_:
            at_risk = weight * ((entry < time) & (time <= y["time"]))
            dying = at_risk * (y["event"] & (y["time"] == time))
            own = leaf_of_row == curve.leaf
            share = at_risk.sum() / weight.sum()
            overall = dying.sum() / at_risk.sum()
            hazard = (dying[own].sum() + shrinkage * share * overall) / (
                at_risk[own].sum() + shrinkage * share
            )
            # Between that of the leaf and that of all rows.
            if at_risk[own].any():
                ends = sorted([overall, dying[own].sum() / at_risk[own].sum()])
                assert ends[0] - 1e-12 <= hazard <= ends[1] + 1e-12
            survival, cumulative = survival * (1 - hazard), cumulative + hazard
            assert curve.survival(time) == pytest.approx(survival, abs=1e-12)
            assert curve.cumulative_hazard(time) == pytest.approx(cumulative)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_without_shrinkage_a_shrunk_curve_is_kaplan_meiers(seed):
    model, _ = fit(seed)
    for shrunk, own in zip(
        leaf_curves(model, "shrunk"), leaf_curves(model, "kaplan-meier"), strict=True
    ):
        assert shrunk == own


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_much_shrinkage_leaves_the_curve_of_all_rows(seed):
    X, y, weight, entry = draw(seed)
    tree = SurTree(max_depth=2).fit(X, y, weight, entry).tree_
    (everyone,) = leaf_curves(SurTree(max_depth=0).fit(X, y, weight, entry), "kaplan-meier")
    # Beside a prior of so many rows, those of the leaf count for nothing.
    counts = event_counts(tree, int(tree.leaves[0]), "kaplan-meier")
    only_prior = counts.shrunk(1e12, tree.share_at_risk, tree.baseline.hazard)
    np.testing.assert_allclose(only_prior.survival, everyone.survival.y, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 2.0]))
def test_survival_never_increases_and_is_unknown_only_after_the_last_follow_up(seed, shrinkage):
    model, (_, y, _, _) = fit(seed, shrinkage)
    last = y["time"].max()
    for kind in LEAF_CURVES:
        for curve in leaf_curves(model, kind):
            assert curve.survival.domain == curve.cumulative_hazard.domain == (0, last)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = curve.survival(np.append(np.linspace(0, last, 50), last))
            assert (np.diff(found) <= 0).all()
            assert ((found >= 0) & (found <= 1)).all()
            with pytest.warns(BeyondFollowUpWarning, match=f"1 of 2 .* last follow-up, {last:g}"):
                assert np.isnan(curve.survival([last, last + 0.1])).tolist() == [False, True]
            with pytest.warns(BeyondFollowUpWarning):
                assert np.isnan(curve.cumulative_hazard(last + 1))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_counts_are_those_of_the_rows_compact_and_go_through_files(seed):
    model, (X, y, weight, entry) = fit(seed)
    tree, leaf_of_row = model.tree_, model.apply(X)
    weight = np.ones(len(y)) if weight is None else weight
    begin = np.full(len(y), -1.0) if entry is None else entry
    for leaf, counts in zip(tree.leaves, tree.risk, strict=True):
        own = leaf_of_row == leaf
        found = counts.at_events(tree.baseline.times.size)
        for place, time in enumerate(tree.baseline.times):
            at_risk = own & (begin < time) & (time <= y["time"])
            assert found.at_risk[place] == pytest.approx(weight[at_risk].sum())
            dying = at_risk & y["event"] & (y["time"] == time)
            assert found.deaths[place] == pytest.approx(weight[dying].sum())
        assert counts.last_time == y["time"][own].max()
        assert counts.censored.tolist() == np.unique(y["time"][own & ~y["event"]]).tolist()
    # A row comes, and goes after a time at which it may die.
    changes = len(y) * (2 if entry is not None else 1) + y["event"].sum()
    assert sum(counts.step.size for counts in tree.risk) <= changes + tree.n_leaves
    again = Tree.from_dict(tree.to_dict())
    assert again == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert again.leaf_curve == "shrunk"


def test_files_and_pickles_of_many_rows_stay_small():
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.normal(size=(n, 3))
    y = np.array(list(zip(rng.random(n) < 0.5, rng.exponential(size=n), strict=True)), dtype="?,f8")
    tree = SurTree(max_depth=3).fit(X, y).tree_
    assert sum(counts.step.size for counts in tree.risk) <= 1.5 * n + tree.n_leaves
    for counts in tree.risk:
        assert counts.censored.size <= CENSORED_PLACES
        assert counts.at_risk.dtype == np.uint16
    assert max(counts.censored.size for counts in tree.risk) > 200
    sizes = sum(
        values.nbytes
        for counts in tree.risk
        for values in (counts.step, counts.at_risk, counts.deaths, counts.censored)
    )
    assert sizes < 8 * n


def test_of_censored_rows_in_one_place_the_earliest_is_kept():
    time = np.array([1.0, 500.0, 500.4, 500.5, 1000.0])
    y = np.array(list(zip([True, *[False] * 4], time, strict=True)), dtype="?,f8")
    (counts,) = SurTree(max_depth=0).fit([[0.0]] * 5, y).tree_.risk
    assert counts.censored.tolist() == [500.0, 1000.0]
    assert counts.last_time == 1000.0


def test_models_of_one_table_have_the_last_time_of_all_rows():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2).fit(X, y)
    assert model.tree_.baseline.last_time == y["time"].max()
    assert all(size.tree.baseline is model.tree_.baseline for size in model.path_)
    assert {size.tree.leaf_curve for size in model.path_} == {"baseline"}
    own = max(counts.last_time for counts in model.tree_.risk)
    assert own == y["time"].max()


def test_where_all_die_rounding_leaves_no_survival_below_zero():
    y = np.empty(7, dtype=[("event", bool), ("time", float)])
    y["event"] = [True, False, False, True, True, True, True]
    y["time"] = [1.0, 1.0, 1.0, 2.5, 2.0, 2.0, 3.0]
    entry = np.array([0.0, 0.0, 0.0, 0.0, 1.6, 1.6, 0.0])
    model = SurTree(0, shrinkage=10.0).fit(np.arange(7.0)[:, None], y, entry=entry)
    (curve,) = leaf_curves(model, "shrunk")
    assert curve.survival.y[-1] == 0
