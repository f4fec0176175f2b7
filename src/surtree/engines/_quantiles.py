"""Exact quantiles of columns too long to sort: ranks within bounds, then the values in between.

A first pass keeps, of each batch, some values and how many rows do not exceed them. Summaries of
batches add up to bounds of ranks over all rows, in any order. Between two of these values lies each
quantile; a second pass collects what is between them, and counts what is below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import Batch
from surtree.engines._tally import Tally
from surtree.engines.rows import TargetNames

Intervals = list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class RankBounds:
    """Some values of a column, and bounds of how many rows do not exceed each of them."""

    values: Floats  # ascending; the first is the least value of all, and the last the greatest
    least: Floats  # at least, and at most, so many rows do not exceed each value
    most: Floats

    @classmethod
    def of(cls, counts: Tally) -> RankBounds:
        """Return the bounds of rows that are known, which are exact."""
        ends = np.cumsum(counts.sums[0])
        return cls(counts.keys, ends, ends).kept()

    @property
    def n(self) -> float:
        return float(self.most[-1])

    def __add__(self, other: RankBounds) -> RankBounds:
        values = np.union1d(self.values, other.values)
        bounds = [each._at(values) for each in (self, other)]
        least, most = (sum(each) for each in zip(*bounds, strict=True))
        return RankBounds(values, np.asarray(least), np.asarray(most)).kept()

    def _at(self, values: Floats) -> tuple[Floats, Floats]:
        below = np.searchsorted(self.values, values, side="right")
        least = np.concatenate(([0.0], self.least))[below]
        # Between two kept values, the rank is at most that of the upper one.
        above = np.searchsorted(self.values, values, side="left")
        return least, np.append(self.most, self.most[-1])[above]

    def kept(self) -> RankBounds:
        """Return the same with fewer values."""
        if self.values.size <= 2 * memory_caps.RANKS_KEPT:
            return self
        wanted = np.linspace(0.0, self.n, memory_caps.RANKS_KEPT)
        chosen = np.unique(np.searchsorted((self.least + self.most) / 2, wanted))
        chosen = np.union1d(np.minimum(chosen, self.values.size - 1), [0, self.values.size - 1])
        return RankBounds(self.values[chosen], self.least[chosen], self.most[chosen])

    def around(self, ranks: Floats) -> Intervals:
        # Kept values whose upper rank bound is at most the wanted rank lie below it; those whose
        # lower rank bound exceeds it lie above.
        first = np.searchsorted(self.most, ranks, side="right") - 1
        last = np.searchsorted(self.least, ranks, side="right")
        return self._between(first - 1, last + 1)

    def beside(self, values: Floats) -> Intervals:
        """Return where the neighbours of some numbers are, as `around` does."""
        first = np.searchsorted(self.values, values, side="right") - 1
        return self._between(first, first + 1)

    def _between(self, first: NDArray[np.intp], last: NDArray[np.intp]) -> Intervals:
        """Return intervals from and to values that are kept, where they overlap as one."""
        end = self.values.size - 1
        joined: Intervals = []
        pairs = zip(np.maximum(first, 0).tolist(), np.minimum(last, end).tolist(), strict=True)
        for low, high in sorted(pairs):
            start, stop = float(self.values[low]), float(self.values[high])
            if joined and start <= joined[-1][1]:
                start = joined.pop()[0]
            joined.append((start, stop))
        return joined


@dataclass(frozen=True, eq=False)
class Selection:
    """The values in some intervals, and how many rows are below each interval."""

    inside: Tally  # the values in the intervals, and how often they occur
    below: Floats  # how many rows are below each interval
    n: float = 0.0  # the number of rows

    @classmethod
    def empty(cls, n_intervals: int) -> Selection:
        """Return the selection from no rows."""
        return cls(Tally.empty(1), np.zeros(n_intervals))

    @classmethod
    def of(cls, values: Floats, repeats: Floats | None, intervals: Intervals) -> Selection:
        """Select from some rows, without sorting them."""
        chosen = np.zeros(values.size, dtype=bool)
        below = np.empty(len(intervals))
        for number, (low, high) in enumerate(intervals):
            is_below = values < low
            below[number] = (
                np.count_nonzero(is_below) if repeats is None else repeats[is_below].sum()
            )
            chosen |= ~is_below & (values <= high)
        held = np.flatnonzero(chosen)
        if repeats is None:
            return cls(Tally.counts(values[held]), below, float(values.size))
        return cls(Tally.of(values[held], repeats[held][None]), below, float(repeats.sum()))

    def __add__(self, other: Selection) -> Selection:
        return Selection(self.inside + other.inside, self.below + other.below, self.n + other.n)

    def counts(self, intervals: Intervals, seen: tuple[float, float]) -> Tally:
        """Return distinct values that stand for all, and how often each counts.

        Those of the intervals are all there. Rows in a gap before an interval count for its first
        value: that changes no rank inside of it, nor after.
        """
        keys, n = self.inside.keys, self.inside.sums[0].copy()
        first = np.searchsorted(keys, [low for low, _ in intervals])
        before = np.concatenate(([0.0], np.cumsum(n)))[first]
        in_gap = np.diff(self.below - before, prepend=0.0)
        n[first] += in_gap
        counts = Tally(keys, n[None])
        # The ends are there too: their counts are taken from the gap; which rows they are does not
        # matter.
        if keys[0] > seen[0]:
            n[0] -= 1.0
            counts = Tally(np.array([seen[0]]), np.ones((1, 1))) + counts
        after = self.n - float(counts.sums.sum())
        return counts + Tally(np.array([seen[1]]), np.array([[after]])) if after > 0 else counts


@dataclass(frozen=True, eq=False)
class SelectionPass:
    """The pass over columns with too many distinct values to keep."""

    names: TargetNames  # the columns of the target
    # For each column, by its name, the intervals whose values are wanted.
    intervals: dict[str, Intervals]
    repeated: bool  # whether a row of weight k counts as k rows
    title = "quantiles"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *self.intervals)

    def start(self) -> dict[str, Selection]:
        return {name: Selection.empty(len(intervals)) for name, intervals in self.intervals.items()}

    def add(self, partial: dict[str, Selection], batch: Batch) -> dict[str, Selection]:
        rows = self.names.read(batch)
        for name, intervals in self.intervals.items():
            column = rows.column(name)
            present = ~column.missing if column.has_missing else slice(None)
            values = column.values[present]
            repeats = rows.weight[present] if self.repeated else None
            partial[name] = partial[name] + Selection.of(values, repeats, intervals)
        return partial

    def merge(self, one: dict[str, Selection], other: dict[str, Selection]) -> dict[str, Selection]:
        return {name: one[name] + other[name] for name in self.intervals}
