"""The curve of a group, or of one channel of it, as plots and pages draw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes._group import Group, counted
from surtree.survival.confidence import LEVEL
from surtree.survival.kaplan_meier import median_time
from surtree.tree.leaf_curve import (
    curve_kind,
    curve_of,
    event_counts,
    median_limits,
    observed_band,
    survival_band,
    theta_limits,
)
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours
from surtree.words.numbers import interval_text, number

Limits = tuple[float, float]
UNKNOWN: Limits = (nan, nan)


@dataclass(frozen=True)
class Column:
    """A figure of each of some groups: a column of a table of leaves."""

    name: str  # in CSV, JSON and tables of predictions
    heading: str  # in tables for people
    symbol: str  # in printed trees and pictures, where there is little room
    values: Sequence[float]  # NaN where there is no estimate, infinity where none is reached
    limits: Sequence[Limits] | None = None  # the confidence limits of each value
    # What stands in place of a value that is no estimate: words, and a number that follows them.
    instead: Mapping[int, tuple[str, float]] = field(default_factory=dict)
    texts: Sequence[str] | None = None  # what people read, where it is more than the value
    colours: Sequence[str] | None = None  # of a dot before each value
    style: str = ".3g"  # the digits of a value
    qualifier: str = ""  # what a value is read off, such as the kind of curve
    is_count: bool = False
    is_time: bool = False
    is_printed: bool = True  # whether printed trees and pictures have room for it
    joins: bool = False  # whether a printed tree writes it into the cell of the column before
    shows_limits: bool = False  # whether printed trees show the limits in a cell of their own

    def text(self, position: int, form: str | Callable[[float], str] | None = None) -> str:
        """Return a value as people read it, with other digits where a form is given."""
        value = self.values[position]
        if self.texts is not None:
            return self.texts[position]
        if self.is_count:
            return str(value) if isinstance(value, int) else f"{value:g}"
        write = form if callable(form) else f"{{:{form or self.style}}}".format
        if position not in self.instead:
            return write(value) if isfinite(value) else "unknown"
        words, bound = self.instead[position]
        return f"{words} {write(bound)}" if isfinite(bound) else "unknown"

    @property
    def picture_heading(self) -> str:
        """The heading in a picture, on two lines."""
        text = self.symbol if self.joins or " " in self.symbol else self.heading
        return text.replace(" ", "\n", 1)

    @property
    def printed_heading(self) -> str:
        return f"{self.symbol} ({self.qualifier})" if self.qualifier else self.symbol

    def phrase(self, position: int) -> str:
        """Return what a value is, and the value, as a picture writes it in a leaf."""
        colon = ":" if " " in self.symbol else ""
        after = f" ({self.qualifier})" if self.qualifier else ""
        return f"{self.symbol}{colon} {self.text(position)}{after}"

    def limits_text(self, position: int) -> str:
        limits = UNKNOWN if self.limits is None else self.limits[position]
        return interval_text(limits) or "unknown"


@dataclass(frozen=True)
class Channel:
    """One of the hazards of an outcome: the event, a cause, an arm."""

    key: Any  # what users call it in code and in names of columns: 1, "placebo"
    label: str  # what people read
    colour: str
    counts: bool = True  # whether the tree was chosen to tell it apart


@dataclass(frozen=True, eq=False)
class ObservedCurve:
    """The product-limit curve of the rows of a group, at the steps where it moves."""

    times: Floats
    values: Floats
    band: tuple[Floats, Floats]  # the confidence limits, not numbers where R says NA

    def at(self, time: float) -> tuple[float, Limits]:
        return _value_at(self.times, self.values, self.band, time, 1.0)


@dataclass(frozen=True, eq=False)
class GroupCurve:
    """The curve of a group, or of one channel of it, as it is drawn."""

    channel: Channel
    group: Group
    n_samples: int  # the rows of the channel in the group, and those of them with an event
    n_events: int
    theta: float  # the relative risk, and when survival falls to one half; infinity if never
    median: float
    # The steps of survival, or of cumulative incidence: none after the last follow-up.
    times: Floats
    values: Floats
    band: tuple[Floats, Floats] | None  # limits at these times; NaN where nothing is known
    observed: ObservedCurve | None  # the product-limit curve of the rows, where it is kept
    censored: Floats  # when rows were censored; of many at almost the same time, one
    last_time: float  # the last follow-up
    start: float = 1.0  # the value before the first step
    theta_limits: Limits = UNKNOWN
    median_limits: Limits = UNKNOWN

    @property
    def colour(self) -> str:
        return self.channel.colour

    @property
    def counted(self) -> str:
        """How many rows, persons and events it is of, in words."""
        return counted(self.group, self.n_samples, self.n_events)

    @property
    def no_events(self) -> bool:
        """Whether no row has an event: then the relative risk is no estimate, and has a limit."""
        return self.n_events == 0

    def risk_text(self, precision: int) -> str:
        """Return the relative risk; without events, the most that it may be."""
        if not self.no_events:
            return number(self.theta, precision)
        most = self.theta_limits[1]
        return f"at most {number(most, precision)}" if isfinite(most) else "unknown"

    @property
    def last_value(self) -> float:
        return float(self.values[-1]) if self.values.size else self.start

    def at(self, time: float) -> tuple[float, Limits]:
        """Return the value at a time, with limits; NaN after the last follow-up."""
        if time > self.last_time:
            return nan, UNKNOWN
        return _value_at(self.times, self.values, self.band, time, self.start)


def _value_at(
    times: Floats, values: Floats, band: tuple[Floats, Floats] | None, time: float, start: float
) -> tuple[float, Limits]:
    position = int(np.searchsorted(times, time, side="right")) - 1
    if position < 0:
        return start, UNKNOWN
    limits = UNKNOWN if band is None else (float(band[0][position]), float(band[1][position]))
    return float(values[position]), limits


def survival_curve(group: Group, kind: LeafCurveKind | None, level: float = LEVEL) -> GroupCurve:
    """Return the survival of a leaf without any event, in the colour of its relative risk."""
    tree, leaf = group.tree, group.leaf
    kind = curve_kind(tree, kind)
    curve, band = curve_of(tree, leaf, kind), survival_band(tree, leaf, kind, level)
    observed = _observed(group, level) if group.has_counts else None
    # A product-limit curve only moves at its own events, and other leaves may have thousands.
    shown = tree.event_times <= group.last_time
    if kind == "kaplan-meier" and observed is not None:
        shown &= np.isin(tree.event_times, observed.times)
    return GroupCurve(
        channel=Channel("event", group.name, risk_colours([group.theta])[0]),
        group=group,
        n_samples=group.n_samples,
        n_events=group.n_events,
        theta=group.theta,
        median=curve.median,
        times=curve.survival.x[shown],
        values=curve.survival.y[shown],
        band=(band[0][shown], band[1][shown]),
        observed=observed,
        censored=group.censored,
        last_time=group.last_time,
        theta_limits=theta_limits(tree, leaf, level),
        median_limits=median_limits(tree, leaf, kind, level),
    )


def stacked(curves: Sequence[GroupCurve], end: float) -> tuple[Floats, Floats]:
    """Return the corners of areas, each on top of those before, and their upper edges."""
    times = np.concatenate([[0.0], curves[0].times])
    values = [np.concatenate([[curve.start], curve.values]) for curve in curves]
    upper = np.cumsum(values, axis=0)
    last = min(curves[0].last_time, end)
    if times[-1] < last:
        times, upper = np.append(times, last), np.column_stack([upper, upper[:, -1]])
    return times, upper


def everyone(tree: Tree) -> GroupCurve:
    """Return the curve of all rows: what the baseline hazard predicts, in grey."""
    times, survival = tree.event_times, tree.baseline.survival(1.0)
    group = Group.of(tree, (0,))
    return GroupCurve(
        channel=Channel("event", "all rows", risk_colours([1.0])[0]),
        group=group,
        n_samples=group.n_samples,
        n_events=group.n_events,
        theta=1.0,
        median=median_time(times, survival),
        times=times,
        values=survival,
        band=None,
        observed=None,
        censored=np.empty(0),
        last_time=tree.last_time,
        theta_limits=(1.0, 1.0),
    )


def _observed(group: Group, level: float) -> ObservedCurve:
    tree, (counts,) = group.tree, group.leaf_counts
    steps = counts.step[counts.deaths > 0]
    survival = event_counts(tree, group.leaf, "kaplan-meier").survival
    lower, upper = observed_band(tree, group.leaf, "kaplan-meier", level)
    return ObservedCurve(tree.event_times[steps], survival[steps], (lower[steps], upper[steps]))
