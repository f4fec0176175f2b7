"""Stability: which questions and leaves the trees of samples reproduce."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.tree.tree import Tree
from surtree.validation.result import FEWEST_SAMPLES, ColumnUse, LeafStability


def column_uses(trees: Sequence[Tree]) -> tuple[ColumnUse, ...]:
    """Return how often trees ask about each column, the most used first."""
    asked = [{cut.name for cut in tree.cuts} for tree in trees]
    first = [tree.question(0).name if tree.n_splits else None for tree in trees]
    thresholds: dict[str, list[float]] = {}
    for tree in trees:
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            cut = tree.question(node)
            if cut.threshold is not None:
                thresholds.setdefault(cut.name, []).append(float(cut.threshold))
    uses = [
        ColumnUse(
            name,
            sum(name in names for names in asked) / len(trees),
            first.count(name) / len(trees),
            tuple(sorted(thresholds.get(name, []))),
        )
        for name in set().union(*asked)
    ]
    return tuple(sorted(uses, key=lambda use: (-use.anywhere, -use.first, use.name)))


def jaccard(
    of_row: NDArray[np.intp], other: NDArray[np.intp], n_leaves: int, weight: Floats | None
) -> Floats:
    """Return, for each leaf of a tree, its agreement with the leaf of another that is most like it.

    The agreement (Jaccard) is the weight of the rows that are in both, divided by that of the rows
    that are in one of them.
    """
    n_others = int(other.max()) + 1
    both = np.bincount(of_row * n_others + other, weights=weight, minlength=n_leaves * n_others)
    both = both.reshape(n_leaves, n_others).astype(np.float64)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    return np.asarray(np.divide(both, either, where=either > 0, out=np.zeros_like(both)).max(1))


def leaf_stabilities(
    tree: Tree,
    of_row: NDArray[np.intp],
    agreement: Floats,
    whole: Floats,
    predicted: Floats,
    level: float,
) -> tuple[LeafStability, ...]:
    """Return how each leaf of a tree fares in the trees of samples."""
    limits = np.full((2, of_row.size), np.nan)
    enough = np.isfinite(predicted).sum(axis=0) >= FEWEST_SAMPLES
    if enough.any():
        tails = [(1 - level) / 2, (1 + level) / 2]
        limits[:, enough] = np.nanquantile(predicted[:, enough], tails, axis=0)
    found = []
    for place, leaf in enumerate(tree.leaves.tolist()):
        rows = of_row == place
        if rows.any():
            lower, upper = limits[:, rows].mean(axis=1)
            survival = float(whole[rows][0])
            found.append(
                LeafStability(leaf, float(agreement[place]), survival, float(lower), float(upper))
            )
    return tuple(found)
