"""Treatment effects: a relative risk of each arm in a leaf, and what differs between arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival._channels import Channels, gain_of, pairs, ratio
from surtree.survival.baseline import Baseline
from surtree.survival.exactness import MOST_UNEVEN, HazardExactness
from surtree.survival.objective import row_counts, saturated_gain
from surtree.survival.row_sums import RowSums, Sums

# The structs in C++, by the number of channels that they have.
_CONTRASTS = {2: "two_contrasts", 4: "four_contrasts"}


@dataclass(frozen=True, kw_only=True)
class ArmHazards(Channels):
    """A hazard for each arm, prognosis and effect both: a Poisson model of arms in each leaf.

    All arms have the same baseline, that of all rows. The relative risk of an arm in a leaf over
    that of another is nearer to one than the hazard ratio of the treatment there.
    """

    name = "arm_hazards"
    method_words = (
        "Each leaf has a multiple of the hazard of all rows (Nelson-Aalen estimate) for each arm; "
        "{loss} the negative log-likelihood with that hazard of all rows held fixed."
    )

    @classmethod
    def of(cls, n_arms: int, shrinkage: float = 0.0) -> ArmHazards:
        return cls(shrinkage=shrinkage, weights=(1.0,) * n_arms)

    @property
    def sum_names(self) -> tuple[str, ...]:  # type: ignore[override]
        arms = range(self.n_channels)
        return tuple(f"{name}_{arm}" for arm in arms for name in ("events", "hazard"))

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.shrinkage, float(self.n_channels))

    @classmethod
    def from_settings(cls, *settings: float) -> ArmHazards:
        shrinkage, n_arms = settings
        if n_arms not in range(2, 5):
            raise TypeError("two to four arms")
        return cls.of(int(n_arms), shrinkage)

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the weighted events and hazards of each arm, and the parts of the constant."""
        hazard = baseline.row_hazard(target)
        events = np.where(target.event, weight, 0.0)
        inside = target.arm == np.arange(self.n_channels)[:, None]
        values = np.stack([inside * events, inside * (weight * hazard)], axis=1)
        alone = saturated_gain(target, np.stack([events, weight * hazard]), hazard)
        return values.reshape(2 * self.n_channels, -1), alone

    def exactness(self) -> HazardExactness:
        """Return what rounding does to events and hazards."""
        return _ArmExactness(self, self.weights)

    def row_counts(self, target: Target, weight: Floats) -> dict[str, Floats]:
        """Return rows and events, also of each arm: ``samples_0``, ``events_0``, ..."""
        counts = row_counts(target, weight)
        return counts | {
            f"{name}_{arm}": np.where(target.arm == arm, count, 0.0)
            for name, count in counts.items()
            for arm in range(self.n_channels)
        }


@dataclass(frozen=True, kw_only=True)
class ArmContrasts(ArmHazards):
    """What differs between arms: a hazard for each arm of a leaf against one for all of them.

    Shrinkage gives each arm a prior worth ``a`` events at the relative risk of the leaf: it draws
    the arms of a leaf together, wherever the leaf itself is. A leaf without an event gains nothing.

    The gain is never negative. It is neither convex nor monotone: columns are swept, and a search
    that is ended early has no bound. The zero of the loss is arbitrary; differences count.
    """

    name = "arm_contrasts"
    has_excess = True
    method_words = (
        "Each leaf has a hazard for each arm; the gain of the tree is what these add to the "
        "log-likelihood over one hazard for all arms of a leaf."
    )
    loss_words = (
        "The loss is what a hazard for each arm of each leaf adds to the log-likelihood, with its "
        "sign turned, from an arbitrary zero: only differences between trees count."
    )

    @property
    def n_kernel_channels(self) -> int:
        """How many channels the struct in C++ has."""
        return min(n for n in _CONTRASTS if n >= self.n_channels)

    @property
    def kernel(self) -> str:  # type: ignore[override]
        return _CONTRASTS[self.n_kernel_channels]

    def excess(self, hazard: float, lightest: float) -> float:
        """Return what one hazard for all arms can cost: no leaf gains more than the constant.

        The gain of one hazard for all arms is not below ``-E log(H / e)``, with all the hazard that
        there is and the lightest event ``e``.
        """
        return float(np.log(max(hazard / lightest, 1.0)))

    def gain(self, sums: ArrayLike) -> Floats:
        """Return the gain of a hazard for each arm less that of one hazard for all of them."""
        events, hazard = self._with_prior(sums)
        apart = gain_of(events, hazard).sum(axis=0)
        together = gain_of(events.sum(axis=0), hazard.sum(axis=0))
        has_events = pairs(sums)[0].sum(axis=0) > 0
        return np.where(has_events, np.maximum(apart - together, 0.0), 0.0)

    def predict(self, sums: ArrayLike) -> Floats:
        """Return the theta of each arm, and then that of all arms together."""
        events, hazard = self._with_prior(sums)
        return np.concatenate([ratio(events, hazard, 0.0), self.theta(sums)[None]])

    def theta(self, sums: ArrayLike) -> Floats:
        """Return the theta of all arms together; the prior does not change it."""
        events, hazard = pairs(sums)
        return ratio(events.sum(axis=0), hazard.sum(axis=0), 0.0)

    def penalty(self, sums: ArrayLike) -> Floats:
        """Return what the prior costs: minus the gain, less the loss of the rows themselves."""
        prediction = self.predict(sums)
        return -self.gain(sums) - self._cost(np.asarray(sums, dtype=np.float64), prediction)

    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        return self._cost(values, prediction)

    def exactness(self) -> HazardExactness:
        """Return what rounding does where weights must be even."""
        return _ContrastExactness(self, self.weights)

    def _with_prior(self, sums: ArrayLike) -> tuple[Floats, Floats]:
        events, hazard = pairs(sums)
        total = events.sum(axis=0)
        per_event = hazard.sum(axis=0) / np.where(total > 0, total, 1.0)
        return events + self.shrinkage, hazard + self.shrinkage * per_event

    def _cost(self, values: Floats, prediction: Floats) -> Floats:
        events, hazard = pairs(values)
        apart = prediction[:-1] * hazard - events * (np.log(prediction[:-1]) + 1.0)
        theta = prediction[-1]
        together = theta * hazard.sum(axis=0) - events.sum(axis=0) * (np.log(theta) + 1.0)
        cost: Floats = apart.sum(axis=0) - together
        return cost


class _ArmExactness(HazardExactness):
    def baselines(self, baseline: Baseline) -> None:
        """Return None: all arms have the baseline of all rows."""


class _ContrastExactness(_ArmExactness):
    def is_uneven(self, weight: Floats) -> bool:
        """Return False: rounding hazards down would not give a bound."""
        return False

    def require(self, sums: Sums) -> None:
        """Refuse weights beside which the lightest rows are lost in rounding."""
        super().require(sums)
        if sums.weight.max() > MOST_UNEVEN * sums.weight.min():
            raise ValueError(
                f"sample_weight goes from {sums.weight.min():.3g} to {sums.weight.max():.3g}: the "
                "lightest rows are lost in rounding. Bring the weights closer together."
            )


def arm_values(rows: Floats) -> Floats:
    """Return values whose gain is the log likelihood of a multinomial model of the arms.

    Given are rows of each arm. A channel for each arm: its events are the rows of the arm, and its
    hazard all rows, so that a leaf gains the sum over arms of ``n_arm log(n_arm / n)``.
    """
    n_rows = np.tile(rows.sum(axis=0), (len(rows), 1))
    return np.stack([rows, n_rows], axis=1).reshape(2 * len(rows), -1)


def arm_sums(rows: Floats) -> RowSums:
    """Return the sums of a multinomial model of the arms, given rows of each arm."""
    n_rows = rows.sum(axis=0)
    counts = {"samples": n_rows, "events": n_rows}
    ones = np.ones(n_rows.size)
    return RowSums(ArmHazards.of(len(rows)), arm_values(rows), counts, ones, 0.0 * ones)
