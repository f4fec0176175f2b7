"""Competing risks in the nodes of a tree: events and relative risk of each cause."""

from __future__ import annotations

from collections.abc import Mapping

from surtree._support.types import Floats
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_intervals import ratio_limits
from surtree.tree.tree import Tree


def causes_of(tree: Tree) -> CauseHazards:
    """Return the objective of a tree of competing risks, or raise an error for any other tree."""
    if not isinstance(tree.objective, CauseHazards):
        raise ValueError("This tree knows of one cause only: fit a CompetingRisksTree.")
    return tree.objective


def read_cause_names(tree: Tree, names: Mapping[int, str] | None) -> dict[int, str]:
    """Return the names that a user gave to causes of a tree, or raise an error for others."""
    given = dict(names or {})
    causes = causes_of(tree).causes
    absent = [cause for cause in given if cause not in causes]
    if absent:
        raise ValueError(f"names has the cause {absent[0]!r}: the causes are {causes}.")
    return {cause: str(given[cause]) for cause in causes if cause in given}


def cause_events(tree: Tree, cause: int) -> Floats:
    """Return the weight of the events of a cause in each node."""
    return tree.sums[:, 2 * causes_of(tree).position(cause)]


def cause_theta(tree: Tree, cause: int) -> Floats:
    """Return the hazard of a cause in each node, relative to the baseline of the cause."""
    theta: Floats = tree.prediction[causes_of(tree).position(cause)]
    return theta


def cause_limits(tree: Tree, node: int, cause: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the relative risk of a cause in a node."""
    first = 2 * causes_of(tree).position(cause)
    events, expected = tree.sums[node, first : first + 2].tolist()
    return ratio_limits(tree, events, expected, level)
