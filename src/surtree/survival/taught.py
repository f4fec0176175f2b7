"""The objective of a taught tree: the events that a teacher expects, in place of those of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import Baseline
from surtree.survival.exactness import HazardExactness
from surtree.survival.objective import RELATIVE_RISK, Objective
from surtree.survival.row_sums import RowSums, Sums


@dataclass(frozen=True)
class TaughtRisk(Objective):
    """Relative risk of what a teacher expects; leaves predict by their rows and by the teacher.

    A leaf in which the teacher expects ``T`` events and the baseline ``H`` gains ``T log(T / H)``:
    the loss of a tree is half of the Poisson deviance between it and the teacher. With ``E`` events
    of its own rows and a prior worth ``k`` events, the leaf predicts ``(E + k T / H) / (H + k)``.
    """

    prior_events: float = 30.0  # the events that the teacher is worth in a leaf

    name = "taught_risk"
    kernel = "relative_risk"
    sum_names = ("events", "hazard", "taught")
    is_best = "is nearer to its teacher"
    proven = "nearest to its teacher"
    loss_name = "distance to the teacher"
    loss_words = (
        "The loss is the distance to the teacher, half of the Poisson deviance, summed: smaller is "
        "nearer."
    )

    @property
    def method_words(self) -> str:  # type: ignore[override]
        """What a leaf has, what the tree does, and what the teacher is worth."""
        return (
            "Each leaf has a multiple of the hazard of all rows (Nelson-Aalen estimate); {loss} "
            "half of the Poisson deviance to the risks of a teacher, another survival model. A "
            "leaf predicts by its own events and by the teacher, which is worth "
            f"{self.prior_events:g} events."
        )

    @property
    def parameters(self) -> tuple[float, ...]:
        """The shrinkage of the search: none."""
        return (0.0,)

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.prior_events,)

    @property
    def remedy(self) -> str:
        """What to try where leaves have hardly any events."""
        return "more prior_events or min_events_leaf"

    @property
    def theta_note(self) -> str:
        if self.prior_events == 0:
            return ""
        return (
            "Relative risk: events of a leaf over those expected at the hazard of all rows, its "
            f"own and {self.prior_events:g} more as the teacher expects them there. Intervals are "
            "of its own events alone, so it may lie outside."
        )

    def tree_note(self, loss: float, without: float) -> str:
        """Return which share of the teacher's deviance a tree explains."""
        share = f"{1 - loss / without:.0%}" if without > 0 else "all"
        return (
            f"explains {share} of its teacher; leaves predict by their own events and "
            f"{self.prior_events:g} more of the teacher"
        )

    def core_values(self, values: Floats) -> Floats:
        """Return what the search is about: the events that the teacher expects, and the hazard."""
        return np.asarray(values)[[2, 1]]

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return events and hazards of rows, their own events for want of a teacher."""
        values, constants = RELATIVE_RISK.row_values(target, weight, baseline)
        return np.concatenate([values, values[:1]]), constants

    def teach(self, sums: RowSums, risk: Floats) -> RowSums:
        """Return the sums of rows of which a teacher knows the risk, relative to the baseline.

        The teacher is scaled so that it expects as many events as there are.
        """
        events, hazard = sums.values
        taught = risk * hazard
        taught = taught * (events.sum() / taught.sum())
        # What one leaf for each row gains: no tree gains more.
        constants = RELATIVE_RISK.gain(np.stack([taught, hazard]))
        values = np.stack([events, hazard, taught])
        return replace(sums, objective=self, values=values, constants=constants)

    def gain(self, sums: ArrayLike) -> Floats:
        """Return ``T log(T / H)``."""
        return RELATIVE_RISK.gain(self.core_values(np.asarray(sums, dtype=np.float64)))

    def predict(self, sums: ArrayLike) -> Floats:
        """Return ``(E + k T / H) / (H + k)``."""
        events, hazard, taught = np.asarray(sums, dtype=np.float64)
        if self.prior_events == 0:
            return RELATIVE_RISK.predict(np.stack([events, hazard]))
        with np.errstate(invalid="ignore"):  # of no rows, the teacher says nothing
            expected = np.where(hazard > 0, taught / hazard, 1.0)
        theta: Floats = (events + self.prior_events * expected) / (hazard + self.prior_events)
        return theta

    def risk(self, sums: ArrayLike) -> Floats:
        taught, hazard = self.core_values(np.asarray(sums, dtype=np.float64))
        return np.asarray(taught / hazard)

    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        """Return ``theta H - E (log(theta) + 1)``: the loss on the events of the rows."""
        return RELATIVE_RISK.variable_loss(values[:2], prediction)

    def exactness(self) -> HazardExactness:
        """Return what rounding does to the events of the teacher and the hazard."""
        return _TaughtExactness(RELATIVE_RISK)

    def are_possible(self, sums: Floats, weight: Floats, n_events: NDArray[Any]) -> bool:
        are_known = RELATIVE_RISK.are_possible(sums[:2], weight, n_events)
        return are_known and bool(np.isfinite(sums[2]).all() and (sums[2] > 0).all())


class _TaughtExactness(HazardExactness):
    def baselines(self, baseline: Baseline) -> None:
        """Return None: the baseline was not estimated from the teacher's events."""

    def scale(self, sums: ArrayLike) -> Floats:
        """Return the events that the teacher expects."""
        return np.asarray(np.asarray(sums, dtype=np.float64)[2])

    def slope(self, sums: ArrayLike) -> Floats:
        """Return the teacher's theta."""
        return TaughtRisk().risk(sums)

    def require(self, sums: Sums) -> None:
        """Refuse rows beside which events are lost in rounding."""
        assert isinstance(sums, RowSums)
        values = sums.values[:2]
        RELATIVE_RISK.exactness().require(replace(sums, objective=RELATIVE_RISK, values=values))
