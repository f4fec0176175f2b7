"""Survival along a path of covariates: the hazard of each leaf while a person is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.persons import read_persons
from surtree.survival.step_function import StepFunction
from surtree.tree.leaf_curve import curve_of

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of some persons, in the order of time, one person after the other."""

    row: NDArray[np.intp]  # the position of each piece among the rows that the user passed
    start: Floats  # from when to when its covariates hold
    stop: Floats
    # Where the pieces of each person begin; persons are in the order of their first rows.
    first: NDArray[np.intp]


def read_pieces(
    n_rows: int,
    start: ArrayLike,
    stop: ArrayLike | None,
    id: ArrayLike | None,
    last_time: float,
) -> Pieces:
    """Read and check when the rows of persons hold."""
    begin = _numbers("start", start, n_rows)
    person = np.zeros(n_rows, dtype=np.intp)
    if id is not None:
        person = read_persons(id, begin, None)
    order = np.lexsort((begin, person))
    same = person[order][1:] == person[order][:-1]
    if stop is None:
        after = np.append(np.where(same, begin[order][1:], last_time), last_time)
        end = np.empty(n_rows)
        # A row that begins later than anybody was observed says nothing.
        end[order] = np.maximum(after, begin[order])
    else:
        end = _numbers("stop", stop, n_rows)
        if not (end > begin).all():
            raise ValueError(
                f"stop is not after start in {int((end <= begin).sum())} of {n_rows} rows"
            )
        joined = ~same | (begin[order][1:] == end[order][:-1])
        if not joined.all():
            raise ValueError(
                f"{int((~joined).sum())} of {n_rows} rows do not begin where the row before of "
                f"the same person ends (the first is row {order[1:][np.argmin(joined)]}, counted "
                "from 0): survival is known along a path without gaps"
            )
    if stop is None and (same & (begin[order][1:] == begin[order][:-1])).any():
        raise ValueError("start has the same time for two rows of one person: keep the later one")
    # Persons in the order of their first rows.
    _, first_row = np.unique(person, return_index=True)
    rank = np.argsort(np.argsort(first_row))[person]
    order = np.lexsort((begin, rank))
    first = np.flatnonzero(np.diff(rank[order], prepend=-1))
    return Pieces(order, begin[order], end[order], first)


def _numbers(name: str, values: ArrayLike, n_rows: int) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_rows,):
        raise ValueError(f"{name} must have a time for each of {n_rows} rows.")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(f"{name} holds times that are not finite numbers, zero or later.")
    return numbers


def survival_along(
    tree: Tree, leaf_of_row: NDArray[np.intp], pieces: Pieces
) -> tuple[list[StepFunction], list[StepFunction]]:
    """Return survival and cumulative hazard of each person, given that the path is begun.

    While a person is in a leaf, the hazard is that of the leaf: cumulative hazards of the leaves
    are added over the pieces, and survival is multiplied.
    """
    times = tree.event_times
    curves = [curve_of(tree, int(leaf)) for leaf in tree.leaves]
    hazard = np.stack([np.diff(curve.cumulative_hazard.y, prepend=0.0) for curve in curves])
    stays = np.stack([_factors(curve.survival.y) for curve in curves])
    position = np.searchsorted(tree.leaves, leaf_of_row[pieces.row])
    # A piece has the event times after its start, up to its stop.
    begin = np.searchsorted(times, pieces.start, side="right")
    end = np.searchsorted(times, pieces.stop, side="right")
    survival, cumulative = [], []
    last = np.append(pieces.first[1:], pieces.row.size)
    for row_slice in map(slice, pieces.first, last):
        spans = map(slice, begin[row_slice], end[row_slice])
        parts = list(zip(position[row_slice], spans, strict=True))
        steps = np.concatenate([times[span] for _, span in parts])
        stop = min(float(pieces.stop[row_slice][-1]), tree.last_time)
        domain = float(pieces.start[row_slice][0]), stop
        lived = np.cumprod(np.concatenate([stays[leaf, span] for leaf, span in parts]))
        added = np.cumsum(np.concatenate([hazard[leaf, span] for leaf, span in parts]))
        survival.append(StepFunction(steps, lived, 1.0, domain))
        cumulative.append(StepFunction(steps, added, 0.0, domain))
    return survival, cumulative


def _factors(survival: Floats) -> Floats:
    """Return by what survival is multiplied at each time; one where nobody was left before."""
    before = np.concatenate(([1.0], survival[:-1]))
    return np.divide(survival, before, out=np.ones_like(survival), where=before > 0)
