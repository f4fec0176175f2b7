"""The arms of a leaf as plots and reports draw them: a curve for each, in a colour of its own."""

from __future__ import annotations

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree.outcomes.arm_curves import arm_risks, leaf_arm_curve
from surtree.outcomes.arm_effects import arm_band, arms_of
from surtree.summary.leaves import Leaf, ObservedCurve
from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_curve import curve_kind, leaf_position
from surtree.tree.tree import Tree

# The reference is grey; the others are told apart by all common kinds of colour blindness, and seen
# on white and on black.
ARM_COLOURS = ("#7d8288", "#0a7fd0", "#d0701a", "#9a5fc0")


def read_arm_leaves(
    tree: Tree, leaf: int, kind: LeafCurveKind | None = None, level: float = LEVEL
) -> tuple[Leaf, ...]:
    """Return each arm of a leaf as it is drawn, the reference first."""
    return tuple(
        _read_arm(tree, leaf, arm, curve_kind(tree, kind), level)
        for arm in range(arms_of(tree).n_arms)
    )


def _read_arm(tree: Tree, leaf: int, arm: int, kind: LeafCurveKind, level: float) -> Leaf:
    arms = arms_of(tree)
    counts = arms.risk[leaf_position(tree, leaf)][arm]
    curve = leaf_arm_curve(tree, leaf, arm, kind=kind)
    observed = leaf_arm_curve(tree, leaf, arm, kind="kaplan-meier").survival.y
    band = arm_band(tree, leaf, arm, level)
    steps = counts.step[counts.deaths > 0]
    shown = tree.baseline.times <= counts.last_time
    if kind == "kaplan-meier":
        shown = np.isin(np.arange(shown.size), steps)
    return Leaf(
        node=leaf,
        n_samples=int(arms.n_samples[leaf, arm]),
        n_events=int(arms.n_events[leaf, arm]),
        theta=float(arm_risks(tree)[arm, leaf]),
        median=curve.median,
        times=curve.survival.x[shown],
        survival=curve.survival.y[shown],
        band=(band[0][shown], band[1][shown]) if kind == "kaplan-meier" else None,
        colour=ARM_COLOURS[arm],
        theta_limits=(np.nan, np.nan),
        median_limits=(np.nan, np.nan),
        observed=ObservedCurve(
            tree.baseline.times[steps], observed[steps], band[0][steps], band[1][steps]
        ),
        censored=counts.censored,
        last_time=counts.last_time,
    )
