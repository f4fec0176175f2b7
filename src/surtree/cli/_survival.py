"""The target in a table: time, event, entry and weight of each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cli._console import say
from surtree.cli._target import TargetColumns
from surtree.data.causes import read_cause_target
from surtree.data.persons import read_persons
from surtree.data.target import RowsError, read_target, read_weights, require_events
from surtree.data.target_array import cause_target, make_target
from surtree.data.target_columns import code_word, read_event_codes
from surtree.reading.columns import WORDS, Reading, read_column
from surtree.reading.errors import UserError, failures
from surtree.reading.kinds import looks_like_dates
from surtree.reading.numbers import read_dates
from surtree.words.numbers import plural

_MOST_VALUES = 6


@dataclass(frozen=True)
class Survival:
    """The target of each row, as estimators take it."""

    y: NDArray[np.void]  # event and time; with competing risks, cause and time
    # When each row came under observation, and how often it counts: not at all if it is censored at
    # time zero.
    entry: Floats | None
    weight: Floats | None
    columns: frozenset[str]  # the columns of the table that these are
    id: NDArray[Any] | None = None  # whose row it is
    # With competing risks, the causes that the tree is to tell apart; none for all of them.
    causes: tuple[int, ...] | None = None
    cause_names: dict[int, str] | None = None  # where the column of causes holds texts
    group: NDArray[Any] | None = None  # rows with the same value stay together
    arm: NDArray[Any] | None = None  # in a trial, the arm of each row

    @property
    def inputs(self) -> dict[str, Any]:
        """What is passed for each row beside its columns, by the names of parameters."""
        given = {"y": self.y, "sample_weight": self.weight, "entry": self.entry}
        given |= {"id": self.id, "treatment": self.arm}
        return {name: value for name, value in given.items() if value is not None}

    def named_as(self, names: Mapping[int, str] | None) -> Survival:
        """Return the same causes, by the numbers that a model has for their names."""
        if self.cause_names is None:
            return self
        number = {name: cause for cause, name in (names or {}).items()}
        absent = [name for name in self.cause_names.values() if name not in number]
        if absent:
            known = ", ".join(number) or "numbers without names"
            raise UserError(f"the model has no cause {absent[0]!r}; its causes are {known}")
        y = self.y.copy()
        for own, name in self.cause_names.items():
            y["cause"][self.y["cause"] == own] = number[name]
        return replace(self, y=y, cause_names=None)

    @property
    def event(self) -> NDArray[np.bool_]:
        return np.asarray(self.y["event" if self.causes is None else "cause"] > 0)

    @property
    def n_events(self) -> int:
        """The number of rows with an event, of any cause."""
        return int(np.count_nonzero(self.event))

    @property
    def n_with_event(self) -> int:
        """How many of those that stay together have an event: groups, persons or rows."""
        together = self.id if self.group is None else self.group
        return self.n_events if together is None else len(set(together[self.event].tolist()))


def read_survival(frame: pl.DataFrame, target: TargetColumns) -> Survival:
    event_column, values = target.event_and_values(frame)
    causes, names = None, None
    if target.cause is not None and frame[event_column].dtype.is_numeric():
        causes = _chosen_causes(event_column, values)
    elif target.cause is not None:
        causes, names = (), _text_causes(frame[event_column], values)
    times = _with_zeros(_times(frame, target.time_columns(frame)), target)
    if target.cause is None:
        y = make_target(_events(frame[event_column], values), times)
    elif names is None:
        y = _cause_target(frame[event_column], times)
    else:
        with failures(ValueError):
            y = cause_target(frame[event_column].cast(pl.String), [*names.values()], times)
    entries = None if target.entry is None else _numbers(frame[target.entry])
    weights = None if target.weight is None else _numbers(frame[target.weight])
    about = {"y": target.time, "entry": str(target.entry), "sample_weight": str(target.weight)}
    with _about_columns(about):
        read = read_target if causes is None else read_cause_target
        rows = read(y, len(y), entries)
        counts = read_weights(weights, len(y))
    drop_all = target.zero_times == "drop"
    left_out = (rows.time == 0 if drop_all else rows.censored_at_zero) & (counts > 0)
    counted = np.where(left_out, 0.0, counts)
    if left_out.any():
        what = "have the" if drop_all else "are censored at"
        why = ", and" if drop_all else ": they say nothing about survival, and"
        say(
            f"{left_out.sum()} of {len(y)} rows {what} time zero in column "
            f"{target.time!r}{why} are left out"
        )
        weights = counted
    with failures(ValueError):
        require_events(rows.take(np.flatnonzero(counted)))
    persons = None
    if target.id is not None:
        persons = frame[target.id].cast(pl.String).to_numpy()
        with failures(ValueError, about=f"column {target.id!r}: "):
            read_persons(persons, rows.time, rows.entry)
    groups = None if target.group is None else frame[target.group].to_numpy()
    if target.id is not None and target.group is not None:
        _require_persons_in_groups(frame, target.id, target.group)
    arms = None
    if target.treatment is not None:
        arms = read_column(frame[target.treatment], Reading("categorical")).to_numpy()
    columns = frozenset(target.roles(frame))
    return Survival(y, entries, weights, columns, persons, causes, names, groups, arms)


def _require_persons_in_groups(frame: pl.DataFrame, id: str, group: str) -> None:
    n_groups = frame.group_by(id).agg(pl.col(group).n_unique())[group]
    if (n_groups > 1).any():
        raise UserError(
            f"{(n_groups > 1).sum()} persons of column {id!r} have rows of several values of "
            f"column {group!r}: rows of a person stay together, so --group needs larger groups"
        )


def _times(frame: pl.DataFrame, columns: tuple[str, ...]) -> Floats:
    if len(columns) == 1:
        return _numbers(frame[columns[0]])
    start, end = columns
    days = (read_dates(frame[end]) - read_dates(frame[start])) / np.timedelta64(1, "D")
    wrong = days < 0
    if wrong.any():
        raise UserError(
            f"column {end!r} is before column {start!r} in {plural(int(wrong.sum()), 'row')} (the "
            f"first is row {int(np.argmax(wrong)) + 1}: {frame[end][int(np.argmax(wrong))]} and "
            f"{frame[start][int(np.argmax(wrong))]})"
        )
    return days


def _with_zeros(time: Floats, target: TargetColumns) -> Floats:
    """Return the times; zeros as half of the shortest time above zero, if the user wants that."""
    is_zero = time == 0
    if target.zero_times != "half" or not is_zero.any() or not (time > 0).any():
        return time
    half = float(time[time > 0].min()) / 2
    say(
        f"{is_zero.sum()} of {len(time)} rows have the time zero in column "
        f"{target.time!r}: read as {half:g}, half of the shortest time above zero"
    )
    return np.where(is_zero, half, time)


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


def _text_causes(series: pl.Series, values: list[str]) -> dict[int, str]:
    """Return the causes among the texts of a column, numbered in the order that they are given."""
    present = sorted({str(one) for one in series.drop_nulls().to_list()})
    if not values:
        raise UserError(
            f"column {series.name!r} holds texts: say which are causes, as in --cause "
            f"{quote(series.name)}={','.join(map(quote, present[-2:]))}; rows of others are "
            f"censored ({', '.join(present[:6])})"
        )
    others = [text for text in present if text not in values]
    if others:
        say(f"column {series.name!r}: rows of {', '.join(map(repr, others[:6]))} are censored")
    return dict(enumerate(values, start=1))


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


def _numbers(series: pl.Series) -> Floats:
    if looks_like_dates(series):
        raise UserError(
            f"column {series.name!r} holds dates such as {str(series[0])!r}, not numbers: "
            "--time START..END counts the days between two columns of dates"
        )
    return read_column(series, Reading("numeric")).to_numpy()


def _events(series: pl.Series, wanted: list[str]) -> NDArray[np.bool_]:
    happened = event_by_value(series.name, series.unique().sort().to_list(), wanted)
    return np.array([happened[value] for value in series], dtype=bool)


def event_by_value(name: str, values: list[object], wanted: list[str]) -> dict[object, bool]:
    """Return whether each value of a column is the event, or raise an error that asks which is."""
    shown = ", ".join(map(str, values[:_MOST_VALUES]))
    if wanted:
        codes = set(map(code_word, wanted))
        absent = codes - set(map(code_word, values))
        if absent:
            raise UserError(
                f"column {name!r} never holds {', '.join(sorted(absent))}: it holds {shown}"
            )
        return {value: code_word(value) in codes for value in values}
    known = {value: WORDS.get(code_word(value)) for value in values}
    happened = {value: word for value, word in known.items() if word is not None}
    if len(happened) < len(values):
        more = ", ..." if len(values) > _MOST_VALUES else ""
        raise UserError(
            f"column {name!r} holds {shown}{more}: say which value is the event, as in "
            f"{_advice(name, values)}"
        )
    return happened


def _advice(name: str, values: list[object]) -> str:
    """Return the option that names the event, for each value that may be it."""
    meaning = read_event_codes(values)
    options = [f"--event {quote(f'{name}={value}')}" for value in meaning.events]
    if meaning.are_causes:
        return (
            f"{options[0]} for one of several causes; surtree fit --cause {quote(name)} takes all "
            "of them"
        )
    if not options:
        return f"--event {quote(f'{name}=VALUE')}"
    return f"{' or '.join(options)}{f', {meaning.why}' if meaning.why else ''}"
