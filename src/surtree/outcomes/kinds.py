"""Which kind of outcome a tree has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surtree.outcomes._arms import TrialArms
from surtree.outcomes._causes import Causes
from surtree.outcomes.event import OneEvent
from surtree.outcomes.outcome import Outcome
from surtree.tree.tree import Tree

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
