"""How much a leaf is known about, in words: leaves with few events, and with none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surtree.tree.leaf_intervals import theta_limits
from surtree.words.numbers import plural

if TYPE_CHECKING:
    from surtree.tree.tree import Tree

# Leaves with fewer events than this are marked wherever they are shown ...
FEW_EVENTS = 10
# ... and with fewer than this, a printed tree says what to do.
_VERY_FEW_EVENTS = 5


def events_note(n_events: int) -> str:
    """Return "no events", "few events", or nothing where there are enough."""
    if n_events == 0:
        return "no events"
    return "few events" if n_events < FEW_EVENTS else ""


def theta_text(tree: Tree, leaf: int, style: str) -> str:
    """Return the relative risk of a leaf; of one without events, the most that it may be."""
    if tree.n_events[leaf] > 0:
        return format(tree.theta[leaf], style)
    most = theta_limits(tree, leaf)[1]
    return f"at most {format(most, style)}" if np.isfinite(most) else "unknown"


def advice(tree: Tree) -> str:
    """Return, where leaves have hardly any events, a sentence that says what to do about it."""
    n_leaves = int((tree.n_events[tree.leaves] < _VERY_FEW_EVENTS).sum())
    if n_leaves == 0:
        return ""
    verb, whose = ("has", "its") if n_leaves == 1 else ("have", "their")
    return (
        f"{plural(n_leaves, 'leaf')} {verb} fewer than {_VERY_FEW_EVENTS} events: {whose} numbers "
        f"say little about new data; try {tree.objective.remedy}."
    )
