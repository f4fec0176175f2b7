"""The specification: a slow, exhaustive solver that follows the paper's recurrence word by word.

Everything faster is compared with this. A row set is a boolean mask, a cut is a column of a boolean
matrix, and every tree within the limits is considered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats

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
        """Rows of each leaf, from left to right.

        Parameters
        ----------
        holds : array of bool, shape (n_rows, n_cuts)
            Whether each cut holds for each row.

        Returns
        -------
        list of array of bool, shape (n_rows,)
        """
        return self._leaves(holds, np.ones(len(holds), dtype=np.bool_))

    def _leaves(self, holds: NDArray[np.bool_], rows: Rows) -> list[Rows]:
        if self.left is None or self.right is None:
            return [rows]
        right = holds[:, self.cut]
        return self.left._leaves(holds, rows & ~right) + self.right._leaves(holds, rows & right)


@dataclass(frozen=True)
class ReferenceSolution:
    """The best tree for every number of splits.

    Attributes
    ----------
    gains : array of float, shape (n_budgets,)
        ``gains[k]`` is the greatest sum of :func:`gain` over the leaves of a tree with at most
        ``k`` splits.
    trees : tuple of Node
        ``trees[k]`` is such a tree.
    """

    gains: Floats
    trees: tuple[Node, ...]


def gain(events: float, hazard: float) -> float:
    """Part of a leaf's loss that depends on the tree, with the sign turned: ``E * log(E / H)``.

    Parameters
    ----------
    events, hazard : float
        Sums over the rows of the leaf. A leaf without events has gain zero, which is the limit.

    Examples
    --------
    >>> gain(0.0, 3.0)
    0.0
    >>> round(gain(2.0, 1.0), 6)
    1.386294
    """
    return events * math.log(events / hazard) if events > 0 else 0.0


def solve(
    holds: NDArray[np.bool_],
    events: Floats,
    hazard: Floats,
    is_event: NDArray[np.bool_],
    max_depth: int,
    max_splits: int | None = None,
    min_samples_leaf: int = 1,
    min_events_leaf: int = 0,
) -> ReferenceSolution:
    """Find the tree with the greatest gain for every number of splits, by trying all trees.

    Parameters
    ----------
    holds : array of bool, shape (n_rows, n_cuts)
        Whether each cut holds for each row.
    events, hazard : array of float, shape (n_rows,)
        Weight times event indicator, and weight times cumulative hazard.
    is_event : array of bool, shape (n_rows,)
        Whether the row has an event; counted for ``min_events_leaf``.
    max_depth : int
        Greatest number of splits on any way from the root to a leaf.
    max_splits : int, optional
        Greatest number of splits in the tree; by default as many as the depth allows.
    min_samples_leaf, min_events_leaf : int
        Fewest rows, and fewest rows with an event, in each leaf of a tree that has a split. The
        tree without a split is always allowed.

    Returns
    -------
    ReferenceSolution
        With an entry for each number of splits from zero to the limit.

    Examples
    --------
    >>> holds = np.array([[False], [False], [True], [True]])
    >>> events = np.array([0.0, 1.0, 1.0, 1.0])
    >>> hazard = np.array([1.0, 1.0, 0.25, 0.25])
    >>> solution = solve(holds, events, hazard, events > 0, max_depth=1)
    >>> solution.gains.round(4)
    array([0.547 , 2.0794])
    >>> solution.trees[1].cut
    0
    """
    memo: dict[tuple[bytes, int, int], tuple[float, Node]] = {}

    def allowed(rows: Rows) -> bool:
        # No row at all is no leaf, whatever the limits say.
        n_rows, n_events = int(rows.sum()), int(is_event[rows].sum())
        return n_rows >= max(1, min_samples_leaf) and n_events >= min_events_leaf

    def search(rows: Rows, depth: int, budget: int) -> tuple[float, Node]:
        budget = min(budget, 2**depth - 1)
        depth = min(depth, budget)
        key = rows.tobytes(), depth, budget
        if key not in memo:
            memo[key] = evaluate(rows, depth, budget)
        return memo[key]

    def evaluate(rows: Rows, depth: int, budget: int) -> tuple[float, Node]:
        best = gain(float(events[rows].sum()), float(hazard[rows].sum())), Node()
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

    most_splits = 2**max_depth - 1
    if max_splits is not None:
        most_splits = min(most_splits, max_splits)
    everything = np.ones(len(holds), dtype=np.bool_)
    found = [search(everything, max_depth, budget) for budget in range(most_splits + 1)]
    return ReferenceSolution(np.array([value for value, _ in found]), tuple(t for _, t in found))
