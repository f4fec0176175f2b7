"""Rows that are read once for every pass: what engines have in common, and rows of this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from surtree.engines._batches import Batch, Enums

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


# Is told how many rows of a pass were read.
RowsHook = Callable[[int], None]
# What to do about errors of engines whose own words say only what is wrong.
_REMEDIES = {
    "data type mismatch": "the files differ in types; pass their path or pattern, which joins them",
    "failed to cast column": "the files differ in types; union_by_name=true joins them",
}


class Source(ABC):
    """A table that an engine holds, whose rows are read again for every pass."""

    def __init__(self, label: str, names: tuple[str, ...]) -> None:
        self.label = label
        self.names = names

    def run(
        self, step: Pass[Any], n_threads: int = 1, hook: RowsHook | None = None
    ) -> Outcome[Any]:
        """Return the sums of a pass over all rows, and the number of rows."""
        absent = [name for name in step.columns if name not in self.names]
        if absent:
            held = ", ".join(self.names[:20]) + (", ..." if len(self.names) > 20 else "")
            raise ValueError(f"{self.label} has no column {absent[0]!r}: it has {held}")
        outcome = self._run(step, n_threads, hook)
        if outcome.error is not None:
            raise outcome.error
        return outcome

    @abstractmethod
    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        """Return the outcome of a pass over all rows."""

    def failure(self, error: Exception) -> Exception:
        """Return an error of the engine in one line that names the table."""
        lines = [line for line in str(error).splitlines() if line.strip()]
        # An error of a worker comes with its traceback, which says at its end what was wrong.
        if any(line.startswith("Traceback") for line in lines):
            lines = [line for line in lines if not line.startswith((" ", "\t"))][-1:]
        line = lines[0].strip() if lines else type(error).__name__
        remedies = [f": {remedy}" for words, remedy in _REMEDIES.items() if words in line]
        kind = OSError if isinstance(error, OSError) else ValueError
        return kind(f"cannot read {self.label}: {line}{''.join(remedies)}")


class LocalSource(Source):
    """A table that is read on this machine, batch by batch."""

    def __init__(
        self,
        label: str,
        names: tuple[str, ...],
        read: Callable[[Sequence[str]], Iterable[Any]],
        enums: Enums | None = None,
    ) -> None:
        super().__init__(label, names)
        self._read = read
        self._enums = enums

    def batches(self, columns: Sequence[str]) -> Generator[Batch, None, None]:
        """Yield the rows, with some of the columns, in their order."""
        for frame in self.frames(columns):
            yield Batch(frame, self._enums)

    def frames(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the same, as the engine hands them over."""
        frames: Iterator[Any] | None = None
        while True:
            # Only what the engine does is its fault.
            try:
                frames = iter(self._read(columns)) if frames is None else frames
                frame = next(frames, None)
            except Exception as error:
                raise self.failure(error) from error
            if frame is None:
                return
            if len(frame):
                yield frame

    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        # What is read stays open as long as something refers to it, and an error with its traceback
        # may do so for long: a DuckDB connection could not be used meanwhile.
        with closing(self.batches(step.columns)) as read:
            batches = _counted(read, hook)
            if n_threads == 1 or step.is_ordered:
                return add_batches(step, batches)
            return _in_threads(step, batches, n_threads)


def _counted(batches: Iterator[Batch], hook: RowsHook | None) -> Iterator[Batch]:
    n_rows = 0
    for batch in batches:
        yield batch
        n_rows += batch.n_rows
        if hook is not None:
            hook(n_rows)


def _in_threads(step: Pass[Any], batches: Iterator[Batch], n_threads: int) -> Outcome[Any]:
    """Work on several batches at a time, each thread with sums of its own."""
    with ThreadPoolExecutor(n_threads) as pool:
        running: list[Future[Outcome[Any]]] = []
        for batch in batches:
            if len(running) < n_threads:
                running.append(pool.submit(add_batches, step, [batch]))
                continue
            # The sums that have waited for longest take the next batch.
            outcome = running.pop(0).result()
            if outcome.error is not None:
                return outcome
            running.append(pool.submit(_add_one, step, outcome, batch))
        outcomes = [future.result() for future in running] or [add_batches(step, ())]
    return merge_outcomes(step, outcomes)


def _add_one(step: Pass[Any], outcome: Outcome[Any], batch: Batch) -> Outcome[Any]:
    try:
        partial = step.add(outcome.partial, batch)
    except (ValueError, TypeError, MemoryError) as error:
        return Outcome(None, outcome.n_rows, error.with_traceback(None))
    return Outcome(partial, outcome.n_rows + batch.n_rows)
