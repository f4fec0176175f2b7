"""Positions of labels in a column without overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.isotonic import isotonic_regression

from surtree._support.types import Floats


def spread(wanted: ArrayLike, heights: ArrayLike, room: float) -> Floats:
    """Return the centres of labels so that none overlaps another.

    Their order stays, and the sum of their squared shifts is the least possible.
    """
    heights = np.asarray(heights, dtype=np.float64)
    # Middles of labels that touch each other, the first of them at the bottom.
    touching = np.cumsum(heights) - heights / 2
    # Relative to that, labels do not overlap if their shifts ascend: an isotonic regression.
    slack = max(room - heights.sum(), 0.0)
    shift = isotonic_regression(np.asarray(wanted) - touching, y_min=0.0, y_max=slack)
    return touching + np.asarray(shift, dtype=np.float64)
