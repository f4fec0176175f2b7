"""Follow-up: how long rows would have been observed, had none an event."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surtree._types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import risk_table
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import StepFunction


def reverse_kaplan_meier(target: Target, weight: Floats) -> StepFunction:
    """Estimate the share of rows that are not yet censored over time, by Kaplan-Meier.

    Events and censorings change their roles (Schemper and Smith). At equal times events come
    first, as in R's ``prodlim(reverse=TRUE)``: a row with an event is not at risk of censoring.

    Parameters
    ----------
    target, weight : Target, array of float
        The rows. A row that goes on in another row of the same person is not censored.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.data.target import Target
    >>> from surtree.survival.follow_up import reverse_kaplan_meier
    >>> target = Target(np.array([True, False, True, False]), np.array([1.0, 2.0, 2.0, 3.0]))
    >>> reverse_kaplan_meier(target, np.ones(4))([1.0, 2.0, 3.0]).tolist()
    [1.0, 0.5, 0.0]
    """
    censored = Target(target.censored, target.time, target.entry)
    if not censored.event.any():
        return StepFunction(np.empty(0), np.empty(0), before=1.0)
    table = risk_table(censored, weight)
    index = np.searchsorted(table.times, target.time[target.event])
    tied = index < table.times.size
    tied[tied] = table.times[index[tied]] == target.time[target.event][tied]
    events = np.bincount(index[tied], weight[target.event][tied], minlength=table.times.size)
    counts = EventCounts(np.maximum(table.at_risk - events, 0.0), table.deaths)
    return StepFunction(table.times, counts.survival, before=1.0)


class FollowUp(NamedTuple):
    """Quartiles of follow-up, by the reverse Kaplan-Meier estimate; infinity where not reached."""

    lower: float
    median: float
    upper: float


def follow_up(target: Target, weight: Floats) -> FollowUp:
    """Return the quartiles of the time that rows are followed up.

    Parameters
    ----------
    target, weight : Target, array of float
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.data.target import Target
    >>> from surtree.survival.follow_up import follow_up
    >>> target = Target(np.array([True, False, False, False]), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> follow_up(target, np.ones(4))
    FollowUp(lower=2.0, median=3.0, upper=4.0)
    """
    uncensored = reverse_kaplan_meier(target, weight)
    # A share that is reached in exact arithmetic must be so in floating point too.
    reached = [np.flatnonzero(uncensored.y <= share + 1e-12) for share in (0.75, 0.5, 0.25)]
    return FollowUp(*(float(uncensored.x[at[0]]) if at.size else np.inf for at in reached))
