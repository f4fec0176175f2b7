"""Draws of rows: bootstrap samples and folds, with the rows of a group together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Positions = NDArray[np.intp]


def read_groups(groups: ArrayLike | None, n_rows: int, counted: Positions) -> Positions | None:
    """Return the group of each row that counts, as a number from zero on."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have a label for each of {n_rows} rows.")
    distinct, group = np.unique(labels[counted], return_inverse=True)
    if distinct.size < 2:
        raise ValueError("groups has a single label: there is nothing to draw from.")
    return np.asarray(group, dtype=np.intp)


def draw_bootstrap(rng: np.random.Generator, n_rows: int, groups: Positions | None) -> Positions:
    """Draw rows with replacement, or groups of rows."""
    if groups is None:
        return rng.integers(0, n_rows, n_rows)
    n_groups = int(groups.max()) + 1
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.searchsorted(groups[order], np.arange(1, n_groups)))
    return np.concatenate([members[group] for group in rng.integers(0, n_groups, n_groups)])


def draw_folds(
    rng: np.random.Generator,
    event: NDArray[np.bool_],
    groups: Positions | None,
    n_folds: int,
) -> Positions:
    """Deal rows, or groups of rows, to folds with about equally many events; return the fold."""
    if groups is None:
        groups = np.arange(event.size)
    n_groups = int(groups.max()) + 1
    n_events = np.bincount(groups, weights=event, minlength=n_groups)
    shuffled = rng.permutation(n_groups)
    fold = np.empty(n_groups, dtype=np.intp)
    fold[shuffled[np.argsort(-n_events[shuffled], kind="stable")]] = np.arange(n_groups) % n_folds
    return fold[groups]
