"""Kinds of outcome: one event, causes, arms, and what groups of rows are at in each of them.

Everything that shows a tree loops over its ``outcome``; none of it asks which kind it is. Another
kind of outcome is a subclass of `Outcome`, named in `OUTCOMES` by its objective.
"""

from surtree.outcomes._arms import TrialArms
from surtree.outcomes._causes import Causes
from surtree.outcomes._group import Group, counted
from surtree.outcomes.curve import Channel, Column, GroupCurve, ObservedCurve, everyone, stacked
from surtree.outcomes.event import OneEvent
from surtree.outcomes.kinds import OUTCOMES, outcome_of
from surtree.outcomes.outcome import Outcome
from surtree.survival.kaplan_meier import EventCounts

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
