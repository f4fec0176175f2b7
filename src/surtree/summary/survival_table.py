"""Survival of the leaves at a few times: as the tree predicts it, and as it was observed."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from surtree._support.types import Floats
from surtree.summary.leaves import Leaf, at_risk
from surtree.summary.steps import Band
from surtree.summary.wording import number
from surtree.survival.step_function import StepFunction
from surtree.tree.tree import Tree

Limits = tuple[float, float]


@dataclass(frozen=True)
class SurvivalAt:
    """Survival of a leaf at one time."""

    time: float  # the time
    predicted: float  # what the tree predicts
    limits: Limits | None  # its confidence limits; None where nothing is known about them
    # The Kaplan-Meier estimate of the rows of the leaf, where the tree keeps it.
    observed: float | None
    observed_limits: Limits | None  # the confidence limits of that
    at_risk: str  # the weight still at risk, in words; empty where it is not known


def survival_table(tree: Tree, place: int, leaf: Leaf, times: list[float]) -> list[SurvivalAt]:
    """Return the survival of a leaf at some times, as long as some of its rows are at risk."""
    asked = [time for time in times if time <= leaf.last_time]
    seen = leaf.observed
    return [
        SurvivalAt(
            time=time,
            predicted=_at(leaf.times, leaf.survival, time, 1.0),
            limits=_limits_at(leaf.times, leaf.band, time),
            observed=None if seen is None else _at(seen.times, seen.survival, time, 1.0),
            observed_limits=None
            if seen is None
            else _limits_at(seen.times, (seen.lower, seen.upper), time),
            at_risk=_at_risk_text(tree, place, time),
        )
        for time in asked
    ]


def _at(times: Floats, values: Floats, time: float, before: float) -> float:
    return float(StepFunction(times, values, before)(time))


def _limits_at(times: Floats, band: Band | None, time: float) -> Limits | None:
    if band is None:
        return None
    # Before the first step nothing tells how far survival may be below one.
    lower, upper = (_at(times, limit, time, np.nan) for limit in band)
    return (lower, upper) if isfinite(lower) and isfinite(upper) else None


def _at_risk_text(tree: Tree, place: int, time: float) -> str:
    """Return what is at risk at a time: a number, or the least that it can be."""
    if not tree.risk:
        return ""
    exact = float(at_risk(tree, place, np.array([time]))[0])
    if isfinite(exact):
        return number(exact, 3)
    counts = tree.risk[place]
    if not counts.of_all_times or tree.enters_late or _have_several_rows(tree):
        return ""
    # Between two events, rows can only leave.
    at_events = counts.at_events(tree.baseline.times.size)
    after = int(np.searchsorted(tree.baseline.times, time))
    low = float(at_events.at_risk[after]) if after < tree.baseline.times.size else 0.0
    before = after - 1
    high = float(counts.round_at_risk[0])
    if before >= 0:
        high = float(at_events.at_risk[before] - at_events.deaths[before])
    if number(low, 3) == number(high, 3):
        return number(low, 3)
    return f"at least {number(low, 3)}" if low > 0 else f"at most {number(high, 3)}"


def _have_several_rows(tree: Tree) -> bool:
    """Tell whether persons have several rows: they come to a leaf when their covariates change."""
    return tree.n_persons is not None and bool(tree.n_persons[0] < tree.n_samples[0])
