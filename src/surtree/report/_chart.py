"""Small static charts as SVG: axes, step curves with bands, areas, points with limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.outcomes import GroupCurve, stacked
from surtree.report._html import Markup, element, markup
from surtree.summary.figures import Steps, visible_steps
from surtree.survival.step_function import round_horizons

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Axis:
    """One axis: its range, where it has ticks, and what it says."""

    low: float  # the range
    high: float
    ticks: Sequence[float] = ()  # where there is a number
    label: str = ""  # what is measured
    percent: bool = True  # whether numbers are written as percentages

    @classmethod
    def until(cls, end: float, label: str, *, low: float = 0.0, percent: bool = False) -> Axis:
        """Return an axis with round ticks from zero to an end."""
        return cls(low, end, (0.0, *round_horizons(end)), label, percent)

    def share(self, value: float) -> float:
        """Return where a value lies, from zero to one; values outside are at the ends."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, value: float) -> str:
        """Return a value as the axis writes it."""
        return f"{value:.0%}" if self.percent else f"{value:g}"


@dataclass(frozen=True)
class Box:
    """The size of a picture, and its margins."""

    width: float = 340.0
    height: float = 250.0
    left: float = 46.0
    right: float = 18.0
    top: float = 10.0
    bottom: float = 40.0


class Chart:
    """Axes, to which curves and points are added in the order in which they are drawn."""

    def __init__(self, x: Axis, y: Axis, name: str, box: Box | None = None, kind: str = "") -> None:
        self._x, self._y, self._name = x, y, name
        self._box = box or Box()
        self._kind = kind  # what the names of classes begin with
        self._parts: list[Markup] = []

    def line(self, x: ArrayLike, y: ArrayLike, kind: str, colour: str | None = None) -> None:
        """Draw a line through points; values that are not numbers leave a gap."""
        path, pen_down = "", False
        for one, other in zip(np.asarray(x), np.asarray(y), strict=True):
            if not isfinite(other):
                pen_down = False
                continue
            path += f"{'L' if pen_down else 'M'}{self._at(one, other)}"
            pen_down = True
        self._path(path, kind, colour)

    def area(self, x: Floats, low: Floats, high: Floats, kind: str, colour: str) -> None:
        """Fill the area between two lines with a colour."""
        points = [*zip(x, high, strict=True), *zip(x[::-1], low[::-1], strict=True)]
        self._path(f"M{'L'.join(self._at(*point) for point in points)}Z", kind, colour)

    def steps(self, steps: Steps, last: float, kind: str, colour: str | None = None) -> None:
        """Draw a step function until a time, before its band where it has one."""
        if steps.band is not None and colour is not None:
            x, lower = _corners(steps, steps.band[0], last)
            self.area(x, lower, _corners(steps, steps.band[1], last)[1], "band", colour)
        self.line(*_corners(steps, steps.values, last), kind, colour)

    def stack(self, curves: Sequence[GroupCurve], points: int = 240) -> None:
        """Draw curves as areas, one on top of the other; a dashed line is where they end.

        Of very many steps no more are drawn than can be told apart.
        """
        times, edges = stacked(curves, self._x.high)
        if times.size > points:
            kept = np.linspace(0, times.size - 1, points).astype(int)
            times, edges = times[kept], edges[:, kept]
        x = np.repeat(times, 2)[1:]
        below: Floats = np.zeros(x.size)
        for upper, curve in zip(edges, curves, strict=True):
            edge = np.repeat(upper, 2)[:-1]
            self.area(x, below, edge, "area", curve.colour)
            below = edge
        if times[-1] < self._x.high:
            self.line([times[-1]] * 2, [self._y.low, self._y.high], "ideal")

    def marks(self, x: Iterable[float], y: Iterable[float]) -> None:
        """Draw a small upright line at each point."""
        path = "".join(f"M{self._at(*point)}m0 -3v6" for point in zip(x, y, strict=True))
        if path:
            self._path(path, "censored")

    def point(self, x: float, y: float, low: float, high: float) -> None:
        """Draw a point, and its limits where they are known."""
        if isfinite(low) and isfinite(high):
            self.line((x, x), (low, high), "limits")
        if isfinite(y):
            across, down = self._at(x, y).split(" ")
            self._parts.append(element("circle", class_="point", r="3.5", cx=across, cy=down))

    def drawing(self) -> Markup:
        """Return what was drawn, without axes."""
        return markup(*self._parts)

    def svg(self) -> Markup:
        """Return the picture with its axes."""
        x, y, box = self._x, self._y, self._box
        return element(
            "svg",
            *self._ticks(),
            *self._parts,
            _label(x.label, (box.left + box.width - box.right) / 2, box.height - 6),
            element(
                "text",
                y.label,
                transform=f"translate(11 {(box.top + box.height - box.bottom) / 2:g}) rotate(-90)",
                text_anchor="middle",
            ),
            class_="chart",
            viewBox=f"0 0 {box.width:g} {box.height:g}",
            role="img",
            aria_label=self._name,
        )

    def _ticks(self) -> Iterable[Markup]:
        x, y, box = self._x, self._y, self._box
        for tick in x.ticks:
            foot, head = self._at(tick, y.low), self._at(tick, y.high)
            yield element("path", class_="grid", d=f"M{foot}L{head}")
            yield _label(x.text(tick), float(foot.split(" ")[0]), box.height - box.bottom + 15)
        for tick in y.ticks:
            left, right = self._at(x.low, tick), self._at(x.high, tick)
            yield element("path", class_="grid", d=f"M{left}L{right}")
            yield _label(y.text(tick), box.left - 5, float(left.split(" ")[1]) + 4, "end")

    def _path(self, path: str, kind: str, colour: str | None = None) -> None:
        style = None if colour is None else f"--risk:{colour}"
        self._parts.append(element("path", class_=self._kind + kind, style=style, d=path))

    def _at(self, x: float, y: float) -> str:
        box = self._box
        across = box.left + (box.width - box.left - box.right) * self._x.share(x)
        down = box.top + (box.height - box.top - box.bottom) * (1 - self._y.share(y))
        return f"{round(across, 1):g} {round(down, 1):g}"


def _label(text: str, x: float, y: float, anchor: str = "middle") -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor)


def _corners(steps: Steps, values: Floats, last: float) -> tuple[Floats, Floats]:
    """Return where the line of a step function turns until a time."""
    shown = steps.times <= last
    x = np.repeat(np.concatenate([[0.0], steps.times[shown], [last]]), 2)[1:-1]
    return x, np.repeat(np.concatenate([[steps.start], values[shown]]), 2)


_SPARK = Box(100.0, 32.0, 0.0, 0.0, 0.0, 0.0)


def sparkline(curves: Sequence[GroupCurve], everyone: Steps, end: float, *, area: bool) -> Markup:
    """Return the curves of a leaf at the size of a word: lines over that of all rows, or areas."""
    chart = Chart(Axis(0.0, end), Axis(0.0, 1.0), "", _SPARK, "surtree-")
    if area:
        chart.stack(curves, 50)
    else:
        chart.steps(everyone, end, "everyone")
        for curve in curves:
            steps = visible_steps(curve, 0.02, 0.04 if len(curves) == 1 else None)
            chart.steps(steps, min(curve.last_time, end), "curve", curve.colour)
    return element(
        "svg",
        chart.drawing(),
        class_="surtree-spark",
        viewBox=f"0 0 {_SPARK.width:g} {_SPARK.height:g}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
