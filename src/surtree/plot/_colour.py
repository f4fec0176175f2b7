"""The colour of a risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# From blue over grey to vermilion, the pair that all common kinds of colour blindness tell apart.
# Each has a contrast of three or more with both white and black, so that curves are seen on
# either background.
_LOW_TO_HIGH = ("#0A5FB5", "#3E8FD0", "#8B8B8B", "#D07A20", "#C04808")

# The relative risk whose colour is the last one; its inverse has the first. The scale is the same
# for every tree, so that a colour means the same in all pictures.
_FULL = 4.0


def risk_colours(theta: ArrayLike, cmap: str | Colormap | None = None) -> list[str]:
    """Return a colour for each relative risk: grey for one, bluer below it, redder above it.

    Parameters
    ----------
    theta : array of float
        Relative risks, above zero.
    cmap : str or matplotlib colour map, optional
        Colours from low to high risk, instead of blue, grey and vermilion.
    """
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    if cmap is None:
        cmap = LinearSegmentedColormap.from_list("risk", _LOW_TO_HIGH)
    elif isinstance(cmap, str):
        cmap = colormaps[cmap]
    place = np.log(np.asarray(theta, dtype=np.float64)) / np.log(_FULL)
    return [to_hex(colour) for colour in cmap((1 + np.clip(place, -1, 1)) / 2)]
