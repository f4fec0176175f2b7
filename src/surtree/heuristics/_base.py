"""What heuristic trees have in common: how they read rows, and their loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.estimators.base import TreeEstimator
from surtree.estimators.parameters import require_parameters
from surtree.fitting.training import TrainingData, read_training_data
from surtree.solver.problem import TreeTopology
from surtree.tree.tree import Tree


@dataclass(eq=False, repr=False)
class HeuristicTree(TreeEstimator):
    """The base class of heuristic trees."""

    loss_: float = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
    ) -> Self:
        """Fit a tree.

        Parameters
        ----------
        X, y, sample_weight, entry
            As in `SurTree.fit`.
        """
        require_parameters(self)
        self.tree_ = self._grow(read_training_data(self, RowInputs(X, y, sample_weight, entry)))
        self.loss_ = self.tree_.total_loss
        return self

    @abstractmethod
    def _grow(self, rows: TrainingData) -> Tree:
        """Return the tree of some rows, and remember what else is known of it."""


Nodes = NDArray[np.intp]

# Links whose strengths differ by less than this part of the root's loss are equally weak.
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Pruning:
    """A pruned tree: some of its nodes have become leaves."""

    alpha: float  # the least that a split must be worth for this to be the best pruning
    nodes: Nodes  # the nodes of the whole tree that are left, in preorder
    left: NDArray[np.int32]  # positions in ``nodes`` of their children, -1 for a leaf
    right: NDArray[np.int32]

    @property
    def n_splits(self) -> int:
        """The number of nodes that still ask a question."""
        return int(np.count_nonzero(self.left >= 0))

    def topology(self, whole: TreeTopology) -> TreeTopology:
        cut = np.where(self.left >= 0, whole.cut[self.nodes], -1).astype(np.int32)
        return TreeTopology(cut, self.left, self.right)

    def tree(self, whole: Tree) -> Tree:
        """Return the pruned tree; at-risk counts of leaves are not kept."""
        is_split = self.left >= 0
        used, position = np.unique(whole.cut[self.nodes][is_split], return_inverse=True)
        cut = np.full(self.nodes.size, -1, dtype=np.int32)
        cut[is_split] = position
        kept = {
            name: getattr(whole, name)[self.nodes]
            for name in ("n_samples", "n_events", "weight", "sums", "loss")
        }
        return replace(
            whole,
            **kept,
            column=np.where(is_split, whole.column[self.nodes], -1).astype(np.int32),
            cut=cut,
            left=self.left,
            right=self.right,
            cuts=tuple(whole.cuts[number] for number in used),
            risk=(),
        )


def prunings(left: NDArray[np.int32], right: NDArray[np.int32], loss: Floats) -> list[Pruning]:
    """Return the best prunings of a tree for every price of a split, the whole tree first.

    For a price ``alpha`` the best pruning minimises ``loss + alpha * splits``, and of those it is
    the smallest. As alpha grows they are nested, so the next one is found by cutting the weakest
    link: the split whose whole subtree brings the least for each of its splits.
    """
    is_split = left >= 0
    tolerance = _TOLERANCE * max(float(loss[0]), 1e-300)
    alpha = 0.0
    nested: list[Pruning] = []
    strength = _strength(left, right, is_split, loss)
    while True:
        while is_split.any() and strength[is_split].min() <= alpha + tolerance:
            is_split = _without_orphans(left, right, is_split & ~(strength <= alpha + tolerance))
            strength = _strength(left, right, is_split, loss)
        nested.append(_pruning(alpha, left, right, is_split))
        if not is_split.any():
            return nested
        alpha = float(strength[is_split].min())


def best_pruning(nested: list[Pruning], alpha: float) -> Pruning:
    """Return the pruning that is best when a split must be worth ``alpha``."""
    return max((one for one in nested if one.alpha <= alpha), key=lambda one: one.alpha)


def _strength(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    is_split: NDArray[np.bool_],
    loss: Floats,
) -> Floats:
    """Return by how much each split of its subtree reduces the loss of a node, on average."""
    below = loss.copy()
    splits = np.zeros(loss.size)
    # In preorder children come after their parent, so backwards they are complete before it.
    for node in np.flatnonzero(is_split)[::-1]:
        below[node] = below[left[node]] + below[right[node]]
        splits[node] = 1 + splits[left[node]] + splits[right[node]]
    strength = np.full(loss.size, np.inf)
    strength[is_split] = (loss - below)[is_split] / splits[is_split]
    return strength


def _without_orphans(
    left: NDArray[np.int32], right: NDArray[np.int32], is_split: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which nodes still ask a question: those that a row can still reach."""
    kept = np.zeros_like(is_split)
    for node in _reached(left, right, is_split):
        kept[node] = is_split[node]
    return kept


def _reached(
    left: NDArray[np.int32], right: NDArray[np.int32], is_split: NDArray[np.bool_]
) -> Iterator[int]:
    """Yield the nodes that rows can reach, in preorder."""
    pending = [0]
    while pending:
        node = pending.pop()
        yield node
        if is_split[node]:
            pending += [int(right[node]), int(left[node])]


def _pruning(
    alpha: float,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    is_split: NDArray[np.bool_],
) -> Pruning:
    nodes = np.fromiter(_reached(left, right, is_split), dtype=np.intp)
    index = np.full(left.size, -1, dtype=np.int32)
    index[nodes] = np.arange(nodes.size)
    # Children of a node that became a leaf are dropped.
    children = (np.where(is_split[nodes], index[side[nodes]], -1) for side in (left, right))
    return Pruning(alpha, nodes, *(side.astype(np.int32) for side in children))
