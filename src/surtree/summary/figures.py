"""The figures of leaves as tables, pictures and sentences write them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite

import numpy as np

from surtree._support.types import Floats
from surtree.outcomes import Column, GroupCurve, ObservedCurve
from surtree.words.numbers import NOT_REACHED, interval_text, number


def figure_text(column: Column, position: int, precision: int = 3) -> str:
    """Return a figure with some significant digits; a median that is not reached is called so."""
    if column.is_time and position in column.instead:
        return NOT_REACHED
    return column.text(position, partial(number, precision=precision))


def figure_and_limits(column: Column, position: int) -> tuple[str, str]:
    """Return a figure, and its confidence interval: empty where there is none."""
    if column.texts is not None:
        text, _, limits = column.texts[position].partition(" (")
        return text, limits.removesuffix(")")
    text = figure_text(column, position)
    is_estimate = column.is_time or isfinite(column.values[position])
    if column.limits is None or not is_estimate:
        return text, ""
    return text, interval_text(column.limits[position], 3 if column.is_time else 2)


def lacks_events(column: Column, position: int) -> bool:
    """Tell whether a figure is no estimate because there are no events."""
    return position in column.instead and not column.is_time


def figure_in_words(column: Column, position: int, level: float, unit: str = "") -> str:
    """Return a figure with its name and its interval, as a part of a sentence."""
    text, limits = figure_and_limits(column, position)
    before = "no events: " if lacks_events(column, position) else ""
    if column.is_time and unit and isfinite(column.values[position]):
        text += f" {unit}"
    after = f" ({level_text(level)} {limits})" if limits else ""
    return f"{before}{column.heading} {text}{after}"


def level_text(level: float) -> str:
    """Return the name of a confidence interval, such as "95% CI"."""
    return f"{100 * level:g}% CI"


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
