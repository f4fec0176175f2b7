"""From values on samples to values expected in new data: .632+, optimism, folds; intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from surtree._support.types import Floats
from surtree.outcomes.measures import Metric
from surtree.validation._stability import FEWEST_SAMPLES
from surtree.validation.results import DIVISIONS, Method, Repetitions

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


class Interval(NamedTuple):
    """The limits of a measure; where they are NaN, the reason."""

    lower: float
    upper: float
    reason: str

    def of(self, metric: Metric) -> Interval:
        """Return the interval of a metric that may have none."""
        return _NO_INTERVAL if metric.is_distance else self


_NO_INTERVAL = Interval(
    np.nan, np.nan, "it is never below zero, and above it by chance: samples say nothing of that"
)


class Correction(NamedTuple):
    """The corrected value of each measure, its Monte Carlo error, and its limits."""

    values: Floats
    errors: Floats
    intervals: list[Interval]


def correct(
    method: Method,
    apparent: Floats,
    repetitions: Repetitions,
    level: float,
    metrics: Sequence[Metric],
) -> Correction:
    """Return each measure expected in new data."""
    held_out = repetitions.held_out
    if method in DIVISIONS:
        values, errors = mean_of_known(held_out), _errors_of_means(held_out)
        draws = repetitions.resampled - mean_of_known(repetitions.resampled) + values
        return Correction(values, errors, intervals_of_known(draws, level))
    if method == "optimism":
        optimism = repetitions.resampled - repetitions.original
        values, errors = apparent - mean_of_known(optimism), _errors_of_means(optimism)
    else:
        values, errors = _by_632(apparent, held_out, metrics)
    scale = [_OF_SPREAD_OF_MEAN if metric.is_mean else _OF_SPREAD for metric in metrics]
    sampling = np.array(scale) * _spreads(held_out)
    reach = ndtri((1 + level) / 2) * np.hypot(sampling, errors)
    upper = np.minimum(values + reach, [metric.greatest for metric in metrics])
    n_known = np.isfinite(held_out).sum(axis=0)
    limits = zip(n_known.tolist(), values - reach, upper, sampling > 0, strict=True)
    return Correction(values, errors, [_limits(*one) for one in limits])


def _by_632(apparent: Floats, held_out: Floats, metrics: Sequence[Metric]) -> tuple[Floats, Floats]:
    """Return values by the .632+ rule, or .632 where there is no value without information."""
    outside, errors = mean_of_known(held_out), _errors_of_means(held_out)
    spreads = _spreads(held_out)
    for index, metric in enumerate(metrics):
        known = held_out[:, index][np.isfinite(held_out[:, index])]
        if metric.by_median and known.size:
            outside[index] = np.median(known)
            errors[index] = _OF_MEDIAN * spreads[index] / known.size**0.5
    worst = np.array([metric.no_information for metric in metrics])

    def weighed(unseen: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            overfit = np.clip(np.nan_to_num((apparent - unseen) / (apparent - worst)), 0.0, 1.0)
        weight = _IN_SAMPLE / (1 - _OUTSIDE * overfit)
        return np.asarray((1 - weight) * apparent + weight * unseen)

    return weighed(outside), np.abs(weighed(outside + errors) - weighed(outside - errors)) / 2


def _limits(n_known: int, lower: float, upper: float, differs: bool) -> Interval:
    if n_known < FEWEST_SAMPLES:
        has = "has" if n_known == 1 else "have"
        reason = f"{FEWEST_SAMPLES} samples must have a value, and {n_known} {has}"
        return Interval(np.nan, np.nan, reason)
    if not differs:
        return Interval(np.nan, np.nan, "the samples do not differ in it")
    return Interval(float(lower), float(upper), "")


def _spreads(values: Floats) -> Floats:
    """Return the standard deviation of each column, from quantiles; NaN without values."""
    known = np.isfinite(values).any(axis=0)
    filled = np.where(known, values, 0.0)
    low, high = np.nanquantile(filled, [_TAIL, 1 - _TAIL], axis=0)
    return np.where(known, (high - low) / (2 * ndtri(1 - _TAIL)), np.nan)


def _errors_of_means(values: Floats) -> Floats:
    """Return the standard error of the mean of each column; NaN with fewer than two values."""
    count = np.isfinite(values).sum(axis=0)
    squares = np.where(np.isfinite(values), values - mean_of_known(values), 0.0) ** 2
    degrees = count * (count - 1.0)
    unknown = np.full(count.shape, np.nan)
    return np.asarray(np.sqrt(np.divide(squares.sum(axis=0), degrees, unknown, where=degrees > 0)))


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
    lower, upper = np.nan, np.nan
    if known.size:
        lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return _limits(known.size, lower, upper, lower < upper)
