"""The baseline hazard: the Nelson-Aalen estimate over all rows, and the risk table behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.compiled import count_risk, count_steps
from surtree._support.exact import Terms
from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target
from surtree.words.printed import Printed

Positions = NDArray[np.intp]


def weight_over(first: Positions, last: Positions, weight: Terms, size: int) -> Floats:
    """Return, for each position, the weight of the intervals that cover it."""
    begins, ends = (weight.parts_by(position, size + 1) for position in (first, last))
    # Sums of parts are exact: where heavy rows cancel, nothing is lost of light ones.
    covering = np.cumsum(begins - ends, axis=1)[:, :size]
    return weight.grid.join(covering)


def from_each_on(parts: Floats) -> Floats:
    """Return the sum from each position of the last axis to its end."""
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]


# Least exposure, relative to the floor: below the rounding of any sum, but positive.
_NEXT_TO_NONE = 2.0**-40


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(Printed, ArrayValue):
    """The Nelson-Aalen estimate of the cumulative hazard that all rows share.

    Parameters
    ----------
    times : array of float
        The distinct event times, ascending.
    cumulative_hazard : array of float
        The cumulative hazard from each of them on; it is zero before the first.
    floor : float
        The least hazard that a row can have, so that its logarithm exists.
    last_time : float
        The last follow-up of all rows, with an event or without; infinity where it is not known,
        as in files of version 1.
    of_cause : tuple of Baseline
        With competing risks, that of each cause; one that no row has has no times.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> baseline = SurTree(max_depth=0).fit(X, y).tree_.baseline
    >>> baseline.at([365, 1825]).round(3)
    array([0.088, 0.709])
    """

    times: Floats
    cumulative_hazard: Floats
    floor: float
    last_time: float = np.inf
    of_cause: tuple[Baseline, ...] = ()

    @property
    def hazard(self) -> Floats:
        """The step of the cumulative hazard at each of the times."""
        return np.diff(self.cumulative_hazard, prepend=0.0)

    def at(self, time: ArrayLike) -> Floats:
        """Return the cumulative hazard at any times."""
        steps = np.searchsorted(self.times, np.asarray(time, dtype=np.float64), side="right")
        return np.concatenate(([0.0], self.cumulative_hazard))[steps]

    def steps(self, target: Target) -> NDArray[np.intp]:
        """Return, for each row, the number of event times up to its own time."""
        return count_steps(target.order, target.time, self.times)

    def row_hazard(self, target: Target) -> Floats:
        """Return the hazard that each row was exposed to, from its entry to its exit."""
        exposure = np.concatenate(([0.0], self.cumulative_hazard))[self.steps(target)]
        if target.entry is not None:
            exposure = exposure - self.at(target.entry)
        if target.person is None or target.share is None:
            return np.maximum(exposure, self.floor)
        # The floor is that of a person; parts of one have their share of it. A part without any
        # hazard, of a person who has some, has next to none: the sum stays that of the person.
        total = np.bincount(target.person, weights=exposure)[target.person]
        least = self.floor * target.share
        return np.where(total > 0, np.maximum(exposure, _NEXT_TO_NONE * self.floor), least)

    def steps_of_cause(self, position: int) -> Floats:
        """Return the step of the hazard of a cause at each of the times of all causes."""
        one = self.of_cause[position]
        steps = np.zeros(self.times.size)
        steps[np.searchsorted(self.times, one.times)] = one.hazard
        return steps

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


class Risks(Protocol):
    """Who is at risk and who dies over time: of rows in memory, or as passes have counted them."""

    @property
    def total(self) -> float:
        """The weight of all rows; where they are parts of persons, that of the persons."""

    @property
    def last_time(self) -> float:
        """The last follow-up."""

    def table(self, cause: int | None = None) -> RiskTable:
        """Return the risk table of the events of a cause, or of all events."""


@dataclass(frozen=True, eq=False)
class RowRisks:
    """The risks of rows in memory."""

    target: Target
    weight: Floats
    cause: NDArray[np.intp] | None = None  # that of the event of each row, where there are several

    @property
    def total(self) -> float:
        return self._terms.total if self.target.share is None else self.target.total(self.weight)

    @property
    def last_time(self) -> float:
        return float(self.target.time.max())

    @cached_property
    def _terms(self) -> Terms:
        return Terms.of(self.weight)

    def table(self, cause: int | None = None) -> RiskTable:
        event = self.target.event if cause is None else self.cause == cause
        return _risk_table(self.target, np.asarray(event), self._terms)


def nelson_aalen(target: Target, weight: Floats) -> Baseline:
    """Estimate the cumulative hazard of all rows together."""
    return estimate(RowRisks(target, weight))


def estimate(risks: Risks, cause: int | None = None) -> Baseline:
    """Estimate the cumulative hazard of a cause, or of all events; no times if there are none."""
    table = risks.table(cause)
    steps = table.deaths / table.at_risk
    floor = float(steps.min(initial=1.0 / (risks.total + 1.0)))
    return Baseline(table.times, np.cumsum(steps), floor, risks.last_time)


def risk_table(target: Target, weight: Floats, event: NDArray[np.bool_] | None = None) -> RiskTable:
    """Count the weight at risk and the weight of the events at each distinct event time.

    A row is at risk at time ``t`` when it entered before ``t`` and left at ``t`` or later. Other
    events than those of the target may be given.
    """
    return _risk_table(target, target.event if event is None else event, Terms.of(weight))


def _risk_table(target: Target, event: NDArray[np.bool_], weight: Terms) -> RiskTable:
    times, at_risk, deaths = count_risk(target.order, target.time, event, weight)
    if target.entry is not None:
        first, last = (np.searchsorted(times, t, side="right") for t in (target.entry, target.time))
        at_risk = weight_over(first, last, weight, times.size)
    return RiskTable(times, at_risk, deaths)
