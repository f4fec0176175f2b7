"""The target of competing risks: which cause ended the time of each row, if any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.persons import read_persons, require_length
from surtree.data.table import Column
from surtree.data.target import Label, Target, check_target, read_time
from surtree.data.target_columns import n_values, read_columns
from surtree.words.numbers import plural

_SHAPES = (
    "y is a structured array, a data frame or a pair of arrays with a cause (whole numbers, 0 "
    "where the row is censored) and a time"
)
# So that a cause is exact as a number of a file.
_GREATEST_CAUSE = 10**9
# More values than the first are times, and so few codes are no times.
_MOST_CAUSES = 20
_MOST_CODES = 6


def read_cause_target(
    y: Any, n_rows: int | None = None, entry: ArrayLike | None = None, id: ArrayLike | None = None
) -> Target:
    """Read and check a target of competing risks."""
    if isinstance(y, Target):
        return y
    first, second = _two_columns(y)
    refuse_exchanged(first, second)
    cause = _read_cause(first)
    if n_rows is not None:
        require_length("the cause in y", len(cause), n_rows)
    target = check_target(cause > 0, read_time(second, _SHAPES), n_rows, entry)
    causes = tuple(np.unique(cause[cause > 0]).tolist())
    person = None if id is None else read_persons(id, target.time, target.entry)
    return replace(target, person=person, cause=cause, causes=causes)


def _two_columns(y: Any) -> list[Column]:
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None. {_SHAPES}"
        )
    columns = read_columns(y, _SHAPES)
    if len(columns) != 2:
        raise ValueError(f"y has {len(columns)} columns, not two. {_SHAPES}")
    return columns


def refuse_exchanged(first: Column, second: Column) -> None:
    """Raise an error if the first column can only be the time, and the second the cause."""
    if second.kind != "numeric" or first.kind != "numeric" or n_values(first) <= _MOST_CAUSES:
        return
    codes = np.unique(second.values)
    if codes.size <= _MOST_CODES and codes[0] == 0 and (codes == np.floor(codes)).all():
        raise ValueError(
            f"The columns of y are exchanged: {first.name!r} holds {n_values(first)} numbers, as "
            f"a time does, and {second.name!r} holds {', '.join(f'{code:g}' for code in codes)}, "
            f"as a cause does. The cause comes before the time: {_SHAPES}"
        )


def _read_cause(column: Column) -> NDArray[np.intp]:
    numbers = column.values
    if column.kind == "categorical":
        raise ValueError(
            f"The cause column {column.name!r} of y holds texts, not whole numbers. {_SHAPES}"
        )
    wrong = ~are_causes(numbers)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"The cause column {column.name!r} of y holds {numbers[first]:g} in row {first}, "
            f"counted from 0, which is not a whole number from 0 on. The cause comes before the "
            f"time: {_SHAPES}"
        )
    return numbers.astype(np.intp)


def are_causes(numbers: Floats) -> NDArray[np.bool_]:
    """Return which numbers can be causes: whole ones, from zero on."""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))
        return np.asarray(whole & (numbers <= _GREATEST_CAUSE))


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
