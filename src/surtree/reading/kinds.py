"""What a column holds: numbers, categories, or something that no tree should ask about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from surtree.data.id_columns import (
    FEWEST_ROWS,
    are_persons,
    is_named_like_person,
    labels_rows,
    numbers_rows,
)
from surtree.reading.numbers import DATE, MOSTLY, numbers

# A sentence has at least so many words.
_SENTENCE = 4

_LEFT_OUT = {
    "date": "dates or times of day",
    "id": "a different value in nearly every row, as an id has",
    "person": "several rows of each value, as persons have",
    "free text": "sentences",
    "empty": "no cell has a value",
}


@dataclass(frozen=True)
class Kind:
    """What a column holds."""

    name: str  # in a word
    odd: str = ""  # what is wrong with some of its cells, with examples; empty if nothing is
    nearly: tuple[str, ...] = ()  # where nearly all cells are numbers: the other ones
    decimal: str = ""  # the decimal mark that makes numbers of all of them, if there is one

    @property
    def left_out(self) -> str:
        """Why no tree asks about such a column unless the user names it; empty if it does."""
        return _LEFT_OUT.get(self.name, "")


def kind_of(column: pl.Series) -> Kind:
    cells = column.drop_nulls()
    if cells.is_empty():
        return Kind("empty")
    if column.dtype == pl.Boolean:
        return Kind("yes/no")
    if column.dtype.is_temporal():
        return Kind("date")
    if column.dtype.is_numeric():
        return Kind(_label_of(column.name, cells) or "number")
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return Kind("category")
    return _kind_of_texts(cells.cast(pl.String), len(column))


def looks_like_dates(column: pl.Series) -> bool:
    """Return whether cells are dates, in a type of their own or as texts."""
    cells = column.drop_nulls()
    if column.dtype != pl.String or cells.is_empty():
        return column.dtype.is_temporal()
    return int(cells.str.contains(DATE).sum()) > MOSTLY * len(cells)


def _kind_of_texts(texts: pl.Series, n_rows: int) -> Kind:
    if looks_like_dates(texts):
        return Kind("date")
    for decimal in ".,":
        is_number = numbers(texts, decimal).is_not_null()
        n_others = len(texts) - int(is_number.sum())
        if n_others < (1 - MOSTLY) * len(texts):
            return _nearly_numeric(texts, is_number, n_rows, decimal)
    n_distinct = texts.n_unique()
    if labels_rows(n_distinct, len(texts)):
        return Kind("id")
    if is_named_like_person(texts.name) and are_persons(n_distinct, len(texts)):
        return Kind("person")
    distinct = texts.unique()
    is_sentence = distinct.str.count_matches(r"\s+") >= _SENTENCE - 1
    if n_distinct > FEWEST_ROWS and 2 * int(is_sentence.sum()) > n_distinct:
        return Kind("free text")
    is_number = numbers(texts).is_not_null()
    if 2 * int(is_number.sum()) >= len(texts):
        others = _examples(texts.filter(~is_number))
        n_others = len(texts) - int(is_number.sum())
        return Kind("category", f"{n_others} of {n_rows} cells are not numbers: {others}")
    return Kind("category")


def _nearly_numeric(texts: pl.Series, is_number: pl.Series, n_rows: int, decimal: str) -> Kind:
    others = texts.filter(~is_number)
    if others.is_empty():
        shown = f"cells such as {texts[0]!r} are numbers with another decimal mark"
        return Kind("category", shown, (str(texts[0]),), decimal)
    odd = f"{len(others)} of {n_rows} cells are not numbers: {_examples(others)}"
    return Kind("category", odd, tuple(others.unique(maintain_order=True)))


def _label_of(name: str, cells: pl.Series) -> str:
    """Return what numbers tell apart, if that is what they are for: rows or persons."""
    values = cells.cast(pl.Float64).to_numpy()
    if numbers_rows(name, values):
        return "id"
    if not is_named_like_person(name) or not (values == np.floor(values)).all():
        return ""
    return "person" if are_persons(cells.n_unique(), len(cells)) else ""


def _examples(texts: pl.Series, most: int = 3) -> str:
    distinct = texts.unique(maintain_order=True)
    shown = ", ".join(repr(text) for text in distinct.head(most))
    return shown if len(distinct) <= most else f"{shown}, ..."
