"""The curve of a leaf at the size of a word."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from surtree.summary.leaves import Leaf
from surtree.summary.steps import Steps, visible_steps
from surtree.words.quoting import html_text as escape

WIDTH, HEIGHT = 100.0, 32.0


def sparkline(leaf: Leaf, everyone: Leaf, end: float) -> str:
    """Return a small picture of a leaf's curve before that of all rows, as SVG."""
    steps = visible_steps(leaf.times, leaf.survival, leaf.band, (0.02, 0.04))
    background = visible_steps(everyone.times, everyone.survival, None, (0.02, 1.0))
    last = min(leaf.last_time, end)
    shade = ""
    if steps.has_band:
        shade = f'<path class="surtree-band" d="{_area(steps, last, end)}"/>'
    return (
        f'<svg class="surtree-spark" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'preserveAspectRatio="none" aria-hidden="true" style="--risk:{escape(leaf.colour)}">'
        f'<path class="surtree-everyone" '
        f'd="{_line(background.times, background.survival, end, end)}"/>'
        f'{shade}<path class="surtree-curve" '
        f'd="{_line(steps.times, steps.survival, last, end)}"/></svg>'
    )


def _corners(
    times: np.ndarray, values: np.ndarray, last: float, end: float
) -> list[tuple[float, float]]:
    """Return where the line of a step function turns until a time, in the picture's coordinates."""
    drawn = times <= last
    x = [0.0, *(WIDTH * times[drawn] / end).round(1).tolist()]
    y = [0.0, *(HEIGHT * (1 - values[drawn])).round(1).tolist()]
    corners = [(x[0], y[0])]
    for (_, above), (place, below) in pairwise(zip(x, y, strict=True)):
        corners += [(place, above), (place, below)]
    return [*corners, (round(WIDTH * last / end, 1), y[-1])]


def _line(times: np.ndarray, values: np.ndarray, last: float, end: float) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in _corners(times, values, last, end))


def _area(steps: Steps, last: float, end: float) -> str:
    above = _corners(steps.times, steps.upper, last, end)
    below = _corners(steps.times, steps.lower, last, end)
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in [*above, *reversed(below)]) + "Z"
