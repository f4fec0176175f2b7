"""How well the predictions of a model agree with some rows: one number for each measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surtree._types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics._calibration_slope import slope_or_reason
from surtree.survival.observed import observed_survival
from surtree.validation.models import Predictions

# In the order of the numbers; calibration at each horizon follows.
MEASURES = {
    "concordance": "Harrell's C",
    "concordance_ipcw": "Uno's C",
    "brier": "Brier score saved",
    "calibration_slope": "calibration slope",
}
# What each of them is for predictions that know nothing. The error of survival curves has no such
# end: curves that know nothing lose the more, the more they differ.
NO_INFORMATION = np.array([0.5, 0.5, np.nan, 0.0])
# Over which quantiles of the times the Brier score is integrated, as the paper does it.
BRIER_INTERVAL = (0.1, 0.9)


def brier_interval(target: Target) -> tuple[float, float]:
    """Return the times between which the Brier score is integrated."""
    start, end = np.quantile(target.time, BRIER_INTERVAL)
    return float(start), float(end)


def names_and_words(horizons: Floats, time_unit: str | None = None) -> list[tuple[str, str]]:
    """Return what each number of `measure` is called, in code and by people."""
    unit = f" {time_unit}" if time_unit else ""
    return [
        *MEASURES.items(),
        *(
            (f"calibration_at_{time:g}", f"predicted - observed survival at {time:g}{unit}")
            for time in horizons
        ),
    ]


class Score(NamedTuple):
    """The value of a measure; where it is NaN, the reason."""

    value: float
    reason: str


def scores(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    horizons: Floats,
    interval: tuple[float, float],
) -> list[Score]:
    """Return each of the `MEASURES`, then predicted less observed survival at each horizon.

    A measure that has no value for such rows is NaN: those that weigh rows by the censoring
    distribution have none where rows have weights or entry times, and nothing is known after the
    last follow-up of the rows that a model was fitted on.

    Parameters
    ----------
    predicted : Predictions
        What a model says of the rows.
    target, weight : Target, array of float
        The rows.
    horizons : array of float
        Times for calibration; the slope is that at the last.
    interval : tuple of two floats
        Over which the Brier score is integrated. Uno's C counts pairs whose first event is
        before its end: later, few rows are left, and their weights decide.
    """
    beyond = _after_training(interval[1], predicted.last_time, "its interval ends at {:g},")
    late = "" if target.entry is None else "it is not defined for rows with entry times"
    uneven = late or ("" if weight is None else "it is not defined for rows with weights")
    return [
        _score(
            lambda: (
                concordance_index_censored(
                    target.event, target.time, predicted.risk, sample_weight=weight
                ).cindex
            ),
            late,
        ),
        _score(
            lambda: concordance_index_ipcw(target, target, predicted.risk, tau=interval[1]).cindex,
            uneven,
        ),
        _score(
            lambda: normalized_integrated_brier_score(
                target, target, predicted.survival, interval=interval
            ),
            uneven or beyond,
        ),
        _slope(predicted, target, weight, float(horizons[-1])),
        *(_difference(predicted, target, weight, float(horizon)) for horizon in horizons),
    ]


def _after_training(time: float, last_time: float, what: str = "{:g} is") -> str:
    """Return why a model says nothing of a time; an empty text where it does."""
    if time <= last_time:
        return ""
    return f"{what.format(time)} after the last follow-up of the training rows, {last_time:g}"


def _score(value: Callable[[], float], reason: str) -> Score:
    if reason:
        return Score(np.nan, reason)
    try:
        return Score(float(value()), "")
    except ValueError as error:  # such as no comparable pair
        return Score(np.nan, str(error).rstrip("."))


def _slope(predicted: Predictions, target: Target, weight: Floats | None, horizon: float) -> Score:
    reason = _after_training(horizon, predicted.last_time)
    if reason:
        return Score(np.nan, reason)
    return Score(*slope_or_reason(target, predicted.at(horizon), weight))


def _difference(
    predicted: Predictions, target: Target, weight: Floats | None, horizon: float
) -> Score:
    """Return the mean predicted survival at a horizon less the observed one."""
    reason = _after_training(horizon, predicted.last_time)
    if reason:
        return Score(np.nan, reason)
    observed = observed_survival(target, weight, horizon).survival
    if np.isnan(observed):
        return Score(np.nan, f"nobody is at risk at {horizon:g}")
    return Score(float(np.average(predicted.at(horizon), weights=weight)) - observed, "")
