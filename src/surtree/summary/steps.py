"""Simplified curves: only the steps that are visible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._support.types import Floats

Band = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Steps:
    """A survival curve from time zero on, and its confidence band where it has one."""

    times: Floats  # when the curve or its band steps, after zero
    survival: Floats  # the value from each of these times on
    lower: Floats
    upper: Floats
    has_band: bool  # whether the limits are known at any time


def visible_steps(
    times: Floats, survival: Floats, band: Band | None, tolerances: tuple[float, float]
) -> Steps:
    """Return the steps that move a curve or its band visibly."""
    lower, upper = (survival, survival) if band is None else band
    lower, upper = (np.where(np.isnan(limit), survival, limit) for limit in (lower, upper))
    curve, limits = tolerances
    levels = np.stack([survival / curve, lower / limits, upper / limits])
    start = np.array([[1 / curve], [1 / limits], [1 / limits]])
    moved = np.diff(np.floor(np.concatenate((start, levels), axis=1)), axis=1)
    kept = np.flatnonzero(moved.any(axis=0))
    has_band = band is not None and not np.isnan(band[0]).all()
    return Steps(times[kept], survival[kept], lower[kept], upper[kept], has_band)
