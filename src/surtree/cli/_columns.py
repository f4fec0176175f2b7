"""Which columns a tree may ask about, and how they are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from typing import Any

import polars as pl

from surtree.cli._console import UserError
from surtree.cli._kinds import Kind, kind_of
from surtree.cli._numbers import numbers
from surtree.estimators.tree import SurTree

_KIND_NAMES = {
    "numeric": "number",
    "boolean": "yes/no",
    "categorical": "category",
    "ordered": "category",
}
EXCLUDED = "--exclude"
KEEPING = "--columns or --type COLUMN=categorical keeps a column that is left out"
WORDS = {
    **dict.fromkeys(("1", "true", "yes", "y", "t", "ja", "j", "oui", "si", "sí"), True),
    **dict.fromkeys(("0", "false", "no", "n", "f", "nein", "non"), False),
}
_MOST_MISSING = 3


@dataclass(frozen=True)
class Reading:
    """How a column is to be read."""

    kind: str  # what its values are
    order: tuple[str, ...] = ()  # the categories of an ordered column, the lowest first

    @property
    def as_kind(self) -> Kind:
        """What a column that is read so holds."""
        return Kind(_KIND_NAMES[self.kind])

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
    if not (name and equals) or kind not in _KIND_NAMES or (kind == "ordered") != (len(order) > 1):
        raise ValueError(
            f"{text!r} is not a type: write column=numeric, column=boolean, column=categorical or "
            "column=ordered:low,middle,high"
        )
    if len(set(order)) < len(order):
        raise ValueError(f"{text!r} names a category twice")
    return Override(name, Reading(kind, order))


@dataclass(frozen=True)
class Choice:
    """The columns that a tree may ask about."""

    X: pl.DataFrame  # the columns, each read as the user says
    kinds: dict[str, Kind]  # what they and the left out columns hold
    left_out: dict[str, str]  # why others are left out

    @property
    def words(self) -> dict[str, Any]:
        """What a survey says of the columns."""
        return {"kinds": self.kinds, "left_out": self.left_out}


def choose(
    frame: pl.DataFrame,
    *,
    columns: Sequence[str],
    exclude: Sequence[str],
    reserved: Collection[str],
    types: Mapping[str, Reading],
) -> Choice:
    """Return the columns that a tree may ask about.

    Dates, ids, sentences and empty columns are left out, unless the user names them. A column of
    numbers that a few cells turn into texts is refused: whatever becomes of it, some users would
    not expect it.
    """
    require_columns(frame, [*columns, *exclude, *types])
    for name in columns:
        if name in reserved:
            raise UserError(f"column {name!r} is part of the target: a tree cannot ask about it")
    taken = list(dict.fromkeys(columns)) or [name for name in frame.columns if name not in reserved]
    taken = [name for name in taken if name not in exclude]
    kinds = {name: types[name].as_kind if name in types else kind_of(frame[name]) for name in taken}
    left_out = {
        name: kind.left_out for name, kind in kinds.items() if kind.left_out and name not in columns
    }
    for name, kind in kinds.items():
        if kind.nearly:
            raise _nearly_numeric(name, kind)
        _require_finite(frame[name])
    kept = [name for name in taken if name not in left_out]
    if not kept:
        why = "".join(f", {name!r} ({reason})" for name, reason in left_out.items())
        hint = f": left out are{why[1:]}; {KEEPING}" if why else ""
        raise UserError(f"no column is left for the tree to ask about{hint}")
    return Choice(
        frame.select(
            read_column(frame[name], types[name]) if name in types else frame[name] for name in kept
        ),
        kinds,
        left_out | dict.fromkeys(exclude, EXCLUDED),
    )


def _require_finite(column: pl.Series) -> None:
    if not column.dtype.is_float():
        return
    n_infinite = int(column.is_infinite().sum())
    if n_infinite:
        raise UserError(
            f"Column {column.name!r} holds infinity (inf) in {n_infinite} of {len(column)} rows: "
            "replace it by a number, or leave the cell empty"
        )


def _nearly_numeric(name: str, kind: Kind) -> UserError:
    if kind.remedy:
        remedy = f"say {kind.remedy} to read them"
    else:
        missing = " ".join(f"--missing {quote(text)}" for text in kind.nearly[:_MOST_MISSING])
        more = " and so on" if len(kind.nearly) > _MOST_MISSING else ""
        remedy = f"correct them, or count them as missing ({missing}{more})"
    option = quote(f"{name}=categorical")
    return UserError(
        f"column {name!r}: {kind.odd}: {remedy}; --type {option} keeps the texts, and --exclude "
        f"{quote(name)} leaves the column out"
    )


def conform(frame: pl.DataFrame, model: SurTree, *, for_search: bool = False) -> pl.DataFrame:
    """Return the columns of a model, in their order, each of the kind that it was trained on.

    Columns that the tree does not ask about may be absent; ``for_search``, those that the search
    could not ask about. Where the model knows no names, its columns are those of the table.
    """
    names = _names(model) or frame.columns
    if len(names) != model.n_features_in_:
        raise UserError(
            f"the table has {len(names)} columns, and the model, which knows no names, has "
            f"{model.n_features_in_}"
        )
    readings = _readings(model)
    cuts = model.encoder_.cuts_ if for_search else model.tree_.cuts
    asked = {names[cut.column]: readings[cut.column] for cut in cuts}
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
            longer = [one for one in frame.columns if name.lower() in one.lower()]
            close = get_close_matches(name, frame.columns, 1) or longer
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
    # To methods of polars, a name such as "^$" is a pattern.
    return _read(series.name, series.alias("value"), reading).alias(series.name)


def _read(name: str, series: pl.Series, reading: Reading) -> pl.Series:
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        # As in all tables: blanks at the ends do not count, and a blank text is missing.
        series = series.cast(pl.String).str.strip_chars(" ").replace("", None)
    if reading.kind == "numeric":
        return _converted(name, series, _number(series), "is not a number")
    if reading.kind == "boolean":
        return _converted(name, series, _truth(series), "is neither true nor false")
    text = series.cast(pl.String)
    if reading.kind == "categorical":
        return text
    return _converted(
        name,
        series,
        text.cast(pl.Enum(reading.order), strict=False),
        f"is none of {_listed(reading.order)}",
    )


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
