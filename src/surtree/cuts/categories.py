"""Which divisions of the categories of a column are cuts."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats

CategoryCuts = Literal["one", "subsets"]
CATEGORY_CUTS: tuple[CategoryCuts, ...] = get_args(CategoryCuts)

# Up to this number of categories every subset is a cut; each category more doubles their number.
MOST_FOR_SUBSETS = 7

Positions = NDArray[np.intp]


class BinSets(NamedTuple):
    """Sets of bins: of those from the first to the last, all but those with a bit in the gaps."""

    first: Positions
    last: Positions
    gaps: NDArray[np.uint64]

    def members(self, number: int) -> list[int]:
        gaps = int(self.gaps[number])
        bins = range(int(self.first[number]), int(self.last[number]) + 1)
        return [number for number in bins if not gaps >> number & 1]


def require_category_cuts(category_cuts: Any) -> None:
    """Raise an error unless ``category_cuts`` names a way to divide categories."""
    if category_cuts not in CATEGORY_CUTS:
        raise ValueError(f"category_cuts must be one of {CATEGORY_CUTS}; got {category_cuts!r}.")


def single_bins(n_bins: int) -> BinSets:
    every = np.arange(n_bins)
    return BinSets(every, every, np.zeros(n_bins, dtype=np.uint64))


@lru_cache
def all_subsets(n_bins: int) -> BinSets:
    """Return one side of every division of bins in two: the smaller side, small ones first.

    Of two sides of the same size it is the one with the first bin.
    """
    chosen = [
        subset
        for size in range(1, n_bins // 2 + 1)
        for subset in combinations(range(n_bins), size)
        if 2 * size < n_bins or subset[0] == 0
    ]
    gaps = [sum(1 << b for b in set(range(s[0], s[-1])) - set(s)) for s in chosen]
    return BinSets(
        np.array([subset[0] for subset in chosen]),
        np.array([subset[-1] for subset in chosen]),
        np.array(gaps, dtype=np.uint64),
    )


def singles_and_prefixes(rank: Positions) -> BinSets:
    """Return every bin alone, and every prefix in the order of the bins, or what is left of it.

    A prefix of more than half of the bins is given by the others.
    """
    n_bins = len(rank)
    # Prefixes of one bin, and of all but one, are there already.
    size = np.arange(2, n_bins - 1)
    is_small = 2 * size <= n_bins
    first = np.append(rank, np.where(is_small, 0, size))
    last = np.append(rank, np.where(is_small, size - 1, n_bins - 1))
    return BinSets(first, last, np.zeros(first.size, dtype=np.uint64))


def rank_by_risk(risk: Floats) -> Positions:
    """Return the position of each category in ascending order of risk.

    The best division in two of the rows that the risk is of is between neighbours in this order:
    the gain of a leaf is convex in its sums, so it is largest at an extreme point of all that
    subsets can sum to, and the extreme points are the prefixes.
    """
    return np.argsort(np.argsort(risk, kind="stable"), kind="stable")
