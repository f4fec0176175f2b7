"""Files as people have them: CSV of any separator, encoding and decimal mark, Excel, Parquet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from surtree.reading.errors import ReadingWarning, UserError, note

if TYPE_CHECKING:
    import polars as pl

    from surtree.reading.columns import Reading

__all__ = ["ReadingWarning", "read_table"]


def read_table(
    path: str | PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    missing: Collection[str] = (),
    types: Mapping[str, str | Sequence[str]] | None = None,
) -> pl.DataFrame:
    r"""Read a table from a file, as the command line does.

    What the options do not say is found out from the file: what stands between the cells of a CSV
    file, its encoding, and whether numbers have decimal commas, thousands or percent signs. A
    column is of numbers or truth values if all of its cells are, and of texts otherwise. What is
    not certain, and what is left out (blank lines, row names), is a `ReadingWarning`. Reading
    needs polars: ``pip install "surtree[cli]"``; workbooks need ``"surtree[excel]"``.

    Parameters
    ----------
    path : str or path
        A CSV, Excel (.xlsx, .xlsm) or Parquet file, by the ending of its name.
    separator : str, optional
        The character between the cells of a CSV file.
    decimal : {".", ","}, optional
        The decimal mark of numbers.
    encoding : str, optional
        The encoding of a CSV file, such as "latin-1".
    sheet : str, optional
        The sheet of a workbook; by default the first.
    missing : collection of str, default ()
        Cells that mean a missing value, beside empty ones, NA, N/A, NaN, NULL and a point.
    types : dict, optional
        How columns are to be read: "numeric", "boolean" or "categorical"; or, for an ordered
        column, its categories from the lowest to the highest.

    Returns
    -------
    table : polars.DataFrame
        The table, with the column types that ``surtree fit`` gives to it.

    Raises
    ------
    ValueError
        If the file cannot be read as a table; the message names the line or column, and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surtree import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age;grade;days;died\n61,5;II;712;1\n70;;1.024;0\n")
    ...     table = read_table(path, separator=";", decimal=",", types={"grade": ["I", "II"]})
    >>> table.to_dict(as_series=False)
    {'age': [61.5, 70.0], 'grade': ['II', None], 'days': [712.0, 1024.0], 'died': [1, 0]}
    """
    if find_spec("polars") is None:
        raise ImportError(
            'read_table needs polars, which is not installed: pip install "surtree[cli]"'
        )
    from surtree.reading.columns import read_column, require_columns
    from surtree.reading.errors import Format
    from surtree.reading.kinds import kind_of
    from surtree.reading.table import read_file

    form = Format(separator, decimal, encoding, sheet, tuple(missing))
    readings = {name: _reading(name, kind) for name, kind in (types or {}).items()}
    as_texts = [name for name, reading in readings.items() if reading.is_text]
    frame = read_file(Path(path), form, as_texts=as_texts).frame
    require_columns(frame, readings)
    for column in frame:
        kind = kind_of(column)
        if kind.nearly and column.name not in readings:
            note(f"column {column.name!r} is read as texts: {kind.odd}")
    return frame.with_columns(
        read_column(frame[name], reading) for name, reading in readings.items()
    )


def _reading(name: str, kind: str | Sequence[str]) -> Reading:
    from surtree.reading.columns import Reading

    if isinstance(kind, str):
        if kind not in ("numeric", "boolean", "categorical"):
            raise UserError(
                f"types: column {name!r} cannot be read as {kind!r}: write 'numeric', 'boolean', "
                "'categorical', or a list of categories in order"
            )
        return Reading(kind)
    order = tuple(map(str, kind))
    if len(order) < 2 or len(set(order)) < len(order):
        raise UserError(f"types: column {name!r} needs two or more different categories in order")
    return Reading("ordered", order)
