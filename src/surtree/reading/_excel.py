"""The cells of an Excel workbook as texts."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from surtree.reading._sheet import Sheet
from surtree.reading.errors import UserError, note
from surtree.reading.format import Format

WORKBOOKS = (".xlsx", ".xlsm")


def read_workbook(path: Path, form: Format) -> Sheet:
    """Return the cells of a sheet, by its name, or of the first one."""
    if find_spec("fastexcel") is None:
        raise UserError(
            f"{path} is an Excel workbook, and reading these needs fastexcel, which is not "
            'installed: pip install "surtree[excel]", or save the sheet as CSV'
        )
    import fastexcel

    sheet = form.sheet
    try:
        workbook = fastexcel.read_excel(path)
        names = workbook.sheet_names
        if sheet is not None and sheet not in names:
            raise UserError(f"{path} has no sheet {sheet!r}: there are {', '.join(names)}")
        chosen = names[0] if sheet is None else sheet
        # Cells are texts, as in a CSV file: a column may hold numbers and notes.
        cells = workbook.load_sheet(chosen, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    if sheet is None and len(names) > 1:
        note(
            f"sheet {chosen!r} of {path} is read, of {', '.join(names)}; {form.option('sheet')} "
            "names another"
        )
    while len(cells) and not any(cells.row(0)):
        cells = cells.slice(1)
    if not len(cells):
        raise UserError(f"sheet {chosen!r} of {path} is empty")
    return Sheet(path, [cell or "" for cell in cells.row(0)], cells.slice(1))
