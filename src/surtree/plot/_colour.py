"""The colour of a risk, by a colour map of the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from surtree.display.colour import risk_colours, scale_place

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


def mapped_colours(theta: ArrayLike, cmap: str | Colormap | None) -> list[str]:
    """Return a colour for each relative risk.

    Parameters
    ----------
    theta : array of float
        Relative risks, above zero.
    cmap : str or matplotlib colour map, optional
        Colours from low to high risk, instead of blue, grey and vermilion.
    """
    if cmap is None:
        return risk_colours(theta)
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    chosen = colormaps[cmap] if isinstance(cmap, str) else cmap
    return [to_hex(colour) for colour in chosen(scale_place(theta))]
