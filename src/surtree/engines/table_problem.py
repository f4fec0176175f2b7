"""The problem of rows that are too many to be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.engines.bin_totals import BinTotals, BinTotalsPass, all_rows, bins_of
from surtree.engines.encode import CodedColumns, MovedCoder
from surtree.engines.known_rows import KnownRows, MergedData
from surtree.engines.merged_problem import MergedProblem
from surtree.engines.merged_rows import MergePass
from surtree.engines.row_values import RowValues
from surtree.engines.tables import Binning, NodesPass, TablesPass, TableSums
from surtree.fitting.fit_problem import FitProblem
from surtree.solver.core import TripleTables
from surtree.solver.problem import Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings
from surtree.survival.follow_up import FollowUp
from surtree.tree.build import LazyTree, trees_of_sums
from surtree.tree.tree import Tree

# So many combinations of bins are merged rows at most.
_FEW_ROWS = 2**12


@dataclass(frozen=True, eq=False)
class TableProblem(FitProblem):
    """A problem that is known by its tables only."""

    data: MergedData  # type: ignore[assignment]
    known: KnownRows = field(kw_only=True)  # what the first passes found, to read the rows again
    binning: Binning = field(kw_only=True)  # how rows get their bins
    tables: TripleTables = field(kw_only=True)  # tables of all rows

    def search(self, how: SearchSettings) -> Solution:
        """Search for the best tree of every size; that takes no longer for more rows."""
        return self.tables.solve()

    def build(self, topologies: Sequence[TreeTopology]) -> list[LazyTree]:
        """Return the tree of each topology, without at-risk counts, from one more pass."""
        new = {topology.key: topology for topology in topologies if topology.key not in self._built}
        if new:
            step = NodesPass(self.binning, list(new.values()))
            lines = self.known.reader.run(step, self.known.names)
            sums = self.data.sums
            node_sums = sums.node_values.join(lines)
            trees = trees_of_sums(
                step.topologies, node_sums, sums.objective, self.encoder.cuts_, self.data.baseline
            )
            self._built.update(zip(new, trees, strict=True))
        return [self._built[topology.key] for topology in topologies]

    @property
    def follow_up(self) -> FollowUp:
        """The quartiles of follow-up."""
        return self.known.summary.follow_up(self.known.weights.grid)

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        """Return the tree of a topology, with the at-risk counts and curves of its leaves."""
        (lazy,) = self.build([topology])
        return self.known.with_at_risk(lazy.tree, leaf_curve)


def pose_tables(
    known: KnownRows, coded: CodedColumns, values: RowValues, limits: Limits
) -> TableProblem | MergedProblem:
    """Add all rows to tables, in two passes: which cuts are kept, and the tables of these.

    Where cuts are so few that rows are hardly told apart, they are merged instead: of few distinct
    rows, the sizes of trees depend on how many there are.
    """
    step = BinTotalsPass(known.names, coded.coders, values, coded.by_risk)
    known.reader.expect(4, may_be_more=False)
    totals: BinTotals = known.reader.run(step, known.names)
    rows = all_rows(totals, step)
    found = [_with_support(number, coded, totals, step) for number in range(len(coded.coders))]
    binned, lines = coded.encoder.encode_unseen([cuts for cuts, _ in found], rows)
    coders = tuple(
        MovedCoder(coded.coders[number], places[found[number][1]], int(n_bins))
        for (number, places), n_bins in zip(lines, binned.n_bins, strict=True)
    )
    if prod(binned.n_bins.tolist()) <= _FEW_ROWS:
        merging = MergePass(known.names, coders, values, _FEW_ROWS)
        known.reader.expect(2, may_be_more=False)
        merged = known.reader.run(merging, known.names).whole()
        sums = values.sums(merged.sums)
        values.objective.require_exact(sums)
        binned = replace(binned, bins=merging.packing.unpack(merged.words))
        return MergedProblem(MergedData(values.baseline, sums), coded.encoder, binned, known=known)
    no_rows = replace(binned, bins=np.empty((len(lines), 0), dtype=np.uint16))
    binning = Binning(known.names, coders, no_rows, values)
    tables: TableSums = known.reader.run(TablesPass(binning, limits), known.names)
    sums = values.sums(tables.total[:, None])
    values.objective.require_exact(sums)
    return TableProblem(
        MergedData(values.baseline, sums),
        coded.encoder,
        binning.binned,
        known=known,
        binning=binning,
        tables=tables.tables,
    )


def _with_support(
    number: int, coded: CodedColumns, totals: BinTotals, step: BinTotalsPass
) -> tuple[CandidateCuts, NDArray[np.uint16]]:
    """Return the candidates of a column, with what they hold for, and their bins of the coder's."""
    n, hashes, weight = bins_of(totals, step, number)
    candidates = coded.candidates[number]
    moved = np.arange(candidates.n_bins + 1, dtype=np.uint16)
    if number in coded.by_risk:
        lines = totals.by_risk[number]

        def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
            return step.values.sums(lines).risk_of_groups(group, n_groups)

        candidates, moved = coded.ranked(number, risk)
        order = np.argsort(moved)
        n, hashes, weight = n[order], hashes[:, order], weight[order]
    assert totals.first is not None
    low, high = hashes
    held = candidates.support_of(n, low, high, None if step.values.weights.are_one else weight)
    return replace(candidates, held=held, bins=moved[totals.first[number]][None]), moved
