"""The survival curve of a leaf, by each kind of estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surtree._types import Floats
from surtree.parameters import LEAF_CURVES, LeafCurveKind
from surtree.survival.kaplan_meier import EventCounts, median_time
from surtree.survival.step_function import StepFunction

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


@dataclass(frozen=True)
class LeafCurve:
    """The curves that a leaf predicts, on the distinct event times of the training rows.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    survival : StepFunction
        The share of rows that have had no event yet.
    cumulative_hazard : StepFunction
        The hazard added up over time.

    Examples
    --------
    >>> from surtree import SurTree, leaf_curves
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> curve = leaf_curves(SurTree(max_depth=1).fit(X, y))[-1]
    >>> curve.leaf, round(curve.survival(365), 3), curve.median
    (2, 0.867, 1059.0)
    """

    leaf: int
    survival: StepFunction
    cumulative_hazard: StepFunction

    @property
    def median(self) -> float:
        """The first time at which survival is at most one half, or infinity."""
        return median_time(self.survival.x, self.survival.y)


def leaf_position(tree: Tree, leaf: int) -> int:
    """Return the position of a leaf among the leaves, or raise an error for any other node."""
    position = int(np.searchsorted(tree.leaves, leaf))
    if position == tree.n_leaves or tree.leaves[position] != leaf:
        raise ValueError(f"Node {leaf} is not a leaf; the leaves are {tree.leaves.tolist()}.")
    return position


def curve_of(tree: Tree, leaf: int, kind: LeafCurveKind | None = None) -> LeafCurve:
    """Return the curve of a leaf.

    Parameters
    ----------
    tree : Tree
        A fitted tree.
    leaf : int
        The number of a leaf's node.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        How it is estimated; by default as the tree predicts, its ``leaf_curve``.
    """
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        cumulative_hazard = tree.objective.cumulative_hazard(tree.sums[leaf], tree.baseline)
        survival = np.exp(-cumulative_hazard)
    else:
        counts = event_counts(tree, leaf, kind)
        survival, cumulative_hazard = counts.survival, np.cumsum(counts.hazard)
    return curve_from(tree, leaf, survival, cumulative_hazard)


def curve_from(tree: Tree, leaf: int, survival: Floats, cumulative_hazard: Floats) -> LeafCurve:
    """Return the curve of a leaf that has these values at the times of the baseline."""
    times, domain = tree.baseline.times, (0.0, tree.baseline.last_time)
    return LeafCurve(
        int(leaf),
        StepFunction(times, survival, 1.0, domain),
        StepFunction(times, cumulative_hazard, 0.0, domain),
    )


def curve_kind(tree: Tree, kind: LeafCurveKind | None) -> LeafCurveKind:
    """Return a kind of curve that was asked for, by default the tree's own.

    Parameters
    ----------
    tree : Tree
        A fitted tree.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        What was asked for; anything else is an error.
    """
    if kind is None:
        return tree.leaf_curve
    if kind not in LEAF_CURVES:
        raise ValueError(f"The kind of leaf curve must be one of {LEAF_CURVES}; got {kind!r}.")
    return kind


def event_counts(tree: Tree, leaf: int, kind: LeafCurveKind) -> EventCounts:
    """Return what is at risk and what dies in a leaf at each time of the baseline.

    Parameters
    ----------
    tree : Tree
        A tree that keeps its at-risk counts.
    leaf : int
        The number of a leaf's node.
    kind : {"kaplan-meier", "shrunk"}
        Its own rows alone, or these with a prior: as many rows as the shrinkage of the objective
        says, which leave as all rows do and die at their rate. The hazard of a leaf with ``d`` of
        ``n`` dying is then ``(d + a s d0 / n0) / (n + a s)``, with ``d0 / n0`` that of all rows
        and ``s`` the share of them that is at risk.
    """
    return _COUNTS[kind](tree, leaf)


def _own_counts(tree: Tree, leaf: int) -> EventCounts:
    position = leaf_position(tree, leaf)
    if not tree.risk:
        raise ValueError(
            "This tree keeps no at-risk counts, so its leaves have no curve of their own: of all "
            "the sizes on a path, only the chosen tree keeps them. Fit again with max_splits set "
            f"to {tree.n_splits} to choose this one, or use the curves of kind 'baseline'."
        )
    return tree.risk[position].at_events(tree.baseline.times.size)


def _shrunk_counts(tree: Tree, leaf: int) -> EventCounts:
    own, prior = _own_counts(tree, leaf), tree.objective.shrinkage
    if prior == 0:
        return own
    if not all(counts.of_all_times for counts in tree.risk):
        raise ValueError(
            "This tree was saved before its leaves kept what is at risk at all event times, so "
            "they have no shrunk curve: fit again, or use the curves of another kind."
        )
    return own.shrunk(prior, tree.share_at_risk, tree.baseline.hazard)


_COUNTS: dict[LeafCurveKind, Callable[[Tree, int], EventCounts]] = {
    "kaplan-meier": _own_counts,
    "shrunk": _shrunk_counts,
}
