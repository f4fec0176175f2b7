"""The calibration slope: whether predicted differences between rows are as large as the true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics.input import read_numbers, read_outcomes

# Survival closer to zero or one than this is taken as this: its logarithm has an end.
_CLOSEST = 1e-6
# Newton's method on a concave function of one variable; it takes three to six steps.
_MOST_STEPS = 50
_PRECISION = 1e-10
# Below this share of its information at zero, a slope is on its way to infinity.
_LEAST_INFORMATION = 1e-9


def calibration_slope(
    y: Any, survival: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the slope of a Cox model on the predicted log cumulative hazard: 1 is right.

    Below one, predictions are too extreme: low risks are higher, and high ones lower, than
    predicted, as after overfitting. NaN where all predictions are equal, where no row has an
    event, and where the events come in the very order of the predictions, or its reverse: then no
    slope is steep enough.

    Parameters
    ----------
    y : structured array, data frame or Target
        Rows to compare with; entry times are taken into account.
    survival : array-like of shape (n_rows,)
        Predicted survival of each row at one time, the same for all.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Examples
    --------
    Predictions that differ twice as much as the truth have a slope of one half:

    >>> import numpy as np
    >>> from surtree.metrics import calibration_slope
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y = np.full(x.size, True), rng.exponential(np.exp(-x))  # hazard exp(x)
    >>> round(calibration_slope(y, np.exp(-np.exp(x))), 1)
    1.0
    >>> round(calibration_slope(y, np.exp(-np.exp(2 * x))), 1)
    0.5
    """
    return slope_or_reason(y, survival, sample_weight)[0]


def slope_or_reason(
    y: Any, survival: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[float, str]:
    """Return the calibration slope, and where it is NaN the reason."""
    target = read_outcomes(y)
    predicted = read_numbers(survival, "survival", target.time.size)
    weight = np.ones(predicted.size)
    if sample_weight is not None:
        weight = read_numbers(sample_weight, "sample_weight", predicted.size)
    x = log_hazard(predicted)
    x = x - np.average(x, weights=weight)
    if np.ptp(x) < _CLOSEST:
        return np.nan, "all rows have the same prediction"
    if not (target.event & (weight > 0)).any():
        return np.nan, "no row has an event"
    # In units of their range, so that close predictions, with a steep slope, need no more steps.
    span = float(np.ptp(x))
    slope = _cox_slope(x / span, target, weight) / span
    if np.isnan(slope):
        return slope, "the events come in the very order of the predictions, or its reverse"
    return slope, ""


def log_hazard(survival: Floats) -> Floats:
    """Return the logarithm of the cumulative hazard; of survival of zero or one, an end of it."""
    return np.asarray(np.log(-np.log(np.clip(survival, _CLOSEST, 1 - _CLOSEST))))


def _cox_slope(x: Floats, target: Target, weight: Floats) -> float:
    """Return the coefficient of a Cox model with one covariate; ties as Breslow has them.

    It is NaN where the likelihood has no maximum: it rises for ever steeper slopes, and its
    information falls to zero.
    """
    died = target.event & (weight > 0)
    entered = None if target.entry is None else _From(target.entry, target.time[died])
    left = _From(target.time, target.time[died])
    slope, at_zero = 0.0, 0.0
    for _ in range(_MOST_STEPS):
        risk = weight * np.exp(np.clip(slope * x, -700, 700))
        sums = []
        for power in (0, 1, 2):
            values = risk * x**power
            sums.append(left.sums(values) - (0.0 if entered is None else entered.sums(values)))
        mean = sums[1] / sums[0]
        # Dot products are avoided: their rounding may depend on the number of threads.
        gradient = float((weight[died] * (x[died] - mean)).sum())
        information = float((weight[died] * (sums[2] / sums[0] - mean**2)).sum())
        at_zero = at_zero or information
        if information <= _LEAST_INFORMATION * at_zero:
            return np.nan
        step = float(np.clip(gradient / information, -2.0, 2.0))
        slope += step
        if abs(step) < _PRECISION:
            return slope
    return np.nan


class _From:
    """The values of some rows with a time at each of others or later."""

    def __init__(self, time: Floats, at: Floats) -> None:
        self._descending = np.argsort(time)[::-1]
        self._n_later = time.size - np.searchsorted(np.sort(time), at, side="left")

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values at each of the times."""
        return np.asarray(np.append(0.0, np.cumsum(values[self._descending]))[self._n_later])
