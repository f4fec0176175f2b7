"""The problem of rows that are too many to be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid
from surtree._support.types import Floats
from surtree.cuts.candidates import AllRows, CandidateCuts
from surtree.engines._batches import Batch
from surtree.engines._checksums import Hashes, hash_words
from surtree.engines._encode import BinnedColumns, Binner, RenumberedBinner
from surtree.engines._merged_problem import MergedProblem, PassContext, merged_data
from surtree.engines._merged_rows import MergePass, Packing
from surtree.engines._row_values import RowValues
from surtree.engines._tables import ArmValues, Binning, NodesPass, TablesPass, TableSums
from surtree.engines._tally import sums_by
from surtree.engines.rows import TargetNames
from surtree.solver.core import TripleTables
from surtree.solver.problem import Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings
from surtree.survival.exactness import unit_of
from surtree.survival.treatment import ArmHazards
from surtree.tree.build import UnbuiltTree, trees_of_sums

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


# Merge rows instead of making tables if there are at most this many bin combinations.
_FEW_ROWS = 2**12


@dataclass(frozen=True, eq=False)
class TableProblem(MergedProblem):
    """A problem that is known by its tables only: its rows are merged into one."""

    binning: Binning = field(kw_only=True)  # how rows get their bins
    tables: TripleTables = field(kw_only=True)  # tables of all rows

    def search(self, how: SearchSettings) -> Solution:
        """Search for the best tree of every size; that takes no longer for more rows."""
        return self.tables.solve()

    def tell_arms(self, n_arms: int) -> Solution:
        """Search for the question that tells the arms of rows apart best, in one more pass."""
        values = ArmValues(ArmHazards.of(n_arms), unit_of(self.context.summary.n_counted))
        step = TablesPass(replace(self.binning, values=values), Limits(1, 1))
        tables: TableSums = self.context.reader.run(step, self.context.names)
        return tables.tables.solve()

    def build(self, topologies: Sequence[TreeTopology]) -> list[UnbuiltTree]:
        """Return the tree of each topology, without at-risk counts, from one more pass."""
        new = {topology.key: topology for topology in topologies if topology.key not in self._built}
        if new:
            step = NodesPass(self.binning, list(new.values()))
            parts = self.context.reader.run(step, self.context.names)
            sums = self.data.sums
            trees = trees_of_sums(
                step.topologies,
                sums.node_values.join(parts),
                sums.objective,
                self.encoder.cuts_,
                self.data.baseline,
            )
            self._built.update(zip(new, trees, strict=True))
        return [self._built[topology.key] for topology in topologies]


def pose_tables(
    context: PassContext, columns: BinnedColumns, values: RowValues, limits: Limits
) -> MergedProblem:
    """Add all rows to tables, in two passes: which cuts are kept, and the tables of these.

    Where cuts are so few that rows are hardly told apart, they are merged instead: of few distinct
    rows, the sizes of trees depend on how many there are.
    """
    step = BinTotalsPass(context.names, columns.binners, values, columns.by_risk)
    context.reader.expect(4, may_be_more=False)
    totals: BinTotals = context.reader.run(step, context.names)
    rows = all_rows(totals, step)
    supported = [
        _with_support(number, columns, totals, step) for number in range(len(step.binners))
    ]
    binned, kept = columns.encoder.encode_unseen([cuts for cuts, _ in supported], rows)
    binners = tuple(
        RenumberedBinner(columns.binners[number], numbers[supported[number][1]], int(n_bins))
        for (number, numbers), n_bins in zip(kept, binned.n_bins, strict=True)
    )
    if prod(binned.n_bins.tolist()) <= _FEW_ROWS:
        merging = MergePass(context.names, binners, values, _FEW_ROWS)
        context.reader.expect(2, may_be_more=False)
        merged = context.reader.run(merging, context.names).whole()
        data = merged_data(context, values, merged.sums)
        binned = replace(binned, bins=merging.packing.unpack(merged.words))
        return MergedProblem(data, columns.encoder, binned, context=context)
    no_rows = replace(binned, bins=np.empty((len(kept), 0), dtype=np.uint16))
    binning = Binning(context.names, binners, no_rows, values)
    tables: TableSums = context.reader.run(TablesPass(binning, limits), context.names)
    return TableProblem(
        merged_data(context, values, tables.total[:, None]),
        columns.encoder,
        binning.binned,
        context=context,
        binning=binning,
        tables=tables.tables,
    )


def _with_support(
    number: int, columns: BinnedColumns, totals: BinTotals, step: BinTotalsPass
) -> tuple[CandidateCuts, NDArray[np.uint16]]:
    n, hashes, weight = bins_of(totals, step, number)
    candidates = columns.candidates[number]
    moved = np.arange(candidates.n_bins + 1, dtype=np.uint16)
    if number in columns.by_risk:
        parts = totals.by_risk[number]

        def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
            return step.values.sums(parts).risk_of_groups(group, n_groups)

        candidates, moved = columns.ranked(number, risk)
        order = np.argsort(moved)
        n, hashes, weight = n[order], hashes[:, order], weight[order]
    assert totals.first is not None
    low, high = hashes
    held = candidates.support_of(n, low, high, None if step.values.weights.are_one else weight)
    return replace(candidates, held=held, bins=moved[totals.first[number]][None]), moved
