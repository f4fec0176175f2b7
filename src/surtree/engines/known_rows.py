"""What the first passes know of all rows, and the way to read them again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surtree._support.parameters import LeafCurveKind
from surtree.engines.at_risk import AtRiskPass, counts_of_leaves
from surtree.engines.reader import Reader
from surtree.engines.row_values import MergedSums
from surtree.engines.rows import TargetNames
from surtree.engines.summary import Summary, Weights
from surtree.survival.baseline import Baseline
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class MergedData:
    """What a search needs to know of rows that were merged, as `TrainingData` has it."""

    baseline: Baseline
    sums: MergedSums


@dataclass(frozen=True, eq=False)
class KnownRows:
    """What is known of all rows before a tree is, and the way to read them again."""

    reader: Reader  # it reads the rows
    names: TargetNames  # the columns of the target
    questions: tuple[str, ...]  # the columns that a tree may ask about, in their order
    weights: Weights  # what the first passes found
    summary: Summary
    memory: int  # how many bytes there are

    def with_at_risk(self, tree: Tree, leaf_curve: LeafCurveKind) -> Tree:
        """Return a tree with the at-risk counts of its leaves, from one more pass."""
        grid, times = self.weights.grid, self.summary.times.keys
        n_bytes = 8 * (2 + 2 * grid.n_parts) * tree.n_leaves * times.size
        if n_bytes > self.memory:
            raise ValueError(
                f"{times.size:,} distinct times in {tree.n_leaves} leaves take {n_bytes:,} bytes: "
                "round the times, as to days, or raise memory_limit"
            )
        tables = self.reader.run(
            AtRiskPass(self.names, self.questions, tree, grid, times, self.summary.entries.keys),
            self.names,
        )
        # Each of the columns has the values that it had; that they stand together in rows as they
        # did is seen in the leaves.
        n_samples, n_events = tables.leaving[:2].sum(axis=2)
        leaves = tree.leaves
        if (n_samples != tree.n_samples[leaves]).any() or (n_events != tree.n_events[leaves]).any():
            raise self.reader.changed("some rows")
        risk = counts_of_leaves(tables, self.summary, grid, tree.baseline)
        return replace(tree, risk=risk, leaf_curve=leaf_curve)
