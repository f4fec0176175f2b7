"""The Kaplan-Meier estimate, and the median that is read off a survival curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats

# A curve that reaches one half in exact arithmetic must do so in floating point too.
_HALF = 0.5 * (1 + 1e-12)


def product_limit(at_risk: NDArray[Any], deaths: NDArray[Any]) -> Floats:
    """Return the Kaplan-Meier survival after each time, from at-risk counts and deaths."""
    survival: Floats = np.cumprod(1.0 - deaths / at_risk, dtype=np.float64)
    return survival


def median_time(times: Floats, survival: Floats) -> float:
    """Return the first time at which survival is at most one half, or infinity."""
    reached = np.flatnonzero(survival <= _HALF)
    return float(times[reached[0]]) if reached.size else float("inf")
