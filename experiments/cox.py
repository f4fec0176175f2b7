"""A Cox model with a ridge penalty: what a tree has to compete with where rows are few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.scores import Floats, Target

_MOST_STEPS = 50
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class CoxModel:
    """A fitted model.

    Parameters
    ----------
    coefficients : array of float
        Of the columns.
    times, cumulative_hazard : array of float
        Breslow's baseline: the distinct event times, and the hazard up to each of them.
    """

    coefficients: Floats
    times: Floats
    cumulative_hazard: Floats

    def log_risk(self, X: Floats) -> Floats:
        """Return the logarithm of the hazard ratio of rows."""
        return X @ self.coefficients


def fit_cox(X: Floats, y: Target, penalty: float, start: Floats | None = None) -> CoxModel:
    """Maximise the partial likelihood (Breslow's, of ties) less half the penalty, by Newton steps.

    Parameters
    ----------
    X : array of float
        Columns of about unit variance.
    y : structured array
        Event and time.
    penalty : float
        On the squared coefficients; above zero.
    start : array of float, optional
        Coefficients to start from.
    """
    order = np.argsort(-y["time"], kind="stable")
    X, event, time = X[order], y["event"][order], y["time"][order]
    # From the latest on: the rows at risk at a time are those up to the last one that has it.
    last = np.searchsorted(-time, -time, side="right") - 1
    b = np.zeros(X.shape[1]) if start is None else start
    value, gradient, hessian = _likelihood(X, event, last, b, penalty)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(hessian, gradient)
        if gradient @ step < _TOLERANCE:
            break
        size = 1.0
        while True:
            found = _likelihood(X, event, last, b + size * step, penalty)
            if found[0] >= value or size < _TOLERANCE:
                break
            size /= 2
        b = b + size * step
        value, gradient, hessian = found
    at_risk = np.cumsum(np.exp(X @ b))[last]
    times, place = np.unique(time[event], return_inverse=True)
    hazard = np.cumsum(np.bincount(place, 1.0 / at_risk[event]))
    return CoxModel(b, times, hazard)


def _likelihood(
    X: Floats, event: NDArray[np.bool_], last: NDArray[np.intp], b: Floats, penalty: float
) -> tuple[float, Floats, Floats]:
    """Return the penalised log-likelihood, its gradient, and minus its matrix of curvatures."""
    log_risk = X @ b
    top = log_risk.max()
    risk = np.exp(log_risk - top)
    at_risk = np.cumsum(risk)[last][event]
    mean = np.cumsum(risk[:, None] * X, axis=0)[last][event] / at_risk[:, None]
    value = float(np.sum(log_risk[event] - top - np.log(at_risk)) - penalty * (b @ b) / 2)
    gradient = (X[event] - mean).sum(axis=0) - penalty * b
    # How much each row counts in the risk sets of all events together.
    share = np.bincount(last[event], 1.0 / at_risk, minlength=len(X))[::-1].cumsum()[::-1]
    hessian = (X * (risk * share)[:, None]).T @ X - mean.T @ mean + penalty * np.eye(len(b))
    return value, gradient, hessian
