"""Checks of the text of a CSV file, before it is parsed."""

from __future__ import annotations

import csv
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from io import StringIO
from pathlib import Path

from surtree.cli._console import UserError, failures, say

_LONGEST_HEADER = 2**20
_REMEDY = 'save it as "CSV UTF-8", or convert it, as in iconv -f {} -t UTF-8 {} > new.csv'


def require_csv(path: Path, source: bytes, separator: str) -> bytes:
    """Return the content of a CSV file without blank lines at its end, or say what is wrong.

    Parameters
    ----------
    path : Path
        The file, for messages.
    source : bytes
        Its content.
    separator : str
        What stands between the cells.
    """
    text = _decoded(path, source)
    if not text.strip():
        raise UserError(f"{path} is empty: it has nothing but blanks and line breaks")
    header = _header(path, text, separator)
    for name, count in Counter(header).items():
        if count > 1:
            called = f"are called {name!r}" if name.strip() else "have no name"
            raise UserError(f"{count} columns of {path} {called}: give each a name of its own")
    # In a single column, an empty line is a missing value.
    return source if len(header) == 1 else _without_blank_lines(path, source, separator)


def _header(path: Path, text: str, separator: str) -> list[str]:
    beginning = StringIO(text[:_LONGEST_HEADER], newline="")
    with failures(csv.Error, about=f"cannot read the names in {path}: "):
        return next((line for line in csv.reader(beginning, delimiter=separator) if line), [])


def _decoded(path: Path, source: bytes) -> str:
    # Text in two bytes a character has zeros in it, which no other text has.
    if source.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in source[:1000]:
        raise UserError(f"{path} is UTF-16, not UTF-8: {_REMEDY.format('UTF-16', path)}")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path} is not UTF-8 (byte {source[error.start]:#x} in line {line}): "
            f"{_REMEDY.format('WINDOWS-1252', path)}"
        ) from None


def _without_blank_lines(path: Path, source: bytes, separator: str) -> bytes:
    """Drop lines without content at the end, with a note that counts them."""
    blank = b" \t\r\n" + separator.encode()
    end = len(source.rstrip(blank))
    kept = source.find(b"\n", end) + 1 or len(source)
    n_left_out = len(source[kept:].splitlines())
    if n_left_out:
        lines = "1 blank line" if n_left_out == 1 else f"{n_left_out} blank lines"
        say(f"surtree: {lines} at the end of {path} left out")
    return source[:kept]
