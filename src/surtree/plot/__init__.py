"""Pictures of a tree, of its leaves, and of how trees of all sizes did, drawn with matplotlib."""

from surtree.plot._audit import plot_audit
from surtree.plot._curves import plot_curves
from surtree.plot._path import plot_path
from surtree.plot._tree import plot_tree

__all__ = ["plot_audit", "plot_curves", "plot_path", "plot_tree"]
