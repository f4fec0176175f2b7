"""What holds for the rows of a leaf, without what later questions imply."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from surtree.tree.tree import Tree


def needed_steps(tree: Tree) -> dict[int, list[tuple[int, int]]]:
    """Return the steps to each leaf that tell its rows, as pairs of a node and its child."""
    paths = tree.paths()
    return {leaf: _needed(tree, paths[leaf]) for leaf in tree.leaves.tolist()}


def _needed(tree: Tree, path: tuple[int, ...]) -> list[tuple[int, int]]:
    steps: dict[Any, tuple[int, int]] = {}
    for node, child in pairwise(path):
        cut, right = tree.worded_cuts[node], child == tree.right[node]
        if cut.threshold is None:
            steps[child] = (node, child)
            continue
        # The last threshold on the same side of a column is the tightest: it implies earlier ones
        # that treat missing values alike, or all of them if no such value arrives here.
        if cut.missing is None:
            for missing in (False, True):
                steps.pop((cut.column, missing, right), None)
        steps[cut.column, cut.missing, right] = (node, child)
    return list(steps.values())
