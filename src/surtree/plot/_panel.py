"""Axes of survival over time within a page, and the curve of a leaf in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surtree._support.types import Floats
from surtree.outcomes import GroupCurve
from surtree.plot._page import SMALL, AnyLayout, Page
from surtree.survival.step_function import MOST_TICKS, StepFunction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The room in ems that the label of a tick needs.
TICK_ROOM = 4.0


def add_panel(
    page: Page[AnyLayout],
    bounds: tuple[float, float, float, float],
    end: float,
    tick_room: float = TICK_ROOM,
) -> Axes:
    """Add axes of survival from time zero to an end."""
    from matplotlib import rcParams
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    _, _, width, _ = bounds
    panel = page.ax.inset_axes(bounds, transform=page.ems)
    panel.set(xlim=(0, end), ylim=(0, 1.03), facecolor="none")
    panel.grid(False)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set(
        color=rcParams["text.color"], linewidth=0.08 * page.fontsize
    )
    ticks = int(np.clip(width / tick_room, 2, MOST_TICKS))
    panel.xaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 5, 10]))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    panel.tick_params(
        color=rcParams["text.color"],
        labelcolor=rcParams["text.color"],
        labelsize=SMALL * page.fontsize,
        length=0.25 * page.fontsize,
        width=0.08 * page.fontsize,
        pad=0.25 * page.fontsize,
    )
    return panel


def draw_leaf(
    page: Page[AnyLayout], panel: Axes, curve: GroupCurve, end: float, band_opacity: float = 0.25
) -> None:
    """Draw the curve of a leaf with its band, and what was observed as a thin line with ticks."""
    draw_curve(panel, curve, end, page.fontsize, band_opacity)


def draw_curve(
    panel: Axes,
    curve: GroupCurve,
    end: float,
    fontsize: float,
    band_opacity: float,
    line: Any = "-",
) -> None:
    """Draw the curve of a leaf in axes of any kind."""
    last = min(curve.last_time, end)
    if curve.band is not None:
        times, lower = _drawn(curve.times, curve.band[0], last, before=np.nan)
        _, upper = _drawn(curve.times, curve.band[1], last, before=np.nan)
        # Both ends of each step: a limit that is not known leaves out its own step alone.
        panel.fill_between(
            np.repeat(times, 2)[1:-1],
            np.repeat(lower[:-1], 2),
            np.repeat(upper[:-1], 2),
            color=curve.colour,
            alpha=band_opacity,
            linewidth=0,
        )
    style: dict[str, Any] = {"color": curve.colour, "drawstyle": "steps-post"}
    corners = _drawn(curve.times, curve.values, last, curve.start)
    panel.plot(*corners, linewidth=0.16 * fontsize, linestyle=line, **style)
    if curve.observed is not None:
        observed, survival = curve.observed.times, curve.observed.values
        # Where a dashed curve is what was observed, a line on top would fill its gaps.
        if line == "-" or not np.array_equal(survival, curve.values):
            thin = _drawn(observed, survival, last, curve.start)
            panel.plot(*thin, linewidth=0.07 * fontsize, **style)
        censored = curve.censored[curve.censored <= end]
        panel.plot(
            censored,
            StepFunction(observed, survival, curve.start)(censored),
            linestyle="none",
            marker="|",
            markersize=0.45 * fontsize,
            markeredgewidth=0.06 * fontsize,
            color=curve.colour,
        )


def _drawn(
    times: Floats, values: Floats, last: float, before: float = 1.0
) -> tuple[Floats, Floats]:
    """Return the corners of a step function, from time zero to its last time."""
    shown = times <= last
    values = np.concatenate(([before], values[shown]))
    return np.concatenate(([0.0], times[shown], [last])), np.append(values, values[-1])
