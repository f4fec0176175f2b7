"""What a leaf is worth: the sums that rows add to it, its gain, its prediction and its loss.

A new objective is a class with five methods, here or in a file of its own (named in `OBJECTIVES`),
and a struct in ``cpp/objective/``. A new limit on leaves is a count in `row_counts` and a line in
`Limits.least`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.exact import Terms
from surtree._support.parameters import require_shrinkage
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import Baseline, Risks, RowRisks, estimate
from surtree.survival.exactness import Exactness, HazardExactness
from surtree.survival.row_sums import RowSums


class Objective(ABC):
    """What a tree maximises: the gain of each leaf, a function of sums over the rows of the leaf.

    The loss of a tree is a constant less the gains of its leaves. The constant is the gain of one
    leaf for each row, which no tree exceeds, so no loss is negative.

    Five methods are to be written: `row_values`, `gain`, `predict`, `variable_loss` and
    `exactness`. The others have defaults.

    Examples
    --------
    >>> from surtree import RelativeRisk
    >>> objective = RelativeRisk()
    >>> objective.sum_names, float(objective.gain([20.0, 10.0]).round(2))
    (('events', 'hazard'), 13.86)
    """

    # The name in files.
    name: ClassVar[str]
    # The name of the struct in C++.
    kernel: ClassVar[str]
    # What each sum is called, in the order of the struct. Kernels need an even number of sums.
    sum_names: ClassVar[tuple[str, ...]]
    # What the best tree does that no other does more.
    is_best: ClassVar[str] = "has a smaller loss"
    # What a tree is that is proven to do that, and what the loss is called.
    proven: ClassVar[str] = "optimal"
    loss_name: ClassVar[str] = "loss"
    # What the loss is, in a sentence.
    loss_words: ClassVar[str] = (
        "The loss is their negative log-likelihood, summed, relative to a model with a hazard of "
        "its own for every row: smaller is better."
    )
    # What a leaf has and what the tree does, in a sentence for the methods of a paper: "{loss}"
    # stands for "the tree minimises", or for "the loss of the tree is".
    method_words: ClassVar[str] = (
        "Each leaf has a multiple of the hazard of all rows (Nelson-Aalen estimate); {loss} the "
        "negative log-likelihood with that hazard of all rows held fixed (LeBlanc and Crowley, "
        "1992)."
    )
    # How many events a prior at the average risk is worth; it shrinks curves too.
    shrinkage: float = 0.0
    # Whether constants have a part that depends on all rows: `excess`, for each event.
    has_excess: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[float, ...]:
        """What the struct in C++ is made with, in the units of the sums."""
        return ()

    @property
    def settings(self) -> tuple[float, ...]:
        """What the objective is made with, for files."""
        return self.parameters

    @property
    def remedy(self) -> str:
        """What to try where leaves have hardly any events."""
        # A tuned tree has some shrinkage: it is not told to be tuned.
        if self.shrinkage > 0:
            return "more shrinkage or min_events_leaf"
        return "shrinkage, min_events_leaf or SurTreeCV"

    @property
    def theta_note(self) -> str:
        """What theta is, where it is not observed over expected events."""
        return ""

    def tree_note(self, loss: float, without: float) -> str:
        """Return what to say below a tree, given its loss and that of a single leaf."""
        return ""

    @classmethod
    def from_settings(cls, *settings: float) -> Objective:
        """Return the objective that has these settings; a TypeError says that none has."""
        return cls(*settings)

    def baseline(self, target: Target, weight: Floats) -> Baseline:
        """Return the hazard that rows share."""
        return self.baseline_of(RowRisks(target, weight, getattr(target, "cause", None)))

    def baseline_of(self, risks: Risks) -> Baseline:
        """Return the hazard that rows share: by default the Nelson-Aalen estimate of all rows."""
        return estimate(risks)

    def core_values(self, values: Floats) -> Floats:
        """Return what the core adds up, of shape (n_sums of the struct, n_rows).

        By default these are the sums that a tree keeps. It is linear in these.
        """
        return values

    @abstractmethod
    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return what rows add to the sums, of shape (n_sums, n_rows), and to the constant."""

    @abstractmethod
    def gain(self, sums: ArrayLike) -> Floats:
        """Return the gain of leaves with sums of shape (n_sums, ...), as the core computes it."""

    @abstractmethod
    def predict(self, sums: ArrayLike) -> Floats:
        """Return what leaves with sums of shape (n_sums, ...) predict.

        It may have a first axis of its own: several numbers for each leaf.
        """

    def totals(self, sums: ArrayLike) -> tuple[Floats, Floats] | None:
        """Return the events and the hazard of leaves; None where the objective has no such sums."""
        named = dict(zip(self.sum_names, _floats(sums), strict=True))
        return (named["events"], named["hazard"]) if {"events", "hazard"} <= named.keys() else None

    def cumulative_hazard(self, sums: ArrayLike, baseline: Baseline) -> Floats:
        """Return the cumulative hazard of one leaf, in proportion to the baseline."""
        return np.asarray(float(self.theta(sums)) * baseline.cumulative_hazard)

    def theta(self, sums: ArrayLike) -> Floats:
        """Return one number for each leaf: its hazard relative to the baseline, as a rule."""
        return self.predict(sums)

    @abstractmethod
    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        """Return the loss of each row for a prediction, less its part of the constant."""

    def risk(self, sums: ArrayLike) -> Floats:
        """Return what sorts groups of rows so that their best division in two is a prefix.

        By default it is what a leaf of each group predicts.
        """
        return self.theta(sums)

    def penalty(self, sums: ArrayLike) -> Floats:
        """Return what leaves lose to a prior, beside the loss of their rows; none by default."""
        return np.zeros(np.asarray(sums).shape[1:])

    @abstractmethod
    def exactness(self) -> Exactness:
        """Return what rounding does to the sums."""

    @property
    def parts(self) -> Mapping[int, Objective]:
        """The objective of each cause alone, of those that count; none without competing risks."""
        return {}

    def excess(self, hazard: float, lightest: float) -> float:
        """Return by how much an event can gain more than in a leaf of its own row.

        It is part of the constant, given the hazard of all rows and the weight of the lightest
        event, where `has_excess` says so.
        """
        return 0.0

    def are_possible(self, sums: Floats, weight: Floats, n_events: NDArray[Any]) -> bool:
        """Return whether nodes can have such sums; those of a damaged file may be impossible."""
        return bool(np.isfinite(sums).all())

    def row_sums(self, target: Target, weight: Floats, baseline: Baseline) -> RowSums:
        """Return what each row adds to its leaf.

        Parameters
        ----------
        target : Target
            Event, time and entry time of each row.
        weight : array of float
            The weight of each row, above zero.
        baseline : Baseline
            The hazard that all rows share; it may come from other rows.
        """
        values, constants = self.row_values(target, weight, baseline)
        if self.has_excess:
            lightest = float(weight[target.event].min(initial=np.inf))
            hazard = Terms.of(values[1::2].ravel()).total
            constants = self.with_excess(values, constants, self.excess(hazard, lightest))
        return RowSums(self, values, self.row_counts(target, weight), weight, constants, baseline)

    def with_excess(self, values: Floats, constants: Floats, excess: float) -> Floats:
        """Return constants of rows with the part that depends on all rows."""
        return np.asarray(constants + excess * values[0::2].sum(axis=0))

    def row_counts(self, target: Target, weight: Floats) -> dict[str, Floats]:
        """Return, by name, what each row adds to the counts that limit leaves."""
        return row_counts(target, weight)


def row_counts(target: Target, weight: Floats) -> dict[str, Floats]:
    """Return, by name, what each row adds to the counts that limit leaves (`Limits.least`).

    Where rows are parts of persons, samples are persons.
    """
    samples = np.ones(weight.size) if target.share is None else target.share
    return {"samples": samples, "events": target.event.astype(np.float64)}


@dataclass(frozen=True)
class RelativeRisk(Objective):
    """The objective of the paper: the hazard of a leaf is proportional to the baseline.

    A leaf with ``E`` events and ``H`` expected events (the hazard that its rows were exposed to)
    gains ``E log(E / H)``, and predicts the relative risk ``theta = E / H``.

    Shrinkage gives each leaf a prior worth ``a`` events at the average risk: it predicts
    ``theta = (E + a) / (H + a)`` and gains ``(E + a) log((E + a) / (H + a))``. That is the
    likelihood of the leaf less the penalty ``a (theta - 1 - log theta)``, which is zero at theta 1.

    Parameters
    ----------
    shrinkage : float
        How many events the prior is worth; zero is the paper's objective.

    Examples
    --------
    >>> from surtree import RelativeRisk
    >>> sums = [20.0, 10.0]  # events, and how many the baseline expects
    >>> float(RelativeRisk().predict(sums)), float(RelativeRisk(shrinkage=10).predict(sums))
    (2.0, 1.5)
    """

    shrinkage: float = 0.0

    name = kernel = "relative_risk"
    sum_names = ("events", "hazard")

    def __post_init__(self) -> None:
        require_shrinkage(self.shrinkage)

    @property
    def parameters(self) -> tuple[float, ...]:
        """The shrinkage."""
        return (self.shrinkage,)

    def row_values(
        self, target: Target, weight: Floats, baseline: Baseline
    ) -> tuple[Floats, Floats]:
        """Return the weighted events and hazards of rows, and their parts of the constant."""
        hazard = baseline.row_hazard(target)
        events = np.where(target.event, weight, 0.0)
        values = np.stack([events, weight * hazard])
        return values, saturated_gain(target, values, hazard)

    def gain(self, sums: ArrayLike) -> Floats:
        """Return ``E log(E / H)``, zero without an event; with the prior added to both."""
        events, hazard = (each + self.shrinkage for each in _floats(sums))
        ratio = np.where(events > 0, events, 1.0) / np.where(events > 0, hazard, 1.0)
        return events * np.log(ratio)

    def predict(self, sums: ArrayLike) -> Floats:
        """Return theta, ``(E + a) / (H + a)``; without events and prior, ``0.5 / H``.

        The most likely ratio of a leaf without an event is zero, whose curve would say that nobody
        ever has an event; half an event is what LeBlanc and Crowley put in its place. It is at most
        one: rows without an event are no reason to expect more of them than on average. It is one
        where there are no rows, as in a leaf of an audited tree that none of the rows reaches.
        """
        events, hazard = (each + self.shrinkage for each in _floats(sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(events > 0, events / hazard, np.minimum(0.5 / hazard, 1.0))

    def risk(self, sums: ArrayLike) -> Floats:
        """Return ``E / H``: with or without a prior, the gain is convex in ``E`` and ``H``."""
        events, hazard = _floats(sums)
        return events / hazard

    def penalty(self, sums: ArrayLike) -> Floats:
        """Return ``a (theta - 1 - log theta)``."""
        theta = self.predict(sums)
        return np.asarray(self.shrinkage * (theta - 1.0 - np.log(theta)))

    def variable_loss(self, values: Floats, prediction: Floats) -> Floats:
        """Return ``theta H - E (log(theta) + 1)``."""
        events, hazard = values
        cost: Floats = prediction * hazard - events * (np.log(prediction) + 1.0)
        return cost

    def exactness(self) -> HazardExactness:
        """Return what rounding does to events and hazard."""
        return HazardExactness(self)

    def are_possible(self, sums: Floats, weight: Floats, n_events: NDArray[Any]) -> bool:
        """Return whether all hazards are positive, and events are those of some of the rows."""
        events, hazard = sums
        return (
            super().are_possible(sums, weight, n_events)
            and bool((hazard > 0).all())
            and bool(((events > 0) == (n_events > 0)).all())
            and bool((events >= 0).all())
            and bool((events <= (1 + 1e-6) * weight).all())  # fractions round
        )


RELATIVE_RISK = RelativeRisk()


def saturated_gain(target: Target, values: Floats, hazard: Floats) -> Floats:
    """Return what rows gain in a leaf of their own, which no tree exceeds.

    Where rows are parts of persons, a leaf of their own have those that no tree can tell apart.
    """
    events = values[0]
    if target.spell is None:
        return np.asarray(-(events * np.log(hazard)))
    names, spell = np.unique(target.spell, return_inverse=True)
    total, expected = (Terms.of(terms).total_by(spell, names.size) for terms in values)
    gain = np.log(np.where(total > 0, total / expected, 1.0))
    return np.asarray(events * gain[spell])


def _floats(values: ArrayLike) -> list[Floats]:
    return list(np.asarray(values, dtype=np.float64))


def total_by(group: NDArray[Any], values: NDArray[Any], n_groups: int) -> Floats:
    """Return the sum of the values of each group."""
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)


def distinct_lines(lines: list[Floats]) -> tuple[Floats, list[int]]:
    """Return the distinct ones among some arrays, stacked, and the position of each array there."""
    distinct: list[Floats] = []
    positions = []
    for line in lines:
        equal = (position for position, other in enumerate(distinct) if np.array_equal(line, other))
        positions.append(next(equal, len(distinct)))
        if positions[-1] == len(distinct):
            distinct.append(line)
    return np.stack(distinct), positions
