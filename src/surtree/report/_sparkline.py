"""The curve of a leaf at the size of a word."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np

from surtree.display.leaves import Leaf
from surtree.report._steps import Steps, visible_steps

WIDTH, HEIGHT = 100.0, 32.0


def sparkline(leaf: Leaf, everyone: Leaf, end: float) -> str:
    """Return a small picture of a leaf's curve before that of all rows, as SVG.

    Parameters
    ----------
    leaf, everyone : Leaf
        Whose curves to draw.
    end : float
        The last time.
    """
    steps = visible_steps(leaf, curve=0.02, band=0.04)
    background = visible_steps(everyone, curve=0.02, band=1.0)
    shade = ""
    if leaf.band is not None:
        shade = f'<path class="surtree-band" d="{_area(steps, end)}"/>'
    return (
        f'<svg class="surtree-spark" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'preserveAspectRatio="none" aria-hidden="true" style="--risk:{escape(leaf.colour)}">'
        f'<path class="surtree-everyone" d="{_line(background.times, background.survival, end)}"/>'
        f'{shade}<path class="surtree-curve" d="{_line(steps.times, steps.survival, end)}"/></svg>'
    )


def _corners(times: np.ndarray, values: np.ndarray, end: float) -> list[tuple[float, float]]:
    """Return where the line of a step function turns, in the picture's coordinates."""
    x = [0.0, *(WIDTH * times / end).round(1).tolist(), WIDTH]
    y = [0.0, *(HEIGHT * (1 - values)).round(1).tolist()]
    corners = [(x[0], y[0])]
    for (_, above), (place, below) in pairwise(zip(x, y, strict=False)):
        corners += [(place, above), (place, below)]
    return [*corners, (WIDTH, y[-1])]


def _line(times: np.ndarray, values: np.ndarray, end: float) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in _corners(times, values, end))


def _area(steps: Steps, end: float) -> str:
    # Beyond the last event a band says nothing.
    last = float(steps.times[-1]) if steps.times.size else 0.0
    above = _corners(steps.times, steps.upper, end)
    below = _corners(steps.times, steps.lower, end)
    edge = WIDTH * last / end
    around = [*above[:-1], *reversed(below[:-1])]
    return "M" + "L".join(f"{min(x, edge):g} {y:g}" for x, y in around) + "Z"
