"""Calibration: predicted against observed survival, or incidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target, read_weights
from surtree.metrics.input import read_outcomes
from surtree.metrics.predicted import read_horizon, read_predicted_at
from surtree.survival.aalen_johansen import (
    Observed,
    count_causes,
    incidence_band,
    observed_survival,
)
from surtree.survival.confidence import LEVEL, require_level


@dataclass(frozen=True, eq=False)
class Calibration(ArrayValue):
    """Predicted and observed survival at a horizon, in groups of rows with similar predictions.

    Of competing risks it is the cumulative incidence of a cause instead of survival.

    Parameters
    ----------
    horizon : float
        The time.
    predicted : array of float, shape (n_groups,)
        Mean predicted survival, ascending.
    observed : array of float, shape (n_groups,)
        Kaplan-Meier survival, or Aalen-Johansen incidence; NaN where no row of the group is left to
        observe at the horizon.
    lower, upper : array of float, shape (n_groups,)
        Its pointwise confidence limits; NaN where it is zero, one or NaN.
    n_rows : array of float, shape (n_groups,)
        The weight of the rows of each group: their number, if they have no weights.
    cause : int or None
        Of competing risks, the cause.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.metrics import calibration
    >>> X, y = load_gbsg2()
    >>> curves = SurTree(max_depth=2, shrinkage=3).fit(X, y).predict_survival_function(X)
    >>> groups = calibration(y, curves, 730)
    >>> groups.predicted.round(2), groups.observed.round(2)
    (array([0.51, 0.73, 0.79, 0.88]), array([0.48, 0.78, 0.79, 0.94]))
    """

    horizon: float
    predicted: Floats
    observed: Floats
    lower: Floats
    upper: Floats
    n_rows: Floats
    cause: int | None = None


def calibration(
    y: Any,
    predicted: Any,
    horizon: float,
    *,
    cause: int | None = None,
    n_groups: int = 10,
    sample_weight: ArrayLike | None = None,
    level: float = LEVEL,
) -> Calibration:
    """Compare predicted with observed survival at a horizon.

    Parameters
    ----------
    y : structured array, data frame or Target
        Rows to compare with; a Target may have entry times.
    predicted : array-like, shape (n_rows,), or n_rows functions
        Predicted survival of the rows: at the horizon, or as functions such as
        ``predict_survival_function`` returns. With ``cause``, its predicted cumulative incidence
        (``predict_cumulative_incidence``).
    horizon : float
        Time to compare at, no later than the last time in ``y`` and the last follow-up of the
        rows that such functions were fitted on.
    cause : int, optional
        Of competing risks, the cause whose cumulative incidence is compared; ``y`` then has causes.
    n_groups : int, default=10
        Number of groups, cut at quantiles of the predictions. Rows with equal predictions stay
        together, so that there are no more groups than leaves of a tree.
    sample_weight : array-like, shape (n_rows,), optional
        Weights of the rows; a weight of two is the row twice.
    level : float, default=0.95
        The level of the limits of what was observed.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import calibration
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0), (False, 4.0)], dtype="?,f8")
    >>> groups = calibration(y, [0.1, 0.3, 0.6, 0.6], horizon=3.5, n_groups=2)
    >>> groups.predicted.tolist(), groups.observed.tolist()
    ([0.2, 0.6], [0.0, 0.5])
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> groups = calibration(y, [0.6, 0.6, 0.2, 0.2], horizon=3.5, cause=1, n_groups=2)
    >>> groups.predicted.tolist(), groups.observed.tolist()
    ([0.2, 0.6], [0.5, 0.5])
    """
    target = read_outcomes(y, cause=cause)
    times = read_horizon(horizon, target, predicted)
    require_level(level)
    if n_groups < 1:
        raise ValueError(f"n_groups must be at least 1; got {n_groups}.")
    values = read_predicted_at(predicted, times, target.time.size)[:, 0]
    weight = read_weights(sample_weight, target.time.size)
    edges = np.quantile(values, np.arange(1, n_groups) / n_groups)
    group = np.searchsorted(edges, values)
    parts = [np.flatnonzero((group == number) & (weight > 0)) for number in np.unique(group)]
    parts = [rows for rows in parts if rows.size]
    at = float(times[0])
    observed, lower, upper = np.array(
        [observed_at(at, target.take(rows), weight[rows], cause, level) for rows in parts]
    ).T
    return Calibration(
        horizon=at,
        predicted=np.array([np.average(values[rows], weights=weight[rows]) for rows in parts]),
        observed=observed,
        lower=lower,
        upper=upper,
        n_rows=np.array([weight[rows].sum() for rows in parts]),
        cause=cause,
    )


def observed_at(
    horizon: float,
    target: Target,
    weight: Floats | None,
    cause: int | None = None,
    level: float = LEVEL,
) -> Observed:
    """Return the Kaplan-Meier or the Aalen-Johansen estimate at a time, and its limits."""
    if cause is None:
        return observed_survival(target, weight, horizon, level)
    if cause not in target.causes:
        raise ValueError(f"y has no event of cause {cause!r}: its causes are {target.causes}.")
    times, counts = count_causes(target, read_weights(weight, target.time.size))
    steps = int(np.searchsorted(times, horizon, side="right"))
    past_the_end = horizon > target.time.max()
    if steps == 0:
        return Observed(np.nan if past_the_end else 0.0, np.nan, np.nan)
    if past_the_end and counts.all_causes.survival[-1] > 0:
        return Observed(np.nan, np.nan, np.nan)
    index = target.causes.index(cause)
    incidence, variance = counts.incidence[index, :steps], counts.variance[index, :steps]
    lower, upper = incidence_band(incidence[-1:], variance[-1:], level)
    return Observed(float(incidence[-1]), float(lower[0]), float(upper[0]))
