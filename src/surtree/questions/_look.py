"""What every question is worth at a set of rows, by the number of splits below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.fitting.training import FitProblem
from surtree.solver.clock import Clock
from surtree.solver.problem import Limits


@dataclass(frozen=True)
class Look:
    """The gains of a set of rows."""

    status: Status
    leaf: float  # of the rows as a leaf
    sides: Floats  # of both sides of every cut, of shape (n_cuts, 2, n): with 0, 1, ... splits

    @cached_property
    def by_cut(self) -> Floats:
        """What a tree gains that asks each cut first, with at most 1, 2, ... splits."""
        n_cuts, _, width = self.sides.shape
        gains = np.full((n_cuts, 2 * width - 1), -np.inf)
        for no in range(width):
            for yes in range(width):
                both = self.sides[:, 0, no] + self.sides[:, 1, yes]
                np.maximum(gains[:, no + yes], both, out=gains[:, no + yes])
        return np.asarray(np.maximum.accumulate(gains, axis=1))

    def best(self, most: int) -> Floats:
        """Return what the best tree gains with at most 0, 1, ..., ``most`` splits."""
        gains = np.full(most + 1, self.leaf)
        splits = self.by_cut.max(axis=0, initial=-np.inf)[:most]
        gains[1 : splits.size + 1] = np.maximum(gains[1 : splits.size + 1], splits)
        return np.asarray(np.maximum.accumulate(gains))


@dataclass(frozen=True)
class Effort:
    """How long, with how many threads and with how much memory to search."""

    clock: Clock
    n_jobs: int | None
    memory_limit: int | None


def look(problem: FitProblem, rows: NDArray[np.bool_], limits: Limits, effort: Effort) -> Look:
    """Search the trees over some of the rows, without leaving out any question."""
    sums = problem.data.sums.take(rows)
    leaf = float(sums.objective.gain(sums.total))
    if min(limits.max_depth, 1 if limits.max_splits is None else limits.max_splits) < 1:
        return Look("optimal", leaf, np.full((len(problem.encoder.cuts_), 2, 1), -np.inf))
    status, sides = (problem.core if rows.all() else problem.core.take(rows)).side_gains(
        limits,
        time_limit=effort.clock.left(),
        n_jobs=effort.n_jobs,
        memory_limit=effort.memory_limit,
    )
    return Look(status, leaf, sides)
