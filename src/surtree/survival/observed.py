"""What was observed of some rows at a time: Kaplan-Meier survival, with limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import risk_table
from surtree.survival.confidence import LEVEL, log_log_band
from surtree.survival.kaplan_meier import EventCounts


class Observed(NamedTuple):
    """Kaplan-Meier survival at a time, and its pointwise limits."""

    survival: float
    lower: float
    upper: float


_UNKNOWN = Observed(np.nan, np.nan, np.nan)


def observed_survival(
    target: Target, weight: Floats | None, horizon: float, level: float = LEVEL
) -> Observed:
    """Return the Kaplan-Meier survival of rows at a time.

    It is NaN after the last follow-up, unless all rows had their event by then, and before the
    first row enters. Its limits are NaN where it is one or zero: nothing is known of its variance.
    """
    if target.entry is not None and horizon < target.entry.min():
        return _UNKNOWN
    table = risk_table(target, np.ones(target.time.size) if weight is None else weight)
    steps = int(np.searchsorted(table.times, horizon, side="right"))
    past_the_end = horizon > target.time.max()
    if steps == 0:
        return _UNKNOWN if past_the_end else Observed(1.0, np.nan, np.nan)
    counts = EventCounts(table.at_risk[:steps], table.deaths[:steps])
    survival = float(counts.survival[-1])
    if past_the_end and survival > 0:
        return _UNKNOWN
    lower, upper = log_log_band(counts, level)
    return Observed(survival, float(lower[-1]), float(upper[-1]))
