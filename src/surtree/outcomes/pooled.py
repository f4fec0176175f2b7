"""Leaves together: what is at risk and what dies in a risk group, and its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.outcomes._group import sum_of
from surtree.survival.aalen_johansen import CauseCounts, incidence_band
from surtree.survival.confidence import log_log_band
from surtree.survival.kaplan_meier import EventCounts
from surtree.tree.at_risk import AtRiskCounts, Entering, Leaving, count_at_risk
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows of a few leaves, at the event times of the tree."""

    at_risk: Floats
    deaths: Floats  # of the event that groups are formed by
    expected: float  # how many of them the hazard of all rows expects
    values: Floats  # survival, or the incidence of a cause, and its limits
    band: tuple[Floats, Floats]

    @property
    def events(self) -> float:
        """The weight of the events."""
        return float(self.deaths.sum())


def pool_events(tree: Tree, leaves: Sequence[AtRiskCounts], level: float) -> Pooled:
    """Return the Kaplan-Meier curve of leaves together."""
    n_times = tree.event_times.size
    parts = [counts.at_events(n_times) for counts in leaves]
    both = EventCounts(sum_of(p.at_risk for p in parts), sum_of(p.deaths for p in parts))
    expected = float(both.at_risk @ tree.baseline.hazard)
    band = known(log_log_band(both, level), both.at_risk, both.deaths)
    return Pooled(both.at_risk, both.deaths, expected, both.survival, band)


def pool_cause(tree: Tree, leaves: Sequence[AtRiskCounts], position: int, level: float) -> Pooled:
    """Return the Aalen-Johansen incidence of a cause in leaves together."""
    n_times = tree.event_times.size
    at_risk = sum_of(counts.at_events(n_times).at_risk for counts in leaves)
    deaths = np.zeros((len(tree.baseline.of_cause), n_times))
    for counts in leaves:
        deaths[:, counts.step] += counts.by_cause
    together = CauseCounts(at_risk, deaths)
    values, own = together.incidence[position], deaths[position]
    band = known(incidence_band(values, together.variance[position], level), at_risk, own)
    expected = float(at_risk @ tree.baseline.steps_of_cause(position))
    return Pooled(at_risk, own, expected, values, band)


def known(band: tuple[Floats, Floats], at_risk: Floats, deaths: Floats) -> tuple[Floats, Floats]:
    """Return limits that are not numbers where nobody is at risk, or nobody has died yet."""
    unknown = (at_risk == 0) | (np.cumsum(deaths) == 0)
    lower, upper = (np.where(unknown, np.nan, limit) for limit in band)
    return lower, upper


def count_groups(
    tree: Tree, target: Target, weight: Floats, group: NDArray[np.intp], k: int
) -> tuple[tuple[int, int, AtRiskCounts], ...]:
    """Return rows, events and at-risk counts of groups of the rows of a tree."""
    terms = Terms.of(weight)
    entering = None if target.entry is None else Entering(group, target.entry, terms)
    counts = count_at_risk(k, Leaving(group, target, terms), entering, tree.baseline)
    n_rows = np.bincount(group, minlength=k).tolist()
    n_events = (round(tree.outcome.pooled([one]).events) for one in counts)
    return tuple(zip(n_rows, n_events, counts, strict=True))
