"""Restricted means of groups and arms: the mean time with or without an event before a horizon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from surtree.outcomes import outcome_of
from surtree.outcomes._group import Group, ObservedChannel
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.restricted_mean import Estimate, restricted_mean, survival_at, time_lost
from surtree.tree.resolve import cause_names_of, tree_of
from surtree.words.numbers import interval_text, number

Limits = tuple[float, float]


@dataclass(frozen=True)
class RestrictedMean:
    """The mean time without an event before a horizon, or the time that a cause takes of it.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node; 0 for all rows together.
    name : str
        What the leaf is called in prints: A, B, ...; "all rows".
    channel : str, number, bool or None
        Of an `EffectTree` the arm, of competing risks the cause whose time lost it is; else None.
    horizon : float
        The time that means are restricted to.
    value, standard_error : float
        The area below the Kaplan-Meier curve up to the horizon, with its standard error as R's
        ``survRM2`` has it; of a cause the area below the Aalen-Johansen curve.
    limits : tuple of two floats
        Its confidence limits, by the normal distribution. They do not know that the leaf was
        searched for.

    Examples
    --------
    >>> from surtree import SurTree, restricted_means
    >>> from surtree.datasets import load_gbsg2
    >>> model = SurTree(max_depth=1).fit(*load_gbsg2())
    >>> print(restricted_means(model, horizon=1825)[0])
    leaf A: 1495 (1440 to 1549) of 1825 without an event
    """

    leaf: int
    name: str
    channel: Any
    horizon: float
    value: float
    standard_error: float
    limits: Limits
    words: str

    def __str__(self) -> str:
        return (
            f"{self.name}: {number(self.value, 4)} ({interval_text(self.limits, 4)}) "
            f"of {self.horizon:g} {self.words}"
        )


@dataclass(frozen=True)
class ArmDifference:
    """What an arm gains over the reference in a leaf before a horizon, on the scale of time.

    Parameters
    ----------
    leaf, name, horizon
        As in `RestrictedMean`.
    arm, reference : str, number or bool
        The labels of the two arms.
    mean, mean_limits
        The difference of restricted means: the time that the arm gains; with its limits.
    survival, survival_limits
        The difference in Kaplan-Meier survival at the horizon; with its limits.

    Examples
    --------
    >>> from surtree import EffectTree, arm_differences
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> model = EffectTree(max_depth=0).fit(X, y, aid)
    >>> gain = arm_differences(model, horizon=52)[0]
    >>> round(gain.mean, 2), round(gain.survival, 3), gain.needed_text
    (2.04, 0.083, '13 (6 to 1715)')
    """

    leaf: int
    name: str
    arm: Any
    reference: Any
    horizon: float
    mean: float
    mean_limits: Limits
    survival: float
    survival_limits: Limits

    @property
    def needed_to_treat(self) -> float:
        """How many to treat for one more without an event at the horizon; negative: to harm."""
        return 1.0 / self.survival if self.survival else float("inf")

    @property
    def needed_text(self) -> str:
        """The number needed to treat, with limits as Altman writes them."""
        if not isfinite(self.survival):
            return "unknown"
        low, high = self.survival_limits
        text = _needed(self.survival)
        if not (isfinite(low) and isfinite(high)) or low == high:
            return text
        if low > 0 or high < 0:
            ends = sorted((abs(1 / low), abs(1 / high)))
            return f"{text} ({ends[0]:.0f} to {ends[1]:.0f})"
        benefit, harm = (f"{abs(1 / end):.0f}" if end else "infinity" for end in (high, low))
        return f"{text} ({benefit} to benefit, through infinity, to {harm} to harm)"

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.arm} over {self.reference}, by {self.horizon:g}: "
            f"mean {self.mean:+.3g} ({interval_text(self.mean_limits)}), "
            f"survival {self.survival:+.3g} ({interval_text(self.survival_limits)}), "
            f"number needed to treat {self.needed_text}"
        )


def restricted_means(
    model: Any, horizon: float | None = None, *, level: float = LEVEL
) -> tuple[RestrictedMean, ...]:
    """Return the restricted mean time of every leaf, and of all rows: RMST.

    Of an `EffectTree` there is one for each arm. Of competing risks it is the time lost to each
    cause, whose sum is what the horizon has more than the time without any event.

    Parameters
    ----------
    model : fitted estimator or Tree
        A tree that keeps its at-risk counts.
    horizon : float, optional
        The time that means are restricted to; by default the last that every leaf, and every arm
        of it, was followed to.
    level : float, default=0.95
        The level of limits.

    Examples
    --------
    >>> from surtree import CompetingRisksTree, restricted_means
    >>> y = [1, 2, 1, 0], [1.0, 2.0, 3.0, 4.0]
    >>> model = CompetingRisksTree(max_depth=0).fit([[0]] * 4, y)
    >>> [(mean.channel, mean.value) for mean in restricted_means(model, horizon=4)]
    [(1, 1.0), (2, 0.5)]
    """
    shown = _Shown(model, horizon, level)
    return tuple(
        RestrictedMean(
            group.nodes[0],
            name,
            one.key if shown.outcome.is_several else None,
            shown.horizon,
            *(mean := shown.mean(one)),
            mean.limits(level),
            one.words,
        )
        for group, name in shown.groups
        for one in shown.outcome.observed(group)
    )


def arm_differences(
    model: Any, horizon: float | None = None, *, level: float = LEVEL
) -> tuple[ArmDifference, ...]:
    """Return what each arm gains over the reference: mean time, survival, number needed to treat.

    Arms are compared as they are, by Kaplan-Meier: the difference is one of treatment where arms
    were drawn by lot.

    Parameters
    ----------
    model : fitted EffectTree, or its ``tree_``
        The model.
    horizon, level
        As in `restricted_means`.

    Examples
    --------
    >>> from surtree import EffectTree, arm_differences
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> model = EffectTree(max_depth=1).fit(X, y, aid)
    >>> [round(one.mean, 1) for one in arm_differences(model, horizon=52)]
    [-0.1, 5.5, 2.0]
    """
    shown = _Shown(model, horizon, level)
    if shown.outcome.judged_by != "effects":
        raise ValueError("Differences are those between arms: fit an EffectTree.")
    return tuple(shown.differences())


class _Shown:
    """The groups and channels of a tree, and the horizon that all of them reach."""

    def __init__(self, model: Any, horizon: float | None, level: float) -> None:
        require_level(level)
        tree = tree_of(model)
        self.times, self.level = tree.event_times, level
        self.outcome = outcome_of(tree, cause_names_of(model))
        leaves = self.outcome.groups
        if not leaves[0].has_counts:
            raise ValueError(
                "This tree keeps no at-risk counts, which restricted means are made of: of all the "
                "sizes on a path, only the chosen tree keeps them."
            )
        self.groups: list[tuple[Group, str]] = [(group, group.name) for group in leaves]
        if len(leaves) > 1:
            self.groups.append((self.outcome.group(0), "all rows"))
        else:
            self.groups = [(leaves[0], "all rows")]
        ends = [
            (one.last_time, f"{name}{f', {one.label}' if self.outcome.is_several else ''}")
            for group, name in self.groups
            for one in self.outcome.observed(group)
            if one.counts.all_causes.survival[-1] > 0
        ]
        end, where = min(ends, default=(float(self.times[-1]), "all rows"))
        self.horizon = end if horizon is None else float(horizon)
        if not 0 < self.horizon <= end:
            raise ValueError(
                f"horizon must be a time above zero and at most {end:g}, when the follow-up of "
                f"{where} ends; got {horizon!r}."
            )

    def mean(self, one: ObservedChannel) -> Estimate:
        if one.cause is not None:
            return time_lost(one.counts, self.times, self.horizon)[one.cause]
        return restricted_mean(one.counts.all_causes, self.times, self.horizon)

    def differences(self) -> Iterator[ArmDifference]:
        for group, name in self.groups:
            reference, *others = self.outcome.observed(group)
            for one in others:
                mean = self.mean(one) - self.mean(reference)
                there, here = (
                    survival_at(arm.counts.all_causes, self.times, self.horizon)
                    for arm in (one, reference)
                )
                survival = there - here
                yield ArmDifference(
                    group.nodes[0],
                    name,
                    one.key,
                    reference.key,
                    self.horizon,
                    mean.value,
                    mean.limits(self.level),
                    survival.value,
                    survival.limits(self.level),
                )


def _needed(gain: float) -> str:
    if gain == 0:
        return "infinity"
    return f"{np.ceil(abs(1 / gain)):.0f}{'' if gain > 0 else ' to harm'}"
