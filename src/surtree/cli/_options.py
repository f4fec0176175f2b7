"""Options that several commands share, each described once."""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from surtree._support.parameters import MAX_DEPTH, MAX_SHRINKAGE, LeafCurveKind, require_shrinkage
from surtree.cli._columns import Override, read_override
from surtree.cli._survival import ZeroTimes
from surtree.cuts.categories import CategoryCuts

# An option that is given or not: no value follows, and none is shown in the help.
FLAG = ""
# Amounts of memory.
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(frozen=True)
class Times:
    """Times that were given together."""

    times: tuple[float, ...]


@dataclass(frozen=True)
class Shrinkages:
    """Values of shrinkage to choose from."""

    values: tuple[float, ...]


def _override(text: str) -> Override:
    try:
        return read_override(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_n_thresholds(given: str | int) -> int:
    """Read a number of thresholds; 0 stands for all of them. A default is a number already."""
    text = str(given)
    if text == "all":
        return 0
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise typer.BadParameter(f"{text!r} is neither a whole number above zero nor 'all'")


@dataclass(frozen=True)
class ColumnThresholds:
    """The thresholds that were given for a column."""

    column: str
    values: tuple[float, ...]


def _column_thresholds(text: str) -> ColumnThresholds:
    column, equals, numbers = text.rpartition("=")
    try:
        values = tuple(float(part) for part in numbers.split(","))
    except ValueError:
        values = ()
    if not (column and equals and values and all(map(math.isfinite, values))):
        raise typer.BadParameter(f"{text!r} is not a column and its thresholds, as age=50,65")
    return ColumnThresholds(column, values)


def by_column(given: list[ColumnThresholds] | None) -> dict[str, list[float]] | None:
    """Return given thresholds by the names of their columns."""
    found: dict[str, list[float]] = {}
    for one in given or ():
        found.setdefault(one.column, []).extend(one.values)
    return found or None


@dataclass(frozen=True)
class NamedCause:
    """What a cause is called."""

    cause: int
    name: str


def _named_cause(text: str) -> NamedCause:
    cause, equals, name = text.partition("=")
    if not (cause.strip().isdecimal() and equals and name.strip()):
        raise typer.BadParameter(f"{text!r} is not a cause and its name, as 1=relapse")
    return NamedCause(int(cause), name.strip())


def _seconds(given: float | None) -> float | None:
    if given is not None and not given > 0:
        raise typer.BadParameter("a time limit is a number of seconds above zero")
    return given


def _jobs(given: int | None) -> int | None:
    if given == 0:
        raise typer.BadParameter("at least one thread is needed; -1 is one for each processor")
    return given


def read_times(text: str) -> Times:
    """Read a list of times."""
    try:
        times = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of times such as 365,730") from None
    if not all(0 <= time < float("inf") for time in times):
        raise typer.BadParameter(f"{text!r}: times are zero or later, and finite")
    return Times(times)


def times_of(given: list[Times] | None) -> list[float] | None:
    """Return the times of several lists, each once and in order; None if there are none."""
    return None if given is None else sorted({time for one in given for time in one.times})


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the options that were given, as they are spelled, by the names of parameters."""
    return {
        str(parameter.name): parameter.opts[0]
        for parameter in context.command.params
        if getattr(context.get_parameter_source(str(parameter.name)), "name", "") == "COMMANDLINE"
    }


def _shrinkages(text: str) -> Shrinkages:
    try:
        values = tuple(float(part) for part in text.split(","))
        for value in values:
            require_shrinkage(value)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a number of events, or several such as 0,1,3,10; the largest is "
            f"{MAX_SHRINKAGE:g}"
        ) from None
    return Shrinkages(values)


def _encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise typer.BadParameter(
            f"{name!r} is no encoding that is known: such are utf-8, utf-16, cp1252 and latin-1"
        ) from None
    return name


def _decimal(mark: str) -> str:
    if mark not in (".", ","):
        raise typer.BadParameter(f"{mark!r} is neither a point nor a comma")
    return mark


def _separator(text: str) -> str:
    mark = "\t" if text == r"\t" else text
    if len(mark.encode()) != 1:
        raise typer.BadParameter(f"{text!r} is not a single character")
    return mark


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

Time = Annotated[
    str,
    typer.Option(
        metavar="COLUMN|START..END",
        help="Time of the event or of censoring: a column of numbers; or two columns of dates, "
        "with the days from the one to the other.",
    ),
]
MaybeTime = Annotated[str | None, *get_args(Time)[1:]]
Event = Annotated[
    str,
    typer.Option(
        metavar="COLUMN[=VALUE]",
        help="Whether the event happened: a column of 0/1, true/false or yes/no; or a column and "
        "the value that is the event, as in status=dead.",
    ),
]
FitEvent = Annotated[str | None, *get_args(Event)[1:]]
Cause = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[=CAUSE,...]",
        help="Instead of --event, for competing risks: a column of whole numbers, 0 where a row is "
        "censored and else the cause; or a column and the causes that the tree is to tell apart, "
        "as in status=1.",
    ),
]
CauseName = Annotated[
    list[NamedCause] | None,
    typer.Option(
        parser=_named_cause,
        metavar="CAUSE=NAME",
        help="What a cause is called in reports and tables, as in 1=relapse; can be repeated. The "
        "model keeps it.",
    ),
]
Treatment = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The arm of a trial: find the tree of treatment effects, test whether they differ at "
        "all, and say how much in new data.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="ARM",
        help="The arm of --treatment that others are compared with; by default the first in order.",
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="When a row came under observation (left truncation)."),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="How often a row counts; 0 leaves it out.")
]

Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Whose row it is, where persons have several (start-stop rows, with --entry): rows "
        "with the same value stay together in folds and samples, and leaves count persons.",
    ),
]

Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that the tree may ask about; by default all but those of the target.",
        rich_help_panel="Columns",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,...", help="Columns to leave out.", rich_help_panel="Columns"),
]
Types = Annotated[
    list[Override] | None,
    typer.Option(
        "--type",
        parser=_override,
        metavar="COLUMN=KIND",
        help="Read a column as numeric, boolean, categorical or ordered:low,middle,high.",
        rich_help_panel="Columns",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        parser=_separator,
        metavar="CHARACTER",
        help="What stands between the cells of a CSV file; by default found out: a comma, a "
        "semicolon, a tab or a bar.",
        rich_help_panel="File",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        parser=_decimal,
        metavar=".|,",
        help="The decimal mark of numbers; by default a point, or a comma if numbers have one and "
        "commas do not stand between the cells.",
        rich_help_panel="File",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        parser=_encoding,
        metavar="NAME",
        help="The encoding of a CSV file; by default found out: UTF-8, UTF-16 or Windows-1252.",
        rich_help_panel="File",
    ),
]
SheetName = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="The sheet of an Excel workbook; by default the first.",
        rich_help_panel="File",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A cell that means a missing value, beside empty ones, NA, N/A, NaN, NULL and a "
        "point; can be repeated.",
        rich_help_panel="File",
    ),
]
DropIncomplete = Annotated[
    bool,
    typer.Option(
        "--drop-incomplete",
        metavar=FLAG,
        help="Leave out rows that lack the time, the event or another column of the target.",
        rich_help_panel="Rows",
    ),
]
ZeroTime = Annotated[
    ZeroTimes,
    typer.Option(
        "--zero-times",
        help="Rows of time zero: keep events and leave out censored rows, which say nothing; drop "
        "all of them; or read zero as half of the shortest time above it.",
        rich_help_panel="Rows",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value, such as those of a patient or of a centre, stay together "
        "in folds and samples.",
        rich_help_panel="Rows",
    ),
]

_DEPTH = "The largest number of questions that a row is asked; by default "


def _max_depth(default: str) -> Any:
    return typer.Option(min=0, max=MAX_DEPTH, help=_DEPTH + default, rich_help_panel="Tree")


MaxDepth = Annotated[int, _max_depth("3.")]
AuditDepth = Annotated[int | None, _max_depth("4, or as many as the model asks if that is more.")]
MaxSplits = Annotated[
    int | None,
    typer.Option(
        min=0, help="The largest number of questions in the tree.", rich_help_panel="Tree"
    ),
]
MinSamplesLeaf = Annotated[
    int, typer.Option(min=1, help="The smallest number of rows in a leaf.", rich_help_panel="Tree")
]
MinEventsLeaf = Annotated[
    int,
    typer.Option(min=0, help="The smallest number of events in a leaf.", rich_help_panel="Tree"),
]
NThresholds = Annotated[
    int,
    typer.Option(
        parser=read_n_thresholds,
        metavar="N|all",
        help="The most thresholds of a numeric column.",
        rich_help_panel="Tree",
    ),
]
Thresholds = Annotated[
    list[ColumnThresholds] | None,
    typer.Option(
        "--thresholds",
        parser=_column_thresholds,
        metavar="COLUMN=VALUE,...",
        help="The only thresholds of a column. May be given several times.",
        rich_help_panel="Tree",
    ),
]
CategoryCut = Annotated[
    CategoryCuts,
    typer.Option(
        "--category-cuts",
        help="Whether a question about categories names one of them, or any set of them.",
        rich_help_panel="Tree",
    ),
]
Shrinkage = Annotated[
    Shrinkages | None,
    typer.Option(
        parser=_shrinkages,
        metavar="EVENTS,...",
        help="A prior in every leaf, worth so many events at average risk. Of several, tuning "
        "chooses one; by default of 1, 3 and 10. With --no-tune one, by default 0.",
        rich_help_panel="Tree",
    ),
]
LeafCurve = Annotated[
    LeafCurveKind,
    typer.Option(
        help="What survival a leaf predicts: its relative risk times the hazard of all rows, a "
        "Kaplan-Meier curve of its own rows, or that of a Cox model of the leaves (breslow).",
        rich_help_panel="Tree",
    ),
]
FitLeafCurve = Annotated[
    LeafCurveKind | None,
    typer.Option(
        help="What survival a leaf predicts: its relative risk times the hazard of all rows, which "
        "is the default; a Kaplan-Meier curve of its own rows, the default with --cause; or that "
        "of a Cox model of the leaves (breslow).",
        rich_help_panel="Tree",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        callback=_seconds,
        metavar="SECONDS",
        help="After so long the search ends with its best tree and a bound; tuning included.",
        rich_help_panel="Search",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        callback=_jobs,
        metavar="N",
        help="Threads; -1 is one for each processor. The tree does not depend on it.",
        rich_help_panel="Search",
    ),
]


def _bytes(text: str) -> int:
    number, unit = re.fullmatch(r"\s*([0-9.]*)\s*([a-z]*)\s*", text.lower()).groups()  # type: ignore[union-attr]
    return int(float(number) * _UNITS[unit])


def read_bytes(given: str | int) -> int:
    """Read an amount of memory, such as 2GB."""
    try:
        return given if isinstance(given, int) else _bytes(given)
    except (AttributeError, KeyError, ValueError):
        raise typer.BadParameter(f"{given!r} is not an amount of memory such as 2GB") from None


MemoryLimit = Annotated[
    int | None,
    typer.Option(
        parser=read_bytes,
        metavar="SIZE",
        help="Stream the table (Parquet) instead of reading it as a whole, and keep at most so "
        "much of it, such as 2GB. Several files, given by a directory or a pattern, are always "
        "streamed.",
        rich_help_panel="Search",
    ),
]
Title = Annotated[
    str | None, typer.Option(help="The heading of the report.", rich_help_panel="Report")
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT", help="What time is counted in, such as days.", rich_help_panel="Report"
    ),
]

PageHorizons = Annotated[
    list[Times] | None,
    typer.Option(
        "--horizons",
        parser=read_times,
        metavar="TIME,...",
        help="Times for which the report states survival, by default a few round ones; and those "
        "at which --validate looks at calibration. The model keeps them, for later commands.",
        rich_help_panel="Report",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What the report calls the columns: a CSV file with columns column, label and unit.",
        rich_help_panel="Report",
    ),
]
# The same of what is no report.
FigureTimeUnit = Annotated[
    str | None, typer.Option("--time-unit", metavar="UNIT", help="What time is counted in.")
]
FigureLabels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="What columns are called: a CSV file with columns column, label and unit.",
    ),
]
TableHorizons = Annotated[
    list[Times] | None,
    typer.Option(
        "--horizons",
        parser=read_times,
        metavar="TIME,...",
        help="Times for which csv and markdown state survival; by default those that the model "
        "keeps, or a few round ones.",
    ),
]

Horizons = Annotated[
    list[Times] | None,
    typer.Option(
        "--survival",
        parser=read_times,
        metavar="TIME,...",
        help="Add the probability of no event until each of these times.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", metavar=FLAG, help="Write JSON to standard output, and nothing else."),
]
