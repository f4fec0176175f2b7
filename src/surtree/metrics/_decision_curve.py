"""Decision curves: what acting on a prediction is worth, against treating all and none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target, read_weights
from surtree.metrics.calibration_groups import observed_at
from surtree.metrics.input import read_numbers, read_outcomes
from surtree.metrics.predicted import read_horizon, read_predicted_at

_THRESHOLDS = np.arange(1, 100) / 100
# Sums of weights may leave this much survival where all rows have died.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class DecisionCurve(ArrayValue):
    """The net benefit of acting on a prediction, for every risk at which one would act.

    Parameters
    ----------
    horizon : float
        The time by which the event is to be prevented.
    thresholds : array of float
        The threshold probabilities: the risks at which one would act.
    model : array of float
        The net benefit of acting where the predicted risk is at least the threshold; NaN where
        some rows are treated, and none of them was followed to the horizon.
    treat_all : array of float
        The net benefit of acting on every row. That of acting on none is zero.
    cause : int or None
        Of competing risks, the cause whose events are to be prevented.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.metrics import decision_curve
    >>> X, y = load_gbsg2()
    >>> curves = SurTree(max_depth=2, shrinkage=3).fit(X, y).predict_survival_function(X)
    >>> curve = decision_curve(y, curves, 730, thresholds=[0.2, 0.4])
    >>> curve.model.round(3), curve.treat_all.round(3)
    (array([0.104, 0.049]), array([ 0.067, -0.244]))
    """

    horizon: float
    thresholds: Floats
    model: Floats
    treat_all: Floats
    cause: int | None = None

    @property
    def missing(self) -> str:
        """Why some thresholds have no net benefit; empty where all have."""
        without = self.thresholds[np.isnan(self.model)]
        if not without.size:
            return ""
        return (
            f"no net benefit at thresholds from {without[0]:g} to {without[-1]:g}: of the rows "
            f"with such a risk, none was followed to {self.horizon:g}"
        )


def decision_curve(
    y: Any,
    predicted: Any,
    horizon: float,
    *,
    cause: int | None = None,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> DecisionCurve:
    """Return the net benefit of acting on a prediction (Vickers and Elkin).

    With a threshold probability of 20%, one true alarm is worth four false ones. The net
    benefit is the share of rows that are treated and have the event by the horizon, less the
    share that is treated in vain, at that exchange rate. Events of censored rows are counted by
    the Kaplan-Meier curve of the rows that are treated; where it ends before the horizon, the net
    benefit is not a number.

    Parameters
    ----------
    y : structured array, data frame or Target
        Rows to count, without entry times.
    predicted : array-like, shape (n_rows,), or n_rows functions
        Predicted survival of the rows at the horizon, or as functions of time.
    horizon : float
        The time by which events count, no later than in `calibration`.
    cause : int, optional
        Of competing risks, the cause whose events count, by the Aalen-Johansen estimate; ``y`` then
        has causes, and ``predicted`` is the cumulative incidence of the cause.
    thresholds : array-like, optional
        Risks between zero and one; by default every percent, up to the largest predicted risk.
    sample_weight : array-like, shape (n_rows,), optional
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import decision_curve
    >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0), (False, 4.0)], dtype="?,f8")
    >>> curve = decision_curve(y, [0.2, 0.4, 0.7, 0.9], horizon=2.5, thresholds=[0.5])
    >>> curve.model.tolist(), curve.treat_all.tolist()
    ([0.5], [0.0])
    """
    target = read_outcomes(y, cause=cause)
    if target.entry is not None:
        raise ValueError(
            "The net benefit is not defined for rows with entry times: the share of rows that are "
            "treated is not that of everybody from time zero on."
        )
    times = read_horizon(horizon, target, predicted)
    values = read_predicted_at(predicted, times, target.time.size)[:, 0]
    risk = 1.0 - values if cause is None else values
    weight = read_weights(sample_weight, target.time.size)
    if thresholds is None:
        asked = _THRESHOLDS[: max(1, int(np.searchsorted(_THRESHOLDS, risk.max(), side="right")))]
    else:
        asked = read_numbers(thresholds, "thresholds")
        if not ((asked > 0) & (asked < 1)).all():
            raise ValueError("thresholds must lie between 0 and 1.")
    order = target.order
    target, risk, weight = target.take(order), risk[order], weight[order]
    at = float(times[0])

    def benefit(treated: Any, threshold: float) -> float:
        share = float(weight[treated].sum() / weight.sum())
        if share == 0:
            return 0.0
        spared = _spared(target.take(treated), weight[treated], at, cause)
        return share * (1 - spared - spared * threshold / (1 - threshold))

    everyone = np.ones(risk.size, dtype=bool)
    # A risk that equals the threshold but for rounding is acted on.
    model = [benefit(risk >= threshold - 1e-12, threshold) for threshold in asked]
    treat_all = [benefit(everyone, threshold) for threshold in asked]
    return DecisionCurve(at, asked, np.array(model), np.array(treat_all), cause)


def _spared(target: Target, weight: Floats, horizon: float, cause: int | None) -> float:
    """Return the share without the event at a time, of rows whose times ascend; NaN after the last.

    If all have died it is zero for ever.
    """
    if cause is not None:
        return 1.0 - observed_at(horizon, target, weight, cause).survival
    event, time = target.event, target.time
    at_risk = np.cumsum(weight[::-1])[::-1]
    deaths = np.where(event, weight, 0.0)[: np.searchsorted(time, horizon, side="right")]
    survival = 1.0
    if deaths.any():
        # Rows with the same time are at risk together.
        first = np.flatnonzero(np.diff(time[: deaths.size], prepend=-np.inf))
        survival = float(np.prod(1.0 - np.add.reduceat(deaths, first) / at_risk[first]))
    followed = horizon <= time[weight > 0][-1]
    return survival if followed or survival <= _ROUNDING else np.nan
