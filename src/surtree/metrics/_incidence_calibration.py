"""Calibration of cumulative incidence: predicted against observed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.data.causes import CauseTarget, read_cause_target
from surtree.metrics._calibration import Calibration, calibration_groups
from surtree.survival.aalen_johansen import count_causes, incidence_band
from surtree.survival.confidence import LEVEL
from surtree.survival.observed import Observed


def incidence_calibration(
    y: Any,
    incidence: Any,
    horizon: float,
    cause: int,
    *,
    n_groups: int = 10,
    sample_weight: ArrayLike | None = None,
    level: float = LEVEL,
) -> Calibration:
    """Compare the predicted with the observed cumulative incidence of a cause at a horizon.

    Parameters
    ----------
    y : structured array, data frame, pair of arrays or CauseTarget
        Cause and time of the rows to compare with.
    incidence : array-like, shape (n_rows,), or n_rows functions
        Predicted cumulative incidence of the rows: at the horizon, or as functions such as
        ``predict_cumulative_incidence`` returns.
    horizon : float
        Time to compare at, no later than the last time in ``y``.
    cause : int
        The cause.
    n_groups, sample_weight, level
        As in :func:`calibration`.

    Returns
    -------
    Calibration
        Of cumulative incidence, the Aalen-Johansen estimate, instead of survival.

    Examples
    --------
    >>> from surtree.metrics import incidence_calibration
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> groups = incidence_calibration(y, [0.6, 0.6, 0.2, 0.2], 3.5, cause=1, n_groups=2)
    >>> groups.predicted.tolist(), groups.observed.tolist()
    ([0.2, 0.6], [0.5, 0.5])
    """
    target = read_cause_target(y)
    if cause not in target.causes:
        raise ValueError(f"y has no event of cause {cause!r}: its causes are {target.causes}.")

    def observed(rows: Any, weight: Floats, time: float) -> Observed:
        return _observed(rows, weight, time, cause, level)

    return calibration_groups(target, incidence, horizon, n_groups, sample_weight, level, observed)


def _observed(
    target: CauseTarget, weight: Floats, horizon: float, cause: int, level: float
) -> Observed:
    """Return the Aalen-Johansen estimate at a time, and its limits."""
    times, counts = count_causes(target, weight)
    steps = int(np.searchsorted(times, horizon, side="right"))
    past_the_end = horizon > target.time.max()
    if steps == 0:
        return Observed(np.nan if past_the_end else 0.0, np.nan, np.nan)
    place = target.causes.index(cause)
    if past_the_end and counts.all_causes.survival[-1] > 0:
        return Observed(np.nan, np.nan, np.nan)
    incidence, variance = counts.incidence[place, :steps], counts.variance[place, :steps]
    lower, upper = incidence_band(incidence[-1:], variance[-1:], level)
    return Observed(float(incidence[-1]), float(lower[0]), float(upper[0]))
