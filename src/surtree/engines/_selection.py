"""The pass that collects the values around the quantiles of long columns."""

from __future__ import annotations

from dataclasses import dataclass

from surtree.engines._batches import Batch
from surtree.engines._quantiles import Intervals, Selection
from surtree.engines.rows import TargetNames


@dataclass(frozen=True, eq=False)
class SelectionPass:
    """The pass over columns with too many distinct values to keep."""

    names: TargetNames  # the columns of the target
    # For each column, by its name, the intervals whose values are wanted.
    intervals: dict[str, Intervals]
    repeated: bool  # whether a row of weight k counts as k rows
    title = "quantiles"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *self.intervals)

    def start(self) -> dict[str, Selection]:
        return {name: Selection.empty(len(intervals)) for name, intervals in self.intervals.items()}

    def add(self, partial: dict[str, Selection], batch: Batch) -> dict[str, Selection]:
        rows = self.names.read(batch)
        for name, intervals in self.intervals.items():
            column = rows.column(name)
            present = ~column.missing if column.has_missing else slice(None)
            values = column.values[present]
            repeats = rows.weight[present] if self.repeated else None
            partial[name] = partial[name] + Selection.of(values, repeats, intervals)
        return partial

    def merge(self, one: dict[str, Selection], other: dict[str, Selection]) -> dict[str, Selection]:
        return {name: one[name] + other[name] for name in self.intervals}
