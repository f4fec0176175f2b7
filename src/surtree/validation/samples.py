"""Draws of rows: bootstrap samples and folds, with the rows of a group together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree.data.bootstrap import draw_counts
from surtree.data.bootstrap import read_groups as number_groups

Positions = NDArray[np.intp]


def read_groups(groups: ArrayLike | None, n_rows: int, counted: Positions) -> Positions:
    """Return the group of each row that counts, as a number from zero on: its own by default."""
    if groups is None:
        return np.arange(counted.size)
    distinct, group = np.unique(number_groups(groups, n_rows)[counted], return_inverse=True)
    if distinct.size < 2:
        raise ValueError("groups has a single label: there is nothing to draw from.")
    return np.asarray(group, dtype=np.intp)


def draw_bootstrap(rng: np.random.Generator, groups: Positions) -> Positions:
    """Draw groups of rows with replacement; return the positions of rows, repeated."""
    return np.repeat(np.arange(groups.size), draw_counts(rng, groups))


def draw_folds(
    rng: np.random.Generator,
    event: NDArray[np.bool_],
    groups: Positions,
    n_folds: int,
) -> Positions:
    """Deal rows, or groups of rows, to folds with about equally many events; return the fold."""
    n_groups = int(groups.max()) + 1
    n_events = np.bincount(groups, weights=event, minlength=n_groups)
    shuffled = rng.permutation(n_groups)
    fold = np.empty(n_groups, dtype=np.intp)
    fold[shuffled[np.argsort(-n_events[shuffled], kind="stable")]] = np.arange(n_groups) % n_folds
    return fold[groups]
