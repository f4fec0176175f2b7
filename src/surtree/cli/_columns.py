"""Which columns a tree may ask about, and how they are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import polars as pl

from surtree.cli._console import UserError, say
from surtree.estimator import SurTree

KINDS = ("numeric", "boolean", "categorical", "ordered")
WORDS = {
    **dict.fromkeys(("1", "true", "yes", "y", "t"), True),
    **dict.fromkeys(("0", "false", "no", "n", "f"), False),
}


@dataclass(frozen=True)
class Reading:
    """How a column is to be read.

    Parameters
    ----------
    kind : {"numeric", "boolean", "categorical", "ordered"}
        What its values are.
    order : tuple of str
        The categories of an ordered column, the lowest first.
    """

    kind: str
    order: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether cells are texts, also where they look like numbers."""
        return self.kind in ("categorical", "ordered")


@dataclass(frozen=True)
class Override:
    """A column that is to be read in a way that the user has chosen."""

    column: str
    reading: Reading


def read_override(text: str) -> Override:
    """Read what follows ``--type``, such as ``grade=ordered:I,II,III``; ValueError if it cannot."""
    name, equals, kind = text.rpartition("=")
    kind, colon, categories = kind.partition(":")
    order = tuple(name.strip(" ") for name in categories.split(",")) if colon else ()
    if not (name and equals) or kind not in KINDS or (kind == "ordered") != (len(order) > 1):
        raise ValueError(
            f"{text!r} is not a type: write column=numeric, column=boolean, column=categorical or "
            "column=ordered:low,middle,high"
        )
    if len(set(order)) < len(order):
        raise ValueError(f"{text!r} names a category twice")
    return Override(name, Reading(kind, order))


def choose(
    frame: pl.DataFrame,
    *,
    columns: Sequence[str],
    exclude: Sequence[str],
    reserved: Collection[str],
    types: Mapping[str, Reading],
) -> pl.DataFrame:
    """Return the columns that a tree may ask about, each read as the user says.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    columns : sequence of str
        The columns to take; all that are not reserved if empty.
    exclude : sequence of str
        Columns to leave out.
    reserved : collection of str
        The columns of the target, which no tree may ask about.
    types : mapping of str to Reading
        How some columns are to be read.
    """
    require_columns(frame, [*columns, *exclude, *types])
    for name in columns:
        if name in reserved:
            raise UserError(f"column {name!r} is part of the target: a tree cannot ask about it")
    taken = list(dict.fromkeys(columns)) or [name for name in frame.columns if name not in reserved]
    taken = [name for name in taken if name not in exclude]
    if not taken:
        raise UserError("no column is left for the tree to ask about")
    for name in taken:
        if name not in types:
            _note_numbers_among_texts(frame[name])
    return frame.select(
        read_column(frame[name], types[name]) if name in types else frame[name] for name in taken
    )


def _note_numbers_among_texts(series: pl.Series) -> None:
    """Note columns of numbers that a few cells of text turn into categories."""
    if series.dtype != pl.String:
        return
    is_number = _number(series).is_not_null()
    is_text = series.is_not_null() & ~is_number
    n_texts = int(is_text.sum())
    if 0 < n_texts <= int(is_number.sum()):
        row = int(is_text.arg_max() or 0)
        say(
            f"surtree: column {series.name!r} is read as categories, because not all cells are "
            f"numbers: {series[row]!r} in row {row + 1} ({n_texts} of {len(series)} rows)"
        )


def conform(frame: pl.DataFrame, model: SurTree) -> pl.DataFrame:
    """Return the columns of a model, in their order, each of the kind that it was trained on.

    Columns that the tree does not ask about may be absent. Where the model knows no names, its
    columns are those of the table.
    """
    names = _names(model) or frame.columns
    if len(names) != model.n_features_in_:
        raise UserError(
            f"the table has {len(names)} columns, and the model, which knows no names, has "
            f"{model.n_features_in_}"
        )
    readings = _readings(model)
    asked = {names[cut.column]: readings[cut.column] for cut in model.tree_.cuts}
    require_columns(frame, asked)
    absent = pl.Series([None] * len(frame))
    return pl.DataFrame(
        {
            name: read_column(frame[name], asked[name])
            if name in asked
            else frame.get_column(name, default=absent)
            for name in names
        }
    )


def text_columns(model: SurTree) -> list[str]:
    """Return the names of the columns that a model reads as text."""
    names = _names(model)
    return [
        names[place] for place, reading in _readings(model).items() if names and reading.is_text
    ]


def _names(model: SurTree) -> list[str]:
    return list(getattr(model, "feature_names_in_", ()))


def _readings(model: SurTree) -> dict[int, Reading]:
    """Return the kind of each column that a model asks about, by position."""
    readings = {}
    for cut in (*model.encoder_.cuts_, *model.tree_.cuts):
        if cut.threshold is not None:
            readings[cut.column] = Reading("numeric")
            continue
        first = next(iter(cut.categories or cut.known or ()), None)
        if first is None:
            # The tree asks only whether the value is missing.
            readings.setdefault(cut.column, Reading("categorical"))
        else:
            kind = "boolean" if first is True else "categorical"
            readings[cut.column] = Reading(kind if isinstance(first, str | bool) else "numeric")
    return readings


def require_columns(frame: pl.DataFrame, names: Collection[str]) -> None:
    """Raise an error if a column is absent; it suggests a similar name."""
    for name in names:
        if name not in frame.columns:
            close = get_close_matches(name, frame.columns, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {_listed(frame.columns)}"
            raise UserError(f"there is no column {name!r}: {hint}")


def split_names(given: Sequence[str], frame: pl.DataFrame) -> list[str]:
    """Return the columns that are named one by one, or several at a time with commas between."""
    names: list[str] = []
    for text in given:
        names += [text] if text in frame.columns else text.split(",")
    return names


def read_column(series: pl.Series, reading: Reading) -> pl.Series:
    """Read a column as a kind; the error names the values that cannot be read."""
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        # As in all tables: blanks at the ends do not count, and a blank text is missing.
        series = series.cast(pl.String).str.strip_chars(" ").replace("", None)
    if reading.kind == "numeric":
        return _converted(series, _number(series), "is not a number")
    if reading.kind == "boolean":
        return _converted(series, _truth(series), "is neither true nor false")
    text = series.cast(pl.String)
    if reading.kind == "categorical":
        return text
    return _converted(
        series,
        text.cast(pl.Enum(reading.order), strict=False),
        f"is none of {_listed(reading.order)}",
    )


def _number(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    return series.cast(pl.Float64, strict=False)


def _truth(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series
    if series.dtype.is_numeric():
        truth = pl.when(series == 1).then(True).when(series == 0).then(False)
        return pl.select(truth.alias(series.name)).to_series()
    words = series.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.replace_strict(WORDS, default=None, return_dtype=pl.Boolean)


def _converted(series: pl.Series, converted: pl.Series, fault: str) -> pl.Series:
    lost = series.is_not_null() & converted.is_null()
    if lost.any():
        row = int(lost.arg_max() or 0)
        raise UserError(
            f"column {series.name!r}: {str(series[row])!r} in row {row + 1} {fault} "
            f"({lost.sum()} of {len(series)} rows)"
        )
    return converted


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
