"""How well the predictions of a model agree with some rows: one number for each measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics._calibration_slope import slope_or_reason
from surtree.metrics._reason import (
    Score,
    after_training,
    missing,
    nobody_at_risk,
    score_or_reason,
)
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


def names_and_words(
    horizons: Floats, tau: float, time_unit: str | None = None
) -> list[tuple[str, str]]:
    """Return what each number of `scores` is called, in code and by people."""
    unit = f" {time_unit}" if time_unit else ""
    words = MEASURES | {"concordance_ipcw": f"{MEASURES['concordance_ipcw']} before {tau:g}{unit}"}
    return [
        *words.items(),
        *(
            (f"calibration_at_{time:g}", f"predicted - observed survival at {time:g}{unit}")
            for time in horizons
        ),
    ]


def scores(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    horizons: Floats,
    interval: tuple[float, float],
) -> list[Score]:
    """Return each of the `MEASURES`, then predicted less observed survival at each horizon.

    A measure that has no value for such rows is NaN, with its reason: those that weigh rows
    against censoring have none where persons are in parts, and nothing is known after the last
    follow-up of the rows that a model was fitted on.
    """
    weights: dict[str, Any] = {"sample_weight": weight, "train_weight": weight}
    risk, end = predicted.risk, interval[1]
    return [
        score_or_reason(
            lambda: (
                concordance_index_censored(
                    target.event, target.time, risk, sample_weight=weight, entry=target.entry
                ).cindex
            )
        ),
        score_or_reason(
            lambda: concordance_index_ipcw(target, target, risk, tau=end, **weights).cindex
        ),
        _known_until(
            end,
            predicted,
            lambda: normalized_integrated_brier_score(
                target, target, predicted.survival, interval=interval, **weights
            ),
        ),
        _slope(predicted, target, weight, float(horizons[-1])),
        *(_difference(predicted, target, weight, float(horizon)) for horizon in horizons),
    ]


def _known_until(end: float, predicted: Predictions, compute: Callable[[], float]) -> Score:
    reason = after_training(end, predicted.last_time)
    return (
        missing(f"its interval ends at {reason.replace(' is', ',', 1)}")
        if reason
        else score_or_reason(compute)
    )


def _slope(predicted: Predictions, target: Target, weight: Floats | None, horizon: float) -> Score:
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    return Score(*slope_or_reason(target, predicted.at(horizon), weight))


def _difference(
    predicted: Predictions, target: Target, weight: Floats | None, horizon: float
) -> Score:
    """Return the mean predicted survival at a horizon less the observed one."""
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    observed = observed_survival(target, weight, horizon).survival
    if np.isnan(observed):
        return missing(nobody_at_risk(target, horizon))
    return Score(float(np.average(predicted.at(horizon), weights=weight)) - observed)
