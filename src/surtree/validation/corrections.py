"""From values on samples to what to expect on new data: .632+, optimism, folds; intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surtree._types import Floats
from surtree.scores.validation import FEWEST_SAMPLES, Method, Repetitions
from surtree.validation.performance import NO_INFORMATION

# The chance that a row is in a bootstrap sample.
_IN_SAMPLE = 0.632


def corrected_values(method: Method, apparent: Floats, found: Repetitions) -> Floats:
    """Return the corrected value of each measure.

    Parameters
    ----------
    method : {"632+", "optimism", "folds"}
        How to correct.
    apparent : array of float
        The values of the model of all rows, on these rows.
    found : Repetitions
        The values of samples.
    """
    if method == "optimism":
        return apparent - mean_of_known(found.resampled - found.original)
    unseen = mean_of_known(found.held_out)
    if method == "folds":
        return unseen
    # Calibration at horizons has no value without information: its weight is that of no overfit.
    overfit = np.zeros(apparent.size)
    known = slice(len(NO_INFORMATION))
    with np.errstate(divide="ignore", invalid="ignore"):
        overfit[known] = (apparent - unseen)[known] / (apparent[known] - NO_INFORMATION)
    overfit = np.clip(np.nan_to_num(overfit, nan=0.0), 0.0, 1.0)
    weight = _IN_SAMPLE / (1 - (1 - _IN_SAMPLE) * overfit)
    return np.asarray((1 - weight) * apparent + weight * unseen)


def mean_of_known(values: Floats) -> Floats:
    """Return the mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


class Interval(NamedTuple):
    """The limits of a measure; where they are NaN, the reason."""

    lower: float
    upper: float
    reason: str


def intervals_of_known(values: Floats, level: float) -> list[Interval]:
    """Return an interval for each column, from quantiles over the samples that have a value."""
    return [_interval(column[np.isfinite(column)], level) for column in values.T]


def _interval(known: Floats, level: float) -> Interval:
    if known.size < FEWEST_SAMPLES:
        has = "has" if known.size == 1 else "have"
        reason = f"{FEWEST_SAMPLES} samples must have a value, and {known.size} {has}"
        return Interval(np.nan, np.nan, reason)
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    if lower == upper:
        return Interval(np.nan, np.nan, "the samples do not differ in it")
    return Interval(float(lower), float(upper), "")
