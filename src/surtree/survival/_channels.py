"""Objectives of several channels: a leaf has a relative risk for each of some hazards.

A channel is a pair of sums, events and hazard: those of a cause (`competing_risks`), or of an arm
of a trial (`treatment`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parameters import require_shrinkage
from surtree._support.types import Floats
from surtree.survival.exactness import weighted
from surtree.survival.objective import Objective

# The structs in C++, by the number of channels that they have.
KERNELS = {1: "relative_risk", 2: "two_channels", 4: "four_channels"}
# More channels cannot be told apart by one tree.
MOST_CHANNELS = max(KERNELS)
# Up to this ratio of the weights of two channels, the lighter one is not lost in rounding.
_MOST_UNEVEN = 1e3


@dataclass(frozen=True, kw_only=True)
class Channels(Objective):
    """A relative risk for each channel; a leaf gains the weighted sum over its channels.

    Channel ``j`` of a leaf has ``E`` events and ``H`` expected events. It predicts
    ``theta = (E + a) / (H + a)`` and gains ``w (E + a) log((E + a) / (H + a))``, with the
    shrinkage ``a`` and the weight ``w`` of the channel.
    """

    # The weight of each channel; one of weight zero has sums, but adds nothing to the gain.
    weights: tuple[float, ...]
    shrinkage: float = 0.0  # how many events the prior of each channel is worth

    def __post_init__(self) -> None:
        require_shrinkage(self.shrinkage)
        counted = [weight for weight in self.weights if weight > 0]
        if not counted:
            raise ValueError("At least one weight must be above zero")
        if not all(np.isfinite(weight) and weight >= 0 for weight in self.weights):
            raise ValueError(f"Weights must be finite and not negative; got {self.weights}")
        if max(counted) > _MOST_UNEVEN * min(counted):
            raise ValueError(
                f"The largest weight, {max(counted):g}, is more than {_MOST_UNEVEN:,.0f} times the "
                f"smallest, {min(counted):g}: bring them closer together, or make the smallest zero"
            )
        if len(counted) > MOST_CHANNELS:
            raise ValueError(
                f"A tree can tell {MOST_CHANNELS} hazards apart at most, not {len(counted)}: give "
                "some of them a weight of zero, or count some as one"
            )

    @property
    def n_channels(self) -> int:
        return len(self.weights)

    @property
    def counted(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.weights).tolist())

    @property
    def n_kernel_channels(self) -> int:
        """How many channels the struct in C++ has: some may be unused."""
        return min(n for n in KERNELS if n >= len(self.counted))

    @property
    def kernel(self) -> str:  # type: ignore[override]
        """The struct in C++."""
        return KERNELS[self.n_kernel_channels]

    @property
    def parameters(self) -> tuple[float, ...]:
        """The prior of each channel of the struct; none where it is unused."""
        priors = [self.shrinkage * self.weights[j] for j in self.counted]
        return (*priors, *[0.0] * (self.n_kernel_channels - len(priors)))

    def core_values(self, values: Floats) -> Floats:
        """Return events and hazard of each channel that counts, times its weight."""
        core = np.zeros((2 * self.n_kernel_channels, values.shape[1]))
        for k, j in enumerate(self.counted):
            core[2 * k : 2 * k + 2] = self.weights[j] * values[2 * j : 2 * j + 2]
        return core

    def gain(self, sums: ArrayLike) -> Floats:
        """Return the weighted sum over channels of ``E log(E / H)``, the prior added to both."""
        events, hazard = pairs(sums)
        return self._weighted(gain_of(events + self.shrinkage, hazard + self.shrinkage))

    def predict(self, sums: ArrayLike) -> Floats:
        """Return the theta of each channel, of shape (n_channels, ...).

        Without events and prior it is ``0.5 / H``, and at most one, as that of `RelativeRisk`.
        """
        events, hazard = pairs(sums)
        return ratio(events, hazard, self.shrinkage)

    def totals(self, sums: ArrayLike) -> tuple[Floats, Floats]:
        """Return the events and the hazard of all channels together."""
        events, hazard = pairs(sums)
        return events.sum(axis=0), hazard.sum(axis=0)

    def theta(self, sums: ArrayLike) -> Floats:
        return ratio(*self.totals(sums), self.shrinkage)

    def risk(self, sums: ArrayLike) -> Floats:
        """Return ``E / H`` of all channels that count together.

        No order of groups is right for several channels at once: this one is a good guess.
        """
        events, hazard = pairs(sums)
        return self._weighted(events) / np.maximum(self._weighted(hazard), np.finfo(float).tiny)

    def penalty(self, sums: ArrayLike) -> Floats:
        """Return the weighted sum over channels of ``a (theta - 1 - log theta)``."""
        theta = self.predict(sums)
        return self._weighted(self.shrinkage * (theta - 1.0 - np.log(theta)))

    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        """Return the weighted sum over channels of ``theta H - E (log(theta) + 1)``."""
        events, hazard = pairs(values)
        return self._weighted(prediction * hazard - events * (np.log(prediction) + 1.0))

    def are_possible(self, sums: Floats, weight: Floats, n_events: NDArray[np.int32]) -> bool:
        """Return whether no sum is negative, and events are those of some of the rows."""
        events, hazard = pairs(sums)
        total = events.sum(axis=0)
        return (
            super().are_possible(sums, weight, n_events)
            and bool((sums >= 0).all())
            and bool((hazard.sum(axis=0) > 0).all())
            and bool((hazard[events > 0] > 0).all())
            and bool(((total > 0) == (n_events > 0)).all())
            and bool((total <= (1 + 1e-6) * weight).all())  # fractions round
        )

    def _weighted(self, values: Floats) -> Floats:
        """Return the weighted sum of values of shape (n_channels, ...)."""
        return weighted(self.weights, values)


def pairs(sums: ArrayLike) -> tuple[Floats, Floats]:
    """Return the events and the hazard of each channel, each of shape (n_channels, ...)."""
    values = np.asarray(sums, dtype=np.float64)
    return values[0::2], values[1::2]


def gain_of(events: Floats, hazard: Floats) -> Floats:
    """Return ``E log(E / H)``, zero without an event."""
    some = (events > 0) & (hazard > 0)
    return np.asarray(events * np.log(np.where(some, events, 1.0) / np.where(some, hazard, 1.0)))


def ratio(events: Floats, hazard: Floats, prior: float) -> Floats:
    """Return ``(E + a) / (H + a)``; without events and prior ``0.5 / H``, and at most one."""
    events, hazard = events + prior, hazard + prior
    positive = np.where(hazard > 0, hazard, 1.0)
    half = np.where(hazard > 0.5, 0.5 / positive, 1.0)
    return np.where(events > 0, events / positive, half)
