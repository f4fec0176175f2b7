"""The best subtree of every size: a tree with some of its questions left out from below."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.solver.problem import TreeTopology

# Numbers of splits by node and size that are held at once, when leaves of all sizes are added up.
_MOST_HELD = 2**24


def best_subtrees(
    topology: TreeTopology, node_gains: Floats
) -> tuple[Floats, tuple[TreeTopology, ...]]:
    """Return the largest gain with exactly 0, 1, 2, ... splits of a tree, and the subtrees."""
    pruning = Pruning(topology, node_gains)
    subtrees = tuple(Subtree(pruning, splits) for splits in range(pruning.gains.size))
    return pruning.gains.copy(), subtrees


class Subtree(TreeTopology):
    """A tree of whose nodes each is one of a larger tree; its arrays are made when asked for."""

    pruning: Pruning  # the larger tree, and what is left of it
    splits: int  # the number of splits

    def __init__(self, pruning: Pruning, splits: int) -> None:
        # Of each size there is one best subtree of the larger tree.
        known = {"whole": pruning.whole, "key": (pruning.key, splits)}
        self.__dict__.update(pruning=pruning, splits=splits, **known)

    @cached_property
    def _below(self) -> NDArray[np.int32]:
        return self.pruning.splits_below(self.splits, self.splits + 1)[:, 0]

    @cached_property
    def nodes(self) -> NDArray[np.intp]:
        """Which node of the larger tree each node is; children come after their parents in both."""
        return np.flatnonzero(self._below >= 0)

    @cached_property
    def cut(self) -> NDArray[np.int32]:
        """The cut of each node, -1 for a leaf."""
        return self._of_splits(self.whole.cut)

    @cached_property
    def left(self) -> NDArray[np.int32]:
        """The left child of each node, -1 for a leaf."""
        return self._of_splits(self._index(self.whole.left))

    @cached_property
    def right(self) -> NDArray[np.int32]:
        """The right child of each node, -1 for a leaf."""
        return self._of_splits(self._index(self.whole.right))

    def _of_splits(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(self._below > 0, values, -1)[self.nodes].astype(np.int32)

    def _index(self, child: NDArray[np.int32]) -> NDArray[np.int32]:
        return (np.cumsum(self._below >= 0, dtype=np.int32) - 1)[child]


class Pruning:
    """The best subtree of a tree with exactly 0, 1, 2, ... splits."""

    def __init__(self, topology: TreeTopology, node_gains: Floats) -> None:
        self.whole, self.key = topology, topology.key
        self._left, self._right = topology.left.tolist(), topology.right.tolist()
        # For each number of splits below a node: how many of them are on its left.
        self._on_left: dict[int, NDArray[np.int32]] = {}
        gains = [np.array([gain]) for gain in node_gains.tolist()]
        for node in reversed(range(len(gains))):  # children come after their parents
            if self._left[node] >= 0:
                no, yes = gains[self._left[node]], gains[self._right[node]]
                best, self._on_left[node] = _share_splits(no, yes)
                gains[node] = np.concatenate([gains[node], best])
        self.gains = gains[0]

    def of(self, topology: TreeTopology) -> Pruning:
        """Return the same of a tree that differs in the numbers of its cuts only."""
        other = copy(self)
        other.whole, other.key = topology, topology.key
        return other

    def splits_below(self, first: int, last: int) -> NDArray[np.int32]:
        """Return the splits below each node in each subtree of these sizes, -1 if cut off."""
        below = np.full((len(self._left), last - first), -1, dtype=np.int32)
        below[0] = np.arange(first, last)
        for node, on_left in reversed(self._on_left.items()):
            here = below[node]
            is_split = here > 0
            if not is_split.any():
                continue
            left = on_left[np.maximum(here, 1) - 1]
            below[self._left[node]] = np.where(is_split, left, -1)
            below[self._right[node]] = np.where(is_split, here - 1 - left, -1)
        return below

    def sum_leaves(self, values: Floats) -> Floats:
        """Return the sum of a value over the leaves of each subtree."""
        n_sizes, step = self.gains.size, max(1, _MOST_HELD // values.size)
        sums = np.empty(n_sizes)
        for first in range(0, n_sizes, step):
            last = min(first + step, n_sizes)
            is_leaf = np.ascontiguousarray((self.splits_below(first, last) == 0).T)
            sums[first:last] = [values[leaves].sum() for leaves in is_leaf]
        return sums


def _share_splits(no: Floats, yes: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return the best gains with 1, 2, ... splits, one of them between two sides.

    And how many splits are on the left of it: of several numbers that are as good, the largest.
    """
    if no.size == yes.size == 1:
        return no + yes, np.zeros(1, dtype=np.int32)
    gains = np.full(no.size + yes.size - 1, -np.inf)
    on_left = np.zeros(gains.size, dtype=np.int32)
    if no.size <= yes.size:
        for left, gain in enumerate(no.tolist()):
            joined, part = gain + yes, slice(left, left + yes.size)
            better = joined >= gains[part]
            gains[part][better] = joined[better]
            on_left[part][better] = left
    else:
        every = np.arange(no.size, dtype=np.int32)
        for right, gain in enumerate(yes.tolist()):
            joined, part = no + gain, slice(right, right + no.size)
            better = joined > gains[part]
            gains[part][better] = joined[better]
            on_left[part][better] = every[better]
    return gains, on_left
