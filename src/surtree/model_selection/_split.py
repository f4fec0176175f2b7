"""The rows of every fold, as the parameter ``cv`` divides them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import is_whole, require_whole
from surtree.data.bootstrap import read_groups
from surtree.data.rows import Rows
from surtree.data.target_columns import as_rows

Positions = NDArray[np.intp]


def require_folds(name: str, cv: Any) -> None:
    """Raise an error unless a parameter may say how rows are divided into folds."""
    if is_whole(cv):
        require_whole(name, cv, 2)
    elif cv is None or isinstance(cv, bool):
        raise ValueError(
            f"{name} must be a number of folds, a splitter or pairs of positions; got {cv!r}."
        )


def split_rows(cv: Any, rows: Rows) -> list[tuple[Positions, Positions]]:
    """Return the positions of the training and of the held-out rows of every fold.

    A position that is given more than once is a row that counts more than once.
    """
    from sklearn.model_selection import check_cv

    from surtree.model_selection.event_kfold import EventStratifiedKFold

    present, groups = rows.present, rows.target.person
    if rows.given.groups is not None:
        groups = read_groups(rows.given.groups, rows.table.n_rows)
    if is_whole(cv):
        counted = np.flatnonzero(present)
        together = None if groups is None else groups[counted]
        try:
            pairs = list(
                EventStratifiedKFold(cv).split(counted, rows.target.event[counted], together)
            )
        except ValueError as error:
            raise ValueError(f"cv={cv}: {error}") from error
        return [(counted[train], counted[test]) for train, test in pairs]
    folds = [
        (_positions(train, present), _positions(test, present))
        for train, test in check_cv(cv).split(rows.given.X, as_rows(rows.given.y), groups)
    ]
    if not folds:
        raise ValueError("cv has no folds: give it at least one pair of positions.")
    return folds


def hold_out_apart(held_out: list[Positions]) -> NDArray[np.bool_]:
    """Return for each pair of folds whether they hold out different rows, of shape (n, n)."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(rows.size for rows in held_out)])
    rows = np.concatenate(held_out)
    table = csr_array((np.ones(rows.size), rows, ends))
    return np.asarray((table @ table.T).toarray() == 0)


def _positions(chosen: Any, present: NDArray[np.bool_]) -> Positions:
    """Return the positions that a fold of the user's names, but for rows of weight zero."""
    try:
        positions: Positions = np.arange(present.size)[chosen]
    except IndexError as error:
        raise ValueError(f"A fold of cv names rows that X has not: {error}") from error
    return positions[present[positions]]
