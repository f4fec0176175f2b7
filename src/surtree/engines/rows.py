"""The rows of a batch that count: their target, their weights, and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.named import require_columns, require_once
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
from surtree.engines.batches import Batch

_SHAPES = (
    'of a lazy table, y names two columns, the event and the time: y=("event", "time"); or one, of '
    "times that all are events"
)
# Of two columns that are refused, the one with the smaller number is told of.
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

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.y, *(name for name in (self.entry, self.weight) if name is not None))

    @property
    def orders(self) -> tuple[TargetNames, ...]:
        """The ways to tell the event from the time, the more likely one first."""
        return (self,) if len(self.y) == 1 else (self, replace(self, y=self.y[::-1]))

    def read(self, batch: Batch) -> CountedRows:
        """Return the rows of a batch that count."""
        if self not in batch.counted:
            batch.counted[self] = self._read_or_refuse(batch)
        return CountedRows(batch, *batch.counted[self])

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
            column = {"y": self.y[-1], "entry": self.entry, "sample_weight": self.weight}
            text = (
                f"Column {column[error.name]!r} has {error.fault} (of the first "
                f"{batch.n_rows:,} rows that were read; one of them has {error.value})"
            )
            if not self.is_clear(batch):
                # Times that are events are likely to be before the entry.
                raise NotTheEventError(text, _ROWS_FIRST) from None
            raise ValueError(text) from None

    def _read(self, batch: Batch) -> tuple[Any, ...]:
        """Return all fields of the rows that count but the batch, which keeps them."""
        n_rows = batch.n_rows
        event, time = self._event_and_time([batch.column(name) for name in self.y])
        entry = None if self.entry is None else read_time(batch.column(self.entry), _SHAPES)
        target = check_target(event, time, n_rows, entry)
        weight = np.ones(n_rows)
        if self.weight is not None:
            column = batch.column(self.weight)
            if column.kind == "categorical":
                raise ValueError(f"The weight column {self.weight!r} holds texts, not numbers")
            weight = check_weights(column.values)
        at_zero = target.censored_at_zero
        present = (weight > 0) & ~at_zero
        n_left_out = int(np.count_nonzero(at_zero & (weight > 0)))
        is_weighted = self.weight is not None
        if present.all():
            return slice(None), target, weight, n_left_out, is_weighted, {}
        rows = np.flatnonzero(present)
        return rows, target.take(rows), weight[rows], n_left_out, is_weighted, {}

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

    batch: Batch  # all rows
    rows: NDArray[np.intp] | slice  # which of them count
    target: Target  # of those that do
    weight: Floats
    n_left_out: int  # how many rows of positive weight are censored at time zero
    is_weighted: bool  # whether the table has weights
    columns: dict[str, Column]  # columns that were read already, where some rows do not count

    @property
    def n(self) -> int:
        """How many rows count."""
        return self.weight.size

    def column(self, name: str) -> Column:
        """Return a column of the rows that count."""
        if isinstance(self.rows, slice):
            return self.batch.column(name)
        if name not in self.columns:
            column = self.batch.column(name)
            self.columns[name] = replace(column, values=column.values[self.rows])
        return self.columns[name]


def target_names(y: Any, sample_weight: Any, entry: Any, names: tuple[str, ...]) -> TargetNames:
    """Return the columns that a user has named as the target, the entry times and the weights."""
    if y is None:
        raise ValueError(
            f"This estimator requires y to be passed, but the target y is None: {_SHAPES}"
        )
    if isinstance(y, Mapping) and set(y) == {"event", "time"}:
        y = (y["event"], y["time"])
    given = (y,) if isinstance(y, str) else tuple(y) if isinstance(y, list | tuple) else ()
    if not 1 <= len(given) <= 2 or not all(isinstance(name, str) for name in given):
        raise ValueError(f"y is {_shown(y)}: {_SHAPES}")
    for what, name in (("sample_weight", sample_weight), ("entry", entry)):
        if name is not None and not isinstance(name, str):
            raise ValueError(f"{what} of a lazy table is the name of a column; got {_shown(name)}")
    found = TargetNames(given, entry, sample_weight)
    require_once(found.columns)
    require_columns(found.columns, names)
    return found


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"of type {type(value).__name__}"
