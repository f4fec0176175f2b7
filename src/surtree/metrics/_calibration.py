"""Calibration: predicted against observed survival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target, read_target, read_weights
from surtree.metrics._survival import read_horizon, read_survival_at
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.observed import Observed, observed_survival


@dataclass(frozen=True, eq=False)
class Calibration(ArrayValue):
    """Predicted and observed survival at a horizon, in groups of rows with similar predictions.

    Parameters
    ----------
    horizon : float
        The time.
    predicted : array of float, shape (n_groups,)
        Mean predicted survival, ascending.
    observed : array of float, shape (n_groups,)
        Kaplan-Meier survival; NaN where no row of the group is left to observe at the horizon.
    lower, upper : array of float, shape (n_groups,)
        Its pointwise confidence limits; NaN where it is zero, one or NaN.
    n_rows : array of float, shape (n_groups,)
        The weight of the rows of each group: their number, if they have no weights.

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


def calibration(
    y: Any,
    survival: Any,
    horizon: float,
    *,
    n_groups: int = 10,
    sample_weight: ArrayLike | None = None,
    level: float = LEVEL,
) -> Calibration:
    """Compare predicted with observed survival at a horizon.

    Parameters
    ----------
    y : structured array, data frame or Target
        Rows to compare with; a Target may have entry times.
    survival : array-like, shape (n_rows,), or n_rows functions
        Predicted survival of the rows: at the horizon, or as functions such as
        ``predict_survival_function`` returns.
    horizon : float
        Time to compare at, no later than the last time in ``y`` and the last follow-up of the
        rows that such functions were fitted on.
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
    """
    target = y if isinstance(y, Target) else read_target(y)

    def observed(rows: Target, weights: Floats, time: float) -> Observed:
        return observed_survival(rows, weights, time, level)

    return calibration_groups(target, survival, horizon, n_groups, sample_weight, level, observed)


def calibration_groups(
    target: Target,
    survival: Any,
    horizon: float,
    n_groups: int,
    sample_weight: ArrayLike | None,
    level: float,
    observe: Callable[[Any, Floats, float], Observed],
) -> Calibration:
    """Compare what is predicted with what is observed in groups of rows."""
    times = read_horizon(horizon, target, survival)
    require_level(level)
    if n_groups < 1:
        raise ValueError(f"n_groups must be at least 1; got {n_groups}.")
    predicted = read_survival_at(survival, times, target.time.size)[:, 0]
    weight = read_weights(sample_weight, target.time.size)
    edges = np.quantile(predicted, np.arange(1, n_groups) / n_groups)
    group = np.searchsorted(edges, predicted)
    parts = [np.flatnonzero((group == number) & (weight > 0)) for number in np.unique(group)]
    parts = [rows for rows in parts if rows.size]
    found = [observe(target.take(rows), weight[rows], float(times[0])) for rows in parts]
    observed, lower, upper = np.array(found).T
    return Calibration(
        horizon=float(times[0]),
        predicted=np.array([np.average(predicted[rows], weights=weight[rows]) for rows in parts]),
        observed=observed,
        lower=lower,
        upper=upper,
        n_rows=np.array([weight[rows].sum() for rows in parts]),
    )
