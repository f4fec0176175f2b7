"""The columns of a target, in any of the forms that people have it in."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from surtree.data.table import Column, read_array, read_series
from surtree.words.numbers import plural

# Words for what trees of survival are mostly about, and for rows without it.
_EVENTS = frozenset(
    {
        *("dead", "died", "death", "deceased", "event", "failed", "failure", "churned"),
        *("relapse", "relapsed", "recurrence", "progression"),
        *("tot", "gestorben", "verstorben", "ereignis", "rezidiv", "décédé", "mort", "muerto"),
    }
)
_CENSORED = frozenset(
    {
        *("alive", "living", "lives", "lived", "survived", "censor", "censored", "cens"),
        *("lost to follow-up", "withdrawn", "lebt", "lebend", "zensiert", "vivant", "vivo"),
    }
)
# More codes than these are no causes.
_MOST_CODES = 6


@dataclass(frozen=True)
class EventCodes:
    """What the codes of an event column may mean."""

    # The codes that may be the event, of which one is; empty if nothing is known.
    events: tuple[object, ...]
    why: str = ""  # why it is that one, if that needs to be said
    # Whether the codes seem to be several causes, and 0 for rows without an event.
    are_causes: bool = False


def read_event_codes(values: Sequence[object]) -> EventCodes:
    """Return what codes of events may mean, by convention: as R has them, and by common words."""
    words = [code_word(value) for value in values]
    if set(words) == {"1", "2"}:
        return EventCodes(
            (values[words.index("2")],), "if they are codes as in R, where 2 is the event"
        )
    if len(words) == 2 and "0" in words:
        return EventCodes((values[1 - words.index("0")],))
    if 2 < len(words) <= _MOST_CODES and words == [str(code) for code in range(len(words))]:
        return EventCodes((values[-1],), are_causes=True)
    known = [value for value, word in zip(values, words, strict=True) if word in _EVENTS]
    if len(known) == 1 or (known and len(values) > 2):
        return EventCodes((known[0],))
    if len(values) > 2:
        return EventCodes(())
    uncensored = [value for value, word in zip(values, words, strict=True) if word not in _CENSORED]
    return EventCodes(tuple(uncensored) if len(uncensored) == 1 else tuple(values))


def code_word(value: object) -> str:
    """Return a code as text, in lower case and with 1 for 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


SHAPES = (
    "y is a structured array, a data frame or a pair of arrays: whether the event happened "
    "(boolean, or 0 and 1) and when. surtree.target(event=..., time=...) makes one"
)
DAY = np.timedelta64(1, "D")

_MOST_SHOWN = 5
_DIFFERENCES = datetime.timedelta | np.timedelta64


@dataclass(frozen=True, eq=False)
class Duration(Column):
    """A column of time differences, counted in days: whatever its values, it is no event."""


def read_columns(y: Any, shapes: str = SHAPES) -> list[Column]:
    """Return the columns of a target."""
    if not isinstance(y, np.ndarray):
        if _is_greenwood(y):
            return _greenwood_columns(y)
        if isinstance(y, tuple) and len(y) == 2 and np.ndim(y[0]) == 1:
            return [read_one(f"y[{position}]", part) for position, part in enumerate(y)]
        if nw.dependencies.is_into_dataframe(y):
            try:
                frame = nw.from_native(y, eager_only=True)
            except nw.exceptions.DuplicateError:
                raise ValueError(f"The columns of y have the same name. {shapes}") from None
            if frame.shape[1] != 1:
                return [read_one(str(name), frame.get_column(name)) for name in frame.columns]
            y = frame.to_numpy()
        if nw.dependencies.is_into_series(y):
            return [read_one("y", y)]
    array = np.asarray(y)
    if array.dtype.names is not None:
        return [read_one(name, array[name]) for name in array.dtype.names]
    if array.ndim == 2 and array.shape[1] == 2:
        return [read_one(f"y[:, {position}]", array[:, position]) for position in range(2)]
    if array.ndim == 2 and array.shape[1] != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape}. {shapes}")
    return [read_one("y", column_or_1d(array, warn=True))]


def read_one(name: str, values: Any) -> Column:
    """Read one column of a target."""
    if not isinstance(values, np.ndarray) and (
        nw.dependencies.is_into_series(values) or isinstance(values, nw.Series)
    ):
        series = nw.from_native(values, series_only=True, pass_through=True)
        if not series.dtype.is_temporal() and series.dtype != nw.Object:
            return read_series(name, series)
        values = series.to_numpy()
    array = as_differences(np.asarray(values))
    if array.dtype.kind == "m":
        return Duration(name, "numeric", array / DAY)
    if array.dtype.kind == "M":
        raise ValueError(
            f"The column {name!r} of y holds dates: surtree.target(event=..., start=..., end=...) "
            "makes times of a start and an end"
        )
    return read_array(name, array)


def as_differences(array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's time differences as NumPy's, and any other array as it is."""
    if array.dtype.kind != "O" or not any(isinstance(cell, _DIFFERENCES) for cell in array):
        return array
    nothing = np.timedelta64("NaT")
    cells = [cell if isinstance(cell, _DIFFERENCES) else nothing for cell in array]
    return np.array(cells, dtype="timedelta64[us]")


def event_first(columns: Sequence[Column]) -> tuple[Column, Column]:
    """Return the event and the time of two columns, in whichever order they come."""
    first, second = columns
    if "boolean" in (first.kind, second.kind):
        return (first, second) if first.kind == "boolean" else (second, first)
    marks = [is_indicator(column) for column in columns]
    if all(marks):
        raise ValueError(
            f"Both columns of y, {first.name!r} and {second.name!r}, hold nothing but 0 and 1: "
            "make the event boolean, or say which is which: surtree.target(event=..., time=...)"
        )
    if not any(marks):
        raise _no_event(min(columns, key=n_values))
    return (first, second) if marks[0] else (second, first)


def read_event(column: Column) -> NDArray[np.bool_]:
    """Return whether the event happened, or raise an error that says what the column holds."""
    if not (column.kind == "boolean" or is_indicator(column)):
        raise _no_event(column)
    if column.has_missing:
        raise ValueError(f"The event column {column.name!r} of y: {_lacking(column)}")
    return np.asarray(column.values == 1)


def as_rows(y: Any) -> Any:
    """Return a target whose rows can be counted and taken: a pair of arrays is made one array."""
    if not (isinstance(y, tuple) or _is_greenwood(y)):
        return y
    columns = read_columns(y)
    if len({len(column.values) for column in columns}) != 1 or len(columns) != 2:
        return y  # which reading it as a target refuses
    types = [(c.name, bool if c.kind == "boolean" else float) for c in columns]
    rows = np.empty(len(columns[0].values), dtype=types)
    for column in columns:
        rows[column.name] = column.values
    return rows


def is_indicator(column: Column) -> bool:
    """Return whether a column holds nothing but 0 and 1, missing values aside."""
    if isinstance(column, Duration) or column.kind == "categorical":
        return False
    marks = (column.values == 0) | (column.values == 1)
    return bool((marks | column.missing).all() and marks.any())


def n_values(column: Column) -> int:
    """Return how many values a column has, fewer for texts, which are no times."""
    return -1 if column.kind == "categorical" else len(np.unique(column.values))


def _no_event(column: Column) -> ValueError:
    codes: list[object]
    if column.kind == "categorical":
        codes = [*(column.known or ())]
        shown = [str(code) for code in codes]
    else:
        numbers: list[float] = np.unique(column.values[~column.missing]).tolist()
        shown = [f"{number:g}" for number in numbers]
        codes = [int(number) if number.is_integer() else number for number in numbers]
    held = ", ".join(shown[:_MOST_SHOWN]) + (", ..." if len(shown) > _MOST_SHOWN else "")
    return ValueError(
        f"The event column {column.name!r} of y holds {held}: it must be boolean (True where the "
        f"event happened), or hold 0 and 1, {_advice(codes)}{_lacking(column, also='; ')}"
    )


def _advice(codes: list[object]) -> str:
    meaning = read_event_codes(codes)
    options = [f"surtree.target(event=status == {code!r}, time=...)" for code in meaning.events]
    if meaning.are_causes:
        return f"as in {options[0]} for one of several causes; CompetingRisksTree takes all of them"
    if not options:
        return "as in surtree.target(event=status == code, time=...) with the code of the event"
    why = f", {meaning.why}" if meaning.why else ""
    return f"as in {' or '.join(options)}{why}"


def _lacking(column: Column, also: str = "") -> str:
    """Return how many rows lack the event, if some do."""
    n_absent = int(column.missing.sum())
    if not n_absent:
        return ""
    verb, what = ("lacks", "it") if n_absent == 1 else ("lack", "them")
    n_rows = column.values.size
    return f"{also}{plural(n_absent, 'row')} of {n_rows} {verb} the event: drop {what}"


def _is_greenwood(y: Any) -> bool:
    """Return whether y is a response of greenwood, which need not be installed."""
    return type(y).__module__.partition(".")[0] == "greenwood"


def _greenwood_columns(y: Any) -> list[Column]:
    kind = str(getattr(getattr(y, "type", None), "value", type(y).__name__))
    if kind not in ("right", "mright"):
        remedy = (
            "pass y=surtree.target(event=y.event, time=y.stop) and entry=y.start"
            if kind in ("counting", "mcounting")
            else "pass a right-censored greenwood.Surv"
        )
        raise ValueError(f"y is a response of greenwood of the type {kind}: {remedy}")
    return [read_array("status", y.status), read_array("time", y.stop)]
