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
        Event and time.
    entry, weight : array of float, optional
        When each row came under observation, and how often it counts: not at all if it is
        censored at time zero.
    columns : frozenset of str
        The columns of the table that these are.
    id : array, optional
        Whose row it is.
    """

    y: NDArray[np.void]
    entry: Floats | None
    weight: Floats | None
    columns: frozenset[str]
    id: NDArray[Any] | None = None


def read_survival(
    frame: pl.DataFrame,
    *,
    time: str,
    event: str,
    entry: str | None,
    weight: str | None,
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
    """
    event_column, values = _split_event(frame, event)
    numbers = [name for name in (time, entry, weight) if name is not None]
    labels = [] if id is None else [id]
    require_columns(frame, [*numbers, event_column, *labels])
    y = make_target(_events(frame[event_column], values), _numbers(frame[time]))
    entries = None if entry is None else _numbers(frame[entry])
    weights = None if weight is None else _numbers(frame[weight])
    with _about_columns({"y": time, "entry": str(entry), "sample_weight": str(weight)}):
        target = read_target(y, len(y), entries)
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
    return Survival(y, entries, weights, columns, persons)


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
