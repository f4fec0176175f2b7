"""Limits on leaves that have arms: the least number of events in each of them."""

from __future__ import annotations

from dataclasses import dataclass

from surtree.solver.problem import Limits

# This many limits on leaves can be active at once.
_MOST_ACTIVE = 4


@dataclass(frozen=True)
class ArmLimits(Limits):
    """How large a tree may be, and how small its leaves and the arms in them."""

    min_events_arm: int = 0  # the least number of rows with an event in each arm of a leaf
    n_arms: int = 2  # the number of arms

    def __post_init__(self) -> None:
        super().__post_init__()
        # Events of all arms that are enough in each arm need no limit of their own.
        if self.min_events_leaf <= self.n_arms * self.min_events_arm:
            object.__setattr__(self, "min_events_leaf", 0)
        if sum(least > 0 for least in self.least.values()) > _MOST_ACTIVE:
            raise ValueError(
                f"With {self.n_arms} arms, min_events_arm is {self.n_arms} limits on a leaf, and "
                f"{_MOST_ACTIVE} are possible at once: leave out min_samples_leaf or "
                "min_events_leaf."
            )

    @property
    def least(self) -> dict[str, float]:
        """The least value in a leaf of each count, by its name."""
        arms = {f"events_{arm}": float(self.min_events_arm) for arm in range(self.n_arms)}
        return super().least | arms
