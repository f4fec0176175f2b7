"""Kinds of outcome: one event, causes, arms, and what groups of rows are at in each of them.

Everything that shows a tree loops over its ``outcome``; none of it asks which kind it is. Another
kind of outcome is a subclass of `Outcome`, named in `OUTCOMES` by its objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surtree.outcomes._arms import TrialArms
from surtree.outcomes._causes import Causes
from surtree.outcomes._group import Group, counted
from surtree.outcomes.curve import Channel, Column, GroupCurve, ObservedCurve, everyone, stacked
from surtree.outcomes.event import OneEvent
from surtree.outcomes.outcome import Outcome
from surtree.survival.kaplan_meier import EventCounts
from surtree.tree.tree import Tree

__all__ = [
    "OUTCOMES",
    "Causes",
    "Channel",
    "Column",
    "EventCounts",
    "Group",
    "GroupCurve",
    "ObservedCurve",
    "OneEvent",
    "Outcome",
    "TrialArms",
    "counted",
    "everyone",
    "outcome_of",
    "stacked",
]

# By the name of the objective; all others are of one event.
OUTCOMES: dict[str, type[Outcome]] = {
    "cause_hazards": Causes,
    "arm_hazards": TrialArms,
    "arm_contrasts": TrialArms,
}


def outcome_of(tree: Tree, labels: Mapping[Any, str] | None = None) -> Outcome:
    """Return the outcome of a tree, with names of its channels where some are given.

    On the path of an `EffectTree`, sizes that were not chosen keep nothing of arms: they are shown
    as trees of one event.
    """
    kind = OUTCOMES.get(tree.objective.name, OneEvent)
    if not kind.is_kept(tree):
        kind = OneEvent
    return kind(tree, labels)
