"""The same problem restricted to some of its cuts: quantiles of each column, or some columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.solver.pruning import Pruning, Subtree

Chosen = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Restricted:
    """A problem with some of the cuts of another one."""

    binned: BinnedRows  # the rows; bins that no cut separates are merged
    cut: NDArray[np.int32]  # the number of each cut in the other problem
    # Those whose subtrees were asked for, and the same in the other problem.
    _prunings: dict[int, tuple[Pruning, Pruning]] = field(default_factory=dict)

    def original(self, topology: TreeTopology) -> TreeTopology:
        """Return a tree with the numbers that its cuts have in the other problem."""
        if isinstance(topology, Subtree):
            own = topology.pruning
            if id(own) not in self._prunings:
                self._prunings[id(own)] = own, own.of(self.original(own.whole))
            return Subtree(self._prunings[id(own)][1], topology.splits)
        cut, is_split = topology.cut.copy(), topology.cut >= 0
        cut[is_split] = self.cut[cut[is_split]]
        return TreeTopology(cut, topology.left, topology.right)


def restrict(binned: BinnedRows, chosen: Chosen) -> Restricted:
    """Leave out the cuts of ordered columns that are not chosen."""
    n_lines, n_rows = binned.bins.shape
    bins = np.empty((n_lines, n_rows), dtype=np.uint16)
    n_bins, missing_bin = binned.n_bins.copy(), binned.missing_bin.copy()
    first, last = binned.cut_first.copy(), binned.cut_last.copy()
    for line in range(n_lines):
        cuts = np.flatnonzero(binned.cut_column == line)
        if chosen[cuts].all():
            bins[line] = binned.bins[line]
            continue
        missing = binned.missing_bin[line]
        is_missing = binned.cut_first[cuts] == missing
        starts = np.unique(binned.cut_first[cuts][chosen[cuts] & ~is_missing])
        place = np.searchsorted(starts, np.arange(binned.n_bins[line]), side="right")
        n_values = starts.size + 1
        if missing >= 0:
            place[missing] = missing_bin[line] = n_values
        n_bins[line] = n_values + (missing >= 0)
        bins[line] = place.astype(np.uint16)[binned.bins[line]]
        first[cuts] = place[binned.cut_first[cuts]]
        last[cuts] = np.where(is_missing, n_values, n_values - 1)
    kept = np.flatnonzero(chosen).astype(np.int32)
    return Restricted(
        BinnedRows(
            bins=bins,
            n_bins=n_bins,
            missing_bin=missing_bin,
            cut_column=binned.cut_column[kept],
            cut_first=first[kept],
            cut_last=last[kept],
            cut_missing=binned.cut_missing[kept],
            cut_gaps=binned.cut_gaps[kept],
        ),
        kept,
    )


def only_columns(binned: BinnedRows, lines: NDArray[np.intp]) -> Restricted:
    """Leave out all columns but some."""
    place = np.full(len(binned.bins), -1, dtype=np.int32)
    place[lines] = np.arange(len(lines))
    kept = np.flatnonzero(place[binned.cut_column] >= 0).astype(np.int32)
    return Restricted(
        BinnedRows(
            bins=np.ascontiguousarray(binned.bins[lines]),
            n_bins=binned.n_bins[lines],
            missing_bin=binned.missing_bin[lines],
            cut_column=place[binned.cut_column[kept]],
            cut_first=binned.cut_first[kept],
            cut_last=binned.cut_last[kept],
            cut_missing=binned.cut_missing[kept],
            cut_gaps=binned.cut_gaps[kept],
        ),
        kept,
    )


def is_ordered(binned: BinnedRows, line: int) -> bool:
    """Tell whether all cuts of a column divide low values from high ones."""
    cuts = binned.cut_column == line
    missing = binned.missing_bin[line]
    highest = (binned.n_bins[line] if missing < 0 else missing) - 1
    above = binned.cut_last[cuts] == highest
    whole = binned.cut_gaps[cuts] == 0
    return bool((whole & (above | (binned.cut_first[cuts] == missing))).all())


def thresholds_of(binned: BinnedRows, line: int) -> NDArray[np.int32]:
    """Return the bins at which the cuts of an ordered column begin to hold, ascending."""
    first = binned.cut_first[binned.cut_column == line]
    return np.unique(first[first != binned.missing_bin[line]])


def longest(binned: BinnedRows) -> int:
    """Return the largest number of thresholds of a column."""
    if not binned.cut_column.size:
        return 0
    is_threshold = binned.cut_first != binned.missing_bin[binned.cut_column]
    column, first = binned.cut_column[is_threshold], binned.cut_first[is_threshold]
    # Cuts with missing values on either side have the same threshold, and are neighbours.
    is_new = np.ones(first.size, dtype=bool)
    is_new[1:] = (first[1:] != first[:-1]) | (column[1:] != column[:-1])
    return int(np.bincount(column[is_new], minlength=1).max())


def at_thresholds(binned: BinnedRows, line: int, first: NDArray[np.int32]) -> Chosen:
    """Return which cuts of an ordered column are at these thresholds, or ask for missing values."""
    wanted = np.append(first, binned.missing_bin[line])
    at: Chosen = (binned.cut_column == line) & np.isin(binned.cut_first, wanted)
    return at


def quantiles(binned: BinnedRows, counts: Floats | None, n_thresholds: int) -> Chosen:
    """Choose the cuts that an `Encoder` with this number of thresholds would find."""
    chosen = np.ones(binned.cut_first.size, dtype=bool)
    for line in range(len(binned.bins)):
        first = thresholds_of(binned, line)
        if first.size <= n_thresholds or not is_ordered(binned, line):
            continue
        missing = binned.missing_bin[line]
        per_bin = np.bincount(binned.bins[line], counts, minlength=binned.n_bins[line])
        ends = np.cumsum(per_bin if missing < 0 else per_bin[:missing])
        places = quantile_places(float(ends[-1]), n_thresholds)
        # A threshold is above the bin of the row at its place.
        above = np.searchsorted(ends, places, side="right") + 1
        near = first[np.minimum(np.searchsorted(first, above), first.size - 1)]
        chosen[binned.cut_column == line] = False
        chosen |= at_thresholds(binned, line, np.unique(near))
    return chosen


def repeats(weight: Floats) -> Floats | None:
    """Return how often each row counts for quantiles; None if each counts once.

    If all weights are whole numbers, a row of weight k counts as k rows. Other weights do not move
    quantiles.
    """
    whole = bool((weight == np.floor(weight)).all())
    return weight if whole and not (weight == 1).all() else None


def quantile_places(n_values: float, n_thresholds: int) -> Floats:
    """Return where thresholds stand in a sorted list: each after the value at its place."""
    return np.round((np.arange(n_thresholds) + 0.5) * (n_values - 2) / n_thresholds)
