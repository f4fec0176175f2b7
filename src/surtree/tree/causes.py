"""Competing risks in the nodes of a tree: events and relative risk of each cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from surtree._support.types import Floats
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.confidence import LEVEL
from surtree.tree.leaf_intervals import ratio_limits

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


def has_causes(tree: Tree) -> bool:
    """Return whether a tree is one of competing risks."""
    return isinstance(tree.objective, CauseHazards)


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
    return tree.sums[:, 2 * causes_of(tree).place(cause)]


def cause_theta(tree: Tree, cause: int) -> Floats:
    """Return the hazard of a cause in each node, relative to the baseline of the cause."""
    theta: Floats = tree.prediction[causes_of(tree).place(cause)]
    return theta


def cause_limits(tree: Tree, node: int, cause: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence limits of the relative risk of a cause in a node."""
    place = causes_of(tree).place(cause)
    events, expected = tree.sums[node, 2 * place : 2 * place + 2].tolist()
    return ratio_limits(tree, events, expected, level)


def cause_text(tree: Tree, leaf: int, cause: int, style: str) -> str:
    """Return the relative risk of a cause in a leaf; without events, the most that it may be."""
    if cause_events(tree, cause)[leaf] > 0:
        return format(cause_theta(tree, cause)[leaf], style)
    most = cause_limits(tree, leaf, cause)[1]
    return f"at most {format(most, style)}" if np.isfinite(most) else "unknown"
