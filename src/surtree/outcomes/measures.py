"""How predictions are measured: metrics of one event and of causes, which others build on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics.calibration_groups import observed_at
from surtree.metrics.input import event_codes
from surtree.metrics.reason import (
    Score,
    after_training,
    missing,
    nobody_at_risk,
    score_or_reason,
)
from surtree.metrics.slope import slope_or_reason
from surtree.outcomes.predicted import Predictions

# The quantiles of the times that the Brier score is integrated between, as the paper does it.
BRIER_INTERVAL = (0.1, 0.9)


@dataclass(frozen=True)
class Metric:
    """How a measure is computed from predictions, target and weight, and which values it has."""

    name: str
    words: str
    score: Callable[[Predictions, Target, Floats | None], Score]
    no_information: float = np.nan  # for predictions that know nothing; NaN where it has no end
    greatest: float = 1.0  # no value is above it
    by_median: bool = False  # a few samples may have any value
    is_mean: bool = False  # the difference of two means over the rows


class JudgedTimes(NamedTuple):
    """When predictions are compared with rows."""

    horizons: Floats  # for calibration; the slope is about the last
    interval: tuple[float, float]  # the Brier score is integrated over it, and Uno's C ends with it
    unit: str | None = None  # what time is counted in, in words

    def text(self, time: float) -> str:
        """Return a time with its unit."""
        return f"{time:g}" + (f" {self.unit}" if self.unit else "")


def brier_interval(target: Target) -> tuple[float, float]:
    """Return the times between which the Brier score is integrated."""
    start, end = np.quantile(target.time, BRIER_INTERVAL)
    return float(start), float(end)


def one_event_metrics(times: JudgedTimes) -> tuple[Metric, ...]:
    """Return the metrics of one event: concordance, Brier score and calibration."""
    slope = partial(_slope, horizon=float(times.horizons[-1]))
    return (
        *_discrimination(times, None, ("Harrell's C", "Uno's C")),
        Metric("calibration_slope", "calibration slope", slope, 0.0, np.inf, by_median=True),
        *_calibration(times, None, "survival"),
    )


def cause_metrics(times: JudgedTimes, causes: Iterable[int]) -> tuple[Metric, ...]:
    """Return the metrics of competing risks: concordance, Brier score and calibration by cause."""
    names = "Wolbers' C without censoring weights", "Wolbers' C"
    return tuple(
        metric
        for cause in causes
        for metric in (
            *_discrimination(times, cause, names),
            *_calibration(times, cause, "incidence"),
        )
    )


def _discrimination(
    times: JudgedTimes, cause: int | None, concordances: tuple[str, str]
) -> tuple[Metric, ...]:
    name, words = _labels(cause)
    plain, weighted = concordances
    end = times.interval[1]
    return (
        Metric(f"{name}concordance", words + plain, partial(_concordance, cause=cause), 0.5),
        Metric(
            f"{name}concordance_ipcw",
            f"{words}{weighted} before {times.text(end)}",
            partial(_concordance_ipcw, cause=cause, end=end),
            0.5,
        ),
        # The error of curves has no end: those that know nothing lose the more, the more they
        # differ.
        Metric(
            f"{name}brier",
            f"{words}reduction of the Brier score",
            partial(_brier, cause=cause, interval=times.interval),
        ),
    )


def _calibration(times: JudgedTimes, cause: int | None, what: str) -> tuple[Metric, ...]:
    name, words = _labels(cause)
    return tuple(
        Metric(
            f"{name}calibration_at_{time:g}",
            f"{words}predicted - observed {what} at {times.text(time)}",
            partial(_difference, cause=cause, horizon=float(time)),
            is_mean=True,
        )
        for time in times.horizons
    )


def _labels(cause: int | None) -> tuple[str, str]:
    """Return what names and words of the metrics of a cause begin with."""
    return ("", "") if cause is None else (f"cause_{cause}_", f"cause {cause}: ")


def _concordance(
    predicted: Predictions, target: Target, weight: Floats | None, cause: int | None
) -> Score:
    events, risk = event_codes(target, cause), predicted.of(cause).risk
    return score_or_reason(
        lambda: (
            concordance_index_censored(
                events, target.time, risk, cause=cause, sample_weight=weight, entry=target.entry
            ).cindex
        )
    )


def _concordance_ipcw(
    predicted: Predictions, target: Target, weight: Floats | None, cause: int | None, end: float
) -> Score:
    risk = predicted.of(cause).risk
    return score_or_reason(
        lambda: (
            concordance_index_ipcw(
                target, target, risk, cause=cause, tau=end, **_weights(weight)
            ).cindex
        )
    )


def _brier(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    cause: int | None,
    interval: tuple[float, float],
) -> Score:
    reason = after_training(interval[1], predicted.last_time)
    if reason:
        return missing(f"its interval ends at {reason.replace(' is', ',', 1)}")
    curves = predicted.of(cause).curve_of_row
    return score_or_reason(
        lambda: normalized_integrated_brier_score(
            target, target, curves, cause=cause, interval=interval, **_weights(weight)
        )
    )


def _weights(weight: Floats | None) -> dict[str, Floats | None]:
    return {"sample_weight": weight, "train_weight": weight}


def _slope(predicted: Predictions, target: Target, weight: Floats | None, horizon: float) -> Score:
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    return Score(*slope_or_reason(target, predicted.at(horizon), weight))


def _difference(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    cause: int | None,
    horizon: float,
) -> Score:
    """Return the mean of a predicted curve at a horizon less what was observed."""
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    observed = observed_at(horizon, target, weight, cause).survival
    if np.isnan(observed):
        return missing(nobody_at_risk(target, horizon))
    mean = float(np.average(predicted.of(cause).at(horizon), weights=weight))
    return Score(mean - observed)
