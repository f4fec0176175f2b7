"""The arms of a leaf as plots and reports draw them: a curve for each, in a colour of its own."""

from __future__ import annotations

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.summary.leaves import Leaf, ObservedCurve
from surtree.survival.confidence import LEVEL
from surtree.survival.time_axis import round_step
from surtree.tree.arms import arm_band, arms_of
from surtree.tree.given_effects import arm_risks, leaf_arm_curve
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


def arm_at_risk(tree: Tree, leaf: int, arm: int, times: Floats) -> Floats:
    """Return the weight of an arm of a leaf that is at risk at some round times."""
    counts = arms_of(tree).risk[leaf_position(tree, leaf)][arm].round_at_risk.astype(np.float64)
    multiples = np.asarray(times) / round_step(float(tree.baseline.times[-1]))
    nearest = np.minimum(np.rint(multiples), counts.size - 1)
    known = np.abs(multiples - nearest) < 1e-6
    return np.where(known, counts[nearest.astype(np.intp)], np.nan)


def arms_caption(
    tree: Tree, kind: LeafCurveKind | None, level: float, *, ticks: bool = True
) -> str:
    """Return in words how the arms of leaves are drawn, and what a hazard ratio is."""
    kind = curve_kind(tree, kind)
    curves = {
        "kaplan-meier": f"Kaplan-Meier survival of each arm, with {100 * level:g}% confidence band",
        "baseline": "Survival of each arm as its hazard predicts it; thin line: observed",
        "shrunk": "Survival of each arm, shrunk towards all rows; thin line: observed",
        "breslow": "Survival of each arm as the hazard ratio predicts it; thin line: observed",
    }
    reference = arms_of(tree).names[0]
    return (
        f"{curves[kind]}. {'Tick: censored rows. ' if ticks else ''}Hazard ratio: the hazard of an "
        f"arm over that of {reference}, by a Cox model in the leaf; below one it does better. "
        "Leaves were chosen because arms differ in them: intervals do not know that."
    )
