"""Treatment effects: a relative risk of each arm in a leaf, and what differs between arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.data.arms import ArmTarget
from surtree.data.target import Target
from surtree.survival.baseline import Baseline
from surtree.survival.channels import Channels, gain_of, pairs, ratio
from surtree.survival.objective import MOST_UNEVEN, row_counts, saturated_gain
from surtree.survival.row_sums import RowSums

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
        """Return the objective for a number of arms."""
        return cls(shrinkage=shrinkage, weights=(1.0,) * n_arms)

    @property
    def sum_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Events and hazard of each arm."""
        arms = range(self.n_channels)
        return tuple(f"{name}_{arm}" for arm in arms for name in ("events", "hazard"))

    @property
    def settings(self) -> tuple[float, ...]:
        """The shrinkage and the number of arms."""
        return (self.shrinkage, float(self.n_channels))

    @classmethod
    def from_settings(cls, *settings: float) -> ArmHazards:
        """Return the objective that has these settings."""
        shrinkage, n_arms = settings
        if n_arms not in range(2, 5):
            raise TypeError("two to four arms")
        return cls.of(int(n_arms), shrinkage)

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the weighted events and hazards of each arm, and the parts of the constant."""
        assert isinstance(target, ArmTarget)
        hazard = baseline.row_hazard(target)
        events = np.where(target.event, weight, 0.0)
        inside = target.arm == np.arange(self.n_channels)[:, None]
        values = np.stack([inside * events, inside * (weight * hazard)], axis=1)
        alone = saturated_gain(target, np.stack([events, weight * hazard]), hazard)
        return values.reshape(2 * self.n_channels, -1), alone

    def row_counts(self, target: Target, weight: Floats) -> dict[str, Floats]:
        """Return rows, events, and the events of each arm: ``events_0``, ``events_1``, ..."""
        assert isinstance(target, ArmTarget)
        arms = {
            f"events_{arm}": (target.event & (target.arm == arm)).astype(np.float64)
            for arm in range(self.n_channels)
        }
        return row_counts(target, weight) | arms


@dataclass(frozen=True, kw_only=True)
class ArmContrasts(ArmHazards):
    """What differs between arms: a hazard for each arm of a leaf against one for all of them.

    Shrinkage gives each arm a prior worth ``a`` events at the relative risk of the leaf: it draws
    the arms of a leaf together, wherever the leaf itself is. A leaf without an event gains nothing.

    The gain is never negative. It is neither convex nor monotone: columns are swept, and a search
    that is ended early has no bound. The zero of the loss is arbitrary; differences count.
    """

    name = "arm_contrasts"
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
        """The struct in C++."""
        return _CONTRASTS[self.n_kernel_channels]

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the same sums as for both; the constant is more than any leaf can gain."""
        values, constants = super().row_values(target, weight, baseline)
        events, hazard = pairs(values)
        # The gain of one hazard for all arms is not below -E log(H / e), with all the hazard that
        # there is and the lightest event e.
        lightest = float(weight[target.event].min(initial=weight.max()))
        most = max(float(np.log(Terms.of(hazard.ravel()).total / lightest)), 0.0)
        return values, constants + most * events.sum(axis=0)

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
        """Return what the prior takes from the gain of the arms at what they predict."""
        prediction = self.predict(sums)
        return -self.gain(sums) - self._cost(np.asarray(sums, dtype=np.float64), prediction)

    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        """Return the loss with a hazard for each arm less that with one for all of them."""
        return self._cost(values, prediction)

    def is_uneven(self, weight: Floats) -> bool:
        """Return False: rounding hazards down would not give a bound."""
        return False

    def require_exact(self, sums: RowSums) -> None:
        """Refuse weights beside which the lightest rows are lost in rounding."""
        super().require_exact(sums)
        if sums.weight.max() > MOST_UNEVEN * sums.weight.min():
            raise ValueError(
                f"sample_weight goes from {sums.weight.min():.3g} to {sums.weight.max():.3g}: the "
                "lightest rows are lost in rounding. Bring the weights closer together."
            )

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
