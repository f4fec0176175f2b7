"""What is in each bin of each column, where rows are too many to be merged: which cuts are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid
from surtree._support.types import Floats
from surtree.cuts.candidates import AllRows
from surtree.engines._batches import Batch
from surtree.engines._encode import Binner
from surtree.engines._hashing import Hashes, hash_words
from surtree.engines._merged_rows import Packing
from surtree.engines._row_values import RowValues
from surtree.engines._tally import sums_by
from surtree.engines.rows import TargetNames

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(eq=False)
class BinTotals:
    """Sums over the rows of each bin, one column after the other."""

    sums: Floats  # rows, and the parts of their weight
    # What the rows of each bin add, as `RowValues` says, for columns whose categories are ordered
    # by their risk.
    by_risk: dict[int, Floats]
    # The hash of the set of rows, in halves: a sum of random numbers, one for each row, which are
    # the same where rows have the same bins.
    hashes: Hashes
    first: NDArray[np.intp] | None = None  # the bins of one of the rows


@dataclass(frozen=True, eq=False)
class BinTotalsPass:
    """The pass that counts the rows in each bin, and tells sets of rows apart."""

    names: TargetNames  # the columns of the target
    binners: tuple[Binner, ...]  # how columns become bins
    values: RowValues  # what rows add
    by_risk: tuple[int, ...]  # the columns whose categories are ordered by their risk
    title = "bins"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *(binner.name for binner in self.binners))

    @property
    def grid(self) -> Grid:
        """The grid of the weights."""
        return self.values.weights.grid

    @property
    def borders(self) -> list[int]:
        """Where the bins of each column begin; missing values have a bin after the others."""
        return [0, *np.cumsum([binner.n_bins + 1 for binner in self.binners]).tolist()]

    def start(self) -> BinTotals:
        n_bins = self.borders[-1]
        sums = np.zeros((1 + self.grid.n_parts, n_bins))
        return BinTotals(sums, {}, np.zeros((2, n_bins), dtype=np.uint64))

    def add(self, partial: BinTotals, batch: Batch) -> BinTotals:
        rows = self.names.read(batch)
        if not rows.n:
            return partial
        bins = [binner.bins(rows.column(binner.name)) for binner in self.binners]
        words = Packing.of([binner.n_bins + 1 for binner in self.binners]).pack(bins, rows.n)
        halves = [half for seed in (1, 2) for half in _halves(hash_words(words, rows.n, seed))]
        parts = list(self.grid.split(rows.weight))
        terms = np.stack([np.ones(rows.n), *parts, *halves])
        n_sums = len(partial.sums)
        for begin, binner, column_bins in zip(self.borders, self.binners, bins, strict=False):
            column_slice, size = slice(begin, begin + binner.n_bins + 1), binner.n_bins + 1
            of_bins = sums_by(column_bins.astype(np.intp), terms, size)
            partial.sums[:, column_slice] += of_bins[:n_sums]
            low, high, *others = of_bins[n_sums:]
            partial.hashes[0, column_slice] += _from_halves(low, high)
            partial.hashes[1, column_slice] += _from_halves(*others)
        if self.by_risk:
            values = self.values.of_rows(rows)
            for number in self.by_risk:
                size = self.binners[number].n_bins + 1
                of_bins = values.by(bins[number].astype(np.intp), size)
                partial.by_risk[number] = partial.by_risk.get(number, np.zeros(1)) + of_bins
        if partial.first is None:
            partial.first = np.array([column_bins[0] for column_bins in bins], dtype=np.intp)
        return partial

    def merge(self, one: BinTotals, other: BinTotals) -> BinTotals:
        one.sums += other.sums
        for number, sums in other.by_risk.items():
            one.by_risk[number] = one.by_risk.get(number, np.zeros(1)) + sums
        one.hashes += other.hashes
        one.first = other.first if one.first is None else one.first
        return one


def _halves(values: Hashes) -> tuple[Floats, Floats]:
    """Return the low and the high half of each number, whose sums over a batch are exact."""
    return (values & _LOW).astype(np.float64), (values >> _HALF).astype(np.float64)


def _from_halves(low: NDArray[Any], high: NDArray[Any]) -> Hashes:
    """Return sums of numbers, without what exceeds 64 bits, from the sums of their halves."""
    return low.astype(np.uint64) + (high.astype(np.uint64) << _HALF)


def all_rows(totals: BinTotals, step: BinTotalsPass) -> AllRows:
    """Return what all rows are together; each is in one bin of the first column."""
    column_slice = slice(*step.borders[:2])
    n, *parts = totals.sums[:, column_slice].sum(axis=1)
    key = totals.hashes[:, column_slice].sum(axis=1, dtype=np.uint64)[:, None]
    return AllRows(int(n), float(step.grid.join(np.array(parts))), key)


def bins_of(
    totals: BinTotals, step: BinTotalsPass, number: int
) -> tuple[NDArray[np.int64], Hashes, Floats]:
    """Return rows, hash and weight of each bin of a column."""
    column_slice = slice(*step.borders[number : number + 2])
    n, *parts = totals.sums[:, column_slice]
    return n.astype(np.int64), totals.hashes[:, column_slice], step.grid.join(np.array(parts))
