"""Kaplan-Meier curves of the event and of censoring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics.input import ScoredRows, read_scored
from surtree.survival.baseline import risk_table, weight_over
from surtree.survival.follow_up import early_end, reverse_kaplan_meier
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import StepFunction


def kaplan_meier(target: Target, weight: Floats | None = None) -> StepFunction:
    """Estimate the share of rows without an event over time."""
    table = risk_table(target, np.ones(len(target.time)) if weight is None else weight)
    counts = EventCounts(table.at_risk, table.deaths)
    return StepFunction(table.times, counts.survival, before=1.0)


def censoring_distribution(y: Any, *, sample_weight: ArrayLike | None = None) -> StepFunction:
    """Estimate the share of rows that are not yet censored over time, by Kaplan-Meier.

    Where an event and a censoring have the same time, the event comes first: its row is no longer
    at risk of being censored. After the last time of ``y`` nothing is known.

    Parameters
    ----------
    y : structured array, data frame or Target
        Event and time of each row, without entry times.
    sample_weight : array-like, shape (n_rows,), optional
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import censoring_distribution
    >>> y = [(True, 1.0), (False, 2.0), (True, 2.0), (True, 3.0)]
    >>> y = np.array(y, dtype=[("event", bool), ("time", float)])
    >>> censoring_distribution(y)([1.0, 2.0]).tolist()
    [1.0, 0.5]
    """
    rows = read_scored(y, sample_weight)
    if rows.target.entry is not None:
        raise ValueError(
            "The share of rows that are not yet censored is not defined for rows with entry times: "
            "leave them out."
        )
    return reverse_kaplan_meier(*rows)


def under_observation(rows: ScoredRows) -> StepFunction:
    """Estimate the share of rows that are under observation over time, had none an event.

    Without entry times this is the censoring distribution. With them it is the weight at risk
    divided by the survival of all rows: the inverse of it weighs a row for others that have not
    entered yet, or were never seen, as well as for those that are censored. It may exceed one,
    because only rows that were seen are counted.
    """
    target, weight = rows
    # The measures of the same rows ask one after the other.
    known = vars(target).get("_under_observation")
    if known is None or not np.array_equal(known[0], weight):
        known = vars(target)["_under_observation"] = (weight, _under_observation(target, weight))
    curve: StepFunction = known[1]
    return curve


def _under_observation(target: Target, weight: Floats) -> StepFunction:
    if target.entry is None:
        return reverse_kaplan_meier(target, weight)
    reason = early_end(risk_table(target, weight), float(target.entry.max()))
    if reason:
        raise ValueError(reason)
    times = np.unique(np.concatenate([target.entry, target.time]))
    first, last = (np.searchsorted(times, each) for each in (target.entry, target.time))
    at_risk = weight_over(first, last, Terms.of(weight), times.size)
    everybody = weight.sum() * np.asarray(kaplan_meier(target, weight)(times))
    # After the last event of the last row, nobody is left.
    share = np.divide(at_risk, everybody, out=np.zeros(times.size), where=everybody > 0)
    return StepFunction(times, share, before=0.0)


def uncensored_before(distribution: StepFunction, time: Floats) -> Floats:
    """Return the share of rows that are under observation just before each time.

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
