"""Simplified curves: only the steps that are visible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._support.types import Floats
from surtree.outcomes import GroupCurve, ObservedCurve


@dataclass(frozen=True, eq=False)
class Steps:
    """A curve from time zero on, and its confidence band where it has one."""

    start: float  # the value before the first step
    times: Floats  # when the curve or its band steps, after zero
    values: Floats  # the value from each of these times on
    band: tuple[Floats, Floats] | None  # the limits, if they are known at any time


def visible_steps(
    curve: GroupCurve | ObservedCurve,
    tolerance: float,
    band_tolerance: float | None = None,
    start: float = 1.0,
) -> Steps:
    """Return the steps that move a curve, or its band, visibly; by default without a band."""
    levels, before = [curve.values / tolerance], [start / tolerance]
    limits: list[Floats] = []
    if band_tolerance is not None and curve.band is not None:
        if not np.isnan(curve.band[0]).all():
            limits = [np.where(np.isnan(limit), curve.values, limit) for limit in curve.band]
        levels += [limit / band_tolerance for limit in limits]
        before += [start / band_tolerance] * len(limits)
    moved = np.diff(np.floor(np.column_stack([before, np.stack(levels)])), axis=1)
    kept = np.flatnonzero(moved.any(axis=0))
    band = (limits[0][kept], limits[1][kept]) if limits else None
    return Steps(start, curve.times[kept], curve.values[kept], band)
