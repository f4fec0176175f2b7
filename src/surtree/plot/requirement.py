"""What plots need: matplotlib, and colours of risks by a colour map of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from surtree._support.parameters import LeafCurveKind
from surtree.outcomes import GroupCurve
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours, scale_position

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


def mapped_colours(theta: ArrayLike, cmap: str | Colormap | None) -> list[str]:
    """Return a colour for each relative risk."""
    if cmap is None:
        return risk_colours(theta)
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    chosen = colormaps[cmap] if isinstance(cmap, str) else cmap
    return [to_hex(colour) for colour in chosen(scale_position(theta))]


def coloured_curves(
    tree: Tree, kind: LeafCurveKind | None, level: float, cmap: str | Colormap | None
) -> tuple[GroupCurve, ...]:
    """Return the survival of each leaf without any event, in the colour of its relative risk."""
    colours = mapped_colours(tree.theta[tree.leaves], cmap)
    return tuple(
        recoloured(tree.outcome.together(group, kind, level), colour)
        for group, colour in zip(tree.outcome.groups, colours, strict=True)
    )


def recoloured(curve: GroupCurve, colour: str) -> GroupCurve:
    """Return a curve in another colour."""
    return replace(curve, channel=replace(curve.channel, colour=colour))


def read_colours(colours: Sequence[str] | None, usual: Sequence[str]) -> list[str]:
    """Return the colours of a few things that are drawn: the user's, or the default ones."""
    if colours is None:
        return list(usual)
    if len(colours) < len(usual):
        raise ValueError(f"colours has {len(colours)} colours, but {len(usual)} are needed.")
    return list(colours[: len(usual)])


def require_matplotlib() -> None:
    """Raise an error that names the remedy where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            'Plots need matplotlib, which is not installed: pip install "surtree[plot]".'
        )
