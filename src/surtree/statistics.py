"""What the rows say before any tree: the baseline hazard, and the sums that the loss is made of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree.intervals import weight_over
from surtree.target import Target

Floats = NDArray[np.float64]

# A time axis has at most so many intervals.
MOST_TICKS = 8

# Up to this ratio of the heaviest to the lightest row, rounding cannot hide a better tree.
EVEN_WEIGHTS = 1e5

# A curve that reaches one half in exact arithmetic must do so in floating point too.
_HALF = 0.5 * (1 + 1e-12)


class ArrayValue:
    """A frozen dataclass of arrays: read-only, equal by content, pickled through its constructor.

    Only views are made read-only, so a caller's own arrays stay as they were.
    """

    def __post_init__(self) -> None:
        for name in self._names():
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.setflags(write=False)
                object.__setattr__(self, name, view)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._names())

    # Pickle forgets that an array was read-only; the constructor says so again.
    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self._names())

    @classmethod
    @cache
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


@dataclass(frozen=True, eq=False)
class Baseline(ArrayValue):
    """The Nelson-Aalen estimate of the cumulative hazard that all rows share.

    Parameters
    ----------
    times : array of float
        The distinct event times, ascending.
    cumulative_hazard : array of float
        The cumulative hazard from each of them on; it is zero before the first.
    floor : float
        The least hazard that a row can have, so that its logarithm exists.
    """

    times: Floats
    cumulative_hazard: Floats
    floor: float

    def at(self, time: ArrayLike) -> Floats:
        """Return the cumulative hazard at any times."""
        steps = np.searchsorted(self.times, np.asarray(time, dtype=np.float64), side="right")
        return np.concatenate(([0.0], self.cumulative_hazard))[steps]

    def steps(self, target: Target) -> NDArray[np.intp]:
        """Return, for each row, how many of the event times are not after its own time."""
        # Looking up the times among the rows, both in order, takes a fraction of the time of
        # looking up the rows among the times.
        order = target.order
        first = np.searchsorted(target.time[order], self.times, side="left")
        steps = np.empty(order.size, dtype=np.intp)
        steps[order] = np.cumsum(np.bincount(first, minlength=order.size)[: order.size])
        return steps

    def row_hazard(self, target: Target) -> Floats:
        """Return the hazard that each row was exposed to, from its entry to its exit."""
        exposure = np.concatenate(([0.0], self.cumulative_hazard))[self.steps(target)]
        if target.entry is not None:
            exposure = exposure - self.at(target.entry)
        return np.maximum(exposure, self.floor)

    def survival(self, theta: float) -> Floats:
        """Return the survival at each of the times, for rows whose hazard is ``theta``-fold."""
        survival: Floats = np.exp(-theta * self.cumulative_hazard)
        return survival


@dataclass(frozen=True, eq=False)
class RiskTable(ArrayValue):
    """How many rows were at risk, and how many had the event, at each distinct event time."""

    times: Floats
    at_risk: Floats
    deaths: Floats


@dataclass(frozen=True)
class RowSums:
    """What each row adds to the sums of the leaf that it falls in.

    Parameters
    ----------
    weight : array of float
        The weight of the row, above zero.
    events : array of float
        The weight where the row has an event, else zero.
    hazard : array of float
        The weight times the hazard that the row was exposed to.
    n_events : array of bool
        Whether the row has an event.
    negative_log_hazard : float
        The part of the loss that no tree can change, over all rows.
    """

    weight: Floats
    events: Floats
    hazard: Floats
    n_events: NDArray[np.bool_]
    negative_log_hazard: float

    @cached_property
    def is_uneven(self) -> bool:
        """Whether the lightest rows may vanish beside the heaviest in sums of double precision."""
        return bool(self.weight.max() > EVEN_WEIGHTS * self.weight.min())

    @cached_property
    def node_values(self) -> Floats:
        """What a tree adds up over the rows of each node, a line for each kind of sum.

        Hazard, the part of the loss that no tree changes, rows, rows with events; then, if not
        all weights are one, weight and events.
        """
        loss = -self.events * np.log(self.hazard / self.weight)
        lines = [self.hazard, loss, np.ones(self.weight.size), self.n_events]
        if not (self.weight == 1).all():
            lines += [self.weight, self.events]
        return np.stack(lines, dtype=np.float64)


def risk_table(target: Target, weight: Floats) -> RiskTable:
    """Count the weight at risk and the weight of the events at each distinct event time.

    A row is at risk at time ``t`` when it entered before ``t`` and left at ``t`` or later.
    """
    ascending, weights = target.time[target.order], weight[target.order]
    with_event = np.flatnonzero(target.event[target.order])
    event_times = ascending[with_event]
    starts = np.flatnonzero(np.diff(event_times, prepend=-np.inf))
    times, deaths = event_times[starts], np.add.reduceat(weights[with_event], starts)
    if target.entry is None:
        at_risk = _weight_from(ascending, weights, times)
    else:
        first, last = (np.searchsorted(times, t, side="right") for t in (target.entry, target.time))
        at_risk = weight_over(first, last, weight, times.size)
    # Sums in another order may round to less than the rows that are certain.
    return RiskTable(times, np.maximum(at_risk, deaths), deaths)


def total_by(group: NDArray[Any], values: NDArray[Any], n_groups: int) -> Floats:
    """Return the sum of the values of each group."""
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


def _weight_from(ascending: Floats, weights: Floats, times: Floats) -> Floats:
    """Return the weight of the rows whose value, here ascending, is at least each of the times."""
    # Summed from the last row backwards, so that small risk sets at the end stay accurate.
    from_here_on = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    weight_from: Floats = from_here_on[np.searchsorted(ascending, times, side="left")]
    return weight_from


def nelson_aalen(target: Target, weight: Floats) -> Baseline:
    """Estimate the cumulative hazard of all rows together.

    Parameters
    ----------
    target : Target
        Event, time and entry time of each row; at least one row has an event.
    weight : array of float
        The weight of each row, above zero. A weight of two is the row twice.

    Returns
    -------
    Baseline
        Its floor is one over the total weight plus one, the hazard of a row that left before the
        first event, or the smallest step of the estimate where that is less.
    """
    table = risk_table(target, weight)
    steps = table.deaths / table.at_risk
    floor = min(1.0 / (float(weight.sum()) + 1.0), float(steps.min()))
    return Baseline(table.times, np.cumsum(steps), floor)


def row_sums(target: Target, weight: Floats, baseline: Baseline) -> RowSums:
    """Weigh the events and the hazard of each row.

    Parameters
    ----------
    target : Target
        Event, time and entry time of each row.
    weight : array of float
        The weight of each row, above zero.
    baseline : Baseline
        Where the hazard of a row is read off; it may come from other rows.
    """
    hazard = baseline.row_hazard(target)
    events = np.where(target.event, weight, 0.0)
    return RowSums(
        weight=weight,
        events=events,
        hazard=weight * hazard,
        n_events=target.event,
        # Not a dot product: that may start the threads of a linear algebra library.
        negative_log_hazard=-float(np.sum(events * np.log(hazard))),
    )


def gain(events: ArrayLike, hazard: ArrayLike) -> Floats:
    """Return by how much leaves reduce the loss: ``E * log(E / H)``, and zero without an event."""
    events = np.asarray(events, dtype=np.float64)
    ratio = np.where(events > 0, events, 1.0) / np.where(events > 0, hazard, 1.0)
    return events * np.log(ratio)


def leaf_theta(events: ArrayLike, hazard: ArrayLike) -> Floats:
    """Return the hazard ratio of leaves: ``E / H``, and ``0.5 / H`` without an event.

    The most likely ratio of a leaf without an event is zero, whose curve would say that nobody
    ever has an event; half an event is what LeBlanc and Crowley put in its place.
    """
    events = np.asarray(events, dtype=np.float64)
    return np.where(events > 0, events, 0.5) / np.asarray(hazard, dtype=np.float64)


def likelihood_loss(sums: RowSums, theta: Floats) -> float:
    """Return the loss of rows for which a tree predicts ``theta``, summed over the rows."""
    cost = theta * sums.hazard - sums.events * (np.log(theta) + 1.0)
    return sums.negative_log_hazard + float(cost.sum())


def product_limit(at_risk: NDArray[Any], deaths: NDArray[Any]) -> Floats:
    """Return the Kaplan-Meier survival after each time, from what was at risk and what died."""
    survival: Floats = np.cumprod(1.0 - deaths / at_risk, dtype=np.float64)
    return survival


def round_step(end: float) -> float:
    """Return a power of ten that divides the ticks of any time axis to an end.

    An axis has a tick at every multiple of one, two or five times a power of ten, and not more
    than `MOST_TICKS` of them.
    """
    return float(10.0 ** np.floor(np.log10(end / MOST_TICKS)))


def round_times(end: float) -> Floats:
    """Return zero and the multiples of `round_step`, as they are written, up to an end."""
    step = round_step(end)
    multiples = np.arange(np.floor(end / step) + 1)
    # Three divided by ten is what is written 0.3, three times 0.1 is a little more.
    return multiples * step if step >= 1 else multiples / np.rint(1 / step)


def median_time(times: Floats, survival: Floats) -> float:
    """Return the first time at which survival is at most one half, infinity where it never is."""
    reached = np.flatnonzero(survival <= _HALF)
    return float(times[reached[0]]) if reached.size else float("inf")
