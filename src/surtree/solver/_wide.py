"""Sums in two parts, for weights so uneven that light rows vanish beside heavy ones."""

from __future__ import annotations

import numpy as np

from surtree._support.exact import TIE
from surtree._support.types import Floats
from surtree.survival.row_sums import Sums

# The objectives that have such a struct in C++, by the name of the one with sums in one part.
WIDE_KERNELS = {"relative_risk": "wide_relative_risk"}
# Fine units in a coarse one, as cpp/objective/wide_relative_risk.hpp has them.
COARSE = 2.0**36
# What counts as a tie there, relative to all events.
WIDE_TIE = 2.0**-49
# The fine parts of so many rows add up without rounding.
_MOST_ROWS = 2**16


def can_be_wide(sums: Sums) -> bool:
    """Return whether the core can add up rows in two parts."""
    return sums.objective.kernel in WIDE_KERNELS and sums.weight.size <= _MOST_ROWS


def tie_of(sums: Sums) -> float:
    """Return the difference of gains that counts as none in the core."""
    is_wide = sums.is_uneven and can_be_wide(sums)
    return (WIDE_TIE if is_wide else TIE) * sums.scale


def divide(values: Floats, unit: float) -> Floats:
    """Return what the core adds up, of shape (4, n_rows), in multiples of the fine unit.

    They are events and hazard in coarse units, then events and hazard in fine units. Hazards
    are rounded down to the fine unit. Their fine part is not zero, but for rows with less than one.
    """
    fine_unit = unit / COARSE
    fine = np.fmod(values, unit)  # exact, as are all numbers below
    coarse = (values - fine) / unit
    hazard = np.floor(fine[1] / fine_unit)
    borrows = (hazard == 0) & (coarse[1] > 0)
    coarse[1] -= borrows
    hazard += COARSE * borrows
    fine[1] = np.where(hazard > 0, hazard * fine_unit, fine[1])
    return np.concatenate([coarse * fine_unit, fine])
