"""Files that commands write: whether they may be written, and tables of predictions."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from datetime import date, datetime, time
from importlib.util import find_spec
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from surtree._support.writing import FileKind, write_bytes
from surtree.cli._console import show_source
from surtree.reading.errors import UserError, failures
from surtree.reading.table import PARQUET, STANDARD_INPUT

WORKBOOK = (".xlsx",)
TABLE_FILE = FileKind(
    "predictions are written as CSV, Excel or Parquet", (".csv", *WORKBOOK, *PARQUET)
)
# The rows and columns of a sheet, its heading included; Excel rounds whole numbers to 15 digits.
_MOST_ROWS, _MOST_COLUMNS, _MOST_DIGITS = 2**20, 2**14, 10**15
_FIRST_YEAR = 1900
_MOMENTS = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss", time: "hh:mm:ss"}


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
    target = Path(os.path.realpath(path))
    # A new file replaces the old one in its directory; a device is written to.
    needed = [target] if target.exists() and not target.is_file() else [target, target.parent]
    for one in filter(Path.exists, needed):
        if not os.access(one, os.W_OK):
            raise UserError(f"cannot write {path}: permission denied for {one}")


def require_writer(path: Path, *, streamed: bool) -> None:
    """Raise an error where a workbook cannot be written."""
    if streamed:
        raise UserError(
            f"cannot write {path}: a table that is streamed may have more rows than a workbook; "
            "let it end with .csv or .parquet"
        )
    if find_spec("xlsxwriter") is None:
        raise UserError(
            f"cannot write {path}: writing Excel workbooks needs xlsxwriter, which is not "
            'installed: pip install "surtree[excel]", or let it end with .csv'
        )


def workbook_bytes(frame: pl.DataFrame) -> bytes:
    """Return a table as a workbook of one sheet; a text stays a text, also one like ``=1+1``."""
    from xlsxwriter import Workbook

    if len(frame) >= _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise UserError(
            f"a workbook has at most {_MOST_ROWS - 1:,} rows and {_MOST_COLUMNS:,} columns below "
            f"and beside its heading, and these are {len(frame):,} and {frame.width:,}: write to a "
            "file that ends with .csv or .parquet"
        )
    content = BytesIO()
    with Workbook(content, {"in_memory": True, "remove_timezone": True}) as workbook:
        sheet = workbook.add_worksheet("predictions")
        styles = {
            kind: workbook.add_format({"num_format": text}) for kind, text in _MOMENTS.items()
        }
        for column, series in enumerate(frame.iter_columns()):
            _write_cell(sheet, 0, column, series.name, None)
            for row, cell in enumerate(series.to_list(), start=1):
                _write_cell(sheet, row, column, cell, styles.get(type(cell)))
    return content.getvalue()


def _write_cell(sheet: Any, row: int, column: int, cell: Any, style: Any) -> None:
    if cell is None:
        return
    if style is not None and getattr(cell, "year", _FIRST_YEAR) >= _FIRST_YEAR:
        sheet.write_datetime(row, column, cell, style)
    elif isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif isinstance(cell, int | float) and math.isfinite(cell) and abs(cell) < _MOST_DIGITS:
        sheet.write_number(row, column, cell)
    elif sheet.write_string(row, column, str(cell)) < 0:
        raise UserError(
            f"a cell of a workbook has at most 32,767 characters, and one of these has "
            f"{len(str(cell)):,}: write to a file that ends with .csv or .parquet"
        )


def write_frame(frame: pl.DataFrame, path: Path | None) -> None:
    """Write a table as its ending says, CSV by default; to standard output if the path is None."""
    if path is None:
        show_source(frame.write_csv())
        return
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot write {path}: "):
        content = BytesIO()
        if path.suffix.lower() in PARQUET:
            frame.write_parquet(content)
        elif path.suffix.lower() in WORKBOOK:
            content.write(workbook_bytes(frame))
        else:
            frame.write_csv(content)
        write_bytes(path, content.getvalue())
