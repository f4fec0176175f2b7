"""Competing risks: a relative risk of each cause in a leaf, and the baselines of the causes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival._channels import Channels
from surtree.survival.baseline import Baseline, Risks, estimate
from surtree.survival.exactness import HazardExactness
from surtree.survival.objective import row_counts, saturated_gain


@dataclass(frozen=True, kw_only=True)
class CauseHazards(Channels):
    """A hazard for each cause: that of a leaf is proportional to the baseline of the cause.

    Parameters
    ----------
    shrinkage : float
        How many events the prior of each cause is worth.
    weights : tuple of float
        How much each cause counts; one of weight zero is predicted, but the tree does not try to.
    causes : tuple of int
        The causes, ascending.

    Examples
    --------
    >>> from surtree import CompetingRisksTree
    >>> from surtree.datasets import load_melanoma
    >>> objective = CompetingRisksTree(max_depth=1, causes=1).fit(*load_melanoma()).tree_.objective
    >>> objective.causes, objective.weights, objective.sum_names
    ((1, 2), (1.0, 0.0), ('events_1', 'hazard_1', 'events_2', 'hazard_2'))
    """

    causes: tuple[int, ...]

    name = "cause_hazards"

    @property
    def sum_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Events and hazard of each cause."""
        return tuple(f"{name}_{cause}" for cause in self.causes for name in ("events", "hazard"))

    @property
    def settings(self) -> tuple[float, ...]:
        """The shrinkage, then each cause and its weight."""
        return (self.shrinkage, *np.column_stack([self.causes, self.weights]).ravel().tolist())

    @classmethod
    def from_settings(cls, *settings: float) -> CauseHazards:
        """Return the objective that has these settings."""
        shrinkage, *others = settings
        causes = tuple(int(cause) for cause in others[0::2])
        if len(others) % 2 or list(others[0::2]) != sorted(set(causes)):
            raise TypeError("a weight for each cause")
        return cls(shrinkage=shrinkage, weights=tuple(others[1::2]), causes=causes)

    @property
    def main_cause(self) -> int:
        """The cause that counts most, and of equal ones the first."""
        return self.causes[int(np.argmax(self.weights))]

    @property
    def parts(self) -> dict[int, CauseHazards]:
        """The objective of each cause alone, of those that count."""
        alone = np.eye(self.n_channels)
        return {self.causes[j]: replace(self, weights=tuple(alone[j])) for j in self.counted}

    def position(self, cause: int) -> int:
        """Return the position of a cause, or raise an error that names those that there are."""
        if cause not in self.causes:
            raise ValueError(
                f"There is no cause {cause!r}: the causes are {', '.join(map(str, self.causes))}"
            )
        return self.causes.index(cause)

    def baseline_of(self, risks: Risks) -> Baseline:
        """Return the Nelson-Aalen estimates of all causes together and of each cause."""
        of_cause = tuple(estimate(risks, cause) for cause in self.causes)
        return replace(estimate(risks), of_cause=of_cause)

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the weighted events and hazards of each cause, and the parts of the constant."""
        values, constants = [], np.zeros(weight.size)
        channels = zip(self._events(target), baseline.of_cause, self.weights, strict=True)
        for event, of_cause, counts in channels:
            hazard = of_cause.row_hazard(target)
            events = np.where(event, weight, 0.0)
            values += [events, weight * hazard]
            alone = saturated_gain(target, np.stack(values[-2:]), hazard)
            constants = constants + counts * alone
        return np.stack(values), constants

    def row_counts(self, target: Target, weight: Floats) -> dict[str, Floats]:
        """Return rows, events of any cause, and events of the causes that count."""
        events = self._events(target)
        counted = np.any([events[j] for j in self.counted], axis=0)
        return row_counts(target, weight) | {"counted_events": counted.astype(np.float64)}

    def exactness(self) -> HazardExactness:
        """Return what rounding does to events and hazards."""
        return _CauseExactness(self, self.weights)

    def cumulative_hazard(self, sums: ArrayLike, baseline: Baseline) -> Floats:
        """Return the cumulative hazard of all causes in a leaf, each in its own proportion."""
        return np.asarray(np.cumsum(self.hazard_steps(self.predict(sums), baseline).sum(axis=0)))

    def hazard_steps(self, prediction: Floats, baseline: Baseline) -> Floats:
        """Return the steps of the hazard of each cause in a leaf, of shape (n_causes, n_times).

        Parameters
        ----------
        prediction : array of float of shape (n_causes,)
            The relative risk of each cause.
        baseline : Baseline
            The baseline of each cause.
        """
        steps = [baseline.steps_of_cause(index) for index in range(self.n_channels)]
        return np.stack([theta * step for theta, step in zip(prediction, steps, strict=True)])

    def _events(self, target: Target) -> list[NDArray[np.bool_]]:
        return [target.cause == cause for cause in self.causes]


class _CauseExactness(HazardExactness):
    def baselines(self, baseline: Baseline) -> tuple[Baseline, ...]:
        return baseline.of_cause
