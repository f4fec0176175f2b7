"""Hazard ratios of leaves: a Cox model with a factor for the leaf, in the rows of the tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.survival import cox_groups
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.cox_groups import GroupCounts
from surtree.tree.leaf_curve import FEW_EVENTS, leaf_groups, leaf_position
from surtree.tree.resolve import tree_of
from surtree.tree.tree import Tree
from surtree.words.numbers import plural


@dataclass(frozen=True)
class LeafHazardRatio:
    """The hazard of a leaf over that of the reference leaf.

    Parameters
    ----------
    leaf, reference : int
        The numbers of the two leaves' nodes.
    ratio : float
        The hazard ratio; one for the reference itself. It is zero for a leaf without events,
        infinite where all events of the leaf are before those of the reference, and not a number
        where the two are never at risk together.
    limits : tuple of two floats
        Its confidence limits; zero or infinity where there is none. They do not know that the
        leaf was searched for.
    n_samples, n_events : int
        The training rows of the leaf, and those of them with an event.
    name : str
        What the leaf is called in prints: A, B, ...

    Examples
    --------
    >>> from surtree import SurTree, leaf_hazard_ratios
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> last = leaf_hazard_ratios(SurTree(max_depth=1).fit(X, y))[-1]
    >>> last.leaf, last.reference, round(last.ratio, 2), last.text
    (2, 1, 2.57, '2.57 (2.04 to 3.25)')
    """

    leaf: int
    reference: int
    ratio: float
    limits: tuple[float, float]
    n_samples: int
    n_events: int
    name: str

    @property
    def text(self) -> str:
        """The ratio with its limits; in words where it is not finite."""
        lower, upper = (f"{limit:.3g}" for limit in self.limits)
        if self.leaf == self.reference:
            return "1 (reference)"
        if np.isnan(self.ratio):
            return "unknown"
        if self.ratio == 0:
            return f"0 (at most {upper})"
        if np.isinf(self.ratio):
            return f"infinite (at least {lower})"
        return f"{self.ratio:.3g} ({lower} to {upper})"

    def __str__(self) -> str:
        events = f"{plural(self.n_events, 'event')} in {plural(self.n_samples, 'row')}"
        return f"leaf {self.name}: hazard ratio {self.text}, {events}"


def leaf_hazard_ratios(
    model: Any, reference: int | None = None, level: float = LEVEL, cause: int | None = None
) -> tuple[LeafHazardRatio, ...]:
    """Return the hazard ratio of each leaf over a reference leaf, with confidence limits.

    They are those of a Cox model whose only covariate is the leaf, ties after Breslow, as R's
    ``coxph(..., ties = "breslow")``: leaves and baseline maximise the likelihood together. The
    theta of a leaf is another number: its events over those that the hazard of all rows lets
    expect. Ratios of thetas are nearer to one than hazard ratios.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model of this package, a pipeline that ends in one, or its ``tree_``.
    reference : int, optional
        The number of a leaf's node; by default the leaf with most rows among those with at least
        ten events or, where none has as many, the one with most events. The leaf of lowest risk
        would be chosen by its outcome, and all ratios over it be too far from one.
    level : float, default=0.95
        The probability that an interval covers the truth, if the leaves had been chosen beforehand:
        as they were not, it is less.
    cause : int, optional
        Of competing risks, the cause whose hazard is compared, others ending the time at risk; by
        default the main cause.

    Returns
    -------
    tuple of LeafHazardRatio
        One for each leaf, in the order of the tree's ``leaves``.

    Notes
    -----
    Limits are those of the profile of the partial likelihood. They cover as they should where
    leaves are given beforehand; those of a fitted tree cover less (docs/results/leaf-curves.md).
    Weights count as repeated rows: where they are sampling weights, limits are too narrow (nominal
    95% cover 73 to 87% of given leaves there). Then, and where persons have several events, a
    robust variance is needed, which takes the rows: use R's ``coxph(..., robust = TRUE)`` with the
    leaf of each row. The shrinkage of a tree is in its thetas and curves, not in these.

    Examples
    --------
    >>> from surtree import SurTree, leaf_hazard_ratios
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> for leaf in leaf_hazard_ratios(SurTree(max_depth=2).fit(X, y)):
    ...     print(leaf)
    leaf A: hazard ratio 0.18 (0.0297 to 0.566), 2 events in 26 rows
    leaf B: hazard ratio 1 (reference), 117 events in 350 rows
    leaf C: hazard ratio 3.64 (2.79 to 4.73), 110 events in 161 rows
    leaf D: hazard ratio 1.57 (1.17 to 2.11), 70 events in 149 rows
    """
    tree = tree_of(model)
    require_level(level)
    if not tree.outcome.compares_leaves:
        raise ValueError(
            "The leaves of an EffectTree are compared between arms: see its effects_, the hazard "
            "ratios of arms in each leaf."
        )
    counts, events = _counts(tree, cause)
    position = _reference(tree, events) if reference is None else leaf_position(tree, reference)
    ratios = cox_groups.hazard_ratios(counts, position)
    leaves = tree.leaves.tolist()
    return tuple(
        LeafHazardRatio(
            leaf,
            leaves[position],
            float(ratios[index]),
            cox_groups.ratio_limits(counts, index, position, level),
            int(tree.n_samples[leaf]),
            int(events[index]),
            tree.leaf_names[leaf],
        )
        for index, leaf in enumerate(leaves)
    )


def shows_ratios(tree: Tree) -> bool:
    """Tell whether hazard ratios are known: not of one leaf, and not of old files."""
    known = tree.risk and all(counts.of_all_times for counts in tree.risk)
    return bool(known) and tree.factor is None and tree.n_leaves > 1 and tree.outcome.shows_ratios


def _counts(tree: Tree, cause: int | None) -> tuple[GroupCounts, Floats]:
    """Return what is at risk and what dies in each leaf, and how many rows die in all."""
    counts = leaf_groups(tree)
    deaths, events = tree.outcome.compared_deaths(cause)
    return counts if deaths is None else replace(counts, deaths=deaths), events


def _reference(tree: Tree, events: Floats) -> int:
    """Return the position of the leaf that others are compared with."""
    if events.max() < FEW_EVENTS:
        return int(events.argmax())
    return int(np.where(events >= FEW_EVENTS, tree.n_samples[tree.leaves], 0).argmax())
