"""Exact quantiles of columns too long to sort: ranks within bounds, then the values in between.

A first pass keeps, of each batch, some values and how many rows do not exceed them. Summaries of
batches add up to bounds of ranks over all rows, in any order. Between two of these values lies each
quantile; a second pass collects what is between them, and counts what is below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.streaming import limits
from surtree.streaming.tally import Tally


@dataclass(frozen=True, eq=False)
class RankBounds:
    """Some values of a column, and bounds of how many rows do not exceed each of them.

    Parameters
    ----------
    values : array of float
        Ascending; the first is the least value of all, and the last the greatest.
    least, most : array of float
        At least, and at most, so many rows do not exceed each value.
    """

    values: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, counts: Tally) -> RankBounds:
        """Return the bounds of rows that are known, which are exact."""
        ends = np.cumsum(counts.sums[0])
        return cls(counts.keys, ends, ends).kept()

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.most[-1])

    def __add__(self, other: RankBounds) -> RankBounds:
        values = np.union1d(self.values, other.values)
        bounds = [each._at(values) for each in (self, other)]
        least, most = (sum(lines) for lines in zip(*bounds, strict=True))
        return RankBounds(values, np.asarray(least), np.asarray(most)).kept()

    def _at(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the bounds at other values."""
        below = np.searchsorted(self.values, values, side="right")
        least = np.concatenate(([0.0], self.least))[below]
        # Of a value between two that are kept, less rows do not exceed it than the upper one.
        above = np.searchsorted(self.values, values, side="left")
        return least, np.append(self.most, self.most[-1])[above]

    def kept(self) -> RankBounds:
        """Return the same with fewer values."""
        if self.values.size <= 2 * limits.RANKS_KEPT:
            return self
        wanted = np.linspace(0.0, self.n, limits.RANKS_KEPT)
        chosen = np.unique(np.searchsorted((self.least + self.most) / 2, wanted))
        chosen = np.union1d(np.minimum(chosen, self.values.size - 1), [0, self.values.size - 1])
        return RankBounds(self.values[chosen], self.least[chosen], self.most[chosen])

    def around(self, places: Floats) -> list[tuple[float, float]]:
        """Return intervals, ends included, that hold the values at some places of the sorted list.

        Parameters
        ----------
        places : array of float
            Places in the list of all values, repeats included, from 0.

        Returns
        -------
        list of tuple
            Disjoint and ascending.
        """
        # What surely has at most as many rows up to it as the place is below the value there, and
        # what surely has more is not.
        first = np.searchsorted(self.most, places, side="right") - 1
        last = np.searchsorted(self.least, places, side="right")
        ends = [
            (float(self.values[max(low, 0)]), float(self.values[min(high, self.values.size - 1)]))
            for low, high in zip(first.tolist(), last.tolist(), strict=True)
        ]
        return joined(ends)


def joined(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return intervals as disjoint ones that cover the same, ascending."""
    out: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


@dataclass(frozen=True, eq=False)
class Selection:
    """The values in some intervals, and how many rows are below each interval.

    Parameters
    ----------
    inside : Tally
        The values in the intervals, and how often they occur.
    below : array of float of shape (n_intervals,)
        How many rows are below each interval.
    before, after : array of float of shape (n_intervals,)
        The greatest value below each interval, and the least above it: minus infinity, and
        infinity, where there is none.
    n : float
        The number of rows.
    """

    inside: Tally
    below: Floats
    before: Floats
    after: Floats
    n: float = 0.0

    @classmethod
    def empty(cls, n_intervals: int) -> Selection:
        """Return the selection from no rows."""
        none = np.full(n_intervals, np.inf)
        return cls(Tally.empty(1), np.zeros(n_intervals), -none, none)

    @classmethod
    def of(cls, counts: Tally, intervals: list[tuple[float, float]]) -> Selection:
        """Select from rows that are known."""
        if not counts.size:
            return cls.empty(len(intervals))
        keys, n = counts.keys, counts.sums[0]
        low, high = np.array(intervals).T
        first = np.searchsorted(keys, low, side="left")
        last = np.searchsorted(keys, high, side="right")
        ends = np.concatenate(([0.0], np.cumsum(n)))
        chosen: NDArray[np.intp] = np.concatenate(
            [np.arange(*ends) for ends in zip(first, last, strict=True)]
        ).astype(np.intp)
        return cls(
            Tally(keys[chosen], n[None, chosen]),
            ends[first],
            np.concatenate(([-np.inf], keys))[first],
            np.append(keys, np.inf)[last],
            float(ends[-1]),
        )

    def __add__(self, other: Selection) -> Selection:
        return Selection(
            self.inside + other.inside,
            self.below + other.below,
            np.maximum(self.before, other.before),
            np.minimum(self.after, other.after),
            self.n + other.n,
        )

    def counts(self, intervals: list[tuple[float, float]], seen: tuple[float, float]) -> Tally:
        """Return distinct values that stand for all, and how often each counts.

        Inside the intervals they are all that there are, and so are their neighbours; the rows in
        a gap between intervals count for the first and the last value there.

        Parameters
        ----------
        intervals : list of tuple
            The intervals.
        seen : tuple of two floats
            The least and the greatest value of all.
        """
        last = np.searchsorted(self.inside.keys, [high for _, high in intervals], side="right")
        ends = np.concatenate(([0.0], np.cumsum(self.inside.sums[0])))[last]
        within = np.diff(ends, prepend=0.0)
        # Gaps are before the first interval, between two, and after the last.
        in_gap = np.append(self.below, self.n) - np.concatenate(([0.0], self.below + within))
        starts = np.concatenate(([seen[0]], self.after))
        stops = np.append(self.before, seen[1])
        found = self.inside
        for start, stop, n in zip(starts, stops, in_gap, strict=True):
            if n > 0:
                ends_of_gap = np.array([start, stop]) if start < stop else np.array([start])
                shares = np.array([1.0, n - 1.0]) if start < stop else np.array([n])
                found = found + Tally(ends_of_gap, shares[None])
        return found
