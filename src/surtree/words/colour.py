"""The colour of a risk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats

# From blue over grey to vermilion, the pair that all common kinds of colour blindness tell apart.
# Each has a contrast of three or more with both white and black, so that curves are seen on
# either background.
LOW_TO_HIGH = ("#0A5FB5", "#3E8FD0", "#8B8B8B", "#D07A20", "#C04808")

# The relative risk whose colour is the last one; its inverse has the first. The scale is the same
# for every tree, so that a colour means the same in all pictures.
FULL = 4.0

# Another scale for effects of a treatment: green where it does better, purple where it does worse.
BETTER_TO_WORSE = ("#1B7837", "#4F9A63", "#8B8B8B", "#A471B8", "#8A3FA0")


def scale_position(theta: ArrayLike) -> Floats:
    """Return where relative risks are on the scale of colours, from zero over one half to one."""
    position = np.log(np.asarray(theta, dtype=np.float64)) / np.log(FULL)
    return np.asarray((1 + np.clip(position, -1, 1)) / 2)


def risk_colours(theta: ArrayLike, scale: Sequence[str] = LOW_TO_HIGH) -> list[str]:
    """Return a colour for each relative risk: grey for one, bluer below it, redder above it."""
    known = np.array([list(bytes.fromhex(colour[1:])) for colour in scale])
    position = scale_position(theta) * (len(known) - 1)
    channels = [np.interp(position, np.arange(len(known)), channel) for channel in known.T]
    return ["#" + bytes(rgb).hex() for rgb in np.rint(channels).astype(np.uint8).T]
