"""The target of a trial: the arm of each row beside its survival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.data.target import Target


@dataclass(frozen=True, eq=False, kw_only=True)
class ArmTarget(Target):
    """The survival of each row, and its arm.

    Parameters
    ----------
    event, time, entry
        As in `Target`.
    arm : array of int
        The number of the arm, from 0.
    """

    arm: NDArray[np.intp]

    def take(self, rows: NDArray[Any]) -> ArmTarget:
        """Return the rows at these positions, or those that a mask marks."""
        taken = super().take(rows)
        return ArmTarget(taken.event, taken.time, taken.entry, arm=self.arm[rows])
