"""What is known of the sums of a fit before what each row adds to them: bounds and units."""

from __future__ import annotations

import math

from surtree.survival.baseline import Baseline

# More than the rounding of sums over the baseline's steps and the rows.
_ROUNDING = 2.0**-20


def unit_of(most: float) -> float:
    """Return the unit of the core for sums whose totals are at most so much."""
    # Less than 2**51 units: two spare bits, as each row has at least one unit of exposure.
    return math.ldexp(1.0, math.frexp(most if most > 0 else 1.0)[1] - 51)


def hazard_bound(events: float, weight: float, baseline: Baseline) -> float:
    """Return what the weighted hazard of all rows does not exceed, at most twice as much as it is.

    At each event time the baseline adds deaths over weight at risk to the hazard of the weight at
    risk: all rows together have as much hazard as events, and the floor where they left before the
    first event. Rows that did not have at least the floor each, as it is the smallest step.
    """
    return (events + baseline.floor * weight) * (1.0 + _ROUNDING)
