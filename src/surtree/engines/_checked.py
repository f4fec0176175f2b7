"""A pass over a table with a target, and what is checked of the rows beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surtree.engines._batches import Batch
from surtree.engines._checksums import Checksums
from surtree.engines._passes import Pass, TooManyRowsError
from surtree.engines.rows import TargetNames


@dataclass(eq=False)
class Checked:
    """What a pass knows of some rows."""

    partial: Any  # the sums of the pass itself
    checksums: Checksums  # of the rows that count
    is_clear: bool = False  # whether some batch told the event from the time
    # What the pass could not do with rows that another pass has read before.
    error: Exception | None = None


@dataclass(frozen=True, eq=False)
class CheckedPass:
    """A pass, and the checksums of the rows that it reads."""

    step: Pass[Any]  # the pass
    names: TargetNames  # the columns of the target
    is_read_again: bool  # whether other passes read the same rows, so that checksums are of use
    # Whether an earlier pass has read the columns of the target, or all columns of this pass: then
    # errors wait for the checksums, as they are likely to come from rows that have changed.
    knows_target: bool
    knows_columns: bool

    @property
    def title(self) -> str:
        return self.step.title

    @property
    def is_ordered(self) -> bool:
        return self.step.is_ordered

    @property
    def columns(self) -> tuple[str, ...]:
        return self.step.columns

    def start(self) -> Checked:
        return Checked(self.step.start(), Checksums.of_no_rows())

    def add(self, checked: Checked, batch: Batch) -> Checked:
        try:
            rows = self.names.read(batch)
        except ValueError as error:
            if not self.knows_target:
                raise
            checked.error = error.with_traceback(None)
            return checked
        checked.is_clear = checked.is_clear or self.names.is_clear(batch)
        try:
            if self.is_read_again:
                checked.checksums.add(rows, set(self.columns) - set(self.names.columns))
            if checked.error is None:
                checked.partial = self.step.add(checked.partial, batch)
        except (TooManyRowsError, MemoryError):
            raise
        except Exception as error:
            if not self.knows_columns:
                raise
            checked.error = error.with_traceback(None)
        return checked

    def merge(self, one: Checked, other: Checked) -> Checked:
        one.checksums.merge(other.checksums)
        one.is_clear = one.is_clear or other.is_clear
        one.error = one.error or other.error
        if one.error is None:
            one.partial = self.step.merge(one.partial, other.partial)
        return one
