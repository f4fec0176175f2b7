"""The events that a teacher expects, in place of those that rows have: the same exact search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.fitting.fit_problem import FitProblem
from surtree.survival.baseline import Baseline
from surtree.survival.objective import RelativeRisk


@dataclass(frozen=True, eq=False)
class GivenEvents(RelativeRisk):
    """Relative risk, where rows have events by the numbers that they are given.

    Parameters
    ----------
    shrinkage : float
        As in `RelativeRisk`.
    events : array of float
        The events of each row, of weight one: any numbers above zero.
    """

    events: Floats | None = None

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the given events and the hazards of rows, and their parts of the constant."""
        assert self.events is not None
        events, hazard = weight * self.events, weight * baseline.row_hazard(target)
        # What one leaf for each row gains: no tree gains more.
        return np.stack([events, hazard]), events * np.log(events / hazard)


def taught(problem: FitProblem, risk: Floats, share: float) -> FitProblem:
    """Return the same rows and cuts with events that are partly those that a teacher expects.

    Parameters
    ----------
    problem : FitProblem
        All rows, with their own events.
    risk : array of float
        The risk of each row relative to the baseline, by the teacher.
    share : float
        How much the teacher counts, from none (0, the events of the rows) to all (1).
    """
    data = problem.data
    events, hazard = data.sums.values / data.sums.weight
    blended = (1.0 - share) * events + share * risk * hazard
    objective = GivenEvents(data.sums.objective.shrinkage, blended)
    sums = objective.row_sums(data.target, data.sums.weight, data.baseline)
    return FitProblem(replace(data, sums=sums), problem.encoder, problem.binned)
