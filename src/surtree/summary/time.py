"""The time axis of a page, and how long rows were followed."""

from __future__ import annotations

from math import isfinite

from surtree.survival.follow_up import FollowUp
from surtree.tree.tree import Tree
from surtree.words.numbers import NOT_REACHED, number
from surtree.words.quoting import printable

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
