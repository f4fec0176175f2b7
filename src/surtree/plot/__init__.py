"""Pictures of a tree and of its leaves, drawn with matplotlib."""

from surtree.plot._audit import plot_audit
from surtree.plot._curves import plot_curves
from surtree.plot._tree import plot_tree

__all__ = ["plot_audit", "plot_curves", "plot_tree"]
