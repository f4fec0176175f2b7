"""The arms of a trial in the nodes of a tree: rows, events, and hazard ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import ArrayValue
from surtree.data.target import Label, Target
from surtree.survival.baseline import Baseline
from surtree.tree.at_risk import (
    AtRiskCounts,
    Entering,
    Leaving,
    at_risk_counts,
    count_at_risk,
    read_counts,
    save_counts,
)
from surtree.words.printed import Printed
from surtree.words.quoting import printable

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Arms(Printed, ArrayValue):
    """What a tree keeps of the arms of a trial.

    Parameters
    ----------
    labels : tuple
        What the arms are called; the first is the reference.
    n_samples, n_events : array of int of shape (n_nodes, n_arms)
        The training rows of each node in each arm, and those of them with an event.
    risk : tuple of tuples of AtRiskCounts
        For each leaf, in the order of ``leaves``, one for each arm.

    Examples
    --------
    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> arms = EffectTree(max_depth=1).fit(X, y, aid).tree_.arms
    >>> arms.labels, arms.n_events[0].tolist()
    (('no', 'yes'), [66, 48])
    """

    labels: tuple[Label, ...]
    n_samples: NDArray[np.int32]
    n_events: NDArray[np.int32]
    risk: tuple[tuple[AtRiskCounts, ...], ...]

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels as people read them, each on one line."""
        return tuple(printable(str(label)) for label in self.labels)


def count_arms(
    tree: Tree,
    leaf_of_row: NDArray[np.int32],
    target: Target,
    weight: Terms,
    baseline: Baseline,
    labels: tuple[Label, ...],
) -> Arms:
    """Count the rows and events of each arm in each node, and over time in each leaf."""
    # Each arm of a leaf is counted as if it were a leaf.
    group = np.searchsorted(tree.leaves, leaf_of_row) * len(labels) + target.arm
    entering = None if target.entry is None else Entering(group, target.entry, weight)
    leaving = Leaving(group, target, weight)
    n_groups = tree.n_leaves * len(labels)
    rows, events = (
        np.bincount(group[chosen], minlength=n_groups) for chosen in (slice(None), target.event)
    )
    risk = count_at_risk(n_groups, leaving, entering, baseline)
    return arms_of_leaves(tree, labels, rows, events, risk)


def arms_of_leaves(
    tree: Tree,
    labels: tuple[Label, ...],
    rows: NDArray[Any],
    events: NDArray[Any],
    risk: tuple[AtRiskCounts, ...],
) -> Arms:
    n_arms = len(labels)
    of_nodes = np.zeros((2, tree.n_nodes, n_arms), dtype=np.int32)
    of_nodes[:, tree.leaves] = np.reshape([rows, events], (2, -1, n_arms))
    # In preorder, children come after their parents.
    for node in reversed(np.flatnonzero(~tree.is_leaf).tolist()):
        of_nodes[:, node] = of_nodes[:, tree.left[node]] + of_nodes[:, tree.right[node]]
    leaves = tuple(risk[first : first + n_arms] for first in range(0, len(risk), n_arms))
    return Arms(labels, of_nodes[0], of_nodes[1], leaves)


def save_arms(arms: Arms | None) -> dict[str, Any]:
    """Return the field of a saved tree that holds its arms; none where it has none."""
    if arms is None:
        return {}
    return {
        "arms": {
            "labels": list(arms.labels),
            "n_samples": arms.n_samples.tolist(),
            "n_events": arms.n_events.tolist(),
            "risk": [[save_counts(counts) for counts in leaf] for leaf in arms.risk],
        }
    }


def read_arms(saved: dict[str, Any]) -> Arms:
    n_samples, n_events = (
        np.array(saved[name], dtype=np.int32).reshape(len(saved[name]), -1)
        for name in ("n_samples", "n_events")
    )
    # All at once, as when they are counted: their type is the smallest that holds them all.
    counts = at_risk_counts(read_counts(arm) for leaf in saved["risk"] for arm in leaf)
    n_arms = max(len(saved["labels"]), 1)
    risk = tuple(counts[first : first + n_arms] for first in range(0, len(counts), n_arms))
    return Arms(tuple(saved["labels"]), n_samples, n_events, risk)
