"""A fourth kind of outcome, for a test: the rate of events per time of exposure, constant in time.

Two classes are all that it takes: what a leaf is worth, and what it is shown as. The estimator is
`SurTree` with another objective.
"""

from dataclasses import dataclass

import numpy as np

from surtree import Baseline, RelativeRisk, SurTree
from surtree.outcomes import Channel, Column, Outcome
from surtree.survival.confidence import poisson_limits
from surtree.survival.objective import saturated_gain


@dataclass(frozen=True)
class ExposureRate(RelativeRisk):
    """Events over exposure: a Poisson rate, with the exposure of each row given."""

    name = "exposure_rate"
    method_words = "Each leaf has a constant rate; {loss} the Poisson deviance."

    def baseline(self, target, weight):
        """Return a hazard that is the same at all times."""
        times = np.unique(target.time[target.event])
        rate = weight[target.event].sum() / (weight * target.time).sum()
        floor = rate * float(target.time[target.time > 0].min())
        return Baseline(times, rate * times, floor, float(target.time.max()))

    def row_values(self, target, weight, baseline):
        """Return events, and the events that the rate of all rows expects in the exposure."""
        hazard = np.maximum(rate_of(baseline) * target.time, baseline.floor)
        values = np.stack([np.where(target.event, weight, 0.0), weight * hazard])
        return values, saturated_gain(target, values, hazard)


def rate_of(baseline):
    return baseline.cumulative_hazard[-1] / baseline.times[-1]


class Rate(Outcome):
    """One event at a constant rate."""

    name = "rate"

    @property
    def channels(self):
        return (Channel("event", "event", "#336699"),)

    def columns(self, groups, level=0.95):
        rate = rate_of(self.tree.baseline)
        events = [group.n_events for group in groups]
        exposure = [float(group.sums[1]) / rate for group in groups]
        limits = [poisson_limits(n, time, level) for n, time in zip(events, exposure, strict=True)]
        return (
            Column("events", "events", "events", events, is_count=True),
            Column("exposure", "exposure", "exposure", exposure),
            Column("rate", "rate", "rate", [rate * group.theta for group in groups], limits),
        )

    def curves(self, group, kind=None, level=0.95):
        return (self.together(group, kind, level),)

    def risks(self, channel=None):
        return self.tree.theta

    def caption(self, kind, level):
        return "Survival at a constant rate."

    def figure_notes(self):
        return ("Rate: events over exposure.",)

    def objective_text(self, loss):
        return self.tree.objective.method_words.format(loss=loss)


class RateTree(SurTree):
    """The tree with the smallest Poisson deviance of rates."""

    def _objective(self, target):
        return ExposureRate(float(self.shrinkage))

    def _is_objective(self, objective):
        return objective == ExposureRate(self.shrinkage)
