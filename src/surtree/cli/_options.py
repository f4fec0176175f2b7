"""Options that several commands share, each described once."""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import polars as pl
import typer

from surtree._support.parameters import MAX_DEPTH, MAX_SHRINKAGE, LeafCurveKind, require_shrinkage
from surtree.cli._command import option
from surtree.cuts.categories import CategoryCuts
from surtree.reading.columns import KIND_NAMES, Reading
from surtree.reading.errors import Format, UserError
from surtree.reading.table import read_file
from surtree.validation.sizes import Rule

DEFAULT_TITLE = "Survival tree"
# Units of memory.
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        readable=False,
        help="Table: a CSV, Excel or Parquet file, or - for CSV on standard input; or several "
        "Parquet files: a directory, or a pattern in quotation marks, such as 'rows/*.parquet'.",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", readable=False, help="Model: a file that `surtree fit` wrote."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")
]


def read_times(texts: list[str]) -> tuple[float, ...]:
    times = []
    for text in texts:
        numbers = _numbers(text)
        if numbers is None:
            raise ValueError(f"{text!r} is not a list of times such as 365,730")
        if not all(0 <= time < float("inf") for time in numbers):
            raise ValueError(f"{text!r}: times are zero or later, and finite")
        times += numbers
    return tuple(times)


def read_n_thresholds(text: str) -> int:
    """Read a number of thresholds; 0 stands for all of them."""
    if text == "all":
        return 0
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ValueError(f"{text!r} is neither a whole number above zero nor 'all'")


def read_types(texts: list[str]) -> dict[str, Reading]:
    """Read how columns are to be read, such as ``grade=ordered:I,II,III``."""
    types = {}
    for text in texts:
        name, equals, kind = text.rpartition("=")
        kind, colon, names = kind.partition(":")
        order = tuple(one.strip(" ") for one in names.split(",")) if colon else ()
        is_kind = kind in KIND_NAMES and (kind == "ordered") == (len(order) > 1)
        if not (name and equals and is_kind):
            raise ValueError(
                f"{text!r} is not a type: write column=numeric, column=boolean, "
                "column=categorical or column=ordered:low,middle,high"
            )
        if len(set(order)) < len(order):
            raise ValueError(f"{text!r} names a category twice")
        types[name] = Reading(kind, order)
    return types


def _thresholds(texts: list[str]) -> dict[str, list[float]]:
    thresholds: dict[str, list[float]] = {}
    for text in texts:
        column, equals, listed = text.rpartition("=")
        values = _numbers(listed)
        if not (column and equals and values and all(map(math.isfinite, values))):
            raise ValueError(f"{text!r} is not a column and its thresholds, as age=50,65")
        thresholds.setdefault(column, []).extend(values)
    return thresholds


def _signs(texts: list[str]) -> dict[str, int]:
    signs: dict[str, int] = {}
    for text in texts:
        column, equals, sign = text.rpartition("=")
        if not (column and equals and sign in ("1", "+1", "-1")):
            raise ValueError(f"{text!r} is not a column and a sign, as age=1 and dose=-1")
        signs[column] = int(sign)
    return signs


def _shrinkages(text: str) -> tuple[float, ...]:
    values = _numbers(text)
    try:
        for value in values or [math.nan]:
            require_shrinkage(value)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a number of events, or several such as 0,1,3,10; the largest is "
            f"{MAX_SHRINKAGE:g}"
        ) from None
    return tuple(values or ())


def _numbers(text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def _encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(
            f"{name!r} is no encoding that is known: such are utf-8, utf-16, cp1252 and latin-1"
        ) from None
    return name


def _decimal(mark: str) -> str:
    if mark not in (".", ","):
        raise ValueError(f"{mark!r} is neither a point nor a comma")
    return mark


def _separator(text: str) -> str:
    mark = "\t" if text == r"\t" else text
    if len(mark.encode()) != 1:
        raise ValueError(f"{text!r} is not a single character")
    return mark


def read_seconds(given: float | None) -> float | None:
    """Return a time limit, or raise an error."""
    if given is not None and not given > 0:
        raise typer.BadParameter("a time limit is a number of seconds above zero")
    return given


def _jobs(given: int | None) -> int | None:
    if given == 0:
        raise typer.BadParameter("at least one thread is needed; -1 is one for each processor")
    return given


def _bytes(text: str) -> int:
    parts = re.fullmatch(r"\s*([0-9.]*)\s*([a-z]*)\s*", text.lower())
    try:
        return int(float(parts[1]) * _UNITS[parts[2]])  # type: ignore[index]
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"{text!r} is not an amount of memory such as 2GB") from None


_of_file = partial(option, panel="File")
_of_tree = partial(option, panel="Tree")
_of_search = partial(option, panel="Search")
_of_page = partial(option, panel="Words and times")


@dataclass(frozen=True)
class FileOptions(Format):
    """How the cells of a file are written, and how the command line says so."""

    separator: str | None = _of_file(
        "The separator of a CSV file; detected by default: a comma, a semicolon, a tab or a bar.",
        reads=_separator,
        metavar="CHARACTER",
    )
    decimal: str | None = _of_file(
        "The decimal mark of numbers; by default a point, or a comma if numbers have one and "
        "commas do not separate the cells.",
        reads=_decimal,
        metavar=".|,",
    )
    encoding: str | None = _of_file(
        "The encoding of a CSV file; detected by default: UTF-8, UTF-16 or Windows-1252.",
        reads=_encoding,
        metavar="NAME",
    )
    sheet: str | None = _of_file(
        "The sheet of an Excel workbook; by default the first.", metavar="NAME"
    )
    missing: list[str] | None = _of_file(
        "A cell that means a missing value, beside empty ones, NA, N/A, NaN, NULL and a point; "
        "can be repeated.",
        metavar="TEXT",
    )

    def option(self, name: str, value: str | None = None) -> str:
        """Return how a user of the command line says one of these."""
        return f"--{name}" if value is None else f"--{name} {quote(value)}"


@dataclass(frozen=True)
class TreeOptions:
    """The limits of a tree, and what its leaves predict."""

    max_depth: int = _of_tree(
        "The largest number of questions that a row is asked; by default 3.",
        default=3,
        min=0,
        max=MAX_DEPTH,
    )
    max_splits: int | None = _of_tree("The largest number of questions in the tree.", min=0)
    min_samples_leaf: int = _of_tree("The smallest number of rows in a leaf.", default=1, min=1)
    min_events_leaf: int = _of_tree("The smallest number of events in a leaf.", default=0, min=0)
    n_thresholds: int = _of_tree(
        "The most thresholds of a numeric column.",
        default=10,
        reads=read_n_thresholds,
        metavar="N|all",
    )
    thresholds: dict[str, list[float]] | None = _of_tree(
        "The only thresholds of a column. May be given several times.",
        reads=_thresholds,
        many=True,
        metavar="COLUMN=VALUE,...",
    )
    monotone: dict[str, int] | None = _of_tree(
        "A column with which the risk may only rise (1) or fall (-1). May be given several times.",
        reads=_signs,
        many=True,
        metavar="COLUMN=1|-1",
    )
    max_columns: int | None = _of_tree("About how many columns the tree may ask.", min=0)
    category_cuts: CategoryCuts = _of_tree(
        "Whether a question about categories names one of them, or any set of them.",
        default="subsets",
    )
    shrinkage: tuple[float, ...] | None = _of_tree(
        "A prior in every leaf, worth so many events at average risk. Of several, tuning "
        "chooses one; by default of 1, 3 and 10. With --no-tune one, by default 0.",
        reads=_shrinkages,
        metavar="EVENTS,...",
    )
    leaf_curve: LeafCurveKind | None = _of_tree(
        "What survival a leaf predicts: its relative risk times the hazard of all rows, which "
        "is the default; a Kaplan-Meier curve of its own rows, the default with --cause; or "
        "that of a Cox model of the leaves (breslow).",
    )

    @property
    def has_several_shrinkages(self) -> bool:
        return len(self.shrinkage or ()) > 1

    def parameters(self, *, tuned: bool) -> dict[str, Any]:
        given = vars(self) | {"n_thresholds": self.n_thresholds or None}
        if self.shrinkage is not None and not tuned:
            given["shrinkage"] = self.shrinkage[0]
        by_default = [name for name in ("shrinkage", "leaf_curve") if given[name] is None]
        return {name: value for name, value in given.items() if name not in by_default}


@dataclass(frozen=True)
class SearchOptions:
    """How a tree is searched for, tuned and validated."""

    tune: bool = _of_search(
        "Choose size and shrinkage by cross-validation, or take the best tree within the "
        "limits as it is.",
        "--tune/--no-tune",
        default=True,
    )
    folds: int | None = _of_search(
        "Folds of the cross-validation; by default 10, or as many as there are events.", min=2
    )
    rule: Rule | None = _of_search(
        "The best size, which is the default, or the smallest within one standard error of it.",
    )
    validate: int | None = _of_search(
        "Repeat everything on so many bootstrap samples, such as 200, and say what to expect "
        "in new data; the model and the report keep it.",
        min=1,
        metavar="N",
    )
    time_limit: float | None = _of_search(
        "After so long the search ends with its best tree and a bound; tuning included.",
        callback=read_seconds,
        metavar="SECONDS",
    )
    jobs: int | None = _of_search(
        "Threads; -1 is one for each processor. The tree does not depend on it.",
        callback=_jobs,
        metavar="N",
    )
    memory_limit: int | None = _of_search(
        "Stream the table (Parquet) instead of reading it as a whole, and keep at most so much "
        "of it, such as 2GB. Several files, given by a directory or a pattern, are always "
        "streamed.",
        reads=_bytes,
        metavar="SIZE",
    )


@dataclass(frozen=True)
class Page:
    """What a report is told beside the model."""

    title: str  # its heading
    time_unit: str | None = None  # what time is counted in
    horizons: tuple[float, ...] | None = None  # times for which survival is stated
    labels: dict[str, str] = field(default_factory=dict)  # what columns are called
    units: dict[str, str] = field(default_factory=dict)  # what they are counted in


@dataclass(frozen=True)
class PageOptions:
    """The words and times of a report, a figure or a table."""

    title: str | None = _of_page("The heading of the report.")
    time_unit: str | None = _of_page("What time is counted in, such as days.", metavar="UNIT")
    horizons: tuple[float, ...] | None = _of_page(
        "Times for which survival is stated, by default those that the model keeps, or a few "
        "round ones; and those at which validation looks at calibration. A model keeps the "
        "times that it is fitted with.",
        reads=read_times,
        many=True,
        metavar="TIME,...",
    )
    labels: Path | None = _of_page(
        "What columns are called: a CSV file with columns column, label and unit.",
        metavar="FILE",
    )

    def read(self) -> Page:
        """Return the words of a page, those of the file of labels among them."""
        page = Page(self.title or DEFAULT_TITLE, self.time_unit, self.horizons)
        if self.labels is None:
            return page
        table = read_file(self.labels, as_texts=("column", "label", "unit")).frame
        for name in ("column", "label"):
            if name not in table.columns:
                raise UserError(
                    f"{self.labels} has no column {name!r}: a file of labels has the columns "
                    "'column' and 'label', and perhaps 'unit'"
                )
        if table["column"].null_count() or table["column"].is_duplicated().any():
            raise UserError(f"{self.labels} names a column twice, or not at all")
        page.labels.update(_words(table, "label"))
        page.units.update(_words(table, "unit"))
        return page


def _words(table: pl.DataFrame, name: str) -> dict[str, str]:
    """Return the texts of a column by the names that they stand beside; empty ones are left out."""
    if name not in table.columns:
        return {}
    pairs = zip(table["column"].cast(pl.String), table[name].cast(pl.String), strict=True)
    return {column: text for column, text in pairs if text}
