"""The rows of a batch that count: their target, their weights, and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
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
from surtree.streaming.batches import Batch

_SHAPES = (
    'of a lazy table, y names two columns, the event and the time: y=("event", "time"); or one, of '
    "times that all are events"
)


@dataclass(frozen=True)
class TargetNames:
    """The columns of a table that are no questions.

    Parameters
    ----------
    y : tuple of str
        The event and the time, or the time alone.
    entry, weight : str, optional
        When rows came under observation, and how often they count.
    """

    y: tuple[str, ...]
    entry: str | None = None
    weight: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.y, *(name for name in (self.entry, self.weight) if name is not None))

    def read(self, batch: Batch) -> CountedRows:
        """Return the rows of a batch that count."""
        try:
            return self._read(batch)
        except RowsError as error:
            # Rows of a batch have no number that would mean something to the user.
            is_last = len(self.y) == 1 or batch.column(self.y[-1]).kind != "boolean"
            time = self.y[-1 if is_last else 0]
            column = {"y": time, "entry": self.entry, "sample_weight": self.weight}
            raise ValueError(
                f"Column {column[error.name]!r} has {error.fault} (of the first "
                f"{batch.n_rows:,} rows that were read; one of them has {error.value})"
            ) from None

    def _read(self, batch: Batch) -> CountedRows:
        n_rows = batch.n_rows
        event, time = event_and_time([batch.column(name) for name in self.y])
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
        if present.all():
            return CountedRows(batch, slice(None), target, weight, n_left_out)
        rows = np.flatnonzero(present)
        return CountedRows(batch, rows, target.take(rows), weight[rows], n_left_out)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows of a batch that count: those of positive weight that say something about survival.

    Parameters
    ----------
    batch : Batch
        All rows.
    rows : array of int or slice
        Which of them count.
    target, weight : Target, array of float
        Of those that do.
    n_left_out : int
        How many rows of positive weight are censored at time zero.
    """

    batch: Batch
    rows: NDArray[np.intp] | slice
    target: Target
    weight: Floats
    n_left_out: int = 0

    @property
    def n(self) -> int:
        """How many rows count."""
        return self.weight.size

    def column(self, name: str) -> Column:
        """Return a column of the rows that count."""
        column = self.batch.column(name)
        if isinstance(self.rows, slice):
            return column
        return replace(column, values=column.values[self.rows])


def target_names(y: Any, sample_weight: Any, entry: Any, names: tuple[str, ...]) -> TargetNames:
    """Return the columns that a user has named as the target, the entry times and the weights.

    Parameters
    ----------
    y : tuple of str, mapping or str
        Names of the event and the time.
    sample_weight, entry : str or None
        Names of columns.
    names : tuple of str
        The columns that the table has.
    """
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
