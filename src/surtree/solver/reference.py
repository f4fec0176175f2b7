"""The specification: a slow, exhaustive solver that follows the paper's recurrence word by word.

Everything faster is compared with this. A row set is a boolean mask, a cut is a column of a boolean
matrix, and every tree within the limits is considered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.solver.problem import Limits
from surtree.survival.row_sums import Sums

Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Node:
    """A leaf where ``cut`` is None; otherwise a split that sends rows right where the cut holds."""

    cut: int | None = None
    left: Node | None = None
    right: Node | None = None

    @property
    def n_splits(self) -> int:
        """Number of splits in the tree below and including this node."""
        if self.left is None or self.right is None:
            return 0
        return 1 + self.left.n_splits + self.right.n_splits

    @property
    def depth(self) -> int:
        """Number of splits on the longest way down."""
        if self.left is None or self.right is None:
            return 0
        return 1 + max(self.left.depth, self.right.depth)

    def leaves(self, holds: NDArray[np.bool_]) -> list[Rows]:
        """Rows of each leaf, from left to right."""
        return self._leaves(holds, np.ones(len(holds), dtype=np.bool_))

    def _leaves(self, holds: NDArray[np.bool_], rows: Rows) -> list[Rows]:
        if self.left is None or self.right is None:
            return [rows]
        right = holds[:, self.cut]
        return self.left._leaves(holds, rows & ~right) + self.right._leaves(holds, rows & right)


@dataclass(frozen=True)
class ReferenceSolution:
    """The best tree for every number of splits."""

    # ``gains[k]`` is the greatest sum of gains over the leaves of a tree with at most ``k`` splits.
    gains: Floats
    trees: tuple[Node, ...]  # ``trees[k]`` is such a tree


def solve(holds: NDArray[np.bool_], sums: Sums, limits: Limits) -> ReferenceSolution:
    """Find the tree with the greatest gain for every number of splits, by trying all trees."""
    memo: dict[tuple[bytes, int, int], tuple[float, Node]] = {}

    def allowed(rows: Rows) -> bool:
        # No row at all is no leaf, whatever the limits say.
        return bool(rows.any()) and all(
            sums.counts[name][rows].sum() >= least for name, least in limits.least.items()
        )

    def search(rows: Rows, depth: int, budget: int) -> tuple[float, Node]:
        budget = min(budget, 2**depth - 1)
        depth = min(depth, budget)
        key = rows.tobytes(), depth, budget
        if key not in memo:
            memo[key] = evaluate(rows, depth, budget)
        return memo[key]

    def evaluate(rows: Rows, depth: int, budget: int) -> tuple[float, Node]:
        best = float(sums.objective.gain(sums.values[:, rows].sum(axis=1))), Node()
        if budget == 0:
            return best
        for cut in range(holds.shape[1]):
            left, right = rows & ~holds[:, cut], rows & holds[:, cut]
            # Every leaf below a side is a subset of that side: where the side breaks a limit, so
            # do all trees on it.
            if not (allowed(left) and allowed(right)):
                continue
            for budget_right in range(budget):
                gain_left, tree_left = search(left, depth - 1, budget - budget_right - 1)
                gain_right, tree_right = search(right, depth - 1, budget_right)
                if gain_left + gain_right > best[0]:
                    best = gain_left + gain_right, Node(cut, tree_left, tree_right)
        return best

    most_splits = 2**limits.max_depth - 1
    if limits.max_splits is not None:
        most_splits = min(most_splits, limits.max_splits)
    everything = np.ones(len(holds), dtype=np.bool_)
    best_trees = [search(everything, limits.max_depth, budget) for budget in range(most_splits + 1)]
    return ReferenceSolution(
        np.array([value for value, _ in best_trees]), tuple(t for _, t in best_trees)
    )
