"""How well the predictions of a model agree with some rows: one number for each measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surtree._types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    calibration_slope,
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
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
# What each of them is for predictions that know nothing.
NO_INFORMATION = np.array([0.5, 0.5, 0.0, 0.0])
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


def measure(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    horizons: Floats,
    interval: tuple[float, float],
) -> Floats:
    """Return each of the `MEASURES`, then predicted less observed survival at each horizon.

    A measure that has no value for such rows is NaN: those that weigh rows by the censoring
    distribution have none where rows have weights or entry times.

    Parameters
    ----------
    predicted : Predictions
        What a model says of the rows.
    target, weight : Target, array of float
        The rows.
    horizons : array of float
        Times for calibration; the slope is that at the last.
    interval : tuple of two floats
        Over which the Brier score is integrated.
    """
    plain = weight is None and target.entry is None
    at_horizons = [predicted.at(float(horizon)) for horizon in horizons]
    return np.array(
        [
            _or_nan(
                lambda: (
                    concordance_index_censored(
                        target.event, target.time, predicted.risk, sample_weight=weight
                    ).cindex
                ),
                target.entry is None,
            ),
            _or_nan(lambda: concordance_index_ipcw(target, target, predicted.risk).cindex, plain),
            _or_nan(
                lambda: normalized_integrated_brier_score(
                    target, target, predicted.survival, interval=interval
                ),
                plain,
            ),
            _or_nan(lambda: calibration_slope(target, at_horizons[-1], sample_weight=weight), True),
            *(
                np.average(survival, weights=weight)
                - observed_survival(target, weight, float(horizon)).survival
                for survival, horizon in zip(at_horizons, horizons, strict=True)
            ),
        ]
    )


def _or_nan(score: Callable[[], float], is_defined: bool) -> float:
    if not is_defined:
        return float("nan")
    try:
        return float(score())
    except ValueError:  # such as no comparable pair
        return float("nan")
