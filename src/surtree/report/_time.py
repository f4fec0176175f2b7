"""The time axis of a page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from surtree.display.leaves import Leaf
from surtree.tree.tree import Tree


def last_time(tree: Tree, leaves: Sequence[Leaf]) -> float:
    """Return the last follow-up of all leaves; where it is not known, the last event.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaves : sequence of Leaf
        Its leaves, as they are drawn.
    """
    last = max(leaf.last_time for leaf in leaves)
    return last if isfinite(last) else float(tree.baseline.times[-1])
