"""From values on samples to what to expect on rows to come: .632+, optimism, folds."""

from __future__ import annotations

import numpy as np

from surtree._types import Floats
from surtree.scores.validation import Method, Repetitions
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


def quantile_of_known(values: Floats, share: float) -> Floats:
    """Return a quantile of each column over the rows that have a value; NaN where none has."""
    columns = (column[np.isfinite(column)] for column in values.T)
    return np.array([np.quantile(each, share) if each.size else np.nan for each in columns])
