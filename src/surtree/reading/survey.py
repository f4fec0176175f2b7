"""What was read: the columns of a table, what they hold, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from surtree.reading.kinds import Kind, kind_of
from surtree.reading.table import DataFile
from surtree.words.numbers import plural

# The reason of columns that the user leaves out.
EXCLUDED = "--exclude"

_LONGEST_NAME = 24
_LONGEST_NOTE = 90
_MOST_ROWS = 20
_MOST_CATEGORIES = 5


@dataclass(frozen=True)
class ColumnRead:
    """One column of a table."""

    name: str  # what it is called
    kind: str  # what it holds, or what it is to a tree: the time, say
    missing: int  # how many cells have no value
    notes: tuple[str, ...] = ()  # what is odd about it, and whether it is left out


def survey(
    table: DataFile,
    *,
    roles: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> list[ColumnRead]:
    rows = []
    for column in table.frame:
        name = column.name
        kind = (kinds or {}).get(name) or kind_of(column)
        reason = (left_out or {}).get(name, "")
        notes = [
            table.ways.get(name, ""),
            "" if (roles or {}).get(name) else kind.odd,
            f"left out: {reason}" if reason else "",
        ]
        if reason == EXCLUDED:
            notes = notes[2:]
        shown = (roles or {}).get(name, kind.name)
        rows.append(ColumnRead(name, shown, column.null_count(), tuple(filter(None, notes))))
    return rows


def short_table(columns: list[ColumnRead]) -> str:
    """Return a table of the columns; of many, only those of which there is something to say."""
    if len(columns) <= _MOST_ROWS:
        return _aligned([_fields(column) for column in columns])
    told = [column for column in columns if column.notes][:_MOST_ROWS]
    rest = Counter(column.kind for column in columns if column not in told)
    kinds = ", ".join(f"{count} {kind}" for kind, count in rest.most_common())
    others = f"  {plural(sum(rest.values()), 'other column')}: {kinds} (surtree columns lists all)"
    return "\n".join(filter(None, [_aligned([_fields(column) for column in told]), others]))


def needs_hint(columns: list[ColumnRead]) -> bool:
    """Return whether columns are left out that the user has not excluded."""
    notes = [note for column in columns for note in column.notes]
    return any(note.startswith("left out: ") and note != f"left out: {EXCLUDED}" for note in notes)


def long_table(table: DataFile, columns: list[ColumnRead]) -> str:
    return _aligned(
        [_fields(column, _values(table.frame[column.name], column.kind)) for column in columns]
    )


def _fields(column: ColumnRead, values: str = "") -> tuple[str, ...]:
    notes = "; ".join(filter(None, (values, *column.notes)))
    missing = str(column.missing) if column.missing else ""
    return _cut(column.name, _LONGEST_NAME), column.kind, missing, _cut(notes, _LONGEST_NOTE)


def _aligned(rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    table = [("column", "kind", "missing", ""), *rows]
    widths = [max(len(row[index]) for row in table) for index in range(3)]
    return "\n".join(
        f"  {name:{widths[0]}}  {kind:{widths[1]}}  {missing:>{widths[2]}}  {note}".rstrip()
        for name, kind, missing, note in table
    )


def _cut(text: str, longest: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


def _values(column: pl.Series, kind: str) -> str:
    """Return the values of a column in short: the range of numbers, or the most common texts."""
    cells = column.drop_nulls()
    if cells.is_empty():
        return ""
    if column.dtype.is_numeric():
        low, middle, high = (cells.cast(pl.Float64).quantile(share) or 0.0 for share in (0, 0.5, 1))
        return f"{low:g} to {high:g}, median {middle:g}"
    if kind in ("id", "person", "free text"):
        return f"{cells.n_unique()} different"
    if column.dtype.is_temporal() or kind == "date":
        return f"such as {cells.cast(pl.String)[0]}"
    counts = Counter(cells.cast(pl.String).to_list()).most_common()
    counts.sort(key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{text} ({count})" for text, count in counts[:_MOST_CATEGORIES])
    more = len(counts) - _MOST_CATEGORIES
    return f"{shown}, and {more} more" if more > 0 else shown


def survey_json(table: DataFile, columns: list[ColumnRead]) -> list[dict[str, Any]]:
    return [
        vars(column) | {"distinct": table.frame[column.name].drop_nulls().n_unique()}
        for column in columns
    ]
