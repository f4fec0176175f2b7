"""The problem of a table that is not in memory: of its distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts
from surtree.data.target import Target
from surtree.engines._encode import BinnedColumns
from surtree.engines._merged_rows import MergePass
from surtree.engines._row_values import MergedSums, RowValues
from surtree.engines._summary import Summary, SummaryRisks, WeightSummary
from surtree.engines.predict import AtRiskPass
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames
from surtree.fitting.training import FitProblem
from surtree.solver.problem import TreeTopology
from surtree.survival.baseline import Baseline
from surtree.survival.follow_up import FollowUp
from surtree.tree.arms import Arms, arms_of_leaves
from surtree.tree.at_risk import Entering, Leaving, count_at_risk
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class PassContext:
    """What is known of all rows before a tree is, and the way to read them again."""

    reader: Reader  # it reads the rows
    names: TargetNames  # the columns of the target
    questions: tuple[str, ...]  # the columns that a tree may ask about, in their order
    weights: WeightSummary  # what the first passes know
    summary: Summary
    memory: int  # how many bytes there are

    @property
    def risks(self) -> SummaryRisks:
        """Who is at risk and who dies over time."""
        return SummaryRisks(self.summary, self.weights.grid)

    def with_at_risk(self, tree: Tree, leaf_curve: LeafCurveKind) -> Tree:
        """Return a tree with the at-risk counts of its leaves, from one more pass."""
        grid, times = self.weights.grid, self.summary.times.keys
        step = AtRiskPass(self.names, self.questions, tree, grid, times, self.summary.entries.keys)
        if step.n_bytes > self.memory:
            raise ValueError(
                f"{times.size:,} distinct times in {tree.n_leaves} leaves take {step.n_bytes:,} "
                "bytes: round the times, as to days, or raise memory_limit"
            )
        tables = self.reader.run(step, self.names)
        # Each of the columns has the values that it had; that they stand together in rows as they
        # did is seen in the leaves.
        n_samples, n_events = (
            n.reshape(tree.n_leaves, -1).sum(axis=1)
            for n in (tables.n_rows.sum(axis=1), tables.n_rows[:, 1:].sum(axis=1))
        )
        leaves = tree.leaves
        if (n_samples != tree.n_samples[leaves]).any() or (n_events != tree.n_events[leaves]).any():
            raise self.reader.changed("some rows")
        leaving, entering = step.leaving(tables), step.entering(tables)
        arms = None
        if self.names.n_arms > 1:
            arms = self._arms(tree, tables.n_rows, leaving, entering)
        by_leaf = partial(_merge_arms, n_arms=self.names.n_arms)
        risk = count_at_risk(
            tree.n_leaves,
            by_leaf(leaving),
            None if entering is None else by_leaf(entering),
            tree.baseline,
        )
        return replace(tree, risk=risk, leaf_curve=leaf_curve, arms=arms)

    def _arms(
        self, tree: Tree, n_rows: Floats, leaving: Leaving, entering: Entering | None
    ) -> Arms:
        risk = count_at_risk(len(n_rows), leaving, entering, tree.baseline)
        return arms_of_leaves(
            tree, self.names.labels, n_rows.sum(axis=1), n_rows[:, 1:].sum(axis=1), risk
        )


def _merge_arms(rows: Any, n_arms: int) -> Any:
    """Return who leaves or enters each leaf, whatever the arm."""
    return replace(rows, group=rows.group // n_arms)


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
        return self.context.risks.follow_up()

    def _rows_by_arm(self, n_arms: int) -> Floats:
        return np.stack([self.data.sums.counts[f"samples_{arm}"] for arm in range(n_arms)])

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        (unbuilt,) = self.build([topology])
        return self.context.with_at_risk(unbuilt.tree, leaf_curve)


def pose_merged(
    context: PassContext, columns: BinnedColumns, values: RowValues, most: int
) -> MergedProblem:
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
    if number not in columns.by_risk:
        return replace(columns.candidates[number], bins=bins)

    def risk(group: NDArray[np.intp], n_groups: int) -> Floats:
        return sums.risk_of_groups(group[bins], n_groups)

    ranked, moved = columns.ranked(number, risk)
    return replace(ranked, bins=moved[bins])
