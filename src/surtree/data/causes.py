"""The target of competing risks: which cause ended the time of each row, if any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.persons import read_persons
from surtree.data.table import Column
from surtree.data.target import Target, check_target, read_time, require_length
from surtree.data.target_columns import n_values, read_columns

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
