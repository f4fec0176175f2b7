import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import relative_risk_rows
from surtree.solver.problem import Limits
from surtree.solver.reference import Node, solve
from surtree.survival.objective import RELATIVE_RISK


def problem(seed, n_rows=12, n_cuts=3):
    """Random rows with ties, duplicated columns now and then, and some rows without events."""
    rng = np.random.default_rng(seed)
    holds = rng.random((n_rows, n_cuts)) < rng.choice([0.2, 0.5], n_cuts)
    weight = rng.integers(1, 3, n_rows).astype(float)
    is_event = rng.random(n_rows) < 0.6
    hazard = weight * rng.integers(1, 8, n_rows) / 5
    return holds, weight * is_event, hazard, is_event


def gain(events, hazard):
    return float(RELATIVE_RISK.gain([events, hazard]))


def optimum(holds, events, hazard, is_event, *limits, **more_limits):
    rows = relative_risk_rows(events, hazard, is_event)
    return solve(holds, rows, Limits(*limits, **more_limits))


def total_gain(leaves, events, hazard):
    return sum(gain(events[rows].sum(), hazard[rows].sum()) for rows in leaves)


def all_trees(n_cuts, depth):
    """Every tree of at most this depth, whether it makes sense on the rows or not."""
    yield Node()
    if depth > 0:
        below = list(all_trees(n_cuts, depth - 1))
        for cut, left, right in product(range(n_cuts), below, below):
            yield Node(cut, left, right)


def brute_force(holds, events, hazard, is_event, max_depth, min_samples_leaf, min_events_leaf):
    """Best gain by number of splits, by listing all trees and looking at their leaves."""
    best = np.full(2**max_depth, -math.inf)
    for tree in all_trees(holds.shape[1], max_depth):
        leaves = tree.leaves(holds)
        if tree.n_splits > 0 and any(
            rows.sum() < min_samples_leaf or is_event[rows].sum() < min_events_leaf
            for rows in leaves
        ):
            continue
        best[tree.n_splits :] = np.maximum(
            best[tree.n_splits :], total_gain(leaves, events, hazard)
        )
    return best


def without_memory(rows, holds, events, hazard, depth):
    """Best gain by number of splits, as profiles that a split combines, with nothing remembered."""
    best = np.full(2**depth, gain(events[rows].sum(), hazard[rows].sum()))
    for cut in holds.T if depth > 0 else ():
        if not (rows & cut).any() or not (rows & ~cut).any():
            continue
        left, right = (
            without_memory(side, holds, events, hazard, depth - 1)
            for side in (rows & ~cut, rows & cut)
        )
        for i, j in np.ndindex(len(left), len(right)):
            best[i + j + 1] = max(best[i + j + 1], left[i] + right[j])
    return np.maximum.accumulate(best)


def test_gain_is_the_loss_of_a_leaf_without_its_constant():
    # Loss of the paper with the best theta, summed row by row.
    is_event, hazard = np.array([1, 0, 1]), np.array([0.2, 0.7, 0.5])
    theta = is_event.sum() / hazard.sum()
    loss = (hazard * theta - is_event * (np.log(hazard) + np.log(theta) + 1)).sum()
    constant = -(is_event * np.log(hazard)).sum()
    assert constant - gain(is_event.sum(), hazard.sum()) == pytest.approx(loss, rel=1e-12)


def test_gain_without_events_is_the_limit():
    assert gain(0.0, 2.0) == 0.0
    assert gain(1e-12, 2.0) == pytest.approx(0.0, abs=1e-9)


def test_depth_zero_is_one_leaf():
    holds, events, hazard, is_event = problem(0)
    solution = optimum(holds, events, hazard, is_event, max_depth=0)
    assert solution.trees == (Node(),)
    assert solution.gains == pytest.approx([gain(events.sum(), hazard.sum())])


def test_by_hand():
    # Cut 1 separates the early rows (events 2, hazard 0.5) from the late ones (1, 2); cut 0 mixes.
    holds = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
    events = np.array([0.0, 1.0, 1.0, 1.0])
    hazard = np.array([1.0, 1.0, 0.25, 0.25])
    solution = optimum(holds, events, hazard, events > 0, max_depth=2)
    one = 2 * math.log(2 / 0.5) + math.log(1 / 2)
    two = 2 * math.log(2 / 0.5) + 0 + math.log(1 / 1)
    assert solution.gains == pytest.approx([3 * math.log(3 / 2.5), one, two, two])
    assert solution.trees[1] == Node(1, Node(), Node())
    assert solution.trees[2] == Node(1, Node(0, Node(), Node()), Node())


def test_a_cut_that_holds_for_all_or_no_rows_is_no_split():
    holds = np.array([[True, False]] * 3)
    events, hazard = np.ones(3), np.arange(1.0, 4.0)
    solution = optimum(holds, events, hazard, events > 0, max_depth=3)
    assert all(tree == Node() for tree in solution.trees)
    assert len(solution.gains) == 8


def test_no_cuts_and_one_row():
    solution = optimum(
        np.zeros((1, 0), bool), np.ones(1), np.full(1, 0.5), np.ones(1, bool), max_depth=2
    )
    assert solution.gains == pytest.approx([math.log(2)] * 4)


def test_the_limits_leave_the_root_alone():
    holds, events, hazard, is_event = problem(1)
    solution = optimum(holds, events, hazard, is_event, max_depth=2, min_samples_leaf=100)
    assert solution.trees == (Node(),) * 4


@pytest.mark.parametrize("max_splits", [0, 1, 2, 3, 7, 50])
def test_budgets_stop_at_what_depth_and_splits_allow(max_splits):
    solution = optimum(*problem(2), max_depth=3, max_splits=max_splits)
    assert len(solution.gains) == len(solution.trees) == min(max_splits, 7) + 1


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    max_depth=st.integers(0, 2),
    min_samples_leaf=st.integers(1, 4),
    min_events_leaf=st.integers(0, 2),
)
def test_equals_the_best_of_all_trees(seed, max_depth, min_samples_leaf, min_events_leaf):
    rows = problem(seed)
    solution = optimum(*rows, max_depth, None, min_samples_leaf, min_events_leaf)
    expected = brute_force(*rows, max_depth, min_samples_leaf, min_events_leaf)
    assert solution.gains == pytest.approx(expected, rel=1e-12)


def test_rows_met_at_two_depths_are_two_problems():
    # The last four rows are reached in one step (cut 0) and in two (cuts 1 and 2). They and the
    # first four each need a chain of three splits, so that depth four cannot tell all rows apart.
    part = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    first = np.array([0, 1, 2, 3, 0, 0, 0, 0, 0])
    last = np.array([0, 0, 0, 0, 0, 0, 1, 2, 3])
    cuts = [part == 2, part > 0, part != 1, *(first == [[1], [2], [3]]), *(last == [[1], [2], [3]])]
    holds = np.column_stack(cuts)
    events, hazard = np.ones(9), 1.5 ** np.arange(9.0)
    expected = without_memory(np.ones(9, bool), holds, events, hazard, depth=4)
    gains = optimum(holds, events, hazard, events > 0, max_depth=4).gains
    assert gains == pytest.approx(expected, rel=1e-12)
    assert gains[-1] < optimum(holds, events, hazard, events > 0, max_depth=5).gains[-1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    max_depth=st.integers(0, 4),
    min_samples_leaf=st.integers(1, 3),
    min_events_leaf=st.integers(0, 2),
)
def test_each_tree_keeps_the_limits_and_has_the_gain(
    seed, max_depth, min_samples_leaf, min_events_leaf
):
    holds, events, hazard, is_event = problem(seed, n_rows=15, n_cuts=4)
    solution = optimum(
        holds, events, hazard, is_event, max_depth, None, min_samples_leaf, min_events_leaf
    )
    assert len(solution.trees) == 2**max_depth
    for budget, (value, tree) in enumerate(zip(solution.gains, solution.trees, strict=True)):
        leaves = tree.leaves(holds)
        assert tree.n_splits <= budget
        assert tree.depth <= max_depth
        assert np.sum(leaves, axis=0).tolist() == [1] * len(holds)
        assert total_gain(leaves, events, hazard) == pytest.approx(value, rel=1e-12)
        if tree.n_splits > 0:
            assert all(rows.sum() >= min_samples_leaf for rows in leaves)
            assert all(is_event[rows].sum() >= min_events_leaf for rows in leaves)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_identities_of_the_recurrence(seed):
    rows = problem(seed)
    by_depth = [optimum(*rows, max_depth=depth).gains for depth in range(4)]
    for gains in by_depth:
        assert np.all(np.diff(gains) >= 0)
    for shallow, deep in pairwise(by_depth):
        assert np.all(deep[: len(shallow)] >= shallow - 1e-12)
    # T(D, d, n) = T(D, n, n) where d > n: one split has depth one, two have at most depth two.
    assert by_depth[3][1] == by_depth[1][1]
    assert by_depth[3][2] == by_depth[2][2]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_and_negation_of_cuts_and_order_of_rows_do_not_matter(seed):
    holds, events, hazard, is_event = problem(seed)
    expected = optimum(holds, events, hazard, is_event, max_depth=3).gains
    rng = np.random.default_rng(seed)
    order, cuts = rng.permutation(len(holds)), rng.permutation(holds.shape[1])
    shuffled = (holds ^ (rng.random(holds.shape[1]) < 0.5))[order][:, cuts]
    gains = optimum(shuffled, events[order], hazard[order], is_event[order], max_depth=3).gains
    assert gains == pytest.approx(expected, rel=1e-12)
