"""The best tree of a search, and how much of what it explains another tree misses."""

from __future__ import annotations

from dataclasses import dataclass

from surtree._support.exact import SAME_LOSS
from surtree._support.status import Status
from surtree.tree.tree import Tree


@dataclass(frozen=True)
class SearchResult:
    """The best tree of a search, by the price of splits of a model."""

    tree: Tree
    loss: float
    lower_bound: float
    status: Status


def missed_share(loss: float, best: float, leaf_loss: float) -> float:
    """Return the share of what the best tree explains that a tree of another loss does not.

    What a tree explains is the difference of its loss from that of a single leaf. It is never
    negative: a tree that is as good as the best one, but for rounding, misses nothing.
    """
    missed, explained, rounding = loss - best, leaf_loss - best, SAME_LOSS * leaf_loss
    return missed / explained if missed > rounding and explained > rounding else 0.0
