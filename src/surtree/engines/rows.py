"""The rows of a batch that count: their target, their weights, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.named import RowInputs, require_columns, require_once
from surtree.data.table import Column
from surtree.data.target import (
    RowsError,
    Target,
    check_target,
    check_weights,
    event_and_time,
    read_time,
)
from surtree.data.target_columns import event_first, is_indicator, read_event
from surtree.engines._batches import Batch

# The error names the refused column with the smaller number.
_ROWS_FIRST, _TEXTS_FIRST = -2, -1


class NotTheEventError(ValueError):
    """The column that was taken for the event is not; the other one of the target may be."""

    def __init__(self, text: str, n_distinct: int) -> None:
        super().__init__(text, n_distinct)
        self.text = text
        self.n_distinct = n_distinct

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class TargetNames:
    """The columns of a table that are no questions."""

    # The event and the time, or the time alone. Which of two columns is the event is known from all
    # rows only: where a batch shows that it is not the first, `read` raises `NotTheEventError`.
    y: tuple[str, ...]
    entry: str | None = None  # when rows came under observation, and how often they count
    weight: str | None = None

    shapes = (
        'of a lazy table, y names two columns, the event and the time: y=("event", "time"); or '
        "one, of times that all are events"
    )
    least_columns = 1

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.y, *(name for name in (self.entry, self.weight) if name is not None))

    @classmethod
    def of(cls, given: RowInputs, y: tuple[str, ...]) -> Self:
        return cls(y, given.entry, given.sample_weight)

    def learn(self, causes: Iterable[int], arms: Mapping[Any, int], model: Any) -> Self:
        """Return the same with what the rows that count have: causes, and rows of each arm."""
        return self

    def of_model(self, model: Any) -> Self:
        """Return the same with what a fitted model has learnt."""
        return self

    # The causes of events, numbers above zero; the number of arms, and what these are called.
    causes: ClassVar[tuple[int, ...]] = (1,)
    n_arms: ClassVar[int] = 1
    labels: ClassVar[tuple[Any, ...]] = ()

    @property
    def example(self) -> Target:
        """A target of one row that knows what all rows have in common."""
        return self.target_of(np.array(self.causes[:1], dtype=np.intp), np.ones(1))

    @property
    def known_ends(self) -> NDArray[np.intp]:
        """The ways for a row to end: zero is censored, and more is an event of a cause."""
        return np.array([0, *self.causes], dtype=np.intp)

    def ends(self, target: Target) -> NDArray[np.intp]:
        return target.event.astype(np.intp)

    def arms(self, target: Target) -> NDArray[np.intp]:
        return np.zeros(target.time.size, dtype=np.intp)

    def arm_rows(self, target: Target) -> dict[Any, int]:
        """Return how many rows each arm has, by its label; none without arms."""
        return {}

    def target_of(
        self, ends: NDArray[np.intp], time: Floats, entry: Floats | None = None
    ) -> Target:
        return Target(ends > 0, time, entry)

    def marks(self, target: Target) -> list[NDArray[np.uint64]]:
        """Return what else belongs to the outcome of rows, for their checksums."""
        return []

    @property
    def orders(self) -> tuple[TargetNames, ...]:
        """The ways to tell the event from the time, the more likely one first."""
        return (self,) if len(self.y) == 1 else (self, replace(self, y=self.y[::-1]))

    def read(self, batch: Batch) -> CountedRows:
        if self not in batch.counted:
            batch.counted[self] = self._read_or_refuse(batch)
        return CountedRows(self, batch, *batch.counted[self])

    def is_clear(self, batch: Batch) -> bool:
        """Return whether a batch tells event and time apart: not both hold nothing but 0 and 1."""
        if len(self.y) == 1:
            return True
        event, time = map(batch.column, self.y)
        return event.kind == "boolean" or not is_indicator(time)

    def refuse_order(self) -> None:
        """Raise the error of two columns that both hold nothing but 0 and 1."""
        event_first([Column(name, "numeric", np.zeros(1)) for name in self.y])

    def _read_or_refuse(self, batch: Batch) -> tuple[Any, ...]:
        try:
            return self._read(batch)
        except RowsError as error:
            # Rows of a batch have no number that would mean something to the user.
            column = {"entry": self.entry, "sample_weight": self.weight}
            text = (
                f"Column {column.get(error.name, self.y[-1])!r} has {error.fault} (of the first "
                f"{batch.n_rows:,} rows that were read; one of them has {error.value})"
            )
            if not self.is_clear(batch):
                # Times that are events are likely to be before the entry.
                raise NotTheEventError(text, _ROWS_FIRST) from None
            raise ValueError(text) from None

    def _read(self, batch: Batch) -> tuple[Any, ...]:
        """Return all fields of the rows that count but the batch, which keeps them."""
        n_rows = batch.n_rows
        entry = None if self.entry is None else read_time(batch.column(self.entry), self.shapes)
        target = self._target(batch, entry)
        weight = np.ones(n_rows)
        if self.weight is not None:
            column = batch.column(self.weight)
            if column.kind == "categorical":
                raise ValueError(f"The weight column {self.weight!r} holds texts, not numbers")
            weight = check_weights(column.values)
        at_zero = target.censored_at_zero
        present = (weight > 0) & ~at_zero
        n_left_out = int(np.count_nonzero(at_zero & (weight > 0)))
        if present.all():
            return slice(None), target, weight, n_left_out, {}
        rows = np.flatnonzero(present)
        return rows, target.take(rows), weight[rows], n_left_out, {}

    def _target(self, batch: Batch, entry: Floats | None) -> Target:
        event, time = self._event_and_time([batch.column(name) for name in self.y])
        return check_target(event, time, batch.n_rows, entry)

    def _event_and_time(self, columns: list[Column]) -> tuple[NDArray[np.bool_], Floats]:
        if len(columns) == 1:
            return event_and_time(columns)
        event, time = columns
        if event.kind != "boolean" and (time.kind == "boolean" or not is_indicator(event)):
            try:
                read_event(event)
            except ValueError as error:
                is_text = event.kind == "categorical"
                n_distinct = _TEXTS_FIRST if is_text else np.unique(event.values).size
                raise NotTheEventError(str(error), n_distinct) from None
            raise NotTheEventError(f"{event.name!r} is not the event", 2)
        return read_event(event), read_time(time)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows of a batch that count: of positive weight, and not censored at time zero."""

    names: TargetNames  # the columns of the target
    batch: Batch  # all rows
    rows: NDArray[np.intp] | slice  # which of them count
    target: Target  # of those that do
    weight: Floats
    n_left_out: int  # how many rows of positive weight are censored at time zero
    columns: dict[str, Column]  # columns that were read already, where some rows do not count

    @property
    def n(self) -> int:
        return self.weight.size

    def column(self, name: str) -> Column:
        if isinstance(self.rows, slice):
            return self.batch.column(name)
        if name not in self.columns:
            column = self.batch.column(name)
            self.columns[name] = replace(column, values=column.values[self.rows])
        return self.columns[name]


def target_names(
    given: RowInputs, names: tuple[str, ...], kind: type[TargetNames] = TargetNames
) -> TargetNames:
    """Return the columns that a user has named as the target, and beside it."""
    y = given.y
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None: {kind.shapes}"
        )
    if isinstance(y, Mapping) and set(y) in ({"event", "time"}, {"cause", "time"}):
        y = (y.get("event", y.get("cause")), y["time"])
    columns = (y,) if isinstance(y, str) else tuple(y) if isinstance(y, list | tuple) else ()
    if not kind.least_columns <= len(columns) <= 2 or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"y is {_shown(y)}: {kind.shapes}")
    for role in ("sample_weight", "entry", "treatment"):
        name = getattr(given, role)
        if name is not None and not isinstance(name, str):
            raise ValueError(f"{role} of a lazy table is the name of a column; got {_shown(name)}")
    target = kind.of(given, columns)
    require_once(target.columns)
    require_columns(target.columns, names)
    return target


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"of type {type(value).__name__}"
