"""The cells of an Excel workbook as texts."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from surtree.cli._console import UserError, say
from surtree.cli._sheet import Sheet

WORKBOOKS = (".xlsx", ".xlsm")

# Of a sheet, its heading included; and of whole numbers, which Excel rounds to 15 digits.
_MOST_ROWS, _MOST_COLUMNS, _MOST_DIGITS = 2**20, 2**14, 10**15
_FIRST_YEAR = 1900
_MOMENTS = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss", time: "hh:mm:ss"}


def read_workbook(path: Path, sheet: str | None) -> Sheet:
    """Return the cells of a sheet, by its name, or of the first one."""
    if find_spec("fastexcel") is None:
        raise UserError(
            f"{path} is an Excel workbook, and reading these needs fastexcel, which is not "
            'installed: pip install "surtree[excel]", or save the sheet as CSV'
        )
    import fastexcel

    try:
        workbook = fastexcel.read_excel(path)
        names = workbook.sheet_names
        if sheet is not None and sheet not in names:
            raise UserError(f"{path} has no sheet {sheet!r}: there are {', '.join(names)}")
        chosen = names[0] if sheet is None else sheet
        # As texts, as in a CSV file: a column may hold numbers and notes.
        cells = workbook.load_sheet(chosen, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    if sheet is None and len(names) > 1:
        say(
            f"surtree: sheet {chosen!r} of {path} is read, of {', '.join(names)}; --sheet names "
            "another"
        )
    while len(cells) and not any(cells.row(0)):
        cells = cells.slice(1)
    if not len(cells):
        raise UserError(f"sheet {chosen!r} of {path} is empty")
    return Sheet(path, [cell or "" for cell in cells.row(0)], cells.slice(1))


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
