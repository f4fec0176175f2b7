"""Plots with matplotlib: a tree, its leaf curves, an audit, scores by size, and validation."""

from surtree.plot._audit import plot_audit
from surtree.plot._card import plot_card
from surtree.plot._channels import plot_channels
from surtree.plot._curves import plot_curves
from surtree.plot._path import plot_path
from surtree.plot._tree import plot_tree
from surtree.plot._validation import plot_calibration, plot_decision_curve, plot_stability

__all__ = [
    "plot_audit",
    "plot_calibration",
    "plot_card",
    "plot_channels",
    "plot_curves",
    "plot_decision_curve",
    "plot_path",
    "plot_stability",
    "plot_tree",
]
