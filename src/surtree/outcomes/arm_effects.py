"""Effects of arms: hazard ratios of a trial in the leaves of a tree, with their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.target import Label
from surtree.outcomes._group import sum_of
from surtree.survival import cox_groups
from surtree.survival.aalen_johansen import CauseCounts
from surtree.survival.confidence import LEVEL, log_log_band, require_level
from surtree.survival.cox_groups import GroupCounts, needed_prior
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.restricted_mean import one_cause
from surtree.survival.treatment import ArmHazards
from surtree.tree.arms import Arms
from surtree.tree.leaf_curve import (
    LeafCurve,
    curve_from,
    curve_kind,
    is_product_limit,
    leaf_position,
)
from surtree.tree.tree import Tree
from surtree.tree.validate import are_possible_counts, close
from surtree.words.quoting import printable


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
    name : str
        What the leaf is called in prints: A, B, ...

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
    name: str

    @property
    def contrast(self) -> str:
        """The two arms as people read them."""
        return f"{printable(str(self.arm))} over {printable(str(self.reference))}"

    def __str__(self) -> str:
        lower, upper = self.limits
        return (
            f"leaf {self.name}: {self.contrast}, hazard ratio {self.ratio:.3g} "
            f"({lower:.3g} to {upper:.3g}), {self.n_events[0]} and {self.n_events[1]} events in "
            f"{self.n_samples[0]} and {self.n_samples[1]} rows"
        )


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
            tree.leaf_names[leaf],
        )
        for arm in range(1, arms.n_arms)
    )


def ratio_text(ratio: float) -> str:
    return f"{ratio:.3g}" if np.isfinite(ratio) else "unknown"


def arm_counts(
    tree: Tree, leaf: int, arm: int, kind: LeafCurveKind = "kaplan-meier"
) -> EventCounts:
    """Return what is at risk and what dies in an arm of a leaf, at each time of the baseline."""
    counts = arms_of(tree).risk[leaf_position(tree, leaf)][arm]
    at_events = counts.at_events(tree.event_times.size)
    prior = tree.objective.shrinkage
    if kind == "shrunk" and prior > 0:
        return at_events.shrunk(prior, tree.share_at_risk, tree.baseline.hazard)
    return at_events


def counts_of_arm(tree: Tree, leaves: Sequence[int], arm: int) -> tuple[CauseCounts, float]:
    """Return the counts of an arm in some leaves together, and its last follow-up."""
    parts = [arm_counts(tree, leaf, arm) for leaf in leaves]
    risk = (arms_of(tree).risk[leaf_position(tree, leaf)][arm] for leaf in leaves)
    together = EventCounts(sum_of(p.at_risk for p in parts), sum_of(p.deaths for p in parts))
    return one_cause(together), max(counts.last_time for counts in risk)


def arm_band(tree: Tree, leaf: int, arm: int, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the limits of the Kaplan-Meier curve of an arm of a leaf, at the baseline's times."""
    counts = arm_counts(tree, leaf, arm)
    band = log_log_band(counts, level)
    for limit in band:
        limit[counts.at_risk == 0] = np.nan
    return band


def arm_risks(tree: Tree, effects: Floats | None = None) -> Floats:
    """Return the hazard of each arm relative to the baseline, of shape (n_arms, n_nodes)."""
    effects = tree._arm_ratios if effects is None else effects
    hazard = tree.sums[:, 1::2].T
    adjusted = (effects * hazard).sum(axis=0)
    return np.asarray(effects * tree.theta * hazard.sum(axis=0) / adjusted)


def leaf_arm_curve(
    tree: Tree,
    leaf: int,
    arm: int,
    effects: Floats | None = None,
    kind: LeafCurveKind | None = None,
) -> LeafCurve:
    """Return the curve of an arm of a leaf.

    With effects that are given, and of the kind "breslow", all arms of the leaf share a baseline,
    that of its own rows (Breslow's estimate); of the kind "baseline", that of all rows.
    """
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        hazard = float(arm_risks(tree, effects)[arm, leaf]) * tree.baseline.cumulative_hazard
    elif effects is None and is_product_limit(kind):
        of_arm = arm_counts(tree, leaf, arm, kind)
        return curve_from(tree, leaf, of_arm.survival, np.cumsum(of_arm.hazard))
    else:
        ratios = (tree._arm_ratios if effects is None else effects)[:, leaf]
        counts = [arm_counts(tree, leaf, one, kind) for one in range(ratios.size)]
        at_risk = ratios @ np.stack([one.at_risk for one in counts])
        deaths = np.sum([one.deaths for one in counts], axis=0)
        steps = np.divide(deaths, at_risk, out=np.zeros_like(deaths), where=at_risk > 0)
        hazard = float(ratios[arm]) * np.cumsum(steps)
    return curve_from(tree, leaf, np.exp(-hazard), hazard)


def has_possible_arms(tree: Tree) -> bool:
    """Tell whether arms add up to the nodes, and their curves to those of the leaves."""
    arms = arms_of(tree)
    shape = (tree.n_nodes, len(arms.labels))
    if (
        not isinstance(tree.objective, ArmHazards)
        or tree.objective.n_channels != len(arms.labels)
        or not arms.n_samples.shape == arms.n_events.shape == shape
        or [len(leaf) for leaf in arms.risk] != [len(arms.labels)] * tree.n_leaves
    ):
        return False
    events = tree.sums[:, 0::2]
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.left[inner], tree.right[inner]
    return (
        all(
            np.array_equal(counts[inner], counts[left] + counts[right])
            for counts in (arms.n_samples, arms.n_events)
        )
        and np.array_equal(arms.n_samples.sum(axis=1), tree.n_samples)
        and np.array_equal(arms.n_events.sum(axis=1), tree.n_events)
        and bool((arms.n_events <= arms.n_samples).all())
        and np.array_equal(arms.n_events > 0, events > 0)
        and all(
            are_possible_counts(counts, tree, int(leaf))
            and close(counts.deaths.sum(dtype=np.float64), events[leaf, arm])
            and bool((np.diff(counts.censored) > 0).all())
            and counts.last_time <= tree.last_time
            for by_arm, leaf in zip(arms.risk, tree.leaves, strict=True)
            for arm, counts in enumerate(by_arm)
        )
    )
