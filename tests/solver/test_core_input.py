"""The core indexes tables by bins and columns: those out of range are refused at the border."""

from dataclasses import replace

import numpy as np
import pytest

from problems import relative_risk_rows
from surtree._support.compiled import sum_bins
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows


def binned(bins=((0, 1, 2), (1, 0, 1))):
    return BinnedRows(
        bins=np.array(bins, dtype=np.uint16),
        n_bins=np.array([3, 2], dtype=np.int32),
        missing_bin=np.array([-1, -1], dtype=np.int32),
        cut_column=np.array([0, 1], dtype=np.int32),
        cut_first=np.array([1, 1], dtype=np.int32),
        cut_last=np.array([2, 1], dtype=np.int32),
        cut_missing=np.zeros(2, dtype=np.bool_),
        cut_gaps=np.zeros(2, dtype=np.uint64),
    )


def sums(n_rows=3):
    return relative_risk_rows(np.ones(n_rows), np.arange(1.0, n_rows + 1), np.ones(n_rows))


def test_bins_within_range_are_taken():
    assert Problem(binned(), sums()).binned.bins.max() == 2


@pytest.mark.parametrize("bins", [((0, 1, 3), (1, 0, 1)), ((0, 1, 2), (2, 0, 1))])
def test_a_bin_that_its_column_does_not_have_is_refused(bins):
    with pytest.raises(ValueError, match="a bin that its column does not have"):
        Problem(binned(bins), sums())


def test_a_cut_of_a_column_that_is_not_there_is_refused():
    for column in (2, -1):
        wrong = replace(binned(), cut_column=np.array([0, column], dtype=np.int32))
        with pytest.raises(ValueError, match="a column that is not there"):
            Problem(wrong, sums())


@pytest.mark.parametrize("name", ["n_bins", "missing_bin"])
def test_each_column_says_its_bins(name):
    wrong = replace(binned(), **{name: getattr(binned(), name)[:1]})
    with pytest.raises(ValueError, match="a number of bins for each column"):
        Problem(wrong, sums())


@pytest.mark.parametrize("bins", [np.array([0, 3]), np.array([0, -1]), np.uint16([[0, 1], [3, 0]])])
def test_sums_over_bins_refuse_a_bin_that_is_not_there(bins):
    with pytest.raises(ValueError, match="a bin that its column does not have"):
        sum_bins(bins, 3, None)
