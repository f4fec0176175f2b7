"""What must be there before anything is drawn."""

from __future__ import annotations

from importlib.util import find_spec

from surtree.tree.tree import Tree


def require(tree: Tree) -> None:
    """Make sure that there is a tree to draw, and something to draw it with."""
    if not isinstance(tree, Tree):
        raise TypeError(
            f"Plots read the tree of a fitted model: pass model.tree_, not {type(tree).__name__}."
        )
    # Only drawing needs matplotlib: fitting and predicting do without it.
    if find_spec("matplotlib") is None:
        raise ImportError(
            'Plots need matplotlib, which is not installed: pip install "surtree[plot]".'
        )
