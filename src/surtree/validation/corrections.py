"""From values on samples to what to expect on new data: .632+, optimism, folds; intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from surtree._types import Floats
from surtree.scores.validation import FEWEST_SAMPLES, Method, Repetitions
from surtree.validation.performance import MEASURES, NO_INFORMATION

_NO_DIFFERENCE = "the samples do not differ in it"
# The chance that a row is in a bootstrap sample.
_IN_SAMPLE = 0.632
_OUTSIDE = 1 - _IN_SAMPLE
# Standard errors of an estimate from all rows, for one unit of spread of its values outside of the
# samples. Such a value is of a share of the rows, drawn without replacement.
_OF_SPREAD = (_OUTSIDE / _IN_SAMPLE) ** 0.5
# The mean that a model predicts follows its own sample, and so moves against the rows outside: the
# variance of the difference is that of all rows, times 1 + 1.72 + 2.
_OF_SPREAD_OF_MEAN = (3 + _IN_SAMPLE / _OUTSIDE) ** -0.5
# How much more a median varies than a mean.
_OF_MEDIAN = (np.pi / 2) ** 0.5
# The tails that a spread leaves out: a few samples may have any slope.
_TAIL = 0.1
_SLOPE = list(MEASURES).index("calibration_slope")
# Concordances and the share of an error that is saved are at most one.
_GREATEST = np.array([1.0, 1.0, 1.0, np.inf])


class Interval(NamedTuple):
    """The limits of a measure; where they are NaN, the reason."""

    lower: float
    upper: float
    reason: str


class Correction(NamedTuple):
    """The corrected value of each measure, its Monte Carlo error, and its limits."""

    values: Floats
    errors: Floats
    intervals: list[Interval]


def correct(method: Method, apparent: Floats, found: Repetitions, level: float) -> Correction:
    """Return what to expect of each measure in new data.

    Parameters
    ----------
    method : {"632+", "optimism", "folds"}
        How to correct.
    apparent : array of float
        The values of the model of all rows, on these rows.
    found : Repetitions
        The values of samples.
    level : float
        The level of the limits.
    """
    if method == "folds":
        values, errors = mean_of_known(found.held_out), _errors_of_means(found.held_out)
        draws = found.resampled - mean_of_known(found.resampled) + values
        return Correction(values, errors, intervals_of_known(draws, level))
    if method == "optimism":
        optimism = found.resampled - found.original
        values, errors = apparent - mean_of_known(optimism), _errors_of_means(optimism)
    else:
        values, errors = _by_632(apparent, found.held_out)
    scale = np.full(apparent.size, _OF_SPREAD_OF_MEAN)
    scale[: len(MEASURES)] = _OF_SPREAD
    greatest = np.full(apparent.size, 1.0)
    greatest[: len(MEASURES)] = _GREATEST
    return Correction(
        values,
        errors,
        [
            _around(value, one_scale * _spread(outside), error, level, upper, outside)
            for value, one_scale, outside, error, upper in zip(
                values, scale, found.held_out.T, errors, greatest, strict=True
            )
        ],
    )


def _by_632(apparent: Floats, held_out: Floats) -> tuple[Floats, Floats]:
    """Return values by the .632+ rule, or .632 where there is no value without information."""
    outside, errors = mean_of_known(held_out), _errors_of_means(held_out)
    # The slope of a single sample may be anything, where a leaf has no events.
    outside[_SLOPE] = _median(held_out[:, _SLOPE])
    errors[_SLOPE] = _OF_MEDIAN * _spread(held_out[:, _SLOPE]) / _root_count(held_out)[_SLOPE]
    worst = np.full(apparent.size, np.nan)
    worst[: len(MEASURES)] = NO_INFORMATION

    def weighed(unseen: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            overfit = np.clip(np.nan_to_num((apparent - unseen) / (apparent - worst)), 0.0, 1.0)
        weight = _IN_SAMPLE / (1 - _OUTSIDE * overfit)
        return np.asarray((1 - weight) * apparent + weight * unseen)

    return weighed(outside), np.abs(weighed(outside + errors) - weighed(outside - errors)) / 2


def _around(
    value: float, sampling: float, error: float, level: float, greatest: float, outside: Floats
) -> Interval:
    """Return limits from the errors of sampling rows, and of having drawn few samples."""
    n_known = int(np.isfinite(outside).sum())
    if n_known < FEWEST_SAMPLES:
        return _too_few(n_known)
    if not sampling > 0:
        return Interval(np.nan, np.nan, _NO_DIFFERENCE)
    reach = float(ndtri((1 + level) / 2)) * float(np.hypot(sampling, error))
    return Interval(float(value) - reach, float(min(value + reach, greatest)), "")


def _spread(values: Floats) -> float:
    """Return the standard deviation of the values but for their tails; NaN without values."""
    known = values[np.isfinite(values)]
    if not known.size:
        return np.nan
    low, high = np.quantile(known, [_TAIL, 1 - _TAIL])
    return float((high - low) / (2 * ndtri(1 - _TAIL)))


def _median(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def _root_count(values: Floats) -> Floats:
    return np.sqrt(np.isfinite(values).sum(axis=0))


def _errors_of_means(values: Floats) -> Floats:
    """Return the standard error of the mean of each column; NaN with fewer than two values."""
    count = np.isfinite(values).sum(axis=0)
    squares = np.where(np.isfinite(values), values - mean_of_known(values), 0.0) ** 2
    degrees = count * (count - 1.0)
    return np.sqrt(
        np.divide(squares.sum(axis=0), degrees, np.full(count.shape, np.nan), where=degrees > 0)
    )


def mean_of_known(values: Floats) -> Floats:
    """Return the mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def intervals_of_known(values: Floats, level: float) -> list[Interval]:
    """Return an interval for each column, from quantiles over the samples that have a value."""
    return [_interval(column[np.isfinite(column)], level) for column in values.T]


def _interval(known: Floats, level: float) -> Interval:
    if known.size < FEWEST_SAMPLES:
        return _too_few(known.size)
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    if lower == upper:
        return Interval(np.nan, np.nan, _NO_DIFFERENCE)
    return Interval(float(lower), float(upper), "")


def _too_few(n_known: int) -> Interval:
    has = "has" if n_known == 1 else "have"
    reason = f"{FEWEST_SAMPLES} samples must have a value, and {n_known} {has}"
    return Interval(np.nan, np.nan, reason)
