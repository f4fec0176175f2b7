"""The target in a table: time, event, entry and weight of each row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.cli._columns import WORDS, Reading, read_column, require_columns
from surtree.cli._console import UserError, failures, say
from surtree.data.causes import read_cause_target
from surtree.data.persons import read_persons
from surtree.data.target import RowsError, read_target, read_weights
from surtree.datasets._frame import make_target

_MOST_VALUES = 6


@dataclass(frozen=True)
class Survival:
    """The target of each row, as estimators take it.

    Parameters
    ----------
    y : structured array
        Event and time; with competing risks, cause and time.
    entry, weight : array of float, optional
        When each row came under observation, and how often it counts: not at all if it is
        censored at time zero.
    columns : frozenset of str
        The columns of the table that these are.
    id : array, optional
        Whose row it is.
    causes : tuple of int, optional
        With competing risks, the causes that the tree is to tell apart; none for all of them.
    """

    y: NDArray[np.void]
    entry: Floats | None
    weight: Floats | None
    columns: frozenset[str]
    id: NDArray[Any] | None = None
    causes: tuple[int, ...] | None = None

    @property
    def n_events(self) -> int:
        """The number of rows with an event, of any cause."""
        return int(self._has_event.sum())

    @property
    def n_with_event(self) -> int:
        """The number of those that have an event: persons where rows are theirs, rows elsewhere."""
        return self.n_events if self.id is None else np.unique(self.id[self._has_event]).size

    @property
    def _has_event(self) -> NDArray[np.bool_]:
        return np.asarray(self.y["event" if self.causes is None else "cause"], dtype=np.bool_)


def read_survival(
    frame: pl.DataFrame,
    *,
    time: str,
    event: str | None,
    entry: str | None,
    weight: str | None,
    cause: str | None = None,
    id: str | None = None,
) -> Survival:
    """Read the target.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    time, entry, weight : str
        Columns of numbers.
    event : str
        A column of 0 and 1 or of words such as yes and no; or, after an equals sign, the value
        that is the event: ``status=dead``, or several with commas between.
    id : str, optional
        A column of any values: rows with the same value are of one person.
    cause : str, optional
        In place of an event, a column of whole numbers, 0 where a row is censored; or, after an
        equals sign, also the causes that the tree is to tell apart: ``status=1``.
    """
    asked = event if cause is None else cause
    assert asked is not None
    event_column, values = _split_event(frame, asked)
    numbers = [name for name in (time, entry, weight) if name is not None]
    labels = [] if id is None else [id]
    require_columns(frame, [*numbers, event_column, *labels])
    causes = None if cause is None else _chosen_causes(event_column, values)
    if cause is None:
        y = make_target(_events(frame[event_column], values), _numbers(frame[time]))
    else:
        y = _cause_target(frame[event_column], _numbers(frame[time]))
    entries = None if entry is None else _numbers(frame[entry])
    weights = None if weight is None else _numbers(frame[weight])
    with _about_columns({"y": time, "entry": str(entry), "sample_weight": str(weight)}):
        read = read_target if causes is None else read_cause_target
        target = read(y, len(y), entries)
        counts = read_weights(weights, len(y))
    left_out = target.censored_at_zero & (counts > 0)
    if left_out.any():
        say(
            f"surtree: {left_out.sum()} of {len(y)} rows are censored at time zero in column "
            f"{time!r}: they say nothing about survival, and are left out"
        )
        weights = np.where(left_out, 0.0, counts)
    persons = None
    if id is not None:
        _require_present(frame[id])
        persons = frame[id].cast(pl.String).to_numpy()
        with failures(ValueError, about=f"column {id!r}: "):
            read_persons(persons, target.time, target.entry)
    columns = frozenset((*numbers, event_column, *labels))
    return Survival(y, entries, weights, columns, persons, causes)


def _cause_target(series: pl.Series, time: Floats) -> NDArray[np.void]:
    cause = _numbers(series)
    wrong = (cause != np.floor(cause)) | (cause < 0)
    if wrong.any():
        raise UserError(
            f"column {series.name!r} holds {cause[wrong][0]:g}: a cause is a whole number, and 0 "
            "where the row is censored"
        )
    y = np.empty(len(time), dtype=[("cause", np.int64), ("time", np.float64)])
    y["cause"], y["time"] = cause, time
    return y


def _chosen_causes(column: str, values: list[str]) -> tuple[int, ...]:
    try:
        return tuple(int(value) for value in values)
    except ValueError:
        raise UserError(
            f"{','.join(values)!r} is not a list of causes: these are whole numbers, as in "
            f"--cause {column}=1,2"
        ) from None


@contextmanager
def _about_columns(columns: dict[str, str]) -> Iterator[None]:
    """Turn errors about arguments of estimators into errors about the user's columns."""
    try:
        yield
    except RowsError as error:
        raise UserError(
            f"column {columns[error.name]!r} has {error.fault} "
            f"(the first is {error.value:g} in row {error.row + 1})"
        ) from error
    except ValueError as error:
        raise UserError(str(error)) from error


def _split_event(frame: pl.DataFrame, event: str) -> tuple[str, list[str]]:
    if event in frame.columns or "=" not in event:
        return event, []
    column, _, values = event.partition("=")
    while column not in frame.columns and "=" in values:
        more, _, values = values.partition("=")
        column = f"{column}={more}"
    return column, values.split(",")


def _numbers(series: pl.Series) -> Floats:
    _require_present(series)
    return read_column(series, Reading("numeric")).to_numpy()


def _events(series: pl.Series, values: list[str]) -> NDArray[np.bool_]:
    _require_present(series)
    found = series.unique().sort().to_list()
    if values:
        return _matches(series, values, found)
    words = {value: WORDS.get(_word(value)) for value in found}
    if None in words.values():
        shown = ", ".join(str(value) for value in found[:_MOST_VALUES])
        raise UserError(
            f"column {series.name!r} holds {shown}{', ...' if len(found) > _MOST_VALUES else ''}: "
            f"say which value is the event, as in --event {series.name}={found[-1]}"
        )
    return np.array([words[value] for value in series], dtype=bool)


def _matches(series: pl.Series, values: list[str], found: list[object]) -> NDArray[np.bool_]:
    wanted = set(map(_word, values))
    absent = wanted - set(map(_word, found))
    if absent:
        raise UserError(
            f"column {series.name!r} never holds {', '.join(sorted(absent))}: "
            f"it holds {', '.join(map(str, found[:_MOST_VALUES]))}"
        )
    return np.array([_word(value) in wanted for value in series], dtype=bool)


def _word(value: object) -> str:
    """Return a value as text, in lower case and with 1 for 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


def _require_present(series: pl.Series) -> None:
    absent = series.null_count()
    if absent:
        raise UserError(
            f"column {series.name!r} has no value in {absent} of {len(series)} rows: "
            "drop these rows first"
        )
