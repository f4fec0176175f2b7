"""The tree: frozen arrays with rules and curves, how it is built from rows, and its files."""

from surtree.tree.arms import Arms
from surtree.tree.at_risk import AtRiskCounts
from surtree.tree.curves import confidence_band, leaf_curves
from surtree.tree.hazard_ratios import LeafHazardRatio, leaf_hazard_ratios
from surtree.tree.leaf_curve import LeafCurve
from surtree.tree.provenance import Receipt
from surtree.tree.reversals import Reversal
from surtree.tree.size import Size
from surtree.tree.tree import Rule, Tree

__all__ = [
    "Arms",
    "AtRiskCounts",
    "LeafCurve",
    "LeafHazardRatio",
    "Receipt",
    "Reversal",
    "Rule",
    "Size",
    "Tree",
    "confidence_band",
    "leaf_curves",
    "leaf_hazard_ratios",
]
