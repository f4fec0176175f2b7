"""What the first passes know of all rows, and the way to read them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.engines._summary import Summary, SummaryRisks, WeightSummary
from surtree.engines.at_risk import AtRiskPass
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames
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
        """Return what is in the arms of each node."""
        risk = count_at_risk(len(n_rows), leaving, entering, tree.baseline)
        return arms_of_leaves(
            tree, self.names.labels, n_rows.sum(axis=1), n_rows[:, 1:].sum(axis=1), risk
        )


def _merge_arms(rows: Any, n_arms: int) -> Any:
    """Return who leaves or enters each leaf, whatever the arm."""
    return replace(rows, group=rows.group // n_arms)
