"""The target in a table: time, event, entry and weight of each row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cli._columns import WORDS, Reading, read_column, require_columns
from surtree.cli._console import UserError, failures, say
from surtree.cli._dates import read_dates
from surtree.cli._kinds import looks_like_dates
from surtree.data.causes import read_cause_target
from surtree.data.event_codes import code_word, read_event_codes
from surtree.data.persons import read_persons
from surtree.data.target import RowsError, read_target, read_weights, require_events
from surtree.data.target_array import make_target
from surtree.words.numbers import plural

_MOST_VALUES = 6
ZeroTimes = Literal["keep", "drop", "half"]


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
    group: NDArray[Any] | None = None  # rows with the same value stay together

    @property
    def event(self) -> NDArray[np.bool_]:
        """Whether a row has an event, of any cause."""
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


@dataclass(frozen=True)
class TargetColumns:
    """Where the target is in a table, and what becomes of rows that say little."""

    # A column of numbers; or two columns of dates, ``START..END``, with the days between them.
    time: str
    # A column of 0 and 1 or of words such as yes and no; or, after an equals sign, the value that
    # is the event: ``status=dead``, or several with commas between.
    event: str | None = None
    # In place of an event, a column of whole numbers, 0 where a row is censored; or, after an
    # equals sign, also the causes that the tree is to tell apart: ``status=1``.
    cause: str | None = None
    entry: str | None = None  # columns of numbers
    weight: str | None = None
    id: str | None = None  # a column of any values: rows with the same value are of one person
    # A column of any values: rows with the same value stay together in folds and samples.
    group: str | None = None
    # The arm of a trial, and the leaf of another tool's tree: no tree asks about them.
    treatment: str | None = None
    leaf: str | None = None
    drop_incomplete: bool = False  # whether rows that lack one of these are left out
    zero_times: ZeroTimes = "keep"  # what becomes of rows of time zero

    def time_columns(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the column of the time, or the two columns of dates that it is between."""
        start, dots, end = self.time.partition("..")
        return (self.time,) if self.time in frame.columns or not dots else (start, end)

    def event_and_values(self, frame: pl.DataFrame) -> tuple[str, list[str]]:
        """Return the column of the event or the cause, and the values that are named with it."""
        asked = self.event if self.cause is None else self.cause
        assert asked is not None
        return _split_event(frame, asked)

    def roles(self, frame: pl.DataFrame) -> dict[str, str]:
        """Return what each of the columns is."""
        event, _ = self.event_and_values(frame)
        times = self.time_columns(frame)
        named: dict[str | None, str] = dict(
            zip(times, ("time",) if len(times) == 1 else ("start", "end"), strict=True)
        )
        named |= {
            event: "event" if self.cause is None else "cause",
            self.entry: "entry",
            self.weight: "weight",
            self.id: "person",
            self.group: "group",
            self.treatment: "arm",
            self.leaf: "leaf",
        }
        return {name: role for name, role in named.items() if name is not None}

    def complete_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that lack none of the columns, or raise an error that counts others."""
        names = list(self.roles(frame))
        require_columns(frame, names)
        for name in names:
            absent = frame[name].null_count()
            if absent and not self.drop_incomplete:
                raise UserError(
                    f"column {name!r} has no value in {absent} of {len(frame)} rows: "
                    "--drop-incomplete leaves such rows out"
                )
        complete = frame.drop_nulls(names)
        if not len(complete):
            raise UserError(f"every row lacks a value of {', '.join(names)}")
        if len(complete) < len(frame):
            say(
                f"surtree: {len(frame) - len(complete)} of {len(frame)} rows lack a value of "
                f"{', '.join(names)}, and are left out"
            )
        return complete


def read_survival(frame: pl.DataFrame, target: TargetColumns) -> Survival:
    """Read the target."""
    event_column, values = target.event_and_values(frame)
    causes = None if target.cause is None else _chosen_causes(event_column, values)
    times = _with_zeros(_times(frame, target.time_columns(frame)), target)
    if target.cause is None:
        y = make_target(_events(frame[event_column], values), times)
    else:
        y = _cause_target(frame[event_column], times)
    entries = None if target.entry is None else _numbers(frame[target.entry])
    weights = None if target.weight is None else _numbers(frame[target.weight])
    about = {"y": target.time, "entry": str(target.entry), "sample_weight": str(target.weight)}
    with _about_columns(about):
        read = read_target if causes is None else read_cause_target
        found = read(y, len(y), entries)
        counts = read_weights(weights, len(y))
    drop_all = target.zero_times == "drop"
    left_out = (found.time == 0 if drop_all else found.censored_at_zero) & (counts > 0)
    counted = np.where(left_out, 0.0, counts)
    if left_out.any():
        what = "have the" if drop_all else "are censored at"
        why = ", and" if drop_all else ": they say nothing about survival, and"
        say(
            f"surtree: {left_out.sum()} of {len(y)} rows {what} time zero in column "
            f"{target.time!r}{why} are left out"
        )
        weights = counted
    with failures(ValueError):
        require_events(found.take(np.flatnonzero(counted)))
    persons = None
    if target.id is not None:
        persons = frame[target.id].cast(pl.String).to_numpy()
        with failures(ValueError, about=f"column {target.id!r}: "):
            read_persons(persons, found.time, found.entry)
    groups = None if target.group is None else frame[target.group].to_numpy()
    if target.id is not None and target.group is not None:
        _require_persons_in_groups(frame, target.id, target.group)
    return Survival(y, entries, weights, frozenset(target.roles(frame)), persons, causes, groups)


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
        f"surtree: {is_zero.sum()} of {len(time)} rows have the time zero in column "
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
    if looks_like_dates(series):
        raise UserError(
            f"column {series.name!r} holds dates such as {str(series[0])!r}, not numbers: "
            "--time START..END counts the days between two columns of dates"
        )
    return read_column(series, Reading("numeric")).to_numpy()


def _events(series: pl.Series, values: list[str]) -> NDArray[np.bool_]:
    found = series.unique().sort().to_list()
    if values:
        return _matches(series, values, found)
    words = {value: WORDS.get(code_word(value)) for value in found}
    if None in words.values():
        shown = ", ".join(str(value) for value in found[:_MOST_VALUES])
        raise UserError(
            f"column {series.name!r} holds {shown}{', ...' if len(found) > _MOST_VALUES else ''}: "
            f"say which value is the event, as in {_advice(series.name, found)}"
        )
    return np.array([words[value] for value in series], dtype=bool)


def _advice(name: str, found: list[object]) -> str:
    """Return the option that names the event, for each value that may be it."""
    meaning = read_event_codes(found)
    options = [f"--event {quote(f'{name}={value}')}" for value in meaning.events]
    if meaning.are_causes:
        return (
            f"{options[0]} for one of several causes; surtree fit --cause {quote(name)} takes all "
            "of them"
        )
    if not options:
        return f"--event {quote(f'{name}=VALUE')}"
    return f"{' or '.join(options)}{f', {meaning.why}' if meaning.why else ''}"


def _matches(series: pl.Series, values: list[str], found: list[object]) -> NDArray[np.bool_]:
    wanted = set(map(code_word, values))
    absent = wanted - set(map(code_word, found))
    if absent:
        raise UserError(
            f"column {series.name!r} never holds {', '.join(sorted(absent))}: "
            f"it holds {', '.join(map(str, found[:_MOST_VALUES]))}"
        )
    return np.array([code_word(value) in wanted for value in series], dtype=bool)
