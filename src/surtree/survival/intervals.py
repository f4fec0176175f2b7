"""Sums over the intervals that cover a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import Floats

Places = NDArray[np.intp]


def weight_over(first: Places, last: Places, weight: Terms, n_places: int) -> Floats:
    """Return, for each place, the weight of the intervals that cover it."""
    begins, ends = (weight.parts_by(place, n_places + 1) for place in (first, last))
    # Sums of parts are exact: where heavy rows cancel, nothing is lost of light ones.
    covering = np.cumsum(begins - ends, axis=1)[:, :n_places]
    return weight.grid.join(covering)
