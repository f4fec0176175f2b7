"""Sums over intervals, and from each position on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import Floats

Positions = NDArray[np.intp]


def weight_over(first: Positions, last: Positions, weight: Terms, size: int) -> Floats:
    """Return, for each position, the weight of the intervals that cover it."""
    begins, ends = (weight.parts_by(position, size + 1) for position in (first, last))
    # Sums of parts are exact: where heavy rows cancel, nothing is lost of light ones.
    covering = np.cumsum(begins - ends, axis=1)[:, :size]
    return weight.grid.join(covering)


def from_each_on(parts: Floats) -> Floats:
    """Return the sum from each position of the last axis to its end."""
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]
