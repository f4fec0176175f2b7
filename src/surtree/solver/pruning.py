"""The best subtree of every size: a tree with some of its questions left out from below."""

from __future__ import annotations

import numpy as np

from surtree._types import Floats
from surtree.solver.problem import TreeTopology

# For each number of splits below a node: the best gain, and how many of them are on its left.
_Best = list[tuple[float, int]]


def best_subtrees(
    topology: TreeTopology, node_gains: Floats
) -> tuple[Floats, tuple[TreeTopology, ...]]:
    """Return the largest gain with exactly 0, 1, 2, ... splits of a tree, and the subtrees.

    Parameters
    ----------
    topology : TreeTopology
        The tree.
    node_gains : array of float
        The gain of each node as a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.solver.problem import TreeTopology
    >>> from surtree.solver.pruning import best_subtrees
    >>> tree = TreeTopology(
    ...     *(np.array(each, dtype=np.int32) for each in ([5, -1, 7, -1, -1], [1, -1, 3, -1, -1],
    ...       [2, -1, 4, -1, -1]))
    ... )
    >>> gains, trees = best_subtrees(tree, np.array([0.0, 1.0, 2.0, 2.0, 3.0]))
    >>> gains.tolist(), trees[1].cut.tolist()
    ([0.0, 3.0, 6.0], [5, -1, -1])
    """
    left, right = topology.left.tolist(), topology.right.tolist()
    best: list[_Best] = [[(float(gain), 0)] for gain in node_gains]
    for node in reversed(range(len(left))):  # children come after their parents
        if left[node] < 0:
            continue
        no, yes = best[left[node]], best[right[node]]
        for splits in range(1, len(no) + len(yes)):
            choices = [
                (no[on_left][0] + yes[splits - 1 - on_left][0], on_left)
                for on_left in range(len(no))
                if 0 <= splits - 1 - on_left < len(yes)
            ]
            best[node].append(max(choices))
    gains = np.array([gain for gain, _ in best[0]])
    return gains, tuple(_subtree(topology, best, splits) for splits in range(len(best[0])))


def _subtree(topology: TreeTopology, best: list[_Best], splits: int) -> TreeTopology:
    cut: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def add(node: int, n_splits: int) -> int:
        place = len(cut)
        for each in (cut, left, right):
            each.append(-1)
        if n_splits:
            on_left = best[node][n_splits][1]
            cut[place] = int(topology.cut[node])
            left[place] = add(int(topology.left[node]), on_left)
            right[place] = add(int(topology.right[node]), n_splits - 1 - on_left)
        return place

    add(0, splits)
    return TreeTopology(*(np.array(each, dtype=np.int32) for each in (cut, left, right)))
