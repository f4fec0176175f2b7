"""The target of a trial: the arm of each row beside its survival."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree.data.target import Label
from surtree.words.numbers import plural

# A tree can tell so many hazards apart.
MOST_ARMS = 4


def read_arms(
    treatment: ArrayLike, n_rows: int, reference: Label | None = None
) -> tuple[NDArray[np.intp], tuple[Label, ...]]:
    """Return the number of each row's arm, and the labels of the arms, the reference first."""
    _require_given(treatment)
    if nw.dependencies.is_into_series(treatment):
        treatment = nw.from_native(treatment, series_only=True).to_list()
    given = np.asarray(treatment)
    if given.ndim != 1 or given.size != n_rows:
        raise ValueError(
            f"treatment must have the arm of each of {n_rows} rows, as one list; got the shape "
            f"{given.shape}."
        )
    absent = [label is None or label != label for label in given.tolist()]
    if any(absent):
        raise ValueError(
            f"treatment has no arm in {sum(absent)} of {n_rows} rows (the first is row "
            f"{absent.index(True)}, counted from 0): drop them"
        )
    try:
        distinct, number = np.unique(given, return_inverse=True)
    except TypeError:
        raise ValueError("treatment holds labels of several types: make them one type") from None
    labels: list[Label] = distinct.tolist()
    if not 2 <= len(labels) <= MOST_ARMS:
        shown = ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise ValueError(
            f"treatment has {plural(len(labels), 'arm')} ({shown}): effects are told apart between "
            f"two to {MOST_ARMS} arms"
        )
    order = list(range(len(labels)))
    if reference is not None:
        if reference not in labels:
            raise ValueError(f"reference={reference!r} is none of the arms: {labels}")
        first = labels.index(reference)
        order = [first, *(position for position in order if position != first)]
    return np.argsort(order)[number].astype(np.intp), tuple(labels[position] for position in order)


def number_arms(treatment: Any, n_rows: int, labels: tuple[Label, ...]) -> NDArray[np.intp]:
    """Return the number of each row's arm among known labels; one label stands for all rows."""
    _require_given(treatment)
    if nw.dependencies.is_into_series(treatment):
        treatment = nw.from_native(treatment, series_only=True).to_list()
    given = np.asarray(treatment)
    if given.ndim == 0:
        given = np.full(n_rows, given)
    if given.shape != (n_rows,):
        raise ValueError(f"treatment must have one arm, or the arm of each of {n_rows} rows.")
    number_of = {label: number for number, label in enumerate(labels)}
    unknown = [label for label in given.tolist() if label not in number_of]
    if unknown:
        raise ValueError(f"treatment holds {unknown[0]!r}, which is none of {list(labels)}.")
    return np.array([number_of[label] for label in given.tolist()], dtype=np.intp)


def _require_given(treatment: Any) -> None:
    if treatment is None:
        raise ValueError("A model of treatment effects needs the arm of each row: pass treatment.")
