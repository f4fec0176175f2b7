"""What rounding does to the sums of an objective: units of the core, ties, rows that it hides."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.survival.baseline import Baseline

if TYPE_CHECKING:
    from surtree.survival.objective import Objective
    from surtree.survival.row_sums import Sums

# Up to this ratio of the heaviest to the lightest row, rounding cannot hide a better tree.
EVEN_WEIGHTS = 1e3
# Up to this ratio it hides none that is better by more than 1e-9 of the weight of all events: more
# is refused where nothing better can be done.
MOST_UNEVEN = 1e5
# Up to this ratio of a prior to all events, rounding does not hide them.
MOST_PRIOR = 1e5
# Up to this ratio of the hazard of all rows to all events, uneven weights leave some digits of the
# events. It is hardly above one, but where heavy rows left before the first event.
MOST_HAZARD = 1e9
# More than the rounding of sums over the baseline's steps and the rows.
_ROUNDING = 2.0**-20
# Smallest nonzero |log x| of a double x.
_LEAST_LOGARITHM = 2.0**-54

# The largest and the smallest size of some numbers, zeros left out.
Extent = tuple[float, float]


class Exactness(ABC):
    """What rounding does to the sums of an objective.

    Two methods are to be written. The others know nothing by default: no weights are too uneven,
    and sums have no bounds before they are added up.
    """

    @abstractmethod
    def scale(self, sums: ArrayLike) -> Floats:
        """Return what gains are compared with, to tell ties from differences."""

    @abstractmethod
    def slope(self, sums: ArrayLike) -> Floats:
        """Return by how much the gain of leaves changes with a sum, so rounding has a bound."""

    def is_uneven(self, weight: Floats) -> bool:
        """Return whether the lightest rows may vanish beside the heaviest in sums of doubles."""
        return False

    def require(self, sums: Sums) -> None:  # noqa: B027, most have no such case
        """Raise an error where rounding would hide which tree is the best."""

    def unit(self, total: Floats, weight: float, baseline: Baseline) -> float | None:
        """Return the unit of the core, if the totals have bounds before hazards are added up.

        Of the sums over all rows, only the events are used; the weight is that of all rows.
        """
        return None

    def extents(self, weights: Extent, baseline: Baseline) -> Sequence[Extent] | None:
        """Return the extents of each sum and of the constants, given that of the weights.

        None where they are not known before the rows are read.
        """
        return None


@dataclass(frozen=True, eq=False)
class HazardExactness(Exactness):
    """Rounding of events and hazards, a pair for each of some channels."""

    objective: Objective
    weights: tuple[float, ...] = (1.0,)  # of each channel

    def baselines(self, baseline: Baseline) -> Sequence[Baseline] | None:
        """Return the baseline of each channel, if it was estimated from the events of these."""
        return (baseline,)

    def scale(self, sums: ArrayLike) -> Floats:
        """Return the weighted events of all channels."""
        return self._weighted(np.asarray(sums, dtype=np.float64)[0::2])

    def slope(self, sums: ArrayLike) -> Floats:
        """Return theta, weighted. It is large where a leaf with a tiny hazard has an event."""
        shape = np.shape(sums)[1:]
        theta = self.objective.predict(sums).reshape(-1, *shape)
        return self._weighted(theta[: len(self.weights)])

    def is_uneven(self, weight: Floats) -> bool:
        """Return whether the lightest rows may vanish beside the heaviest, in any channel."""
        counted = [each for each in self.weights if each > 0]
        return bool(weight.max() * max(counted) > EVEN_WEIGHTS * (weight.min() * min(counted)))

    def require(self, sums: Sums) -> None:
        """Refuse rows, or a prior, beside which the events of all rows are lost in rounding."""
        events, shrinkage = float(self.scale(sums.total)), self.objective.shrinkage
        hazard = float(self._weighted(sums.total[1::2]))
        if sums.is_uneven and hazard > MOST_HAZARD * events:
            raise ValueError(
                f"sample_weight goes from {sums.weight.min():.3g} to {sums.weight.max():.3g}: all "
                f"events together weigh {events:.3g}, and are lost in rounding beside heavy rows "
                "that left before the first event. Bring the weights closer together."
            )
        if shrinkage > MOST_PRIOR * events:
            raise ValueError(
                f"shrinkage={shrinkage:g} is more than {MOST_PRIOR:,.0f} times the weight of "
                f"all events, {events:.3g}: it counts events of weight one. Choose less of it, "
                "or larger weights."
            )

    def unit(self, total: Floats, weight: float, baseline: Baseline) -> float | None:
        """Return the unit of the core: a hazard has a bound by the events of its channel."""
        channels = self.baselines(baseline)
        if channels is None:
            return None
        bounds = [
            (events, hazard_bound(float(events), weight, channel))
            for events, channel in zip(total[0::2], channels, strict=True)
        ]
        return unit_of(float(self.objective.core_values(np.reshape(bounds, (-1, 1))).max()))

    def extents(self, weights: Extent, baseline: Baseline) -> Sequence[Extent] | None:
        channels = self.baselines(baseline)
        if channels is None:
            return None
        most, least = weights
        extents, constants = [], []
        for channel, weight in zip(channels, self.weights, strict=True):
            ends = np.array([float(channel.cumulative_hazard[-1]), channel.floor])
            extents += [weights, (most * float(ends.max()), least * channel.floor)]
            largest = most * float(np.abs(np.log(ends)).max())
            constants.append((weight * largest, weight * (least * _LEAST_LOGARITHM)))
        counted = [extent for extent in constants if extent[1] > 0]
        return [*extents, (max(c[0] for c in counted), min(c[1] for c in counted))]

    def _weighted(self, values: Floats) -> Floats:
        return weighted(self.weights, values)


def weighted(weights: Sequence[float], values: Floats) -> Floats:
    """Return the weighted sum over channels of values of shape (n_channels, ...)."""
    total = np.zeros(values.shape[1:])
    for weight, value in zip(weights, values, strict=True):
        if weight > 0:
            total = total + weight * value
    return total


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
