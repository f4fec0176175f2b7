"""The arms of a trial in the nodes of a tree: rows, events, curves, and hazard ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, fdtri, ndtri

from surtree._quoting import printable
from surtree._types import ArrayValue, Floats
from surtree.data.arms import ArmTarget, Label
from surtree.exact import Terms
from surtree.parameters import LeafCurveKind
from surtree.survival.baseline import Baseline
from surtree.survival.confidence import LEVEL, log_log_band, require_level
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.treatment import ArmContrasts, ArmHazards
from surtree.tree.at_risk import AtRiskCounts, leaf_at_risk
from surtree.tree.leaf_curve import LeafCurve, curve_from, curve_kind, leaf_position

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

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    arm, reference : str, number or bool
        The labels of the two arms.
    ratio : float
        The hazard ratio that the tree predicts; below one the arm does better than the reference.
        Not a number where neither arm has an event.
    limits : tuple of two floats
        Its confidence limits. They do not know that the leaf was searched for.
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
    """Count the rows and events of each arm in each node, and over time in each leaf.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaf_of_row, target, weight
        The leaf of each training row, its survival and arm, and its weight.
    baseline : Baseline
        The baseline of all rows.
    labels : tuple
        What the arms are called.
    """
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


def hazard_ratios(tree: Tree) -> Floats:
    """Return the hazard ratio of each arm but the first over the first, (n_arms - 1, n_nodes).

    Parameters
    ----------
    tree : Tree
        The tree of an `EffectTree`. With shrinkage, both hazards are shrunk.
    """
    objective = tree.objective
    if not isinstance(objective, ArmHazards):
        raise ValueError("This tree has one hazard for all arms: an EffectTree has several.")
    theta = tree.prediction[: objective.n_channels]
    return np.asarray(theta[1:] / theta[0])


def leaf_effects(tree: Tree, level: float = LEVEL) -> tuple[LeafEffect, ...]:
    """Return the effect of each arm but the reference, in each leaf.

    Without shrinkage and weights, limits are exact: given the events of both arms together, those
    of one follow a binomial distribution (Clopper and Pearson). With weights they are those of a
    Poisson model's coefficient. With shrinkage they are quantiles of the ratio of two gamma
    distributions, the posteriors of the two hazards.

    Parameters
    ----------
    tree : Tree
        The chosen tree of an `EffectTree`.
    level : float
        The probability that an interval covers the truth, if the leaf had been chosen beforehand.
    """
    require_level(level)
    arms, ratios = arms_of(tree), hazard_ratios(tree)
    return tuple(
        LeafEffect(
            leaf,
            arms.labels[arm],
            arms.labels[0],
            float(ratios[arm - 1, leaf]) if _has_events(arms, leaf, arm) else float("nan"),
            effect_limits(tree, leaf, arm, level),
            (int(arms.n_samples[leaf, arm]), int(arms.n_samples[leaf, 0])),
            (int(arms.n_events[leaf, arm]), int(arms.n_events[leaf, 0])),
        )
        for leaf in tree.leaves.tolist()
        for arm in range(1, arms.n_arms)
    )


def effects_of_leaf(tree: Tree, leaf: int, level: float = LEVEL) -> tuple[LeafEffect, ...]:
    """Return the effect of each arm but the reference in one leaf.

    Parameters
    ----------
    tree, level
        As in `leaf_effects`.
    leaf : int
        The number of a leaf's node.
    """
    return tuple(effect for effect in leaf_effects(tree, level) if effect.leaf == leaf)


def arm_headings(arms: Arms, level: float = LEVEL) -> tuple[str, ...]:
    """Return the headings of what `arm_cells` says of a leaf.

    Parameters
    ----------
    arms : Arms
        The arms.
    level : float
        The level of intervals.
    """
    reference, *others = arms.names
    ratios = ((f"{name} over {reference}", f"{100 * level:g}% interval") for name in others)
    return (f"events {', '.join(arms.names)}", *(text for pair in ratios for text in pair))


def arm_cells(tree: Tree, leaf: int, level: float = LEVEL) -> tuple[str, ...]:
    """Return the events of each arm of a leaf, and hazard ratios with limits, as texts.

    Parameters
    ----------
    tree, leaf, level
        As in `effects_of_leaf`.
    """
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
    """Return the hazard ratios of a leaf in words; none where the tree has no arms.

    Parameters
    ----------
    tree, leaf
        As in `effects_of_leaf`.
    style : str
        How to format a ratio.
    """
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


def _has_events(arms: Arms, leaf: int, arm: int) -> bool:
    return bool(arms.n_events[leaf, [0, arm]].any())


def effect_limits(tree: Tree, node: int, arm: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the hazard ratio of an arm in a node.

    Parameters
    ----------
    tree : Tree
        The tree of an `EffectTree`.
    node, arm : int
        The numbers of the node and of the arm, which is not the first.
    level : float
        The probability that the interval covers the truth.
    """
    objective = tree.objective
    assert isinstance(objective, ArmHazards)
    prior, scale = objective.shrinkage, 1.0
    if isinstance(objective, ArmContrasts):  # the prior has the hazard of the leaf
        sums = tree.sums[node]
        scale = float(sums[1::2].sum() / max(sums[0::2].sum(), 1e-300))
    reference, own = (
        (float(tree.sums[node, 2 * place]), float(tree.sums[node, 2 * place + 1]))
        for place in (0, arm)
    )
    if prior > 0:
        own, reference = (
            (events + prior, hazard + prior * scale) for events, hazard in (own, reference)
        )
        return _gamma_limits(own, reference, level)
    return (_wald_limits if tree.weighted else _exact_limits)(own, reference, level)


def _exact_limits(
    own: tuple[float, float], reference: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return limits by the binomial distribution of the events of one arm among those of both."""
    (events, hazard), (others, other_hazard) = own, reference
    if events + others == 0 or hazard == 0 or other_hazard == 0:
        return 0.0, np.inf
    tail = (1 - level) / 2
    low = float(betaincinv(events, others + 1, tail)) if events else 0.0
    high = float(betaincinv(events + 1, others, 1 - tail)) if others else 1.0
    odds = (share / (1 - share) if share < 1 else np.inf for share in (low, high))
    lower, upper = (float(odd * other_hazard / hazard) for odd in odds)
    return lower, upper


def _wald_limits(
    own: tuple[float, float], reference: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return limits on the logarithmic scale, as those of a coefficient of a Poisson model."""
    (events, hazard), (others, other_hazard) = own, reference
    if events == 0 or others == 0:
        return 0.0, np.inf
    width = float(ndtri((1 + level) / 2)) * np.sqrt(1 / events + 1 / others)
    ratio = events / hazard / (others / other_hazard)
    return float(ratio * np.exp(-width)), float(ratio * np.exp(width))


def _gamma_limits(
    own: tuple[float, float], reference: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return quantiles of the ratio of two gamma distributions."""
    (events, hazard), (others, other_hazard) = own, reference
    ratio = events / hazard / (others / other_hazard)
    tails = (1 - level) / 2, (1 + level) / 2
    lower, upper = (float(ratio * fdtri(2 * events, 2 * others, tail)) for tail in tails)
    return lower, upper


def arm_counts(
    tree: Tree, leaf: int, arm: int, kind: LeafCurveKind = "kaplan-meier"
) -> EventCounts:
    """Return what is at risk and what dies in an arm of a leaf, at each time of the baseline.

    Parameters
    ----------
    tree : Tree
        The chosen tree of an `EffectTree`.
    leaf, arm : int
        The number of a leaf's node, and that of an arm.
    kind : {"kaplan-meier", "shrunk"}
        The rows alone, or these with a prior, as in `leaf_curves`.
    """
    counts = arms_of(tree).risk[leaf_position(tree, leaf)][arm]
    own = counts.at_events(tree.baseline.times.size)
    prior = tree.objective.shrinkage
    if kind == "shrunk" and prior > 0:
        return own.shrunk(prior, tree.share_at_risk, tree.baseline.hazard)
    return own


def arm_curve(tree: Tree, leaf: int, arm: int, kind: LeafCurveKind | None = None) -> LeafCurve:
    """Return the curve of an arm of a leaf.

    Parameters
    ----------
    tree : Tree
        The chosen tree of an `EffectTree`.
    leaf, arm : int
        The number of a leaf's node, and that of an arm.
    kind : {"baseline", "kaplan-meier", "shrunk"}, optional
        As in `leaf_curves`; by default as the tree predicts.
    """
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        hazard = float(tree.prediction[arm, leaf]) * tree.baseline.cumulative_hazard
        survival = np.exp(-hazard)
    else:
        counts = arm_counts(tree, leaf, arm, kind)
        survival, hazard = counts.survival, np.cumsum(counts.hazard)
    return curve_from(tree, leaf, survival, hazard)


def arm_band(tree: Tree, leaf: int, arm: int, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the limits of the Kaplan-Meier curve of an arm of a leaf, at the baseline's times.

    Parameters
    ----------
    tree, leaf, arm
        As in `arm_curve`.
    level : float
        The probability that the band covers the truth at one time.
    """
    counts = arm_counts(tree, leaf, arm)
    band = log_log_band(counts, level)
    for limit in band:
        limit[counts.at_risk == 0] = np.nan
    return band


def save_arms(arms: Arms | None, save_counts: Any) -> dict[str, Any]:
    """Return the field of a saved tree that holds its arms; none where it has none.

    Parameters
    ----------
    arms : Arms or None
        The arms.
    save_counts : callable
        Returns at-risk counts as plain values.
    """
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
