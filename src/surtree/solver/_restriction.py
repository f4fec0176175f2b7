"""The same problem restricted to some of its cuts: quantiles of each column, or some columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import quantile_positions
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
            pruning = topology.pruning
            if id(pruning) not in self._prunings:
                self._prunings[id(pruning)] = pruning, pruning.of(self.original(pruning.whole))
            return Subtree(self._prunings[id(pruning)][1], topology.splits)
        cut, is_split = topology.cut.copy(), topology.cut >= 0
        cut[is_split] = self.cut[cut[is_split]]
        return TreeTopology(cut, topology.left, topology.right)


def restrict(binned: BinnedRows, chosen: Chosen) -> Restricted:
    """Leave out the cuts of ordered columns that are not chosen."""
    n_columns, n_rows = binned.bins.shape
    bins = np.empty((n_columns, n_rows), dtype=np.uint16)
    n_bins, missing_bin = binned.n_bins.copy(), binned.missing_bin.copy()
    first, last = binned.cut_first.copy(), binned.cut_last.copy()
    for column in range(n_columns):
        cuts = np.flatnonzero(binned.cut_column == column)
        if chosen[cuts].all():
            bins[column] = binned.bins[column]
            continue
        missing = binned.missing_bin[column]
        is_missing = binned.cut_first[cuts] == missing
        starts = np.unique(binned.cut_first[cuts][chosen[cuts] & ~is_missing])
        position = np.searchsorted(starts, np.arange(binned.n_bins[column]), side="right")
        n_values = starts.size + 1
        if missing >= 0:
            position[missing] = missing_bin[column] = n_values
        n_bins[column] = n_values + (missing >= 0)
        bins[column] = position.astype(np.uint16)[binned.bins[column]]
        first[cuts] = position[binned.cut_first[cuts]]
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


def only_columns(binned: BinnedRows, columns: NDArray[np.intp]) -> Restricted:
    """Leave out all columns but some."""
    position = np.full(len(binned.bins), -1, dtype=np.int32)
    position[columns] = np.arange(len(columns))
    kept = np.flatnonzero(position[binned.cut_column] >= 0).astype(np.int32)
    return Restricted(
        BinnedRows(
            bins=np.ascontiguousarray(binned.bins[columns]),
            n_bins=binned.n_bins[columns],
            missing_bin=binned.missing_bin[columns],
            cut_column=position[binned.cut_column[kept]],
            cut_first=binned.cut_first[kept],
            cut_last=binned.cut_last[kept],
            cut_missing=binned.cut_missing[kept],
            cut_gaps=binned.cut_gaps[kept],
        ),
        kept,
    )


def is_ordered(binned: BinnedRows, column: int) -> bool:
    """Tell whether all cuts of a column divide low values from high ones."""
    cuts = binned.cut_column == column
    missing = binned.missing_bin[column]
    highest = (binned.n_bins[column] if missing < 0 else missing) - 1
    above = binned.cut_last[cuts] == highest
    whole = binned.cut_gaps[cuts] == 0
    return bool((whole & (above | (binned.cut_first[cuts] == missing))).all())


def thresholds_of(binned: BinnedRows, column: int) -> NDArray[np.int32]:
    """Return the bins at which the cuts of an ordered column begin to hold, ascending."""
    first = binned.cut_first[binned.cut_column == column]
    return np.unique(first[first != binned.missing_bin[column]])


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


def at_thresholds(binned: BinnedRows, column: int, first: NDArray[np.int32]) -> Chosen:
    """Return which cuts of an ordered column are at these thresholds, or ask for missing values."""
    wanted = np.append(first, binned.missing_bin[column])
    at: Chosen = (binned.cut_column == column) & np.isin(binned.cut_first, wanted)
    return at


def quantiles(binned: BinnedRows, counts: Floats | None, n_thresholds: int) -> Chosen:
    """Choose the cuts that an `Encoder` with this number of thresholds would find."""
    chosen = np.ones(binned.cut_first.size, dtype=bool)
    for column in range(len(binned.bins)):
        first = thresholds_of(binned, column)
        if first.size <= n_thresholds or not is_ordered(binned, column):
            continue
        missing = binned.missing_bin[column]
        per_bin = np.bincount(binned.bins[column], counts, minlength=binned.n_bins[column])
        ends = np.cumsum(per_bin if missing < 0 else per_bin[:missing])
        positions = quantile_positions(float(ends[-1]), n_thresholds)
        # A threshold is above the bin of the row at its position.
        above = np.searchsorted(ends, positions, side="right") + 1
        near = first[np.minimum(np.searchsorted(first, above), first.size - 1)]
        chosen[binned.cut_column == column] = False
        chosen |= at_thresholds(binned, column, np.unique(near))
    return chosen
