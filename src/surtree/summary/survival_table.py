"""Survival of leaves at a few times: as the tree predicts it, and as it was observed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from surtree.outcomes import Group, GroupCurve
from surtree.outcomes.curve import UNKNOWN, Limits
from surtree.survival.follow_up import FollowUp
from surtree.tree.tree import Tree
from surtree.words.numbers import NOT_REACHED, number
from surtree.words.quoting import printable


@dataclass(frozen=True)
class SurvivalAt:
    """Survival of a leaf at one time; NaN where something is not known."""

    time: float
    predicted: float  # what the tree predicts, and its confidence limits
    limits: Limits
    observed: float  # the Kaplan-Meier estimate of the rows of the leaf, and its limits
    observed_limits: Limits
    at_risk: str  # the weight still at risk, in words; empty where it is not known


def survival_table(curve: GroupCurve, times: Iterable[float]) -> list[SurvivalAt]:
    """Return the survival of a leaf at some times, as long as some of its rows are at risk."""
    seen = curve.observed
    return [
        SurvivalAt(
            time,
            *curve.at(time),
            *((nan, UNKNOWN) if seen is None else seen.at(time)),
            _at_risk_text(curve.group, time),
        )
        for time in times
        if time <= curve.last_time
    ]


def _at_risk_text(group: Group, time: float) -> str:
    """Return what is at risk at a time: a number, or the least that it can be."""
    if not group.has_counts:
        return ""
    exact = float(group.at_risk(np.array([time]))[0])
    if isfinite(exact):
        return number(exact, 3)
    tree, (counts,) = group.tree, group.leaf_counts
    # Persons with several rows come to a leaf when their covariates change.
    changes = tree.n_persons is not None and bool(tree.n_persons[0] < tree.n_samples[0])
    if not counts.of_all_times or tree.enters_late or changes:
        return ""
    # Between two events, rows can only leave.
    at_events, times = group.counts, tree.event_times
    after = int(np.searchsorted(times, time))
    low = float(at_events.at_risk[after]) if after < times.size else 0.0
    high = float(counts.round_at_risk[0])
    if after > 0:
        high = float(at_events.at_risk[after - 1] - at_events.deaths[after - 1])
    if number(low, 3) == number(high, 3):
        return number(low, 3)
    return f"at least {number(low, 3)}" if low > 0 else f"at most {number(high, 3)}"


INDEPENDENT_CENSORING = (
    "Censoring is taken to be independent of the event among the rows of a leaf; scores that are "
    "weighed against censoring take it to be independent of the columns, too."
)


def time_label(time_unit: str | None) -> str:
    """Return the label of a time axis."""
    return "time" if time_unit is None else f"time ({printable(time_unit)})"


def last_time(tree: Tree) -> float:
    """Return the last follow-up of all leaves; where it is not known, the last event."""
    last = max(group.last_time for group in tree.outcome.groups)
    return last if isfinite(last) else tree.last_event


def follow_up_text(quartiles: FollowUp, unit: str, verb: str = "") -> str:
    """Return the quartiles of follow-up in words."""
    median, *ends = (
        f"{number(time, 6)}" if isfinite(time) else NOT_REACHED
        for time in (quartiles.median, quartiles.lower, quartiles.upper)
    )
    unit = unit if isfinite(quartiles.median) else ""
    return (
        f"median follow-up{verb} {median}{unit} (quartiles {ends[0]} and {ends[1]}; reverse "
        "Kaplan-Meier estimate of Schemper and Smith, 1996)"
    )
