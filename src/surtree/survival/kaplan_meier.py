"""Product-limit estimates: Kaplan-Meier, shrunk towards all rows, and the median of a curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surtree._support.types import Floats

# A curve that reaches one half in exact arithmetic must do so in floating point too.
_HALF = 0.5 * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class EventCounts:
    """What is at risk and what dies at each of some event times: a product-limit curve."""

    at_risk: Floats  # the weight at risk at each time, and the weight of the events
    deaths: Floats

    @property
    def hazard(self) -> Floats:
        """The share that dies at each time; zero where nobody is at risk."""
        hazard = np.zeros_like(self.at_risk)
        np.divide(self.deaths, self.at_risk, out=hazard, where=self.at_risk > 0)
        # Where all die, rounding may leave a share above one.
        return np.minimum(hazard, 1.0)

    @property
    def survival(self) -> Floats:
        """The product-limit survival after each time; it stays where nobody is at risk."""
        return np.asarray(np.cumprod(1.0 - self.hazard), dtype=np.float64)

    def shrunk(self, prior: float, share: Floats, hazard: Floats) -> EventCounts:
        """Add rows that die at the rate of all rows, as many as a prior is worth."""
        added = prior * share
        return EventCounts(self.at_risk + added, self.deaths + added * hazard)


def median_time(times: Floats, survival: Floats) -> float:
    """Return the first time at which survival is at most one half, or infinity."""
    reached = np.flatnonzero(survival <= _HALF)
    return float(times[reached[0]]) if reached.size else float("inf")
