"""The arms of a trial in the nodes of a tree: rows, events, and hazard ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import ArrayValue, Floats
from surtree.data.arms import ArmTarget, Label
from surtree.survival import cox_groups
from surtree.survival.baseline import Baseline
from surtree.survival.confidence import LEVEL, log_log_band, require_level
from surtree.survival.cox_groups import GroupCounts, needed_prior
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.treatment import ArmHazards
from surtree.tree.at_risk import AtRiskCounts, leaf_at_risk
from surtree.tree.leaf_curve import leaf_position
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


@dataclass(frozen=True)
class LeafEffect:
    """The effect of an arm in a leaf: its hazard over that of the reference arm.

    It is the hazard ratio of a Cox model of the arms, of the rows of the leaf alone.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    arm, reference : str, number or bool
        The labels of the two arms.
    ratio : float
        The hazard ratio; below one the arm does better than the reference. Where it would be zero
        or infinite, as that of an arm without events, each arm counts half an event more. Not a
        number where neither arm has an event.
    limits : tuple of two floats
        Its confidence limits; zero or infinity where there is none. They do not know that the leaf
        was searched for.
    n_samples, n_events : tuple of two ints
        The rows of the arm and of the reference, and those of them with an event.

    Examples
    --------
    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> effect = EffectTree(max_depth=1).fit(X, y, aid).effects_[0]
    >>> effect.arm, effect.reference, round(effect.ratio, 2)
    ('yes', 'no', 0.86)
    """

    leaf: int
    arm: Label
    reference: Label
    ratio: float
    limits: tuple[float, float]
    n_samples: tuple[int, int]
    n_events: tuple[int, int]

    @property
    def contrast(self) -> str:
        """The two arms as people read them."""
        return f"{printable(str(self.arm))} over {printable(str(self.reference))}"

    def __str__(self) -> str:
        lower, upper = self.limits
        return (
            f"leaf {self.leaf}: {self.contrast}, hazard ratio {self.ratio:.3g} "
            f"({lower:.3g} to {upper:.3g}), {self.n_events[0]} and {self.n_events[1]} events in "
            f"{self.n_samples[0]} and {self.n_samples[1]} rows"
        )


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


def arms_of(tree: Tree) -> Arms:
    """Return the arms of a tree, or raise an error where it has none."""
    if tree.arms is None:
        raise ValueError(
            "This tree keeps nothing of arms: of all the sizes on the path of an EffectTree, only "
            "the chosen tree does."
        )
    return tree.arms


def theta_ratios(tree: Tree) -> Floats:
    """Return the theta of each arm but the first over that of the first, (n_arms - 1, n_nodes).

    They need no at-risk counts, and are nearer to one than hazard ratios.
    """
    objective = tree.objective
    if not isinstance(objective, ArmHazards):
        raise ValueError("This tree has one hazard for all arms: an EffectTree has several.")
    theta = tree.prediction[: objective.n_channels]
    return np.asarray(theta[1:] / theta[0])


def hazard_ratios(tree: Tree) -> Floats:
    """Return the hazard ratio of each arm but the first over the first, (n_arms - 1, n_nodes).

    They are those of a Cox model of the arms in the rows of each node, ties after Breslow. With
    shrinkage, each arm has a prior worth so many events, which draws arms together.
    """
    return tree._arm_ratios[1:]


def arm_ratios(tree: Tree) -> Floats:
    """Return the same with the first arm, whose ratio is one."""
    prior = tree.objective.shrinkage
    return np.stack([_ratios(counts, prior) for counts in _node_counts(tree)], axis=1)


def _ratios(counts: GroupCounts, shrinkage: float) -> Floats:
    return cox_groups.hazard_ratios(counts, prior=needed_prior(counts, shrinkage))


def _node_counts(tree: Tree) -> list[GroupCounts]:
    """Return what is at risk and what dies in the arms of each node."""
    counts: list[GroupCounts] = [_leaf_counts(tree, int(tree.leaves[0]))] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):  # in preorder, children come after their parents
        if tree.is_leaf[node]:
            counts[node] = _leaf_counts(tree, node)
        else:
            left, right = counts[tree.left[node]], counts[tree.right[node]]
            counts[node] = GroupCounts(left.at_risk + right.at_risk, left.deaths + right.deaths)
    return counts


def _leaf_counts(tree: Tree, leaf: int) -> GroupCounts:
    """Return what is at risk and what dies in the arms of a leaf."""
    counts = [arm_counts(tree, leaf, arm) for arm in range(arms_of(tree).n_arms)]
    return GroupCounts(
        np.stack([one.at_risk for one in counts]), np.stack([one.deaths for one in counts])
    )


def leaf_effects(tree: Tree, level: float = LEVEL) -> tuple[LeafEffect, ...]:
    """Return the effect of each arm but the reference, in each leaf.

    Limits are those of the profile of the partial likelihood. Weights count as repeated rows.
    """
    return tuple(
        effect for leaf in tree.leaves.tolist() for effect in effects_of_leaf(tree, leaf, level)
    )


def effects_of_leaf(tree: Tree, leaf: int, level: float = LEVEL) -> tuple[LeafEffect, ...]:
    """Return the effect of each arm but the reference in one leaf."""
    require_level(level)
    arms, counts, prior = arms_of(tree), _leaf_counts(tree, leaf), tree.objective.shrinkage
    ratios = _ratios(counts, prior)
    return tuple(
        LeafEffect(
            leaf,
            arms.labels[arm],
            arms.labels[0],
            float(ratios[arm]) if arms.n_events[leaf, [0, arm]].any() else float("nan"),
            cox_groups.ratio_limits(counts, arm, level=level, prior=prior),
            (int(arms.n_samples[leaf, arm]), int(arms.n_samples[leaf, 0])),
            (int(arms.n_events[leaf, arm]), int(arms.n_events[leaf, 0])),
        )
        for arm in range(1, arms.n_arms)
    )


def arm_headings(arms: Arms, level: float = LEVEL) -> tuple[str, ...]:
    """Return the headings of what `arm_cells` says of a leaf."""
    reference, *others = arms.names
    ratios = ((f"{name} over {reference}", f"{100 * level:g}% interval") for name in others)
    return (f"events {', '.join(arms.names)}", *(text for pair in ratios for text in pair))


def arm_cells(tree: Tree, leaf: int, level: float = LEVEL) -> tuple[str, ...]:
    """Return the events of each arm of a leaf, and hazard ratios with limits, as texts."""
    events = ", ".join(map(str, arms_of(tree).n_events[leaf].tolist()))
    return (
        events,
        *(
            text
            for effect in effects_of_leaf(tree, leaf, level)
            for text in (ratio_text(effect.ratio), interval_text(effect.limits))
        ),
    )


def effect_texts(tree: Tree, leaf: int, style: str = ".3g") -> list[str]:
    """Return the hazard ratios of a leaf in words; none where the tree has no arms."""
    if tree.arms is None:
        return []
    return [
        f"{effect.contrast}: "
        f"{format(effect.ratio, style) if np.isfinite(effect.ratio) else 'unknown'}"
        for effect in effects_of_leaf(tree, leaf)
    ]


def ratio_text(ratio: float) -> str:
    """Return a hazard ratio as text."""
    return f"{ratio:.3g}" if np.isfinite(ratio) else "unknown"


def interval_text(limits: tuple[float, float]) -> str:
    """Return the limits of a hazard ratio as text."""
    lower, upper = limits
    if not np.isfinite(upper):
        return f"above {lower:.3g}" if lower > 0 else "unknown"
    return f"{lower:.3g} to {upper:.3g}"


def arm_counts(
    tree: Tree, leaf: int, arm: int, kind: LeafCurveKind = "kaplan-meier"
) -> EventCounts:
    """Return what is at risk and what dies in an arm of a leaf, at each time of the baseline."""
    counts = arms_of(tree).risk[leaf_position(tree, leaf)][arm]
    own = counts.at_events(tree.baseline.times.size)
    prior = tree.objective.shrinkage
    if kind == "shrunk" and prior > 0:
        return own.shrunk(prior, tree.share_at_risk, tree.baseline.hazard)
    return own


def arm_band(tree: Tree, leaf: int, arm: int, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the limits of the Kaplan-Meier curve of an arm of a leaf, at the baseline's times."""
    counts = arm_counts(tree, leaf, arm)
    band = log_log_band(counts, level)
    for limit in band:
        limit[counts.at_risk == 0] = np.nan
    return band


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
