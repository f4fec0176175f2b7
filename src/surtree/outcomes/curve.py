"""The curve of a group, or of one channel of it, as plots and pages draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.outcomes._group import Group
from surtree.outcomes.column import UNKNOWN, Limits
from surtree.survival.confidence import LEVEL
from surtree.survival.kaplan_meier import median_time
from surtree.tree.leaf_curve import curve_kind, curve_of
from surtree.tree.leaf_intervals import median_limits, survival_band, theta_limits
from surtree.tree.tree import Tree
from surtree.words.colour import risk_colours
from surtree.words.numbers import number


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
        """Return the value at a time, with limits."""
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
        """The colour that it is drawn in."""
        return self.channel.colour

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
        """The value after the last step."""
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
    survival = curve_of(tree, group.leaf, "kaplan-meier").survival.y
    lower, upper = survival_band(tree, group.leaf, "kaplan-meier", level)
    return ObservedCurve(tree.event_times[steps], survival[steps], (lower[steps], upper[steps]))
