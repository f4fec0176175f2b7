"""Passes over a source, with progress, and the check that all of them saw the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surtree.engines._batches import Batch
from surtree.engines._checksums import Checksums, Key
from surtree.engines.rows import NotTheEventError, TargetNames
from surtree.engines.source import Pass, Source, TooManyRowsError
from surtree.solver.problem import Progress, ProgressHook
from surtree.solver.verbose import searching


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


_REASONS = (
    "It is read several times, and must have the same rows each time. Likely reasons are a query "
    "that is not deterministic (random(), a sample, LIMIT without ORDER BY, sums of fractions in "
    "no fixed order) and files that were rewritten meanwhile: write the rows to a file or a table "
    "that nobody changes, and pass that"
)


class Reader:
    """Reads a source as often as it takes."""

    def __init__(
        self,
        source: Source,
        n_threads: int = 1,
        progress: ProgressHook | None = None,
        verbose: int = 0,
    ) -> None:
        self.source = source
        self._n_threads = n_threads
        self._progress = progress
        self._verbose = verbose
        self._n_rows: int | None = None
        self._checksums: dict[Key, int] = {}
        self._n_expected = 1
        self._may_be_more = False
        self.n_passes = 0

    def expect(self, n_more: int, *, may_be_more: bool) -> None:
        """Set how many passes follow at least, and whether there may be more than these.

        Unless there are several, rows are not compared.
        """
        self._n_expected = self.n_passes + n_more
        self._may_be_more = may_be_more

    def run_first(
        self, make: Callable[[TargetNames], Pass[Any]], names: TargetNames
    ) -> tuple[Any, TargetNames]:
        """Return the sums of the first pass, and the target with its event first.

        Which column is the event is decided by all rows, as in memory: the boolean one, else the
        only one that holds nothing but 0 and 1. The first one is taken for it until a batch shows
        that it is not; then the pass begins again.
        """
        refused: list[NotTheEventError] = []
        for order in names.orders:
            try:
                checked = self._run(make(order), order)
            except NotTheEventError as error:
                refused.append(error)
                self.n_passes -= 1
                continue
            if self._n_rows and not checked.is_clear:
                order.refuse_order()
            return checked.partial, order
        # In memory, the error is about the column with fewer values.
        raise ValueError(str(min(refused, key=lambda error: error.n_distinct)))

    def run(self, step: Pass[Any], names: TargetNames) -> Any:
        """Return the sums of a pass over all rows, given the columns of the target."""
        return self._run(step, names).partial

    def _run(self, step: Pass[Any], names: TargetNames) -> Checked:
        self.n_passes += 1
        questions = set(step.columns) - set(names.columns)
        knows_target = self._n_rows is not None
        knows_columns = knows_target and all((name,) in self._checksums for name in questions)
        with searching(f"Pass {self.n_passes}", self._verbose, self._progress) as hook:
            outcome = self.source.run(
                CheckedPass(step, names, self._n_expected > 1, knows_target, knows_columns),
                self._n_threads,
                lambda n: self._show(hook, step.title, n),
            )
        checked: Checked = outcome.partial
        if self._n_rows is not None and outcome.n_rows != self._n_rows:
            raise ValueError(
                f"{self.source.label} had {self._n_rows:,} rows and has {outcome.n_rows:,} now. "
                f"{_REASONS}"
            )
        self._compare(checked.checksums, names)
        if checked.error is not None:
            raise checked.error
        self._n_rows = outcome.n_rows
        return checked

    def _compare(self, checksums: Checksums, names: TargetNames) -> None:
        """Raise an error where rows differ from those of an earlier pass."""
        known = self._checksums
        changed = [
            key for key, number in checksums.sums.items() if known.get(key, number) != number
        ]
        if changed:
            raise self.changed(_quoted(names.columns if () in changed else changed[0]))
        known.update(checksums.sums)

    def changed(self, what: str) -> ValueError:
        """Return the error of rows that are not those of an earlier pass."""
        return ValueError(
            f"{self.source.label} had other values in {what} when it was read before. {_REASONS}"
        )

    def _show(self, hook: ProgressHook | None, title: str, n_rows: int) -> None:
        if hook is None:
            return
        fraction = n_rows / self._n_rows if self._n_rows else 0.0
        more = " or more" if self._may_be_more else ""
        number = f"pass {self.n_passes} of {self._n_expected}{more}"
        reading = f"{number}, {title}: {n_rows:,} rows"
        if hook(Progress(fraction, np.inf, 0.0, reading)):
            raise KeyboardInterrupt


def _quoted(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    return f"column {shown}" if len(names) == 1 else f"the columns {shown}"
