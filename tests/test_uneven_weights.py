"""Weights of any size: the best tree, or a clear word; never a crash and never a wrong tree."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, expected_losses, relative_risk_rows
from surtree import SurTree
from surtree.data.target import Target
from surtree.exact import Terms
from surtree.solver.problem import Limits
from surtree.solver.reference import solve as solve_slowly
from surtree.survival.baseline import risk_table
from surtree.survival.intervals import weight_over


def target(event, time) -> np.ndarray:
    y = np.empty(len(event), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


@st.composite
def uneven_cases(draw: st.DrawFn) -> Case:
    """Draw a table whose weights differ by up to 24 orders of magnitude."""
    n = draw(st.integers(2, 10))
    row = st.lists(st.integers(0, 2), min_size=2, max_size=2)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    event[draw(st.integers(0, n - 1))] = True
    time = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    spread = draw(st.sampled_from([3, 6, 12]))
    exponents = draw(st.lists(st.floats(-spread, spread), min_size=n, max_size=n))
    limits = {"max_depth": draw(st.integers(1, 3)), "n_thresholds": None, "min_support": 0.0}
    if draw(st.booleans()):
        limits["min_samples_leaf"] = draw(st.integers(1, 3))
    return Case(X, target(event, time), 10.0 ** np.array(exponents), None, limits)


def answers(X: np.ndarray) -> np.ndarray:
    """Return which rows each possible cut of columns of 0, 1, 2 holds for."""
    return np.stack([X[:, column] > cut for column in (0, 1) for cut in (0.5, 1.5)], axis=1)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(uneven_cases())
def test_uneven_weights_give_the_best_tree_or_are_refused(case: Case):
    expected = expected_losses(case, answers(case.X))
    try:
        model = SurTree(**case.limits).fit(case.X, case.y, sample_weight=case.weight)
    except ValueError as error:
        if "sample_weight goes from" not in str(error) or np.ptp(np.log10(case.weight)) < 5:
            raise
        return
    events = case.weight @ case.y["event"]
    for size in model.path_:
        best = expected[min(size.splits, len(expected) - 1)]
        tolerance = 1e-9 * (events + abs(best))
        assert size.lower_bound - tolerance <= best <= size.loss + tolerance
        assert size.loss - size.lower_bound <= 1e-6 * events + tolerance


def test_events_that_vanish_beside_rows_without_hazard_are_refused():
    X, time = [[1], [3], [3], [1], [3], [3], [1], [3]], [5, 8, 8, 3, 1, 1, 1, 2]
    weight = [6.7e-11, 6.3e-08, 8.9e-10, 87957.4, 0.0035, 0.00038, 14.1, 0.0387]
    with pytest.raises(ValueError, match=r"all events together weigh 6.7e-11, and are lost"):
        SurTree().fit(X, target(np.arange(8) == 0, time), sample_weight=weight)


def test_most_uneven_weights_are_no_problem():
    rng = np.random.default_rng(0)
    n_fitted = 0
    for _ in range(60):
        X = rng.normal(size=(60, 3))
        y = target(rng.random(60) < 0.6, rng.exponential(size=60))
        try:
            SurTree(max_depth=2).fit(X, y, sample_weight=10 ** rng.uniform(-6, 6, 60))
        except ValueError:
            continue
        n_fitted += 1
    assert n_fitted >= 55


@pytest.mark.parametrize("weight", [1e-310, 5e-324, 1e-101, 1e101, 1e306])
def test_weights_that_no_sum_can_hold_are_refused(weight):
    X, y = [[0.0], [1.0], [2.0]], target([True, False, True], [1, 2, 3])
    with pytest.raises(
        ValueError, match=r"sample_weight has weights .* in 3 rows: .* all weights by a large"
    ):
        SurTree().fit(X, y, sample_weight=[weight] * 3)


@pytest.mark.parametrize("weight", [1e-99, 2.0**-200, 0.1, 3.0, 2.0**200, 1e99])
def test_the_size_of_equal_weights_changes_only_the_scale(weight):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (60, 3)), target(rng.random(60) < 0.7, rng.exponential(1, 60))
    # The hazard of rows that left before the first event depends on the weight of all.
    y["event"][np.argmin(y["time"])] = True
    one, other = (SurTree().fit(X, y, sample_weight=np.full(60, w)) for w in (1.0, weight))
    assert one.tree_.cut.tolist() == other.tree_.cut.tolist()
    assert other.loss_ == pytest.approx(weight * one.loss_, rel=1e-9)


def test_a_light_event_beside_a_heavy_row_is_no_bug_of_ours():
    y = target([True, False], [1.0, 2.0])
    fit = SurTree(max_depth=1, min_support=0.0).fit
    for weight in (1e6, 1e8):
        model = fit([[0.0], [1.0]], y, sample_weight=[1, weight])
        assert model.tree_.n_leaves == 2
        assert model.loss_ == pytest.approx(0, abs=1e-9)
    for weight in (1e12, 1e16):
        with pytest.raises(ValueError, match=r"sample_weight goes from 1 to 1e\+\d+: .* zero"):
            fit([[0.0], [1.0]], y, sample_weight=[1, weight])


def test_the_reference_knows_the_answer():
    # What the property above compares with: a light event of its own leaf costs nothing.
    holds = np.array([[False], [True]])
    rows = relative_risk_rows(np.array([1.0, 0.0]), np.array([1e-8, 1.0]), [True, False])
    solution = solve_slowly(holds, rows, Limits(1))
    np.testing.assert_allclose(solution.gains, [-1e-8, 8 * np.log(10)], rtol=1e-6)


def test_light_rows_at_risk_are_not_lost_beside_heavy_ones_that_enter_later():
    time = np.array([2.5, 2.5, 2.5, 5.0, 2.5, 2.5, 2.0, 1.0])
    entry = np.array([2.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0, 0.8])
    weight = np.array([135162.2, *[1e-08] * 7])
    found = risk_table(Target(np.arange(8) > 0, time, entry), weight)
    by_hand = [weight[(entry < t) & (t <= time)].sum() for t in found.times]
    np.testing.assert_allclose(found.at_risk, by_hand, rtol=1e-13)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_weight_at_risk_is_that_of_the_intervals_that_cover_a_time(data):
    n = data.draw(st.integers(0, 20))
    places = st.lists(st.integers(0, n), min_size=2, max_size=2).map(sorted)
    intervals = np.array(data.draw(st.lists(places, min_size=1, max_size=20)))
    weight = np.array(data.draw(st.lists(st.floats(0, 1e9), min_size=20, max_size=20)))
    first, last = intervals.T
    weight = weight[: first.size]
    expected = [weight[(first <= place) & (place < last)].sum() for place in range(n)]
    found = weight_over(first, last, Terms.of(weight), n)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
