"""A small static chart as SVG: axes, lines, points with limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from surtree.words.quoting import html_text as escape

WIDTH, HEIGHT = 340.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 18.0, 10.0, 40.0


@dataclass(frozen=True)
class Axis:
    """One axis: its range, where it has ticks, and what it says."""

    low: float  # the range
    high: float
    ticks: Sequence[float]  # where there is a number
    label: str  # what is measured
    percent: bool = True  # whether numbers are written as percentages

    def place(self, value: float) -> float:
        """Return where a value lies, from zero to one; values outside are at the ends."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, value: float) -> str:
        """Return a value as the axis writes it."""
        return f"{value:.0%}" if self.percent else f"{value:g}"


class Chart:
    """Axes, to which lines and points are added in the order in which they are drawn."""

    def __init__(self, x: Axis, y: Axis, name: str) -> None:
        self._x, self._y, self._name = x, y, name
        self._parts: list[str] = []

    def line(self, x: Sequence[float], y: Sequence[float], kind: str) -> None:
        """Draw a line through points; values that are not numbers leave a gap."""
        path, pen_down = "", False
        for one, other in zip(x, y, strict=True):
            if not isfinite(other):
                pen_down = False
                continue
            path += f"{'L' if pen_down else 'M'}{self._at(one, other)}"
            pen_down = True
        self._parts.append(f'<path class="{escape(kind)}" d="{path}"/>')

    def area(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str
    ) -> None:
        """Fill the area between two lines with a colour."""
        there = "L".join(self._at(*point) for point in zip(x, high, strict=True))
        back = "L".join(self._at(*point) for point in zip(x[::-1], low[::-1], strict=True))
        style = f"fill:{escape(colour)};stroke:none;opacity:.85"
        self._parts.append(f'<path style="{style}" d="M{there}L{back}Z"/>')

    def point(self, x: float, y: float, low: float, high: float) -> None:
        """Draw a point, and its limits where they are known."""
        if isfinite(low) and isfinite(high):
            self.line((x, x), (low, high), "limits")
        if isfinite(y):
            across, down = self._at(x, y).split(" ")
            self._parts.append(f'<circle class="point" r="3.5" cx="{across}" cy="{down}"/>')

    def svg(self) -> str:
        """Return the picture."""
        x, y = self._x, self._y
        marks = "".join(
            f'<path class="grid" d="M{self._at(tick, y.low)}L{self._at(tick, y.high)}"/>'
            f'<text x="{self._at(tick, y.low).split(" ")[0]}" y="{HEIGHT - _BOTTOM + 15:g}" '
            f'text-anchor="middle">{x.text(tick)}</text>'
            for tick in x.ticks
        ) + "".join(
            f'<path class="grid" d="M{self._at(x.low, tick)}L{self._at(x.high, tick)}"/>'
            f'<text x="{_LEFT - 5:g}" y="{float(self._at(x.low, tick).split(" ")[1]) + 4:g}" '
            f'text-anchor="end">{y.text(tick)}</text>'
            for tick in y.ticks
        )
        middle = (_TOP + HEIGHT - _BOTTOM) / 2
        labels = (
            f'<text x="{(_LEFT + WIDTH - _RIGHT) / 2:g}" y="{HEIGHT - 6:g}" '
            f'text-anchor="middle">{escape(x.label)}</text>'
            f'<text transform="translate(11 {middle:g}) rotate(-90)" '
            f'text-anchor="middle">{escape(y.label)}</text>'
        )
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
            f'aria-label="{escape(self._name)}">{marks}{"".join(self._parts)}{labels}</svg>'
        )

    def _at(self, x: float, y: float) -> str:
        across = _LEFT + (WIDTH - _LEFT - _RIGHT) * self._x.place(x)
        down = _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - self._y.place(y))
        return f"{across:.1f} {down:.1f}"
