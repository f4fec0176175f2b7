"""What is true of the leaves of a tree, from many rows: hazard ratios and thetas."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree.data.target import read_target
from surtree.survival.baseline import nelson_aalen
from surtree.survival.cox_groups import GroupCounts

Floats = NDArray[np.float64]
# Rows that say what is true of the leaves of a tree.
TRUTH_ROWS = 60_000


def counts(
    event: NDArray[np.bool_], time: Floats, group: NDArray[np.intp], n_groups: int
) -> GroupCounts:
    """Return what is at risk and what dies in groups of rows at each event time."""
    times = np.unique(time[event])
    at_risk, deaths = np.zeros((2, n_groups, times.size))
    for number in range(n_groups):
        own = np.sort(time[group == number])
        died = np.sort(time[event & (group == number)])
        at_risk[number] = own.size - np.searchsorted(own, times)
        deaths[number] = np.searchsorted(died, times, "right") - np.searchsorted(died, times)
    return GroupCounts(at_risk, deaths)


def thetas(y: NDArray[np.void], leaf: NDArray[np.intp], n_leaves: int) -> Floats:
    """Return observed over expected events of each leaf."""
    target = read_target(y, len(y))
    hazard = nelson_aalen(target, np.ones(len(y))).row_hazard(target)
    observed, expected = (
        np.bincount(leaf, values, minlength=n_leaves) for values in (y["event"], hazard)
    )
    return np.asarray(observed / np.maximum(expected, 1e-300))


def share(inside: NDArray[np.bool_]) -> float:
    """Return the share that is true; not a number of none."""
    return float(inside.mean()) if inside.size else float("nan")


def log_ratio(top: float, bottom: float) -> float:
    """Return the logarithm of a ratio; not a number where it has none."""
    known = np.isfinite(top) and top > 0 and bottom > 0
    return float(np.log(top / bottom)) if known else float("nan")
