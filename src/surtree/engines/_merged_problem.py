"""The problem of a table that is not in memory: of its distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.data.target import Target
from surtree.engines._encode import BinnedColumns
from surtree.engines._merged_rows import MergePass
from surtree.engines._pass_context import PassContext
from surtree.engines._row_values import MergedSums, RowValues
from surtree.fitting.fit_problem import FitProblem
from surtree.solver.problem import TreeTopology
from surtree.survival.baseline import Baseline
from surtree.survival.follow_up import FollowUp
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class MergedData:
    """What a search needs to know of rows that were merged, as `TrainingData` has it."""

    target: Target  # of one row, that knows what all rows have in common
    baseline: Baseline
    sums: MergedSums


@dataclass(frozen=True, eq=False)
class MergedProblem(FitProblem):
    """A problem whose rows are not in memory, but for the distinct ones among them."""

    data: MergedData  # type: ignore[assignment]
    context: PassContext = field(kw_only=True)  # what the first passes know, to read rows again

    @property
    def follow_up(self) -> FollowUp:
        """The quartiles of follow-up."""
        return self.context.risks.follow_up()

    def _rows_by_arm(self, n_arms: int) -> Floats:
        return np.stack([self.data.sums.counts[f"samples_{arm}"] for arm in range(n_arms)])

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        """Return the tree of a topology, with the at-risk counts and curves of its leaves."""
        (unbuilt,) = self.build([topology])
        return self.context.with_at_risk(unbuilt.tree, leaf_curve)


def pose_merged(
    context: PassContext, columns: BinnedColumns, values: RowValues, most: int
) -> MergedProblem:
    """Merge all rows with the same bins, in one pass."""
    step = MergePass(context.names, columns.binners, values, most)
    rows = context.reader.run(step, context.names).whole()
    context.reader.expect(1, may_be_more=False)
    data = merged_data(context, values, rows.sums)
    bins = step.packing.unpack(rows.words)
    candidates = [
        _over_rows(number, columns, column_bins, data.sums)
        for number, column_bins in enumerate(bins)
    ]
    grid, weight = data.sums.node_values.kinds[-1]
    binned = columns.encoder.encode(candidates, Terms(grid, rows.sums[weight]))
    return MergedProblem(data, columns.encoder, binned, context=context)


def merged_data(context: PassContext, values: RowValues, parts: Floats) -> MergedData:
    """Return what merged rows add, or raise an error where rounding would hide the best tree."""
    sums = values.sums(parts)
    values.objective.exactness().require(sums)
    return MergedData(context.names.example, values.baseline, sums)


def _over_rows(
    number: int, columns: BinnedColumns, bins: NDArray[np.uint16], sums: MergedSums
) -> CandidateCuts:
    """Return the candidates of a column over merged rows."""
    if number not in columns.by_risk:
        return replace(columns.candidates[number], bins=bins)

    def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
        return sums.risk_of_groups(group[bins], n_groups)

    ranked, moved = columns.ranked(number, risk)
    return replace(ranked, bins=moved[bins])
