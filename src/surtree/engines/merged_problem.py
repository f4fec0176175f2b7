"""The problem of the distinct rows of a table that is not in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.engines.encode import CodedColumns
from surtree.engines.known_rows import KnownRows, MergedData
from surtree.engines.merged_rows import MergePass
from surtree.engines.row_values import MergedSums, RowValues
from surtree.fitting.fit_problem import FitProblem
from surtree.solver.problem import TreeTopology
from surtree.survival.follow_up import FollowUp
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class MergedProblem(FitProblem):
    """A problem whose rows are not in memory, but for the distinct ones among them."""

    data: MergedData  # type: ignore[assignment]
    known: KnownRows = field(kw_only=True)  # what the first passes found, to read the rows again

    @property
    def follow_up(self) -> FollowUp:
        """The quartiles of follow-up."""
        return self.known.summary.follow_up(self.known.weights.grid)

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        """Return the tree of a topology, with the at-risk counts and curves of its leaves."""
        (lazy,) = self.build([topology])
        return self.known.with_at_risk(lazy.tree, leaf_curve)


def pose_merged(
    known: KnownRows, coded: CodedColumns, values: RowValues, most: int
) -> MergedProblem:
    """Merge all rows with the same bins, in one pass."""
    step = MergePass(known.names, coded.coders, values, most)
    rows = known.reader.run(step, known.names).whole()
    known.reader.expect(1, may_be_more=False)
    sums = values.sums(rows.sums)
    values.objective.require_exact(sums)
    bins = step.packing.unpack(rows.words)
    candidates = [_over_rows(number, coded, line, sums) for number, line in enumerate(bins)]
    grid, own = sums.node_values.kinds[-1]
    binned = coded.encoder.encode(candidates, Terms(grid, rows.sums[own]))
    return MergedProblem(MergedData(values.baseline, sums), coded.encoder, binned, known=known)


def _over_rows(
    number: int, coded: CodedColumns, bins: NDArray[np.uint16], sums: MergedSums
) -> CandidateCuts:
    """Return the candidates of a column over merged rows."""
    if number not in coded.by_risk:
        return replace(coded.candidates[number], bins=bins)

    def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
        return sums.risk_of_groups(group[bins], n_groups)

    ranked, moved = coded.ranked(number, risk)
    return replace(ranked, bins=moved[bins])
