"""Confidence limits of what a leaf says: its relative risk, its curve and its median.

They are those of a group that was chosen beforehand. The leaves of a tree were found on the same
rows, so the truth is outside more often than the level says. Weights count as repeated rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.survival import confidence, cox_groups
from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_curve import curve_kind, event_counts, leaf_groups, leaf_position

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


def theta_limits(tree: Tree, node: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the relative risk of a node.

    Without weights they are those of Garwood for events that follow a Poisson distribution or, with
    shrinkage, quantiles of the posterior, a gamma distribution. They are conservative: expected
    events come from the same rows, so that theta varies less than a Poisson count
    (docs/results/leaf-curves.md). With weights they are those of the profile likelihood. Without an
    event the lower limit is zero (with shrinkage, a little more).
    """
    totals = tree.objective.totals(tree.sums[node])
    if totals is None:
        return np.nan, np.nan
    events, expected = map(float, totals)
    return ratio_limits(tree, events, expected, level)


def ratio_limits(tree: Tree, events: float, expected: float, level: float) -> tuple[float, float]:
    """Return the confidence limits of observed over expected events."""
    limits = confidence.profile_limits if tree.weighted else confidence.poisson_limits
    return limits(events, expected, level, tree.objective.shrinkage)


def survival_band(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the pointwise limits of a leaf's curve, at the times of the baseline."""
    kind = curve_kind(tree, kind)
    if kind == "baseline":
        leaf_position(tree, leaf)
        low, high = theta_limits(tree, leaf, level)
        return tree.baseline.survival(high), tree.baseline.survival(low)
    if kind == "breslow":
        fit, position = tree._proportional_hazards, leaf_position(tree, leaf)
        return cox_groups.survival_band(leaf_groups(tree), fit, position, level)
    band = confidence.log_log_band(event_counts(tree, leaf, kind), level)
    # Before the first event of the leaf, a shrunk curve moves by fractions of an event, whose
    # variance says nothing.
    counts = event_counts(tree, leaf, "kaplan-meier")
    unknown = (counts.at_risk == 0) | (np.cumsum(counts.deaths) == 0)
    for limit in band:
        limit[unknown] = np.nan
    return band


def median_limits(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None, level: float = LEVEL
) -> tuple[float, float]:
    """Return the limits of a leaf's median: the first times at which its band is at one half."""
    return confidence.median_limits(tree.event_times, survival_band(tree, leaf, kind, level))
