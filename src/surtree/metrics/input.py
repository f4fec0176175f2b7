"""Reading what users pass to a metric."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import Floats
from surtree.data.causes import read_cause_target
from surtree.data.target import Target, read_target, read_weights


class ScoredRows(NamedTuple):
    """Rows that predictions are scored on, or that say how rows come under observation."""

    target: Target
    weight: Floats

    def take(self, rows: NDArray[np.bool_]) -> ScoredRows:
        """Return the rows that a mask marks."""
        return ScoredRows(self.target.take(rows), self.weight[rows])


def read_scored(
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    cause: int | None = None,
) -> ScoredRows:
    """Read rows that scores weigh by how rows come under observation, and leave it."""
    target = read_outcomes(y, entry, cause)
    n_parts = parts_of_persons(target)
    if n_parts:
        raise ValueError(
            f"{n_parts} of {len(target.time)} rows are parts of persons with several rows: a score "
            "that weighs rows against censoring needs one prediction for each person."
        )
    if cause is not None and target.entry is not None:
        raise ValueError(
            "Scores of one of several causes are not defined for rows with entry times: a row that "
            "another cause ended before it could enter is never seen."
        )
    return ScoredRows(target, read_weights(sample_weight, len(target.time)))


def read_outcomes(y: Any, entry: ArrayLike | None = None, cause: int | None = None) -> Target:
    """Read a target of one event; with a cause, one of competing risks."""
    if cause is not None:
        return read_cause_target(y, entry=entry)
    return y if isinstance(y, Target) else read_target(y, entry=entry)


def event_codes(target: Target, cause: int | None) -> NDArray[Any]:
    """Return whether each row has an event; where a cause is scored, the cause of the event."""
    if cause is None:
        return target.event
    return target.cause


def had_event(target: Target, cause: int | None, name: str = "y") -> NDArray[np.bool_]:
    """Tell which rows have the event that is scored: any, or that of a cause, which some have."""
    if cause is None:
        return target.event
    codes = event_codes(target, cause)
    if cause not in codes:
        causes = tuple(np.unique(codes[codes > 0]).tolist())
        raise ValueError(f"{name} has no event of cause {cause!r}: its causes are {causes}.")
    return np.asarray(codes == cause)


def parts_of_persons(target: Target) -> int:
    """Return how many rows are of a person with several rows, one after the other."""
    if target.person is None or target.entry is None:
        return 0
    n_rows = np.bincount(target.person)
    return int(n_rows[n_rows > 1].sum())


def read_numbers(values: ArrayLike, name: str, n_rows: int | None = None) -> Floats:
    """Read one number a row."""
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
    rows the censoring distribution is unknown. Between, rows with entry times may leave a gap.
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
    for rows, name in ((test, "test"), (train, "training")):
        gaps = [time for time in times if not lives_on(rows, time).any()]
        if gaps:
            raise ValueError(
                f"No {name} row is at risk after the time {gaps[0]:g}, before others enter: choose "
                "another time."
            )


def lives_on(target: Target, time: float) -> NDArray[np.bool_]:
    """Tell which rows are under observation after a time."""
    later = target.time > time
    return later if target.entry is None else later & (target.entry <= time)
