"""Product-limit curves of leaves with a prior of so many rows, whatever shrinks the tree."""

from __future__ import annotations

import numpy as np

from experiments.scores import Floats, Labels, Target
from surtree.survival.step_function import StepFunction


def prior_curves(y: Target, leaf: Labels, n_leaves: int, prior: float) -> list[StepFunction]:
    """Return the curve of each leaf, with rows added that die at the rate of all rows.

    At an event time the hazard is ``(d + k s d0 / n0) / (n + k s)``: of ``n`` rows of the leaf at
    risk ``d`` die, of all rows ``d0`` of ``n0``; ``k`` is the prior, and ``s`` the share of all
    rows that is still at risk.

    Parameters
    ----------
    y : structured array
        Event and time of the training rows.
    leaf : array of int
        Their leaves, from zero on.
    n_leaves : int
        How many there are.
    prior : float
        How many rows are added at the start.
    """
    times = np.unique(y["time"][y["event"]])
    n_all, d_all = _counts(y, times)
    added = prior * n_all / len(y)
    curves = []
    for number in range(n_leaves):
        at_risk, deaths = _counts(y[leaf == number], times)
        hazard = (deaths + added * d_all / n_all) / (at_risk + added)
        curves.append(StepFunction(times, np.cumprod(1.0 - hazard), 1.0))
    return curves


def _counts(y: Target, times: Floats) -> tuple[Floats, Floats]:
    """Return how many rows are at risk at each time, and how many die."""
    last, events = np.sort(y["time"]), np.sort(y["time"][y["event"]])
    at_risk = len(y) - np.searchsorted(last, times, side="left")
    deaths = np.searchsorted(events, times, side="right") - np.searchsorted(events, times)
    return at_risk.astype(float), deaths.astype(float)
