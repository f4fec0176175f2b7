"""Follow-up: how long rows would have been observed, had none an event."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from surtree._support.package import user_level
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import RiskTable, risk_table
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import StepFunction


def reverse_kaplan_meier(target: Target, weight: Floats) -> StepFunction:
    """Estimate the share of rows that are not yet censored over time, by Kaplan-Meier.

    Events and censorings change their roles (Schemper and Smith). At equal times events come
    first, as in R's ``prodlim(reverse=TRUE)``: a row with an event is not at risk of censoring.
    """
    times, counts = _censoring_counts(target, weight)
    return StepFunction(times, counts.survival, before=1.0)


def _censoring_counts(target: Target, weight: Floats) -> tuple[Floats, EventCounts]:
    """Return the times of censoring, and what is at risk of it and censored at each of them."""
    censored = target.censored
    if not censored.any():
        return np.empty(0), EventCounts(np.empty(0), np.empty(0))
    table = risk_table(target, weight, censored)
    event_times, event_weight = target.time[target.event], weight[target.event]
    index = np.minimum(np.searchsorted(table.times, event_times), table.times.size - 1)
    tied = table.times[index] == event_times
    events = np.bincount(index[tied], event_weight[tied], minlength=table.times.size)
    return table.times, EventCounts(np.maximum(table.at_risk - events, 0.0), table.deaths)


class FollowUp(NamedTuple):
    """Quartiles of follow-up, by the reverse Kaplan-Meier estimate; infinity where not reached."""

    lower: float
    median: float
    upper: float


def follow_up(target: Target, weight: Floats) -> FollowUp:
    """Return the quartiles of the time that rows are followed up."""
    return quartiles(*_censoring_counts(target, weight))


def quartiles(times: Floats, censoring: EventCounts) -> FollowUp:
    """Return the first times at which a quarter, a half and three quarters are censored."""
    uncensored = censoring.survival
    # A share that is reached in exact arithmetic must be so in floating point too.
    reached = [np.flatnonzero(uncensored <= share + 1e-12) for share in (0.75, 0.5, 0.25)]
    return FollowUp(*(float(times[at[0]]) if at.size else np.inf for at in reached))


def save_follow_up(quartiles: FollowUp | None) -> list[float | None] | None:
    """Return quartiles as plain values that JSON can hold: None for infinity."""
    return None if quartiles is None else [time if time < np.inf else None for time in quartiles]


def read_follow_up(saved: list[float | None] | None) -> FollowUp | None:
    if saved is None:
        return None
    times = [np.inf if time is None else float(time) for time in saved]
    if len(times) != 3 or sorted(times) != times:
        raise ValueError("its follow-up is not three quartiles")
    return FollowUp(*times)


# What is lost at a time but for rounding of weights.
_ALL = 1 - 1e-12


def warn_of_early_events(target: Target, weight: Floats) -> None:
    """Warn where all rows at risk have their event at once, before others enter."""
    if target.entry is not None:
        warn_of_early_end(risk_table(target, weight), float(target.entry.max()))


def warn_of_early_end(table: RiskTable, last_entry: float) -> None:
    """Do as `warn_of_early_events`, with the rows at risk and the last time that one enters."""
    reason = early_end(table, last_entry)
    if reason:
        warnings.warn(reason, UserWarning, stacklevel=user_level())


def early_end(table: RiskTable, last_entry: float) -> str:
    """Say when survival of all rows falls to zero before others enter; empty where it does not."""
    ends = (table.deaths >= _ALL * table.at_risk) & (table.times <= last_entry)
    if not ends.any():
        return ""
    last = int(np.flatnonzero(ends)[-1])
    return (
        f"All rows at risk at {table.times[last]:g} have their event then (a weight of "
        f"{table.at_risk[last]:g}), and others enter later: survival of all rows is zero from "
        "these few on, and so are curves and medians. Condition on survival to a time at which "
        "more rows are at risk: keep the rows that end after it, and raise earlier entries to it"
    )
