"""What a column holds: numbers, categories, or something that no tree should ask about."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from surtree.cli._dates import DATE
from surtree.cli._numbers import MOSTLY, numbers

# From so many cells on, a different text in nearly every one of them is no coincidence.
_FEWEST_CELLS = 20
# A sentence has at least so many words.
_SENTENCE = 4
# Words at the end of the name of a column that tells rows or persons apart.
_ID_NAME = re.compile(
    r"(?i:(?:^|[ _.-])(?:id|nr|no|number|nummer|index|key))\W*$|[a-z](?:ID|Id|Nr)\W*$"
)

_LEFT_OUT = {
    "date": "dates or times of day",
    "id": "a different value in nearly every row, as an id has",
    "free text": "sentences",
    "empty": "no cell has a value",
}


@dataclass(frozen=True)
class Kind:
    """What a column holds.

    Parameters
    ----------
    name : {"number", "yes/no", "category", "date", "id", "free text", "empty"}
        In a word.
    odd : str
        What is wrong with some of its cells, with examples; empty if nothing is.
    nearly : tuple of str
        Where nearly all cells are numbers: the other ones.
    remedy : str
        What makes numbers of all of them, if it is known.
    """

    name: str
    odd: str = ""
    nearly: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def left_out(self) -> str:
        """Why no tree asks about such a column unless the user names it; empty if it does."""
        return _LEFT_OUT.get(self.name, "")


def kind_of(column: pl.Series) -> Kind:
    """Return what a column holds.

    Parameters
    ----------
    column : polars.Series
        Of any type.
    """
    found = column.drop_nulls()
    if found.is_empty():
        return Kind("empty")
    if column.dtype == pl.Boolean:
        return Kind("yes/no")
    if column.dtype.is_temporal():
        return Kind("date")
    if column.dtype.is_numeric():
        return Kind("id" if _counts_rows(found) else "number")
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return Kind("category")
    return _kind_of_texts(found.cast(pl.String), len(column))


def looks_like_dates(column: pl.Series) -> bool:
    """Return whether cells are dates, in a type of their own or as texts."""
    found = column.drop_nulls()
    if column.dtype != pl.String or found.is_empty():
        return column.dtype.is_temporal()
    return int(found.str.contains(DATE).sum()) > MOSTLY * len(found)


def _kind_of_texts(found: pl.Series, n_rows: int) -> Kind:
    if looks_like_dates(found):
        return Kind("date")
    for decimal in ".,":
        is_number = numbers(found, decimal).is_not_null()
        n_others = len(found) - int(is_number.sum())
        if n_others < (1 - MOSTLY) * len(found):
            remedy = "" if n_others or decimal == "." else "--decimal ,"
            return _nearly_numeric(found, is_number, n_rows, remedy)
    n_distinct = found.n_unique()
    if len(found) >= _FEWEST_CELLS and n_distinct > MOSTLY * len(found):
        return Kind("id")
    distinct = found.unique()
    is_sentence = distinct.str.count_matches(r"\s+") >= _SENTENCE - 1
    if n_distinct > _FEWEST_CELLS and 2 * int(is_sentence.sum()) > n_distinct:
        return Kind("free text")
    is_number = numbers(found).is_not_null()
    if 2 * int(is_number.sum()) >= len(found):
        others = _examples(found.filter(~is_number))
        n_others = len(found) - int(is_number.sum())
        return Kind("category", f"{n_others} of {n_rows} cells are not numbers: {others}")
    return Kind("category")


def _nearly_numeric(found: pl.Series, is_number: pl.Series, n_rows: int, remedy: str) -> Kind:
    others = found.filter(~is_number)
    if others.is_empty():
        shown = f"cells such as {found[0]!r} are numbers with another decimal mark"
        return Kind("category", shown, (str(found[0]),), remedy or "--decimal .")
    odd = f"{len(others)} of {n_rows} cells are not numbers: {_examples(others)}"
    return Kind("category", odd, tuple(others.unique(maintain_order=True)))


def _counts_rows(found: pl.Series) -> bool:
    """Return whether numbers tell rows apart: each once, without gaps or under such a name."""
    if len(found) < _FEWEST_CELLS or found.n_unique() < len(found):
        return False
    if not found.dtype.is_integer() and not (found == found.floor()).all():
        return False
    low, high = float(found.min()), float(found.max())  # type: ignore[arg-type]
    return high - low + 1 == len(found) or _ID_NAME.search(found.name) is not None


def _examples(texts: pl.Series, most: int = 3) -> str:
    distinct = texts.unique(maintain_order=True)
    shown = ", ".join(repr(text) for text in distinct.head(most))
    return shown if len(distinct) <= most else f"{shown}, ..."
