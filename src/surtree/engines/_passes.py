"""What is done in one pass over the rows: batches are added up, and the sums of parts merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from surtree.engines._batches import Batch

Partial = TypeVar("Partial")


class TooManyRowsError(ValueError):
    """There are more distinct rows than memory has room for."""


class Pass(Protocol[Partial]):
    """One pass over the rows of a source.

    Engines call it where the rows are, maybe in another process: it is pickled, and so are the
    sums. The result must not depend on how rows are divided into batches, nor on their order
    unless it is said to.
    """

    @property
    def title(self) -> str:
        """What the pass looks for, for progress."""

    @property
    def is_ordered(self) -> bool:
        """Whether the result is in the order of the rows: then only neighbours are merged."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""

    def start(self) -> Partial:
        """Return the sums of no rows."""

    def add(self, partial: Partial, batch: Batch) -> Partial:
        """Return the sums of some rows and a batch; the former may be changed."""

    def merge(self, one: Partial, other: Partial) -> Partial:
        """Return the sums of the rows of both; both may be changed."""


@dataclass(frozen=True)
class Outcome(Generic[Partial]):
    """What became of some of the rows: their sums, or an error that they gave.

    An error is a value here, so that it reaches the user as it is, whatever engine it comes
    through. It keeps no traceback, which would keep the sums.
    """

    partial: Partial
    n_rows: int = 0
    error: Exception | None = None


def add_batches(step: Pass[Any], batches: Iterable[Batch]) -> Outcome[Any]:
    """Return the outcome of a pass over some batches."""
    partial, n_rows = step.start(), 0
    try:
        for batch in batches:
            partial = step.add(partial, batch)
            n_rows += batch.n_rows
    except (ValueError, TypeError, MemoryError) as error:
        return Outcome(None, n_rows, error.with_traceback(None))
    return Outcome(partial, n_rows)


def merge_outcomes(step: Pass[Any], outcomes: Iterable[Outcome[Any]]) -> Outcome[Any]:
    """Return the outcome of a pass over the rows of some outcomes; of several errors, the first."""
    merged: Outcome[Any] | None = None
    for one in outcomes:
        if one.error is not None:
            return one
        if merged is None:
            merged = one
            continue
        try:
            partial = step.merge(merged.partial, one.partial)
        except (ValueError, TypeError, MemoryError) as error:
            n_rows = merged.n_rows + one.n_rows
            return Outcome(None, n_rows, error.with_traceback(None))
        merged = Outcome(partial, merged.n_rows + one.n_rows)
    assert merged is not None
    return merged
