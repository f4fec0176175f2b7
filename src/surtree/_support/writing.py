"""Atomic writes: a file is replaced completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8; see `write_bytes`."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        around = text[max(error.start - 20, 0) : error.end + 20]
        raise ValueError(
            f"Cannot write {path}: {around!r} has half of a character, {text[error.start]!r}, "
            "which no file can hold. Replace it in the names and categories of the table, or in "
            "the title."
        ) from None
    write_bytes(path, content)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: if writing fails, the old file stays as it was.

    The content goes to a new file in the same directory, which then takes the place of the old one.
    The old file's permissions are kept, and a link stays a link. Devices, pipes and the standard
    streams have nothing to lose and are written directly.
    """
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    stream = None if old is None else _standard_stream(old)
    if stream is not None:
        with os.fdopen(os.dup(stream), "wb") as file:
            file.write(content)
    elif old is not None and not stat.S_ISREG(old.st_mode):
        path.write_bytes(content)
    else:
        _replace(Path(os.path.realpath(path)), content, old)


def _standard_stream(file: os.stat_result) -> int | None:
    """Return the descriptor of standard output or standard error, if this is the file behind it."""
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # closed
            if os.path.samestat(file, os.fstat(descriptor)):
                stream.flush()  # what was printed before stays before
                return descriptor
    return None


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to: at the end of the block, the file there takes the place of another.

    If the block fails, the old file stays as it was. As in `write_bytes`, devices and pipes are
    written directly.
    """
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        yield path
        return
    with _replacing(Path(os.path.realpath(path)), old) as new:
        yield new


def _replace(path: Path, content: bytes, old: os.stat_result | None) -> None:
    with _replacing(path, old) as new, new.open("xb") as file:
        file.write(content)


@contextmanager
def _replacing(path: Path, old: os.stat_result | None) -> Iterator[Path]:
    # Renaming needs no permission to write the old file; replacing its content does.
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    new = path.with_name(f".surtree-{secrets.token_hex(8)}")
    try:
        yield new
        with new.open("r+b") as file:
            os.fsync(file.fileno())
        if old is not None:
            _keep_permissions(new, old)
        new.replace(path)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # Name the path that the user knows, not the temporary file beside it.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _keep_permissions(new: Path, old: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only the superuser gives files away
            os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode))


@dataclass(frozen=True)
class FileKind:
    """What is written to a file, and how the name of the file may end."""

    written: str  # what is written and how, as in "a model is written as JSON"
    endings: tuple[str, ...]  # in small letters, with their points; the usual one first
    # Whether the ending says how to write it. Else a name without an ending says nothing wrong.
    needed: bool = False

    def check(self, path: Path) -> None:
        """Raise an error where the name of a file says that it is something else."""
        ending = path.suffix.lower()
        # A device or a pipe has no name of the user's choice.
        special = path.exists() and not path.is_file()
        if ending in self.endings or (not self.needed and (special or not ending)):
            return
        *others, last = self.endings
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{path} must end with {listed}: {self.written}.")


MODEL_FILE = FileKind("a model is written as JSON", (".json",))
PAGE_FILE = FileKind("a report is written as HTML", (".html", ".htm"))
