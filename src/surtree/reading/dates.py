"""Dates and times of day: texts that are some, and columns of them."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from surtree.reading.errors import UserError

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
