"""Tables in and out of files: CSV and Parquet, through polars.

polars reads and writes both formats by itself, tells missing values from NaN and from empty
columns, has ordered categories, and is one package where pandas would need pyarrow too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path

import polars as pl

from surtree.cli._console import UserError, failures
from surtree.cli._csv import require_csv
from surtree.files.writing import write_bytes

STANDARD_INPUT = Path("-")
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")

_PARQUET = (".parquet", ".pq")


def read_frame(
    path: Path,
    *,
    separator: str | None = None,
    missing: Sequence[str] | None = None,
    texts: Collection[str] = (),
) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    path : Path
        A Parquet file by its ending, else CSV; ``-`` is CSV from standard input.
    separator : str, optional
        What stands between the cells of a CSV file; by default a tab in a file that ends with
        ``.tsv``, else a comma.
    missing : sequence of str, optional
        The cells of a CSV file that are missing values; by default those of most programs.
    texts : collection of str
        Columns of a CSV file to be read as text, also where all cells look like numbers.
    """
    if path != STANDARD_INPUT:
        require_file(path)
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
        if path.suffix.lower() in _PARQUET:
            frame = pl.read_parquet(path)
        else:
            frame = _read_csv(path, separator, MISSING if missing is None else missing, texts)
    if not frame.width or not len(frame):
        raise UserError(f"{path} has no rows")
    return frame


def write_frame(frame: pl.DataFrame, path: Path | None) -> None:
    """Write a table as Parquet or CSV, by the ending of the path; to standard output if None."""
    if path is None:
        sys.stdout.write(frame.write_csv())
        sys.stdout.flush()
        return
    with failures(OSError, pl.exceptions.PolarsError, about=f"cannot write {path}: "):
        content = BytesIO()
        if path.suffix.lower() in _PARQUET:
            frame.write_parquet(content)
        else:
            frame.write_csv(content)
        write_bytes(path, content.getvalue())


def require_outputs(outputs: Mapping[str, Path | None], **inputs: Path | None) -> None:
    """Raise an error before a long search if an output cannot or must not be written.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        The files that will be written, by the options that name them.
    **inputs : Path or None
        The files that are read.
    """
    written = {name: path for name, path in outputs.items() if path is not None}
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


def _read_csv(
    path: Path, separator: str | None, missing: Sequence[str], texts: Collection[str]
) -> pl.DataFrame:
    separator = separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    source = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    source = require_csv(path, source, separator)
    try:
        frame = pl.read_csv(
            source,
            separator=separator,
            null_values=list(missing),
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(texts, pl.String),
        )
    except pl.exceptions.ComputeError as error:
        # The first line of a polars error is about the file, the others about polars options.
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    other = next((mark for mark in ";\t|," if mark in frame.columns[0]), None)
    if frame.width == 1 and other is not None:
        written = r"\t" if other == "\t" else other
        raise UserError(
            f"{path} has a single column, {frame.columns[0]!r}: say what stands between the cells, "
            f"as in --separator '{written}'"
        )
    return frame
