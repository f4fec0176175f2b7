"""The arms of a trial in the nodes of a tree: rows, events, and hazard ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import ArrayValue
from surtree.data.arms import ArmTarget, Label
from surtree.survival.baseline import Baseline
from surtree.tree.at_risk import AtRiskCounts, leaf_at_risk
from surtree.words.quoting import printable

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Arms(ArrayValue):
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
    target: ArmTarget,
    weight: Terms,
    baseline: Baseline,
    labels: tuple[Label, ...],
) -> Arms:
    """Count the rows and events of each arm in each node, and over time in each leaf."""
    n_arms = len(labels)
    cell = leaf_of_row.astype(np.intp) * n_arms + target.arm
    size = tree.n_nodes * n_arms
    rows, events = (
        np.bincount(cell[chosen], minlength=size).reshape(-1, n_arms).astype(np.int32)
        for chosen in (slice(None), target.event)
    )
    # In preorder, children come after their parents.
    for node in reversed(np.flatnonzero(~tree.is_leaf).tolist()):
        for counts in (rows, events):
            counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
    # Each arm of a leaf is counted as if it were a leaf.
    place = np.searchsorted(tree.leaves, leaf_of_row) * n_arms + target.arm
    apart = np.full(tree.n_leaves * n_arms, -1, dtype=np.int32)
    counts_ = leaf_at_risk(place.astype(np.int32), apart, target, weight, baseline)
    risk = tuple(counts_[first : first + n_arms] for first in range(0, len(counts_), n_arms))
    return Arms(labels, rows, events, risk)


def save_arms(arms: Arms | None, save_counts: Any) -> dict[str, Any]:
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
