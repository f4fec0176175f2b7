"""Tables in files: CSV, Excel and Parquet, through polars.

polars reads CSV and Parquet by itself, tells missing values from NaN and from empty columns, has
ordered categories, and is one package where pandas would need pyarrow too. The cells of a CSV file
and of a workbook are read as texts, and then in the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from surtree.reading._sheets import SEPARATOR_NAMES, WORKBOOKS, decode, read_csv, read_workbook
from surtree.reading.errors import Format, UserError, failures, note
from surtree.reading.numbers import described, find_decimal, has_evidence, may_be_either, numbers

Source = Literal["commas", "other marks", "workbook"]

_TRUTH = {"true": True, "false": False}


def typed(
    texts: pl.DataFrame,
    missing: Collection[str],
    as_texts: Collection[str],
    form: Format,
    source: Source,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a table with numbers where all cells of a column are, and how these are written."""
    decimal = form.decimal
    cleaned = [_cleaned(texts[name], missing) for name in texts.columns]
    default = "." if source == "commas" else None
    if source == "other marks" and decimal is None:
        default = find_decimal(column for column in cleaned if column.name not in as_texts)
    columns, ways = [], {}
    for column in cleaned:
        if column.name in as_texts:
            columns.append(column)
            continue
        marks = [decimal or default or "."]
        if decimal is None and source != "commas":
            seen = _points_as_commas(column) if source == "workbook" else column
            marks += [mark for mark in ".," if mark != marks[0] and has_evidence(seen, mark)]
            if default is None and len(marks) == 1 and may_be_either(column):
                raise UserError(
                    f"column {column.name!r} holds {_with_comma(column)!r}, which may be a "
                    f"thousand or a fraction: say {form.option('decimal', '.')} or "
                    f"{form.option('decimal', ',')}"
                )
        values, way = _typed(column, marks, points=source == "workbook")
        columns.append(values)
        if way:
            ways[column.name] = way
    return pl.DataFrame(columns), ways


def _cleaned(column: pl.Series, missing: Collection[str]) -> pl.Series:
    """Return texts without blanks and quotation marks around them, null where missing."""
    stripped = column.str.strip_chars(" ")
    if stripped.str.starts_with('"').any():  # after a blank, or twice
        stripped = stripped.str.replace(r'^"([^"]*)"$', "$1").str.strip_chars(" ")
    absent = stripped.str.strip_chars().is_in(list({*missing, ""}))
    present = pl.select(pl.when(~absent).then(stripped)).to_series()
    return present.cast(pl.String).alias(column.name)


def _typed(column: pl.Series, marks: list[str], *, points: bool) -> tuple[pl.Series, str]:
    if column.null_count() == len(column):
        return column, ""
    if str(column.drop_nulls()[0]).lower() in _TRUTH:
        words = column.str.to_lowercase()
        truth = words.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
        if truth.null_count() == column.null_count():
            return truth, ""
    for mark in marks:
        texts = _points_as_commas(column) if points and mark == "," else column
        values = numbers(texts, mark)
        if values.null_count() == column.null_count():
            whole = column.str.strip_chars().cast(pl.Int64, strict=False)
            is_whole = whole.null_count() == column.null_count()
            numeric = whole if is_whole else values
            return numeric.alias(column.name), "" if is_whole else described(texts, mark)
    return column, ""


def _points_as_commas(column: pl.Series) -> pl.Series:
    """Return cells with a decimal comma, where the numbers of a workbook have a point."""
    is_number = ~column.str.contains(",", literal=True)
    commas = column.str.replace(".", ",", literal=True)
    return pl.select(pl.when(is_number).then(commas).otherwise(column)).to_series()


def _with_comma(column: pl.Series) -> str:
    index = column.str.contains(",", literal=True).arg_max()
    return str(column[index or 0])


STANDARD_INPUT = Path("-")
PARQUET = (".parquet", ".pq")
# R, pandas, databases, Excel (also the German one), and SAS write these for a missing value.
MISSING = ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "#N/A", "#NV", ".")

# Other files begin with these bytes, whatever they are called.
_OTHER_FILES = {
    b"PK\x03\x04": "a workbook or an archive: a workbook is read if its name ends with .xlsx",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel before 2007 (.xls): save it as .xlsx or as CSV UTF-8",
    b"\x1f\x8b": "compressed: unpack it first, as with gunzip",
    b"PAR1": "a Parquet file: it is read if its name ends with .parquet",
}


@dataclass(frozen=True)
class DataFile:
    """A table that was read."""

    frame: pl.DataFrame
    # Its cells as they were written, without blanks; None where they had types already.
    texts: pl.DataFrame | None = None
    # Columns whose numbers are written in an unusual way, and which.
    ways: Mapping[str, str] = field(default_factory=dict)

    def as_written(self, name: str) -> pl.Series:
        """Return a column such that each cell is written as it was: with the zeros of 007."""
        column = self.frame[name]
        if self.texts is None:
            return column
        text = self.texts[name].str.strip_chars()
        same = (column.cast(pl.String) == text) | column.is_null()
        return column if same.all() else text


def read_file(
    path: Path, form: Format | None = None, *, as_texts: Collection[str] = ()
) -> DataFile:
    """Read a table; some of its columns may be asked for as texts, whatever they look like."""
    form = form or Format()
    if path != STANDARD_INPUT:
        require_file(path)
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
        if path.suffix.lower() in PARQUET:
            table = _read_parquet(path, form)
        else:
            table = _read_cells(path, form, as_texts)
    if not table.frame.width or not len(table.frame):
        raise UserError(f"{path} has no rows")
    return table


def require_file(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"{path} is a directory, not a file")
    if not path.exists():
        raise UserError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise UserError(f"{path} is empty")


def _read_parquet(path: Path, form: Format) -> DataFile:
    form.refuse(path, "a Parquet file", "separator", "decimal", "encoding", "missing", "sheet")
    frame = pl.read_parquet(path)
    _require_no_patterns(path, frame)
    # Files of NumPy and pandas have NaN where a value is missing.
    return DataFile(frame.with_columns(pl.selectors.float().fill_nan(None)))


def _read_cells(path: Path, form: Format, as_texts: Collection[str]) -> DataFile:
    if path.suffix.lower() in WORKBOOKS:
        form.refuse(path, "an Excel workbook", "separator", "encoding")
        sheet, ways_of_file = read_workbook(path, form), []
        origin: Source = "workbook"
    else:
        form.refuse(path, "no Excel workbook", "sheet")
        source = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        _require_text(path, source)
        text, encoding = decode(path, source, form)
        sheet, separator = read_csv(path, text, form.separator)
        origin = "commas" if separator == "," else "other marks"
        ways_of_file = [encoding] if encoding and form.encoding is None else []
        if separator not in (",", form.separator):
            ways_of_file.append(f"separated by {SEPARATOR_NAMES.get(separator, repr(separator))}")
    texts = sheet.named()
    _require_no_patterns(path, texts)
    frame, ways = typed(texts, {*MISSING, *(form.missing or ())}, as_texts, form, origin)
    if form.decimal is None and any("decimal commas" in way for way in ways.values()):
        ways_of_file.append("decimal commas")
    if ways_of_file:
        note(f"{path} is read as {'; '.join(ways_of_file)}")
    if frame.width == 1 and " " in (sheet.header[0]).strip():
        raise UserError(
            f"{path} has a single column, {frame.columns[0]!r}: say what stands between the cells, "
            f"as in {form.option('separator', ' ')}"
        )
    return DataFile(frame, texts, ways)


def _require_no_patterns(path: Path, frame: pl.DataFrame) -> None:
    """Raise an error for a column whose name polars does not take for a name."""
    for name in frame.columns:
        if name.startswith("^") and name.endswith("$"):
            raise UserError(
                f"{path}: the column {name!r} begins with ^ and ends with $, which polars takes "
                "for a pattern of names: rename it"
            )


def _require_text(path: Path, source: bytes) -> None:
    for beginning, kind in _OTHER_FILES.items():
        if source.startswith(beginning):
            raise UserError(f"{path} is {kind}")
