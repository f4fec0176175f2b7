"""The arms of leaves: hazards and curves that agree with their effects, the tree's own or given.

The events of a leaf say how high its risk is, and effects how it differs between arms. So the
expected events of all arms of a leaf together are those of the tree, whatever the effects are.
"""

from __future__ import annotations

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes.arm_effects import arm_counts
from surtree.tree.leaf_curve import LeafCurve, curve_from, curve_kind, is_product_limit
from surtree.tree.tree import Tree


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
