"""The survival target: time, event and entry of each row, read and checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.exact import Terms
from surtree._support.package import user_level
from surtree._support.types import Floats
from surtree.data.persons import (
    Persons,
    find_spells,
    going_on,
    person_shares,
    read_persons,
    require_length,
    tell_copies_apart,
)
from surtree.data.table import Column, Table
from surtree.data.target_columns import SHAPES, event_first, read_columns, read_event
from surtree.words.numbers import plural

# Ticks of a time axis outside of these limits would underflow or overflow.
_LEAST_TIME, _GREATEST_TIME = 1e-100, 1e100

_ALL_EVENTS = (
    "y is an array of times alone: every row counts as an event. If some rows are censored, pass "
    "surtree.target(event=..., time=...); if none is, event=True there says so"
)

# The largest weight, and the inverse of the smallest: sums and products must not overflow.
_GREATEST_WEIGHT = 1e100


class AllEventsWarning(UserWarning):
    """A target of times alone: every row counts as an event.

    Examples
    --------
    >>> import warnings
    >>> from surtree import AllEventsWarning, SurTree
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AllEventsWarning)
    ...     model = SurTree(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [5.0, 6.0, 1.0, 2.0])
    >>> int(model.tree_.n_events[0])
    4
    """


class _AllEvents:
    """The warning of times alone, once for a program and not again for each fold of a search.

    Python's own filter "once" forgets what it has shown whenever a filter is set, as
    scikit-learn's and our searches do.
    """

    warned = False

    @classmethod
    def warn(cls) -> None:
        if not cls.warned:
            warnings.warn(_ALL_EVENTS, AllEventsWarning, stacklevel=user_level())
            cls.warned = True


class RowsError(ValueError):
    """Some rows of what the user passed cannot be used."""

    def __init__(self, name: str, fault: str, value: float, row: int) -> None:
        super().__init__(name, fault, value, row)
        self.name = name
        self.fault = fault
        self.value = value
        self.row = row

    def __str__(self) -> str:
        return (
            f"{self.name} has {self.fault} (the first is {self.value} in row {self.row}, "
            "counted from 0)"
        )


Label = str | int | float | bool


def _nothing() -> NDArray[np.intp]:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Target:
    """The survival of each row."""

    event: NDArray[np.bool_]  # whether the event happened, else the row is censored
    time: Floats  # when it happened, or when the row was last seen; zero or later
    # When the row came under observation, before its time; None when all did at zero.
    entry: Floats | None = None
    # The person that each row is a part of (start-stop rows); None when each row is its own.
    person: Persons | None = None
    # Where rows are parts of persons: the same number for rows of a person that follow each other
    # and have the same covariates, which no tree can tell apart.
    spell: Persons | None = None
    # With competing risks: the cause of each row, from 1, and zero where it is censored; and all
    # causes that there are, ascending, of which these rows may lack some.
    cause: NDArray[np.intp] = field(default_factory=_nothing)
    causes: tuple[int, ...] = ()
    # In a trial: the number of the arm of each row, from 0; and what arms are called.
    arm: NDArray[np.intp] = field(default_factory=_nothing)
    labels: tuple[Label, ...] = ()

    @property
    def censored_at_zero(self) -> NDArray[np.bool_]:
        """Which rows are censored at time zero: they say nothing about survival."""
        return np.asarray(~self.event & (self.time == 0))

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The positions of the rows, by ascending time."""
        return np.argsort(self.time)

    @cached_property
    def share(self) -> Floats | None:
        """The share of its person's time at risk that each row has; None without persons."""
        return None if self.person is None else person_shares(self.person, self.time, self.entry)

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Which rows end without an event, and without another row of the same person."""
        if self.person is None or self.entry is None:
            return ~self.event
        return ~self.event & ~going_on(self.person, self.time, self.entry)

    def narrowed(self, present: NDArray[np.bool_]) -> Target:
        """Return the same rows, with the causes of those that count; each arm must have one."""
        n_absent = 0
        if self.labels:
            n_absent = len(self.labels) - np.unique(self.arm[present]).size
        if n_absent:
            raise ValueError(
                f"{n_absent} of {len(self.labels)} arms have no row of positive weight."
            )
        if not self.causes:
            return self
        causes = np.unique(self.cause[present & self.event]).tolist()
        return replace(self, causes=tuple(causes))

    def with_arms(self, arm: NDArray[np.intp], labels: tuple[Label, ...] = ()) -> Target:
        return replace(self, arm=arm, labels=labels)

    def take(self, rows: NDArray[Any]) -> Target:
        """Return the rows at these positions, or those that a mask marks.

        Of a position that is given twice, the second row is another person's.
        """
        entry = None if self.entry is None else self.entry[rows]
        person, spell = (
            None if part is None else tell_copies_apart(part, rows)
            for part in (self.person, self.spell)
        )
        return replace(
            self,
            event=self.event[rows],
            time=self.time[rows],
            entry=entry,
            person=person,
            spell=spell,
            cause=self.cause[rows] if self.cause.size else self.cause,
            arm=self.arm[rows] if self.arm.size else self.arm,
        )

    def with_spells(self, table: Table) -> Target:
        """Return the same with its spells, where rows are parts of persons."""
        if self.person is None:
            return self
        columns = (table.column(position).values for position in range(table.n_columns))
        return replace(self, spell=find_spells(self.person, self.time, self.entry, columns))

    def total(self, weight: Floats) -> float:
        """Return the weight of all rows; where they are parts of persons, that of the persons."""
        return Terms.of(weight if self.share is None else weight * self.share).total


def read_target(
    y: Any, n_rows: int | None = None, entry: ArrayLike | None = None, id: ArrayLike | None = None
) -> Target:
    target = check_target(*_read_event_and_time(y), n_rows, entry)
    if id is None:
        return target
    return replace(target, person=read_persons(id, target.time, target.entry))


def check_target(
    event: NDArray[np.bool_], time: Floats, n_rows: int | None, entry: ArrayLike | None = None
) -> Target:
    """Return the target of rows, or raise an error that names what cannot be used."""
    if len(event) != len(time):
        raise ValueError(f"y has {len(event)} events and {len(time)} times")
    require_length("y", len(time), len(time) if n_rows is None else n_rows)
    extreme = (time > 0) & ((time < _LEAST_TIME) | (time > _GREATEST_TIME))
    span = f"neither zero nor between {_LEAST_TIME:g} and {_GREATEST_TIME:g}"
    for rows, what, remedy in (
        (~np.isfinite(time), "times that are not finite numbers", "drop such rows"),
        (time < 0, "negative times", "drop such rows"),
        (extreme, f"times that are {span}", "count time in another unit"),
    ):
        _refuse("y", rows, time, what, remedy)
    target = Target(event, time + 0.0)  # which has no negative zero
    if entry is not None:
        target = replace(target, entry=_read_entry(entry, target))
    return target


def require_events(target: Target) -> None:
    """Raise an error if no row has an event after time zero: there is no curve to learn."""
    late = bool(target.time[target.event].any())
    require_event_counts(len(target.event), int(target.event.sum()), late)


def require_event_counts(n_rows: int, n_events: int, late: bool) -> None:
    """Raise an error when there is no event, or none after time zero."""
    if not n_rows:
        raise ValueError("There are no rows: at least one row with an event is needed")
    if not n_events:
        raise ValueError(f"All {n_rows} rows are censored: at least one row needs an event")
    if not late:
        raise ValueError(
            f"Every event is at time zero ({n_events} of {n_rows} rows): a survival curve needs "
            "one at a later time"
        )


def read_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = check_weights(_read_numbers("sample_weight", sample_weight, n_rows))
    if not weight.any():
        raise ValueError(f"sample_weight is zero in all {n_rows} rows: at least one must count")
    return weight


def check_weights(weight: Floats) -> Floats:
    """Return the weights of rows, or raise an error that names what cannot be used."""
    most, least = _GREATEST_WEIGHT, 1 / _GREATEST_WEIGHT
    more = "multiply all weights by a large number, or give such rows a weight of zero"
    for rows, what, remedy in (
        (~np.isfinite(weight), "weights that are not finite numbers", "drop such rows"),
        (weight < 0, "negative weights", "a weight is zero or more"),
        (weight > most, f"weights above {most:g}", "divide all weights by a large number"),
        ((weight > 0) & (weight < least), f"weights above zero and below {least:g}", more),
    ):
        _refuse("sample_weight", rows, weight, what, remedy)
    return weight


def _read_event_and_time(y: Any) -> tuple[NDArray[np.bool_], Floats]:
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None. {SHAPES}"
        )
    return event_and_time(read_columns(y))


def event_and_time(columns: list[Column]) -> tuple[NDArray[np.bool_], Floats]:
    if len(columns) == 1:
        time = read_time(columns[0])
        _AllEvents.warn()
        return np.ones(len(time), dtype=bool), time
    if len(columns) != 2:
        raise ValueError(f"y has {len(columns)} columns. {SHAPES}")
    event, time_column = event_first(columns)
    return read_event(event), read_time(time_column)


def read_time(column: Column, shapes: str = SHAPES) -> Floats:
    if column.kind != "numeric":
        held = "booleans" if column.kind == "boolean" else "texts"
        raise ValueError(
            f"The time column {column.name!r} of y holds {held}, not numbers. {shapes}"
        )
    return column.values


def _read_entry(entry: ArrayLike, target: Target) -> Floats:
    values = _read_numbers("entry", entry, len(target.time))
    # A row that is censored at zero may enter there: it says nothing, and is left out.
    late = (values > target.time) | ((values == target.time) & ~target.censored_at_zero)
    for rows, what, remedy in (
        (~np.isfinite(values), "entry times that are not finite numbers", "drop such rows"),
        (values < 0, "negative entry times", "observation starts at zero or later"),
        (late, "entry times that are not before the row's time", "drop such rows"),
    ):
        _refuse("entry", rows, values, what, remedy)
    return values


def _read_numbers(name: str, values: ArrayLike, n_rows: int) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds a whole number that is too large for a float") from None
    if numbers.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {numbers.shape}")
    require_length(name, len(numbers), n_rows)
    return numbers


def _refuse(name: str, rows: NDArray[np.bool_], values: Floats, what: str, remedy: str) -> None:
    if rows.any():
        first = int(np.argmax(rows))
        fault = f"{what} in {plural(int(rows.sum()), 'row')}: {remedy}"
        raise RowsError(name, fault, float(values[first]), first)
