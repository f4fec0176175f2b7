"""Whether the parts of a tree that was read from a file fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surtree.statistics import round_times

if TYPE_CHECKING:
    from surtree.tree import Tree

_NODE_FIELDS = (
    "column", "cut", "left", "right", "theta", "n_samples", "n_events", "weight", "events",
    "hazard", "loss",
)  # fmt: skip


def require_sound(tree: Tree) -> None:
    """Raise an error where applying a tree would fail, never end, or contradict itself.

    Parameters
    ----------
    tree : Tree
        The tree.
    """
    for holds, fault in (
        (_equally_long, "its fields are not equally long"),
        (_finite, "its numbers are not finite"),
        (_is_tree, "its nodes do not form a tree"),
        (_asks_what_is_there, "its questions are not all there"),
        (_adds_up, "the rows of its nodes do not add up"),
        (_has_curve, "its baseline is not a curve"),
        (_counts_risk, "its risk counts are not those of its leaves"),
    ):
        if not holds(tree):
            raise ValueError(f"This is not a whole tree: {fault}.")


def _equally_long(tree: Tree) -> bool:
    shapes = {getattr(tree, name).shape for name in _NODE_FIELDS}
    return len(shapes) == 1 and tree.column.ndim == 1 and tree.column.size > 0


def _finite(tree: Tree) -> bool:
    return all(bool(np.isfinite(getattr(tree, name)).all()) for name in _NODE_FIELDS)


def _is_tree(tree: Tree) -> bool:
    """Tell whether nodes are in preorder: then every node but the root has one parent above it."""
    pending = [0]
    for node in range(tree.n_nodes):
        if not pending or pending.pop() != node:
            return False
        children = int(tree.left[node]), int(tree.right[node])
        if children != (-1, -1):
            pending += reversed(children)
    return not pending


def _asks_what_is_there(tree: Tree) -> bool:
    inner = ~tree.is_leaf
    cut, column = tree.cut[inner], tree.column[inner]
    if (tree.cut[~inner] != -1).any() or (tree.column[~inner] != -1).any():
        return False
    if ((cut < 0) | (cut >= len(tree.cuts))).any():
        return False
    return bool(np.array_equal([tree.cuts[place].column for place in cut], column))


def _adds_up(tree: Tree) -> bool:
    inner = np.flatnonzero(~tree.is_leaf)
    return all(
        np.array_equal(count[inner], count[tree.left[inner]] + count[tree.right[inner]])
        for count in (tree.n_samples, tree.n_events)
    )


def _has_curve(tree: Tree) -> bool:
    times, hazard = tree.baseline.times, tree.baseline.cumulative_hazard
    return (
        times.ndim == 1
        and times.size > 0
        and times.shape == hazard.shape
        and bool(np.isfinite(hazard).all())
        and bool((np.diff(times) > 0).all())
        and bool((np.diff(hazard) >= 0).all())
    )


def _counts_risk(tree: Tree) -> bool:
    if not tree.risk:
        return True
    n_times = tree.baseline.times.size
    n_round = round_times(float(tree.baseline.times[-1])).size
    return len(tree.risk) == tree.n_leaves and all(
        counts.step.shape == counts.at_risk.shape == counts.deaths.shape
        and counts.round_at_risk.shape == (n_round,)
        and bool((counts.step < n_times).all())
        and bool((counts.at_risk > 0).all())
        for counts in tree.risk
    )
