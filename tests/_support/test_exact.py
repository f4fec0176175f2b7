"""Exact sums: the same as `math.fsum`, in any order and in any partition."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree._support.exact import Grid, Terms, TermStack

numbers = st.one_of(
    st.floats(-1e9, 1e9, allow_subnormal=False),
    st.floats(-1e-9, 1e-9, allow_subnormal=False),
    st.floats(-1e200, 1e200),
    # Ties: halves of the last bit, and what decides them.
    st.sampled_from([1.0, -1.0, 2.0**-53, 2.0**-106, -(2.0**-106), 2.0**-53 * (1 + 2.0**-52), 3.0]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=40))
def test_a_total_is_the_exact_sum_rounded_once(values):
    assert Terms.of(np.array(values)).total == math.fsum(values)


@settings(max_examples=200, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=30), st.data())
def test_groups_are_added_up_exactly(values, data):
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=30, max_size=30)))
    group = group[: len(values)]
    terms = Terms.of(np.array(values))
    expected = [math.fsum(np.array(values)[group == g].tolist()) for g in range(4)]
    assert terms.total_by(group, 4).tolist() == expected
    assert terms.take(group == 1).total == expected[1]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40),
    st.integers(0, 40),
    st.integers(40, 10**9),
    st.floats(1e3, 1e60),
    st.floats(1e-60, 1e-3),
)
def test_any_grid_that_covers_the_terms_gives_the_same_sums(values, border, n, most, least):
    grid = Grid.covering(n, most, least)
    parts = [grid.split(part).sum(axis=1) for part in (values[:border], values[border:])]
    assert float(grid.join(parts[0] + parts[1])) == math.fsum(values)


def test_the_parts_of_many_large_terms_are_added_without_rounding():
    # As many terms as the grid is for, all of the largest size: sums of parts stay exact.
    n, value = 2**20 - 1, np.nextafter(1.0, 0.0)
    grid = Grid.covering(n, 1.0, value)
    parts = grid.split(np.full(n, value))
    exact = int(value * 2**53) * n  # in units of 2**-53
    assert sum(int(part) for part in parts.sum(axis=1) * 2.0**53) == exact
    assert float(grid.join(parts.sum(axis=1))) == exact / 2**53


def test_whole_numbers_are_their_own_parts():
    values = np.array([1.0, 0.0, 3.0])
    terms = Terms.of(values)
    assert terms.grid == Grid()
    assert np.shares_memory(terms.parts, values)
    # Whole numbers whose sums are not exact are none.
    assert Terms.of(np.array([2.0**53, 1.0, 1.0])).total == 2.0**53 + 2


def test_sums_without_bounds_are_those_of_numpy():
    assert Terms.of(np.array([1.5, np.inf])).total == np.inf
    assert np.isnan(Terms.of(np.array([0.1, np.nan, np.inf])).total)


def test_a_stack_keeps_equal_whole_lines_once():
    ones, halves = Terms.of(np.ones(3)), Terms.of(np.full(3, 0.1))
    stack = TermStack.of([ones, halves, ones], merges=True)
    assert len(stack.lines) == 1 + len(halves.parts)
    assert [float(each) for each in stack.join(stack.lines.sum(axis=1))] == [
        3.0,
        math.fsum([0.1] * 3),
        3.0,
    ]
    assert len(TermStack.of([ones, halves, ones]).lines) == 2 + len(halves.parts)
