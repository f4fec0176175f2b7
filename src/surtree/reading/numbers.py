"""Numbers as people write them: decimal commas, thousands, percent signs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from surtree.reading.errors import UserError

# These stand between thousands: a plain blank, no-break, thin and narrow ones, and apostrophes.
_GROUPING = (" ", "\u00a0", "\u2009", "\u202f", "'", "\u2019")
_MINUS = "\u2212"
_PERCENT = r"\s*%$"
# A column of which fewer cells are numbers says nothing about how numbers are written.
MOSTLY = 0.9


def numbers(texts: pl.Series, decimal: str = ".") -> pl.Series:
    texts = texts.str.strip_chars()
    values = _plain(texts, decimal)
    others = (texts.is_not_null() & values.is_null()).arg_true()
    if others.is_empty():
        return values
    rest = texts.gather(others)
    bare = rest.str.replace(_PERCENT, "").str.replace(_MINUS, "-", literal=True)
    digits = bare.str.replace_all(f"[{_escaped(_other(decimal))}{''.join(_GROUPING)}]", "")
    value = digits.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    value = _where(bare.str.contains(_pattern(decimal)), value)
    if value.is_null().all():
        return values
    values = values.scatter(others, value)
    if not rest.str.ends_with("%").any():
        return values
    # 0.45 and 45 % in one column may be the same, or not: the rarer way is no number.
    percent = texts.str.ends_with("%")
    mostly = 2 * int((percent & values.is_not_null()).sum()) > int(values.is_not_null().sum())
    return _where(percent if mostly else ~percent, values)


def _plain(texts: pl.Series, decimal: str) -> pl.Series:
    """Return the numbers that have digits, a sign, a decimal mark and an exponent at most."""
    if decimal == ",":
        texts = _where(~texts.str.contains(".", literal=True), texts)
        texts = texts.str.replace(",", ".", literal=True)
    return texts.cast(pl.Float64, strict=False)


def find_decimal(columns: Iterable[pl.Series]) -> str | None:
    """Return the decimal mark of a file; None if nothing in it decides.

    Each column of numbers in which one mark cannot stand between thousands has a vote; a tie goes
    to the point.
    """
    votes = {".": 0, ",": 0}
    for texts in columns:
        for mark in votes:
            votes[mark] += has_evidence(texts, mark)
    if votes[","] > votes["."]:
        return ","
    return "." if votes["."] else None


def has_evidence(texts: pl.Series, decimal: str) -> bool:
    """Return whether a column is of numbers, some of which can only have this decimal mark."""
    cells = texts.drop_nulls()
    cells = cells.filter(cells.str.contains(decimal, literal=True))
    mark, other = _escaped(decimal), _escaped(_other(decimal))
    fraction = cells.str.contains(rf"^[+-]?\d*{mark}\d+{_PERCENT[:-1]}?$")
    thousands = cells.str.contains(rf"^[+-]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+{_PERCENT[:-1]}?$")
    both = cells.str.contains(rf"^[+-]?[1-9]\d{{0,2}}(?:{other}\d{{3}})+{mark}\d+$")
    if not ((fraction & ~thousands) | both).any():
        return False
    n_numbers = int(numbers(texts, decimal).is_not_null().sum())
    return n_numbers > MOSTLY * (len(texts) - texts.null_count())


def may_be_either(texts: pl.Series) -> bool:
    """Return whether a column is of numbers, some of them such as 1,234."""
    cells = texts.drop_nulls()
    if not cells.str.contains(r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+$").any():
        return False
    return int(numbers(cells).is_not_null().sum()) > MOSTLY * len(cells)


def described(texts: pl.Series, decimal: str) -> str:
    """Return what is unusual about the way numbers are written, with an example; else nothing."""
    cells = texts.drop_nulls().str.strip_chars()
    words = []
    if cells.str.ends_with("%").any():
        cells = cells.str.replace(_PERCENT, "")
        words.append("percent signs")
    other = _other(decimal)
    for mark, meaning in (
        *((between, "thousands") for between in (other, *_GROUPING)),
        *([(",", "decimal commas")] if decimal == "," else []),
    ):
        index = cells.str.contains(mark, literal=True).arg_max()
        if index is not None and mark in cells[index]:
            value = numbers(cells.slice(index, 1), decimal)[0]
            words.append(f"{meaning}: {cells[index]} is {value:.15g}")
    return ", ".join(words)


def _pattern(decimal: str) -> str:
    marks = "|".join(rf"(?:{_escaped(mark)}\d{{3}})+" for mark in (_other(decimal), *_GROUPING))
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{marks}))"
    mark = _escaped(decimal)
    return rf"^[+-]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?$"


def _other(decimal: str) -> str:
    return "," if decimal == "." else "."


def _escaped(mark: str) -> str:
    return rf"\{mark}" if mark == "." else mark


def _where(condition: pl.Series, value: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(value)).to_series()


_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ZONE = r"(?: ?Z|[+-]\d{2}:?\d{2})?"
_DAY = "|".join(
    (
        r"\d{4}-\d{1,2}-\d{1,2}",
        r"\d{4}/\d{1,2}/\d{1,2}",
        r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})",
        r"\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})",
        r"\d{1,2}-\d{1,2}-\d{4}",
        r"\d{1,2}[- .]?[A-Za-z]{3}[- .]?(?:\d{4}|\d{2})",
    )
)
# A whole text that is a date, with or without a time of day, or a time of day alone.
DATE = rf"^(?:(?:{_DAY})(?:[ T]{_TIME}{_ZONE})?|{_TIME})$"

# The day cannot be taken for the month in these, nor the century for another.
_FORMATS = tuple(
    day + time
    for day in ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d%b%Y", "%d-%b-%Y", "%d %b %Y")
    for time in ("", " %H:%M:%S", "T%H:%M:%S", " %H:%M")
)


def read_dates(column: pl.Series) -> NDArray[np.datetime64]:
    """Return a column of dates: of a type of its own, or texts that all have the same form."""
    if column.dtype in (pl.Date, pl.Datetime):
        if getattr(column.dtype, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.cast(pl.Datetime("us")).to_numpy()
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise UserError(f"column {column.name!r} holds {column[0]}, which is no date")
    texts = column.cast(pl.String).str.strip_chars()
    best = max((_parsed(texts, form) for form in _FORMATS), key=lambda dates: dates.count())
    if best.null_count():
        raise UserError(
            f"column {column.name!r} holds {texts.filter(best.is_null())[0]!r}: a date is written "
            "2024-03-31, 31.03.2024 or 31 Mar 2024, in all rows alike"
        )
    return best.to_numpy()


def _parsed(texts: pl.Series, form: str) -> pl.Series:
    return texts.str.to_datetime(form, time_unit="us", strict=False)
