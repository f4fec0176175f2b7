"""Tables in and out of files: CSV, Excel and Parquet, through polars.

polars reads and writes CSV and Parquet by itself, tells missing values from NaN and from empty
columns, has ordered categories, and is one package where pandas would need pyarrow too. The cells
of a CSV file and of a workbook are read as texts, and then in the same way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import combinations
from pathlib import Path

import polars as pl

from surtree._support.endings import FileKind
from surtree._support.writing import write_bytes
from surtree.cli._console import UserError, failures, say, show_source
from surtree.cli._csv import SEPARATOR_NAMES, read_csv
from surtree.cli._encoding import decode
from surtree.cli._excel import WORKBOOKS, read_workbook, workbook_bytes
from surtree.cli._typed import Source, typed

STANDARD_INPUT = Path("-")
# What R, pandas, databases, Excel (also the German one), and SAS write for a missing value.
MISSING = ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "#N/A", "#NV", ".")

_PARQUET = (".parquet", ".pq")
TABLE_WORKBOOK = (".xlsx",)
TABLE_FILE = FileKind(
    "predictions are written as CSV, Excel or Parquet", (".csv", *TABLE_WORKBOOK, *_PARQUET)
)
_OF_CELLS = ("separator", "decimal", "encoding")
# What other files begin with, whatever they are called.
_OTHER_FILES = {
    b"PK\x03\x04": "a workbook or an archive: a workbook is read if its name ends with .xlsx",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel before 2007 (.xls): save it as .xlsx or as CSV UTF-8",
    b"\x1f\x8b": "compressed: unpack it first, as with gunzip",
    b"PAR1": "a Parquet file: it is read if its name ends with .parquet",
}


@dataclass(frozen=True)
class Format:
    """How the cells of a file are written, where the user has said it."""

    separator: str | None = None  # what stands between the cells of a CSV file
    decimal: str | None = None  # the decimal mark of numbers
    encoding: str | None = None  # the encoding of a CSV file
    sheet: str | None = None  # the sheet of a workbook
    # Cells that are missing values, beside those that most programs write.
    missing: Sequence[str] = ()

    def refuse(self, path: Path, kind: str, *names: str) -> None:
        """Raise an error if one of these was said, and means nothing in such a file."""
        given = [f"--{name}" for name in names if getattr(self, name)]
        if given:
            raise UserError(f"{path} is {kind}, where {' and '.join(given)} would do nothing")


@dataclass(frozen=True)
class DataFile:
    """A table that was read."""

    frame: pl.DataFrame  # the table
    # Its cells as they were written, without blanks; None where they had types already.
    texts: pl.DataFrame | None = None
    # What is unusual about how the numbers of a column are written.
    ways: Mapping[str, str] = field(default_factory=dict)

    def as_written(self, name: str) -> pl.Series:
        """Return a column such that each cell is written as it was: with the zeros of 007."""
        column = self.frame[name]
        if self.texts is None:
            return column
        text = self.texts[name].str.strip_chars()
        same = (column.cast(pl.String) == text) | column.is_null()
        return column if same.all() else text


def read_table(
    path: Path, form: Format | None = None, *, as_texts: Collection[str] = ()
) -> DataFile:
    """Read a table."""
    form = form or Format()
    if path != STANDARD_INPUT:
        require_file(path)
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
        if path.suffix.lower() in _PARQUET:
            form.refuse(path, "a Parquet file", *_OF_CELLS, "missing", "sheet")
            # Files of NumPy and pandas have NaN where a value is missing.
            numbers = pl.selectors.float()
            frame = pl.read_parquet(path)
            _require_no_patterns(path, frame)
            found = DataFile(frame.with_columns(numbers.fill_nan(None)))
        else:
            found = _read_cells(path, form, as_texts)
    if not found.frame.width or not len(found.frame):
        raise UserError(f"{path} has no rows")
    return found


def write_frame(frame: pl.DataFrame, path: Path | None) -> None:
    """Write a table as its ending says, CSV by default; to standard output if the path is None."""
    if path is None:
        show_source(frame.write_csv())
        return
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot write {path}: "):
        content = BytesIO()
        if path.suffix.lower() in _PARQUET:
            frame.write_parquet(content)
        elif path.suffix.lower() in TABLE_WORKBOOK:
            content.write(workbook_bytes(frame))
        else:
            frame.write_csv(content)
        write_bytes(path, content.getvalue())


def require_outputs(
    outputs: Mapping[str, tuple[Path | None, FileKind]], **inputs: Path | None
) -> None:
    """Raise an error before a long search if an output cannot or must not be written."""
    written = {name: path for name, (path, _) in outputs.items() if path is not None}
    for name, path in written.items():
        _require_writable(path)
        for read, source in inputs.items():
            if source is not None and _same_file(path, source):
                raise UserError(
                    f"{name} {path} would overwrite the {read}, {source}: write to another file"
                )
    for (one, path), (other, again) in combinations(written.items(), 2):
        if _same_file(path, again):
            raise UserError(f"{one} {path} and {other} {again} are the same file: write to two")
    for name, path in written.items():
        with failures(ValueError, about=f"{name} "):
            outputs[name][1].check(path)


def _same_file(one: Path, other: Path) -> bool:
    """Return whether two paths are the same regular file, links followed."""
    if STANDARD_INPUT in (one, other):
        return False
    if one.exists() and other.exists():
        return one.samefile(other) and one.is_file()
    return os.path.realpath(one) == os.path.realpath(other)


def _require_writable(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a directory")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no directory {path.parent}")
    for needed in _needed(path):
        if not os.access(needed, os.W_OK):
            raise UserError(f"cannot write {path}: permission denied for {needed}")


def _needed(path: Path) -> list[Path]:
    """Return the directory that must be writable: a new file replaces the old one there."""
    found = Path(os.path.realpath(path))
    if not found.exists():
        return [found.parent]
    return [found, found.parent] if found.is_file() else [found]


def require_file(path: Path) -> None:
    """Raise an error if there is no such file."""
    if path.is_dir():
        raise UserError(f"{path} is a directory, not a file")
    if not path.exists():
        raise UserError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise UserError(f"{path} is empty")


def _read_cells(path: Path, form: Format, as_texts: Collection[str]) -> DataFile:
    if path.suffix.lower() in WORKBOOKS:
        form.refuse(path, "an Excel workbook", "separator", "encoding")
        sheet, notes = read_workbook(path, form.sheet), []
        origin: Source = "workbook"
    else:
        form.refuse(path, "no Excel workbook", "sheet")
        source = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        _require_text(path, source)
        text, encoding = decode(path, source, form.encoding)
        sheet, separator = read_csv(path, text, form.separator)
        origin = "commas" if separator == "," else "other marks"
        notes = [encoding] if encoding and form.encoding is None else []
        if separator not in (",", form.separator):
            notes.append(f"separated by {SEPARATOR_NAMES.get(separator, repr(separator))}")
    texts = sheet.named()
    _require_no_patterns(path, texts)
    frame, ways = typed(
        texts,
        missing={*MISSING, *form.missing},
        as_texts=as_texts,
        decimal=form.decimal,
        source=origin,
    )
    if form.decimal is None and any("decimal commas" in way for way in ways.values()):
        notes.append("decimal commas")
    if notes:
        say(f"surtree: {path} is read as {'; '.join(notes)}")
    if frame.width == 1 and " " in (sheet.header[0]).strip():
        raise UserError(
            f"{path} has a single column, {frame.columns[0]!r}: say what stands between the cells, "
            "as in --separator ' '"
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
