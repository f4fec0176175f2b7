"""Plots with matplotlib: a tree, its leaf curves, an audit, and scores by size."""

from surtree.plot._audit import plot_audit
from surtree.plot._curves import plot_curves
from surtree.plot._path import plot_path
from surtree.plot._tree import plot_tree

__all__ = ["plot_audit", "plot_curves", "plot_path", "plot_tree"]
