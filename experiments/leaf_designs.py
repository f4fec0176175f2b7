"""Simulated tables of four groups whose survival is known, and trials of two arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from surtree.data.target_array import make_target

Floats = NDArray[np.float64]

# The first two columns make the groups; the others say nothing.
N_NOISE = 6


@dataclass(frozen=True)
class Design:
    """How long the rows of each group live, and when they are censored.

    Parameters
    ----------
    rates : tuple of float
        Hazards of the groups; of lognormal times, one over their medians.
    shape : str
        "exponential"; "lognormal", whose hazards are not proportional; or "changing", where the
        hazards of the groups, 1 to 8 at first, are equal from time 0.3 on.
    censored_by : float
        Rows are censored at a uniform time up to this one, or never where it is infinite.
    """

    rates: tuple[float, ...]
    shape: str = "exponential"
    censored_by: float = 2.5

    def survival(self, group: int, times: Floats) -> Floats:
        """Return the true survival of a group."""
        rate = self.rates[group]
        if self.shape == "lognormal":
            return np.asarray(1 - ndtr(np.log(np.maximum(times, 1e-300) * rate) / _SIGMA))
        if self.shape == "changing":
            hazard = rate * np.minimum(times, _CHANGE) + np.maximum(times - _CHANGE, 0)
            return np.asarray(np.exp(-hazard))
        return np.asarray(np.exp(-rate * times))

    def draw_times(self, group: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Draw the time of the event of each row, given its group."""
        rate = np.array(self.rates)[group]
        if self.shape == "lognormal":
            return np.asarray(np.exp(_SIGMA * rng.normal(size=group.size)) / rate)
        hazard = rng.exponential(size=group.size)
        if self.shape == "changing":
            late = hazard > rate * _CHANGE
            return np.where(late, _CHANGE + hazard - rate * _CHANGE, hazard / rate)
        return np.asarray(hazard / rate)


_SIGMA, _CHANGE = 1.0, 0.3

DESIGNS = {
    "no effect": Design((1, 1, 1, 1)),
    "proportional 1/2/4/8": Design((1, 2, 4, 8)),
    "proportional, no censoring": Design((1, 2, 4, 8), censored_by=np.inf),
    "proportional, heavy censoring": Design((1, 2, 4, 8), censored_by=0.5),
    "lognormal": Design((1, 2, 4, 8), "lognormal"),
    "ratios that end at 0.3": Design((1, 2, 4, 8), "changing"),
}
# Rates of the two arms where the first column is 0, and where it is 1; rows in the treated arm.
TRIALS = {
    "ratio 1": (Design((1, 1, 2, 2)), 0.5),
    "ratio 0.3": (Design((1, 0.3, 2, 0.6)), 0.5),
    "ratio 0.3, arms 4:1": (Design((1, 0.3, 2, 0.6)), 0.2),
    "ratio 0.3, no censoring": (Design((1, 0.3, 2, 0.6), censored_by=np.inf), 0.5),
    "lognormal": (Design((1, 0.3, 2, 0.6), "lognormal"), 0.5),
    "ratio 0.3 that ends at 0.3": (Design((1, 0.3, 2, 0.6), "changing"), 0.5),
}


def draw_columns(n: int, rng: np.random.Generator) -> Floats:
    """Draw two columns of 0 and 1, and columns of noise."""
    X = rng.normal(size=(n, 2 + N_NOISE))
    X[:, :2] = rng.integers(0, 2, (n, 2))
    return X


def draw_leaves(
    design: Design, n: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.void], NDArray[np.intp]]:
    """Draw rows of four groups: columns, event and time, and the groups."""
    X = draw_columns(n, rng)
    group = (2 * X[:, 0] + X[:, 1]).astype(np.intp)
    return X, _outcome(design, group, rng), group


def draw_trial(
    design: Design, treated: float, n: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.void], NDArray[np.intp]]:
    """Draw rows of a trial: columns, event and time, and the arms."""
    X = draw_columns(n, rng)
    arm = (rng.random(n) < treated).astype(np.intp)
    return X, _outcome(design, (2 * X[:, 0]).astype(np.intp) + arm, rng), arm


def _outcome(design: Design, group: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.void]:
    time = design.draw_times(group, rng)
    end = np.full(group.size, np.inf)
    if np.isfinite(design.censored_by):
        end = rng.uniform(0, design.censored_by, group.size)
    return make_target(time <= end, np.minimum(time, end))
