"""Where quantiles stand in a sorted list, and how often rows count for them."""

from __future__ import annotations

import numpy as np

from surtree._support.types import Floats


def repeats(weight: Floats) -> Floats | None:
    """Return how often each row counts for quantiles; None if each counts once.

    If all weights are whole numbers, a row of weight k counts as k rows. Other weights do not move
    quantiles.
    """
    whole = bool((weight == np.floor(weight)).all())
    return weight if whole and not (weight == 1).all() else None


def quantile_positions(n_values: float, n_thresholds: int) -> Floats:
    """Return where thresholds stand in a sorted list: each after the value at its position."""
    return np.round((np.arange(n_thresholds) + 0.5) * (n_values - 2) / n_thresholds)
