"""Columns read as a kind: numbers, truth values, categories, or categories in order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import polars as pl

from surtree.reading.errors import UserError
from surtree.reading.kinds import Kind
from surtree.reading.numbers import numbers

KIND_NAMES = {
    "numeric": "number",
    "boolean": "yes/no",
    "categorical": "category",
    "ordered": "category",
}
WORDS = {
    **dict.fromkeys(("1", "true", "yes", "y", "t", "ja", "j", "oui", "si", "sí"), True),
    **dict.fromkeys(("0", "false", "no", "n", "f", "nein", "non"), False),
}


@dataclass(frozen=True)
class Reading:
    """How a column is to be read."""

    kind: str  # what its values are
    order: tuple[str, ...] = ()  # the categories of an ordered column, the lowest first

    @property
    def as_kind(self) -> Kind:
        return Kind(KIND_NAMES[self.kind])

    @property
    def is_text(self) -> bool:
        """Whether cells are texts, also where they look like numbers."""
        return self.kind in ("categorical", "ordered")


def require_columns(frame: pl.DataFrame, names: Collection[str]) -> None:
    """Raise an error if a column is absent; it suggests a similar name."""
    for name in names:
        if name not in frame.columns:
            longer = [one for one in frame.columns if name.lower() in one.lower()]
            close = get_close_matches(name, frame.columns, 1) or longer
            hint = f"did you mean {close[0]!r}?" if close else f"there are {_listed(frame.columns)}"
            raise UserError(f"there is no column {name!r}: {hint}")


def split_names(given: Sequence[str] | None, frame: pl.DataFrame) -> list[str]:
    """Return the columns that are named one by one, or several at a time with commas between."""
    names: list[str] = []
    for text in given or ():
        names += [text] if text in frame.columns else text.split(",")
    return names


def read_column(series: pl.Series, reading: Reading) -> pl.Series:
    """Read a column as a kind; the error names the values that cannot be read."""
    # To methods of polars, a name such as "^$" is a pattern.
    return _read(series.name, series.alias("value"), reading).alias(series.name)


def _read(name: str, series: pl.Series, reading: Reading) -> pl.Series:
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        # Blanks at the ends do not count in any table, and a blank text is missing.
        series = series.cast(pl.String).str.strip_chars(" ").replace("", None)
    if reading.kind == "numeric":
        return _converted(name, series, _number(series), "is not a number")
    if reading.kind == "boolean":
        return _converted(name, series, _truth(series), "is neither true nor false")
    text = series.cast(pl.String)
    if reading.kind == "categorical":
        return text
    categories = text.cast(pl.Enum(reading.order), strict=False)
    return _converted(name, series, categories, f"is none of {_listed(reading.order)}")


def _number(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        return numbers(series).alias(series.name)
    return series.cast(pl.Float64, strict=False)


def _truth(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series
    if series.dtype.is_numeric():
        truth = pl.when(series == 1).then(True).when(series == 0).then(False)
        return pl.select(truth.alias(series.name)).to_series()
    words = series.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.replace_strict(WORDS, default=None, return_dtype=pl.Boolean)


def _converted(name: str, series: pl.Series, converted: pl.Series, fault: str) -> pl.Series:
    lost = series.is_not_null() & converted.is_null()
    if lost.any():
        row = int(lost.arg_max() or 0)
        raise UserError(
            f"column {name!r}: {str(series[row])!r} in row {row + 1} {fault} "
            f"({lost.sum()} of {len(series)} rows)"
        )
    return converted


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
