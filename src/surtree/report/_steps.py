"""Simplified curves: only the steps that are visible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._types import Floats
from surtree.display.leaves import Leaf


@dataclass(frozen=True, eq=False)
class Steps:
    """A survival curve from time zero on, and its confidence band where it has one.

    Parameters
    ----------
    times : array of float
        When the curve or its band steps, after zero.
    survival, lower, upper : array of float
        The value from each of these times on.
    """

    times: Floats
    survival: Floats
    lower: Floats
    upper: Floats


def visible_steps(leaf: Leaf, curve: float, band: float) -> Steps:
    """Return the steps of a leaf that move its curve or its band visibly.

    Parameters
    ----------
    leaf : Leaf
        The leaf.
    curve, band : float
        How far survival and the limits may be from the truth.
    """
    lower, upper = leaf.survival, leaf.survival
    if leaf.band is not None:
        # Where the limits are not known, the band has no width.
        lower, upper = (np.where(np.isnan(limit), leaf.survival, limit) for limit in leaf.band)
    levels = np.stack([leaf.survival / curve, lower / band, upper / band])
    start = np.array([[1 / curve], [1 / band], [1 / band]])
    moved = np.diff(np.floor(np.concatenate((start, levels), axis=1)), axis=1)
    kept = np.flatnonzero(moved.any(axis=0))
    return Steps(leaf.times[kept], leaf.survival[kept], lower[kept], upper[kept])
