"""Columns that no tree should ask about: ids, persons, starts and outcomes among the covariates."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surtree._support.package import user_level
from surtree._support.types import Floats
from surtree.data import _leaks as leaks
from surtree.data import id_columns
from surtree.data.table import Column, Table
from surtree.data.target import Target
from surtree.words.numbers import plural

Kind = Literal["outcome", "start", "person", "id", "numbers"]

# Rows that decide which columns are looked at in full: so many with the event and without, of the
# rarer of which a question gets this share wrong at most, and so many of all.
_OF_EACH = 32
_MOST_WRONG = 0.2
_OF_ALL = 1024
# Cells of columns that are read one by one; beyond them only columns with a telling name are.
_MOST_CELLS = 2_000_000
# The most columns that are compared with one that is suspicious.
_MOST_COLUMNS = 200
# Texts of numbers with fewer values may be codes; so many of them are read as numbers.
_FEWEST_NUMBERS = 10
_MOST_TEXTS = 200


@dataclass(frozen=True)
class Suspicion:
    """What is suspicious about a column."""

    column: str  # what it is called
    index: int  # its position in the table
    kind: Kind  # what it seems to be
    reason: str  # why, as a sentence of which the column is the subject


def find_suspicions(table: Table, target: Target, weight: Floats) -> list[Suspicion]:
    """Return what is suspicious about the columns of a table, in their order.

    A few rows tell which columns need a look at all of them, so this takes little time.
    """
    rows = None if weight.all() else np.flatnonzero(weight)
    outcome = target if rows is None else replace(target, person=None, spell=None).take(rows)
    if outcome.time.size < id_columns.FEWEST_ROWS:
        return []
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are refused later
        search = _Search(table, rows, outcome, has_persons=target.person is not None)
        return search.run()


@dataclass
class _Search:
    """The columns of a table and the rows of its target that count."""

    table: Table
    rows: NDArray[np.intp] | None
    target: Target
    has_persons: bool

    def run(self) -> list[Suspicion]:
        """Return what is suspicious about the columns."""
        suspicions: dict[int, Suspicion] = {}
        second_times = []
        for index in self._candidates():
            column = self._column(index)
            kind, reason = self._look(column)
            if reason:
                suspicions[index] = Suspicion(column.name, index, kind, reason)
            if reason.endswith(leaks.SECOND):
                second_times.append(column)
        for second in second_times:
            suspicions |= self._companions(second, suspicions)
        return [suspicions[index] for index in sorted(suspicions)]

    def _column(self, index: int) -> Column:
        numbers, line = self.table.numbers, self.table.line_of.get(index)
        if numbers is None or line is None:
            column = self.table.column(index)
            return column if self.rows is None else replace(column, values=column.values[self.rows])
        values = numbers[:, line] if self.rows is None else numbers[self.rows, line]
        return Column(self.table.names[index], "numeric", values.astype(np.float64))

    def _candidates(self) -> Iterator[int]:
        """Yield the columns that need a look at all of their rows."""
        others: list[int] = []  # in the table's array of numbers
        singles: dict[int, NDArray[Any]] = {}
        n_left = max(_MOST_CELLS // self.table.n_rows, 1)
        few = self.target.time.size < leaks.FEWEST_ROWS
        for index, name in enumerate(self.table.names):
            telling = self.table.named and (
                id_columns.is_named_like_id(name) or leaks.is_named_like_outcome(name)
            )
            if telling:
                yield index
            elif few:
                continue  # the values of so few rows prove nothing
            elif index in self.table.line_of:
                others.append(index)
            elif n_left or index in self.table.views:
                n_left -= index not in self.table.views
                column = self.table.column(index)
                if column.kind == "categorical":
                    yield index
                else:
                    singles[index] = column.values
        if others or singles:
            indices = [*others, *singles]
            needed, may_number = self._needs_a_look(others, list(singles.values()))
            for position in np.flatnonzero(needed | may_number).tolist():
                if needed[position] or self._spans_rows(indices[position]):
                    yield indices[position]

    def _spans_rows(self, index: int) -> bool:
        """Return whether as many whole numbers as rows are between the least and the greatest."""
        values = self._column(index).values
        return bool(values.max() - values.min() + 1 == values.size)

    def _needs_a_look(
        self, others: list[int], singles: list[NDArray[Any]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which columns are suspicious in a few of their rows, and which may number rows."""
        event, time = self.target.event, self.target.time
        few = _balanced(event)
        values = self._take(others, singles, few)
        # Sorted by time, each row and the one half of them later.
        half = few.size // 2
        later = values[:, np.argsort(time[few])]
        steps = later[:, half : 2 * half] - later[:, :half]
        known = (steps == steps).sum(axis=1)
        same_way = np.maximum((steps > 0).sum(axis=1), (steps < 0).sum(axis=1))
        needed = (same_way >= 0.9 * known) & (known > 0)
        needed |= _tells_sides(values, event[few])
        ascending = np.sort(values, axis=1)
        different = (ascending[:, 1:] > ascending[:, :-1]).all(axis=1)
        may_number = different & (values == np.floor(values)).all(axis=1)
        many = np.arange(1, time.size, max(time.size // _OF_ALL, 1))
        values = self._take(others, singles, many)
        follows = (values > 0) & (values == time[many - 1])
        for equal in (values == time[many], follows):
            needed |= equal.mean(axis=1) >= leaks.EQUAL / 2
        steps = np.diff(values[may_number], axis=1)
        needed[may_number] |= (steps > 0).all(axis=1) | (steps < 0).all(axis=1)
        return needed, may_number

    def _take(
        self, others: list[int], singles: list[NDArray[Any]], rows: NDArray[np.intp]
    ) -> Floats:
        """Return some rows of columns of numbers, a line for each column."""
        rows = rows if self.rows is None else self.rows[rows]
        parts = [values[rows] for values in singles]
        if not others or self.table.numbers is None:
            return np.stack(parts)
        lines = [self.table.line_of[index] for index in others]
        block = self.table.numbers[rows].astype(np.float64)
        block = block.T if len(lines) == block.shape[1] else block[:, lines].T
        return np.concatenate([block, *([np.stack(parts)] if parts else [])])

    def _look(self, column: Column) -> tuple[Kind, str]:
        """Return what a column seems to be, and why; no reason if nothing is suspicious."""
        if column.kind == "categorical":
            kind, reason = self._look_at_texts(column)
        else:
            kind, reason = self._look_at_numbers(column)
        if not reason:
            kind, reason = "outcome", leaks.find_leak(column, self.target)
        return (kind, reason) if reason else self._look_for_persons(column)

    def _look_at_numbers(self, column: Column) -> tuple[Kind, str]:
        name, values, time = column.name, column.values, self.target.time
        known = values[~column.missing] if column.has_missing else values
        # The only column is what the user wants to be asked about; and rows may be sorted by time.
        if (
            self.table.n_columns > 1
            and id_columns.numbers_rows(name, known)
            and not (values == time).all()
        ):
            return "id", "has another whole number in every row, as an id has"
        if self.target.entry is None and id_columns.starts_rows(name, values, time):
            return "start", "is before the time, as the start of a row is"
        return "id", ""

    def _look_at_texts(self, column: Column) -> tuple[Kind, str]:
        texts = column.categories
        named = id_columns.is_named_like_id(column.name)
        if len(texts) > _FEWEST_NUMBERS and not (named or column.ordered):
            some = texts[:: max(len(texts) // _MOST_TEXTS, 1)]
            # Whole numbers may be codes that the user has made texts, if not all columns are texts.
            if id_columns.are_numbers(some) and (
                any("." in text for text in some) or self._has_only_texts
            ):
                return "numbers", f"is read as {len(texts)} categories, and its texts are numbers"
        n_known = int((column.values >= 0).sum())
        if id_columns.labels_rows(len(texts), n_known):  # rows that do not count may have some
            n_texts = id_columns.n_distinct(column.values)
            if id_columns.labels_rows(n_texts, n_known):
                return "id", f"has {n_texts} texts in {n_known} rows, as an id has"
        return "id", ""

    @cached_property
    def _has_only_texts(self) -> bool:
        columns = range(min(self.table.n_columns, _MOST_COLUMNS))
        return all(self._column(index).kind == "categorical" for index in columns)

    def _look_for_persons(self, column: Column) -> tuple[Kind, str]:
        values = column.values
        is_whole = column.kind == "categorical" or (values == np.floor(values)).all()
        if is_whole and id_columns.is_named_like_person(column.name):
            n_values, n_rows = id_columns.n_distinct(values), values.size
            if id_columns.are_persons(n_values, n_rows):
                reason = (
                    f"has {n_values} values in {n_rows} rows, as persons with several rows have"
                )
                return "id" if self.has_persons else "person", reason
        return "person", ""

    def _companions(self, second: Column, suspicions: dict[int, Suspicion]) -> dict[int, Suspicion]:
        """Return the columns that say whether the second outcome of a time has happened."""
        reason = f"says where {second.name!r} differs from the time, as a second outcome does"
        companions = {}
        for index in set(range(min(self.table.n_columns, _MOST_COLUMNS))) - set(suspicions):
            column = self._column(index)
            if leaks.marks_second_time(column, second.values, self.target.time):
                companions[index] = Suspicion(column.name, index, "outcome", reason)
        return companions


def _balanced(event: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return positions of rows with the event and without, in turns."""
    sides = [np.flatnonzero(event), np.flatnonzero(~event)]
    some = [side[:: max(side.size // _OF_EACH, 1)][:_OF_EACH] for side in sides]
    order = np.argsort(np.concatenate([np.arange(side.size) for side in some]), kind="stable")
    return np.concatenate(some)[order]


def _tells_sides(values: Floats, event: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for each line, whether a threshold may get few of the rarer rows wrong."""
    n_with, n_without = int(event.sum()), int((~event).sum())
    tells = np.zeros(len(values), dtype=bool)
    if min(n_with, n_without) < leaks.FEWEST_EVENTS:
        return tells
    missing = np.isnan(values)
    for side in (np.inf, -np.inf) if missing.any() else (np.inf,):
        order = np.argsort(np.where(missing, side, values), axis=1, kind="stable")
        # Wrong: events up to the threshold, and rows without one above it.
        wrong = np.cumsum(np.where(event[order], 1, -1), axis=1) + n_without
        fewest = np.minimum(wrong, event.size - wrong).min(axis=1)
        tells |= fewest <= _MOST_WRONG * min(n_with, n_without)
    return tells


# The most columns that a warning names.
_MOST_NAMED = 8


class SuspiciousColumnWarning(UserWarning):
    """Columns of the table look as if no tree should ask about them.

    An id, the label of a person with several rows, the start of a row, a second outcome, the target
    itself, or numbers that are texts. The warning says what to type next. Where all is as it should
    be, ignore it.

    Examples
    --------
    >>> import warnings
    >>> from surtree import SurTree, SuspiciousColumnWarning
    >>> from surtree.datasets import load_lung
    >>> X, y = load_lung()
    >>> X.insert(0, "pid", range(1001, 1001 + len(X)))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", SuspiciousColumnWarning)
    ...     model = SurTree(max_depth=1).fit(X, y)
    >>> print(caught[0].message)
    1 column of X is suspicious:
      'pid' has another whole number in every row, as an id has
    Next: X = X.drop(columns=["pid"])
    """


def warn_of_suspicious(table: Table, target: Target, weight: Floats) -> None:
    """Warn once of all columns that look as if no tree should ask about them."""
    suspicions = find_suspicions(table, target, weight)
    if suspicions:
        library = table.library
        if not (table.named and table.texts):  # columns are told by their position
            library = "unnamed" if library == "pandas" else "numpy"
        text = suspicion_text(suspicions, library, late_entry=target.entry is not None)
        warnings.warn(text, SuspiciousColumnWarning, stacklevel=user_level())


def suspicion_text(suspicions: Sequence[Suspicion], library: str, *, late_entry: bool) -> str:
    """Return what is suspicious, a line for each column, and what to type next in Python."""
    verb = "is" if len(suspicions) == 1 else "are"
    reasons = [f"  {one.column!r} {one.reason}" for one in suspicions[:_MOST_NAMED]]
    if len(suspicions) > _MOST_NAMED:
        reasons.append(f"  and {len(suspicions) - _MOST_NAMED} more")
    return "\n".join(
        [
            f"{plural(len(suspicions), 'column')} of X {verb} suspicious:",
            *reasons,
            *(f"Next: {line}" for line in _next_lines(suspicions, library, late_entry)),
        ]
    )


def _next_lines(suspicions: Sequence[Suspicion], library: str, late_entry: bool) -> Iterator[str]:
    numbers = [one for one in suspicions if one.kind == "numbers"]
    if numbers:
        yield _as_numbers(numbers, library)
    others = [one for one in suspicions if one.kind != "numbers"]
    if not others:
        return
    first = {one.kind: _access(one, library) for one in reversed(others)}
    given = [f"entry={first['start']}"] if "start" in first else []
    if "person" in first and (given or late_entry):
        given.append(f"id={first['person']}")
    without = _without(others, library)
    if given:
        yield f"fit({without}, y, {', '.join(given)})"
    elif "person" in first:
        yield (
            f"fit({without}, y, groups={first['person']}), where folds or samples are drawn "
            "(SurTreeCV, validate)"
        )
    else:
        yield f"X = {without}"


def _without(suspicions: Sequence[Suspicion], library: str) -> str:
    positions = _listed([str(one.index) for one in suspicions])
    if library == "numpy":
        return f"np.delete(X, {positions}, axis=1)"
    if library == "unnamed":
        return f"X.drop(columns=X.columns[{positions}])"
    columns = _listed([_quoted(one.column) for one in suspicions])
    how = {"polars": "drop({})", "pyarrow": "drop_columns({})"}.get(library, "drop(columns={})")
    return f"X.{how.format(columns)}"


def _access(suspicion: Suspicion, library: str) -> str:
    if library in ("numpy", "unnamed"):
        return f"X{'.iloc' if library == 'unnamed' else ''}[:, {suspicion.index}]"
    return f"X[{_quoted(suspicion.column)}]"


def _as_numbers(suspicions: Sequence[Suspicion], library: str) -> str:
    types = ", ".join(f"{_quoted(one.column)}: float" for one in suspicions[:_MOST_NAMED])
    more = ", ..." if len(suspicions) > _MOST_NAMED else ""
    how = {"pandas": "astype", "polars": "cast"}.get(library)
    return f"X = X.{how}({{{types}{more}}})" if how else "make these columns numbers"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _listed(items: Sequence[str]) -> str:
    more = ", ..." if len(items) > _MOST_NAMED else ""
    return f"[{', '.join(items[:_MOST_NAMED])}{more}]"
