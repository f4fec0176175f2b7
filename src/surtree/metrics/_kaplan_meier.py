"""Kaplan-Meier curves of the event and of censoring."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree._types import Floats
from surtree.data.target import Target
from surtree.metrics._input import read_y
from surtree.survival.baseline import risk_table
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import StepFunction


def kaplan_meier(target: Target) -> StepFunction:
    """Estimate the share of rows without an event over time."""
    table = risk_table(target, np.ones(len(target.time)))
    counts = EventCounts(table.at_risk, table.deaths)
    return StepFunction(table.times, counts.survival, before=1.0)


def censoring_distribution(y: Any) -> StepFunction:
    """Estimate the share of rows that are not yet censored over time, by Kaplan-Meier.

    Where an event and a censoring have the same time, the event comes first: its row is no longer
    at risk of being censored. After the last time of ``y`` nothing is known.

    Parameters
    ----------
    y : structured array, data frame or Target
        Event and time of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import censoring_distribution
    >>> y = [(True, 1.0), (False, 2.0), (True, 2.0), (True, 3.0)]
    >>> y = np.array(y, dtype=[("event", bool), ("time", float)])
    >>> censoring_distribution(y)([1.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    target = read_y(y)
    table = risk_table(Target(~target.event, target.time), np.ones(len(target.time)))
    event_times = np.sort(target.time[target.event])
    first, stop = (np.searchsorted(event_times, table.times, side=s) for s in ("left", "right"))
    at_risk = table.at_risk - (stop - first)
    counts = EventCounts(at_risk, table.deaths)
    return StepFunction(table.times, counts.survival, before=1.0)


def uncensored_before(distribution: StepFunction, time: Floats) -> Floats:
    """Return the share of rows that are not censored before each time.

    An event is seen unless its row is censored *before*: of an event and a censoring at the same
    time the event comes first. So it is weighed by the left limit of the censoring distribution,
    as in R's riskRegression and survival; scikit-survival takes the value at the time itself.
    """
    index = np.searchsorted(distribution.x, time, side="left")
    return np.concatenate(([distribution.before], distribution.y))[index]


def inverse(probability: Floats) -> Floats:
    """Return inverse probabilities as weights; zero for a probability of zero, which no row has."""
    weight: Floats = np.divide(
        1.0, probability, out=np.zeros_like(probability), where=probability > 0
    )
    return weight
