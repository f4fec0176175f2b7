import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from problems import neighbouring_floats
from surtree.cuts.encoder import Encoder
from surtree.cuts.thresholds import distinct_values, quantile_thresholds, readable

finite = st.floats(allow_nan=False, allow_infinity=False)
# Short lists of few numbers have repeats; numbers of any size overflow and underflow.
numbers = st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0]) | finite, min_size=1, max_size=40)


def thresholds_of(values, n_thresholds, repeats=None):
    return quantile_thresholds(*distinct_values(np.array(values), repeats), n_thresholds).tolist()


def middle(one, other):
    number = (one + other) / 2 if math.isfinite(one + other) else one / 2 + other / 2
    return number if number < other else one


def thresholds_by_the_book(values, n_thresholds):
    values = sorted(values)
    midpoints = [middle(one, other) for one, other in pairwise(values)]
    if len(set(midpoints)) <= n_thresholds:
        return sorted(set(midpoints))
    steps = [round((j + 0.5) * (len(midpoints) - 1) / n_thresholds) for j in range(n_thresholds)]
    return sorted({midpoints[step] for step in steps})


@given(numbers, st.integers(1, 12))
def test_quantiles_are_those_of_the_authors(values, n_thresholds):
    assert thresholds_of(values, n_thresholds) == thresholds_by_the_book(values, n_thresholds)


@given(neighbouring_floats(), st.integers(1, 12))
def test_quantiles_of_neighbouring_floats_are_those_of_the_authors(values, n_thresholds):
    assert thresholds_of(values, n_thresholds) == thresholds_by_the_book(values, n_thresholds)


@given(neighbouring_floats())
def test_every_two_neighbouring_values_have_one_cut_and_its_text_decides_alike(values):
    distinct = sorted(set(values))
    column = np.array(values)[:, None]
    cuts = Encoder(n_thresholds=None, min_support=0).fit(column).cuts_
    for lower, upper in pairwise(distinct):
        assert sum(lower <= cut.threshold < upper for cut in cuts) == 1
    assert len(cuts) == len(distinct) - 1
    for cut in cuts:
        written = float(cut.rule.removeprefix("x0 > "))
        assert [value > written for value in values] == (column[:, 0] > cut.threshold).tolist()


@given(numbers, st.integers(1, 12), st.data())
def test_repeats_count_as_rows(values, n_thresholds, data):
    sizes = st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values))
    repeats = np.array(data.draw(sizes), dtype=float)
    repeated = np.repeat(values, repeats.astype(int))
    assert thresholds_of(values, n_thresholds, repeats) == thresholds_of(repeated, n_thresholds)


def test_huge_repeats_are_not_written_out():
    repeats = np.array([1.0, 1e15, 1.0])
    assert thresholds_of([1.0, 2.0, 3.0], 2, repeats) == [2.0]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(1, 12))
def test_repeats_beyond_all_reason_give_quantiles_too(shares, n_thresholds):
    values = np.arange(float(len(shares)))
    repeats = np.array(shares, dtype=float) * 1e100
    thresholds = thresholds_of(values, n_thresholds, repeats)
    assert 1 <= len(thresholds) <= n_thresholds
    assert thresholds == sorted(set(thresholds))
    assert thresholds[-1] <= values[-1]


def test_every_midpoint_between_different_values():
    assert thresholds_of([3.0, 1.0, 1.0, 2.0, 3.0], None) == [1.5, 2.5]


@given(finite, finite, st.floats(0, 1))
def test_readable_thresholds_separate_the_same_values(one, other, share):
    lower, upper = sorted((one, other))
    assume(lower < upper)
    between = lower * (1 - share) + upper * share
    threshold = min(max(between, lower), math.nextafter(upper, lower))

    def separates(number):
        return lower <= number < upper and abs(number - threshold) <= (upper - lower) / 4

    result = readable(threshold, lower, upper)
    assert separates(result)
    digits = len(Decimal(repr(result)).normalize().as_tuple().digits)
    for fewer in range(1, digits):
        assert not separates(float(f"{threshold:.{fewer - 1}e}"))


@pytest.mark.parametrize(
    ("threshold", "lower", "upper", "expected"),
    [
        (55.4871, 54.2, 57.9, 55),
        (0.5, 0, 1, 0.5),
        (0.99, 0, 1, 0.99),
        (28.39999961853028, 28.39999961853028, 28.5, 28.4),
        # The nearest short number is too small, the one above it is not.
        (28.600000381469727, 28.600000381469727, 28.700000762939453, 28.61),
        (1234567.5, 1234567, 1234568, 1234567.5),
        (-0.01, -0.2, 0.3, -0.01),
        (-1e-300, -1.0, 1.0, -1e-300),
    ],
)
def test_readable(threshold, lower, upper, expected):
    assert readable(threshold, lower, upper) == expected
    assert repr(readable(threshold, lower, upper)) == repr(float(expected))
