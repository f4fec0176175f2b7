"""Reading what users pass to a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surtree._types import Floats
from surtree.data.target import Target, read_target


def read_y(y: Any) -> Target:
    """Read a survival target: what estimators accept as ``y``, or a Target.

    Rows that come under observation late are refused: none of the metrics that weigh rows by the
    censoring distribution is defined for them.
    """
    target = y if isinstance(y, Target) else read_target(y)
    if target.entry is not None:
        raise ValueError(
            "The censoring distribution is not defined for rows with entry times: leave them out."
        )
    return target


def read_numbers(values: ArrayLike, name: str, n_rows: int | None = None) -> Floats:
    """Read one number a row.

    Parameters
    ----------
    values : array-like, shape (n_rows,)
        Numbers or booleans.
    name : str
        What the user calls them, for messages.
    n_rows : int, optional
        How many there must be.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have one value a row, got the shape {numbers.shape}.")
    if n_rows is not None and len(numbers) != n_rows:
        raise ValueError(f"{name} has {len(numbers)} rows, but there are {n_rows} times.")
    if len(numbers) == 0:
        raise ValueError(f"{name} has no row.")
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} must be finite; row {row} is {numbers[row]}.")
    return numbers


def read_times(times: ArrayLike) -> Floats:
    """Read one or more times at which to evaluate something, in ascending order."""
    read = read_numbers(np.atleast_1d(np.asarray(times, dtype=np.float64)), "times")
    if read[0] < 0 or not np.all(np.diff(read) > 0):
        raise ValueError("times must be zero or later, and ascend without repetition.")
    return read


def require_within(times: Floats, train: Target, test: Target) -> None:
    """Raise an error for times at which the score is not defined.

    At the last time of the test rows none of them is left, and after the last time of the training
    rows the censoring distribution is unknown.
    """
    latest = times[-1]
    if latest >= test.time.max():
        raise ValueError(
            f"The time {latest:g} is not before the last time of the test rows, "
            f"{test.time.max():g}: choose earlier times."
        )
    if latest > train.time.max():
        raise ValueError(
            f"The time {latest:g} is past the last time of the training rows, "
            f"{train.time.max():g}, where their censoring distribution ends: choose earlier times."
        )
