"""The target of competing risks: which cause ended the time of each row, if any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.data.target import Target


@dataclass(frozen=True, eq=False)
class CauseTarget(Target):
    """The time of each row, and the cause of its event.

    Parameters
    ----------
    event, time, entry
        As in `Target`; an event is one of any cause.
    cause : array of int
        The cause of the event, from 1; zero where the row is censored.
    """

    cause: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def take(self, rows: NDArray[Any]) -> CauseTarget:
        """Return the rows at these positions, or those that a mask marks."""
        return CauseTarget(**vars(super().take(rows)), cause=self.cause[rows])
