"""The problem of rows that are too many to be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.engines._bin_totals import BinTotals, BinTotalsPass, all_rows, bins_of
from surtree.engines._encode import BinnedColumns, RenumberedBinner
from surtree.engines._merged_problem import MergedProblem, merged_data
from surtree.engines._merged_rows import MergePass
from surtree.engines._pass_context import PassContext
from surtree.engines._row_values import RowValues
from surtree.engines._tables import ArmValues, Binning, NodesPass, TablesPass, TableSums
from surtree.solver.core import TripleTables
from surtree.solver.problem import Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings
from surtree.survival.exactness import unit_of
from surtree.survival.treatment import ArmHazards
from surtree.tree.build import UnbuiltTree, trees_of_sums

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
    """Return the candidates of a column, with their support, and the bins of the binner's."""
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
