"""Axes of survival over time within a page, and the curve of a leaf in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surtree.display.leaves import Leaf
from surtree.plot._page import SMALL, AnyLayout, Page
from surtree.survival.time_axis import MOST_TICKS

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
    """Add axes of survival from time zero to an end.

    Parameters
    ----------
    page : Page
        Where to add them.
    bounds : tuple of float
        Left, bottom, width and height on the page, in ems.
    end : float
        The last time.
    tick_room : float
        How far ticks of time are apart at least, in ems.
    """
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
    page: Page[AnyLayout], panel: Axes, leaf: Leaf, end: float, band_opacity: float = 0.25
) -> None:
    """Draw the curve of a leaf, with its band, from time zero to an end.

    Parameters
    ----------
    page : Page
        Whose text the lines are as strong as.
    panel : matplotlib Axes
        Where to draw.
    leaf : Leaf
        The leaf.
    end : float
        Until when. After the last event of a Kaplan-Meier curve the line is dotted, for all that
        is known there is that no event was seen.
    band_opacity : float
        How strong the band is, from 0 to 1.
    """
    times = np.concatenate(([0.0], leaf.times))
    survival = np.concatenate(([1.0], leaf.survival))
    style: dict[str, Any] = {"color": leaf.colour, "linewidth": 0.16 * page.fontsize}
    if leaf.band is not None:
        lower, upper = (np.concatenate(([1.0], limit)) for limit in leaf.band)
        panel.fill_between(
            times, lower, upper, step="post", color=leaf.colour, alpha=band_opacity, linewidth=0
        )
    panel.plot(times, survival, drawstyle="steps-post", **style)
    panel.plot([times[-1], end], survival[[-1, -1]], linestyle=":", **style)
