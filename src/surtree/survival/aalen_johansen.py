"""Cumulative incidence: the Aalen-Johansen estimate, its variance and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import risk_table
from surtree.survival.confidence import LEVEL, log_log_band, require_level, stretched
from surtree.survival.kaplan_meier import EventCounts


@dataclass(frozen=True, eq=False)
class CauseCounts:
    """What is at risk and what each cause ends, at each of some event times."""

    at_risk: Floats  # the weight at risk at each time
    deaths: Floats  # the weight of the events of each cause

    @property
    def all_causes(self) -> EventCounts:
        return EventCounts(self.at_risk, self.deaths.sum(axis=0))

    @property
    def shares(self) -> Floats:
        """The share of those at risk that each cause ends at each time."""
        shares = np.zeros_like(self.deaths)
        np.divide(self.deaths, self.at_risk, out=shares, where=self.at_risk > 0)
        return shares

    @property
    def incidence(self) -> Floats:
        """The cumulative incidence of each cause after each time, of the shape of ``deaths``.

        An event of a cause needs that no event of any cause was before.
        """
        return np.asarray(np.cumsum(self._before * self.shares, axis=1))

    @property
    def variance(self) -> Floats:
        """The variance of the cumulative incidences, by the delta method.

        At each time the events of all causes follow a multinomial distribution. It is the variance
        of R's ``survfit``, and with one cause that of Greenwood.
        """
        (squared, linear, constant), incidence = self.variance_parts, self.incidence
        # The sum over the times u up to t of squared x^2 + linear x + constant, with x the
        # incidence from u to t, by the powers of the incidence at t.
        variance = (
            np.cumsum(squared) * incidence**2
            + np.cumsum(linear - 2.0 * squared * incidence, axis=1) * incidence
            + np.cumsum(constant - linear * incidence + squared * incidence**2, axis=1)
        )
        return np.maximum(variance, 0.0)

    @property
    def variance_parts(self) -> tuple[Floats, Floats, Floats]:
        """What the events at each time add to a variance: squared x^2 + linear x + constant.

        x is the incidence of the cause from there on; the first is the same for all causes.
        """
        before, share, together = self._before, self.shares, self.all_causes.hazard
        per_row = np.zeros_like(self.at_risk)
        np.divide(1.0, self.at_risk, out=per_row, where=self.at_risk > 0)
        # Where nobody is left, no incidence changes any more.
        odds = np.zeros_like(together)
        np.divide(together, 1.0 - together, out=odds, where=together < 1)
        linear = -2.0 * per_row * before * share
        return per_row * odds, linear, per_row * before**2 * share * (1.0 - share)

    @property
    def _before(self) -> Floats:
        """The share without an event just before each time."""
        return np.concatenate(([1.0], self.all_causes.survival[:-1]))

    def shrunk(self, prior: float, share: Floats, hazards: Floats) -> CauseCounts:
        """Add rows that have events at the rates of all rows, as many as a prior is worth."""
        added = prior * share
        return CauseCounts(self.at_risk + added, self.deaths + added * hazards)


def incidence_band(
    incidence: Floats, variance: Floats, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the pointwise limits of a cumulative incidence, as R's ``conf.type = "log-log"``.

    They are not numbers (nan) where the incidence is zero or one.
    """
    require_level(level)
    inside = (incidence > 0) & (incidence < 1)
    share = incidence[inside]
    reach = ndtri((1 + level) / 2) * np.sqrt(variance[inside]) / (-share * np.log(share))
    return stretched(incidence, inside, reach)


def proportional_incidence(steps: Floats) -> Floats:
    """Return the cumulative incidence of each cause, given the steps of the hazard of each.

    The share without an event is ``exp(-H)`` of the hazard ``H`` of all causes, and what is lost
    at a time is divided among the causes by their steps there. So they add up to one, however
    large the steps are.
    """
    together = steps.sum(axis=0)
    survival = np.exp(-np.cumsum(together))
    lost = -np.diff(survival, prepend=1.0)
    shares = np.zeros_like(steps)
    np.divide(steps, together, out=shares, where=together > 0)
    return np.asarray(np.cumsum(lost * shares, axis=1))


def count_causes(target: Target, weight: Floats) -> tuple[Floats, CauseCounts]:
    """Return the distinct event times of some rows, and what is at risk and has an event there."""
    table = risk_table(target, weight)
    rows = target.event
    size = len(target.causes), table.times.size
    cell = np.searchsorted(target.causes, target.cause[rows]) * size[1]
    cell += np.searchsorted(table.times, target.time[rows])
    deaths = Terms.of(weight[rows]).total_by(cell, size[0] * size[1])
    return table.times, CauseCounts(table.at_risk, deaths.reshape(size))


class Observed(NamedTuple):
    """Kaplan-Meier survival at a time, and its pointwise limits."""

    survival: float
    lower: float
    upper: float


_UNKNOWN = Observed(np.nan, np.nan, np.nan)


def observed_survival(
    target: Target, weight: Floats | None, horizon: float, level: float = LEVEL
) -> Observed:
    """Return the Kaplan-Meier survival of rows at a time.

    It is NaN after the last follow-up, unless all rows had their event by then, and before the
    first row enters. Its limits are NaN where it is one or zero: nothing is known of its variance.
    """
    if target.entry is not None and horizon < target.entry.min():
        return _UNKNOWN
    table = risk_table(target, np.ones(target.time.size) if weight is None else weight)
    steps = int(np.searchsorted(table.times, horizon, side="right"))
    past_the_end = horizon > target.time.max()
    if steps == 0:
        return _UNKNOWN if past_the_end else Observed(1.0, np.nan, np.nan)
    counts = EventCounts(table.at_risk[:steps], table.deaths[:steps])
    survival = float(counts.survival[-1])
    if past_the_end and survival > 0:
        return _UNKNOWN
    lower, upper = log_log_band(counts, level)
    return Observed(survival, float(lower[-1]), float(upper[-1]))
