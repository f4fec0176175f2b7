"""The text of a file, in whichever encoding it was saved."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from surtree.reading.errors import UserError
from surtree.reading.format import Format

_BEGINNING = 1000
_BY_ZEROS = ("utf-16-le", "utf-16-be")
_NO_TEXT = "{} is no text: a table is a CSV, Parquet or Excel file"


def decode(path: Path, source: bytes, form: Format) -> tuple[str, str]:
    """Return the text of a file and what its encoding is called, which is empty for UTF-8."""
    encoding = form.encoding or _by_zeros_and_marks(source)
    if encoding is not None:
        text = _decoded(path, source, encoding, form)
        return text, "" if encoding == "utf-8-sig" else encoding.upper()
    try:
        return source.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        first = error.start
    # Windows writes it in Western Europe and America; programs of today write UTF-8.
    text = _decoded(path, source, "cp1252", form)
    line = source.count(b"\n", 0, first) + 1
    return text, f"Windows-1252, as byte {source[first]:#x} in line {line} is not UTF-8"


def _by_zeros_and_marks(source: bytes) -> str | None:
    """Return the encoding that a mark at the beginning names, or where the zeros are."""
    if source.startswith(BOM_UTF8):
        return "utf-8-sig"
    if source.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    # Text in two bytes a character has zeros in it, which no other text has.
    beginning = source[:_BEGINNING]
    even, odd = beginning[::2].count(0), beginning[1::2].count(0)
    if not even and not odd:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decoded(path: Path, source: bytes, encoding: str, form: Format) -> str:
    try:
        text = source.decode(encoding)
    except UnicodeError as error:
        if encoding in _BY_ZEROS and 0 in source[:_BEGINNING]:
            raise UserError(_NO_TEXT.format(path)) from None
        name = "Windows-1252" if encoding == "cp1252" else encoding.upper()
        raise UserError(
            f"{path} is not {name} ({_fault(error, source)}): say which encoding it has, as in "
            f'{form.option("encoding", "latin-1")}, or save it as "CSV UTF-8"'
        ) from None
    if "\0" in text[:_BEGINNING]:
        raise UserError(_NO_TEXT.format(path))
    return text.removeprefix("\ufeff")


def _fault(error: UnicodeError, source: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError) or error.start >= len(source):
        return str(error)
    line = source.count(b"\n", 0, error.start) + 1
    return f"byte {source[error.start]:#x} in line {line}"
