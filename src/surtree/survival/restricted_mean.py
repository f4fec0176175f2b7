"""Restricted means: the area below a product-limit curve, or a cumulative incidence, to a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from surtree._support.types import Floats
from surtree.survival.aalen_johansen import CauseCounts
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.kaplan_meier import EventCounts


class Estimate(NamedTuple):
    """An estimate that is about normal, and its standard error."""

    value: float
    standard_error: float

    def limits(self, level: float = LEVEL) -> tuple[float, float]:
        """Return its confidence limits."""
        require_level(level)
        reach = float(ndtri((1 + level) / 2)) * self.standard_error
        return self.value - reach, self.value + reach

    def __sub__(self, other: Estimate) -> Estimate:
        """Return the difference to an estimate of other rows."""
        error = np.hypot(self.standard_error, other.standard_error)
        return Estimate(self.value - other.value, float(error))


def time_lost(counts: CauseCounts, times: Floats, horizon: float) -> tuple[Estimate, ...]:
    """Return the mean time that each cause takes away before a horizon, with its delta method.

    An event at a time takes away all that is left, and moves what later events would have taken.
    With one cause it is the variance of R's ``survRM2``.
    """
    steps = int(np.searchsorted(times, horizon, side="left"))
    left = horizon - times[:steps]
    incidence = counts.incidence[:, :steps]
    lost = np.cumsum((incidence * -np.diff(left, append=0.0))[:, ::-1], axis=1)[:, ::-1]
    parts = (part[..., :steps] for part in counts.variance_parts)
    squared, linear, constant = parts
    later = lost - incidence * left
    variance = (squared * later**2 + linear * later * left + constant * left**2).sum(axis=1)
    errors = np.sqrt(np.maximum(variance, 0.0))
    first = lost[:, 0] if steps else np.zeros(len(incidence))
    return tuple(map(Estimate, first.tolist(), errors.tolist()))


def restricted_mean(counts: EventCounts, times: Floats, horizon: float) -> Estimate:
    """Return the mean time without an event before a horizon."""
    (lost,) = time_lost(one_cause(counts), times, horizon)
    return Estimate(horizon - lost.value, lost.standard_error)


def survival_at(counts: EventCounts, times: Floats, horizon: float) -> Estimate:
    """Return the survival at a horizon, with Greenwood's standard error."""
    steps = int(np.searchsorted(times, horizon, side="right"))
    if steps == 0:
        return Estimate(1.0, 0.0)
    variance = one_cause(counts).variance[0, steps - 1]
    return Estimate(float(counts.survival[steps - 1]), float(np.sqrt(variance)))


def one_cause(counts: EventCounts) -> CauseCounts:
    """Return counts of events as those of a single cause."""
    return CauseCounts(counts.at_risk, counts.deaths[np.newaxis])
