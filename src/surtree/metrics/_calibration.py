"""Calibration: predicted against observed survival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.data.target import Target
from surtree.metrics._input import read_times, read_y
from surtree.metrics._kaplan_meier import kaplan_meier
from surtree.metrics._survival import read_survival_at


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted and observed survival at a horizon, in groups of rows with similar predictions.

    Attributes
    ----------
    horizon : float
    predicted : array of float, shape (n_groups,)
        Mean predicted survival, ascending.
    observed : array of float, shape (n_groups,)
        Kaplan-Meier survival; NaN where no row of the group is left to observe at the horizon.
    n_rows : array of int, shape (n_groups,)
    """

    horizon: float
    predicted: Floats
    observed: Floats
    n_rows: NDArray[np.int64]


def calibration(y: Any, survival: Any, horizon: float, *, n_groups: int = 10) -> Calibration:
    """Compare predicted with observed survival at a horizon.

    Parameters
    ----------
    y : structured array, data frame or Target
        Rows to compare with.
    survival : array-like, shape (n_rows,), or n_rows functions
        Predicted survival of the rows: at the horizon, or as functions such as
        ``predict_survival_function`` returns. After the end of such a function, its last value
        counts.
    horizon : float
        Time to compare at, no later than the last time in ``y``.
    n_groups : int, default=10
        Number of groups, cut at quantiles of the predictions. Rows with equal predictions stay
        together, so that there are no more groups than leaves of a tree.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import calibration
    >>> y = np.array([(True, 1.0), (True, 2.0), (True, 3.0), (False, 4.0)], dtype="?,f8")
    >>> groups = calibration(y, [0.1, 0.3, 0.6, 0.6], horizon=3.5, n_groups=2)
    >>> groups.predicted.tolist(), groups.observed.tolist()
    ([0.2, 0.6], [0.0, 0.5])
    """
    target, times = read_y(y), read_times(horizon)
    if times[0] > target.time.max():
        raise ValueError(
            f"The horizon {times[0]:g} is past the last time, {target.time.max():g}: choose an "
            "earlier one."
        )
    if n_groups < 1:
        raise ValueError(f"n_groups must be at least 1; got {n_groups}.")
    predicted = read_survival_at(survival, times, len(target.time))[:, 0]
    edges = np.quantile(predicted, np.arange(1, n_groups) / n_groups)
    group = np.searchsorted(edges, predicted)
    parts = [np.flatnonzero(group == number) for number in np.unique(group)]
    return Calibration(
        horizon=float(times[0]),
        predicted=np.array([predicted[rows].mean() for rows in parts]),
        observed=np.array([_observed(target, rows, times[0]) for rows in parts]),
        n_rows=np.array([len(rows) for rows in parts]),
    )


def _observed(target: Target, rows: NDArray[np.intp], horizon: float) -> float:
    group = Target(target.event[rows], target.time[rows])
    survival = float(kaplan_meier(group)(horizon))
    unknown = horizon > group.time.max() and survival > 0
    return float("nan") if unknown else survival
