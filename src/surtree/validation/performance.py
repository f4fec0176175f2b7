"""How well the predictions of a model agree with some rows: one number for each measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    calibration_slope,
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics._survival import evaluate
from surtree.survival.baseline import risk_table
from surtree.survival.kaplan_meier import EventCounts

# In the order of the numbers; calibration at each horizon follows.
MEASURES = {
    "concordance": "Harrell's C",
    "concordance_ipcw": "Uno's C",
    "brier": "Brier score saved",
    "calibration_slope": "calibration slope",
}


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of each row.

    Parameters
    ----------
    risk : array of float
        Higher is riskier.
    survival : array of objects
        A step function for each row.
    """

    risk: Floats
    survival: NDArray[np.object_]

    def at(self, time: float) -> Floats:
        """Return the predicted survival of each row at a time."""
        known: dict[int, float] = {}
        for curve in self.survival:
            if id(curve) not in known:
                # A single time may give an array or, as scikit-survival does it, a number.
                known[id(curve)] = float(np.ravel(evaluate(curve, np.array([time])))[0])
        return np.array([known[id(curve)] for curve in self.survival])

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return those of some rows."""
        return Predictions(self.risk[rows], self.survival[rows])


def predict(model: Any, X: Any) -> Predictions:
    """Ask a fitted survival model about rows.

    Parameters
    ----------
    model : fitted estimator
        With ``predict`` and ``predict_survival_function``, as those of this package and of
        scikit-survival.
    X : data frame or array
        The rows.
    """
    curves = list(model.predict_survival_function(X))
    survival = np.empty(len(curves), dtype=object)
    survival[:] = curves
    return Predictions(np.asarray(model.predict(X), dtype=np.float64), survival)


def measure(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    horizons: Floats,
    interval: tuple[float, float],
) -> Floats:
    """Return each of the `MEASURES`, then predicted less observed survival at each horizon.

    A measure that has no value for such rows is NaN: those that weigh rows by the censoring
    distribution have none where rows have weights or entry times.

    Parameters
    ----------
    predicted : Predictions
        What a model says of the rows.
    target, weight : Target, array of float
        The rows.
    horizons : array of float
        Times for calibration; the slope is that at the last.
    interval : tuple of two floats
        Over which the Brier score is integrated.
    """
    plain = weight is None and target.entry is None
    at_horizons = [predicted.at(float(horizon)) for horizon in horizons]
    return np.array(
        [
            _or_nan(
                lambda: (
                    concordance_index_censored(
                        target.event, target.time, predicted.risk, sample_weight=weight
                    ).cindex
                ),
                target.entry is None,
            ),
            _or_nan(lambda: concordance_index_ipcw(target, target, predicted.risk).cindex, plain),
            _or_nan(
                lambda: normalized_integrated_brier_score(
                    target, target, list(predicted.survival), interval=interval
                ),
                plain,
            ),
            calibration_slope(target, at_horizons[-1], sample_weight=weight),
            *(
                np.average(survival, weights=weight) - _observed(target, weight, float(horizon))
                for survival, horizon in zip(at_horizons, horizons, strict=True)
            ),
        ]
    )


def _or_nan(score: Callable[[], float], is_defined: bool) -> float:
    if not is_defined:
        return float("nan")
    try:
        return float(score())
    except ValueError:  # such as no comparable pair
        return float("nan")


def _observed(target: Target, weight: Floats | None, horizon: float) -> float:
    """Return the Kaplan-Meier survival at a time, NaN after the last follow-up."""
    table = risk_table(target, np.ones(target.time.size) if weight is None else weight)
    before = np.searchsorted(table.times, horizon, side="right")
    if before == 0:
        return 1.0
    survival = float(EventCounts(table.at_risk, table.deaths).survival[before - 1])
    return float("nan") if horizon > target.time.max() and survival > 0 else survival
