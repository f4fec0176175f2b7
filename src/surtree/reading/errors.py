"""How the cells of a file are written, where the user has said it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class UserError(ValueError):
    """An error that the user can fix, in one line."""


class ReadingWarning(UserWarning):
    r"""What a table is read as where its file leaves it open, or what is left out of it.

    To refuse such files, turn the warning into an error.

    Examples
    --------
    >>> import warnings
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surtree import ReadingWarning, read_table
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age,days\n61,712\n,\n70,1024\n")
    ...     warnings.simplefilter("error", ReadingWarning)
    ...     read_table(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    surtree.reading.errors.ReadingWarning: 1 blank line of ... left out
    """


@contextmanager
def failures(*kinds: type[Exception], about: str = "") -> Iterator[None]:
    """Turn errors of these types into user errors, with a prefix."""
    try:
        yield
    except UserError:
        raise
    except kinds as error:
        raise UserError(f"{about}{error}") from error


def note(text: str) -> None:
    """Tell the user about a table that was read."""
    warnings.warn(text, ReadingWarning, stacklevel=3)


@dataclass(frozen=True)
class Format:
    """How the cells of a file are written, where the user has said it."""

    separator: str | None = None  # what stands between the cells of a CSV file
    decimal: str | None = None  # the decimal mark of numbers
    encoding: str | None = None  # the encoding of a CSV file
    sheet: str | None = None  # the sheet of a workbook
    # Cells that are missing values, beside those that most programs write.
    missing: Sequence[str] | None = None

    def option(self, name: str, value: str | None = None) -> str:
        """Return how a user says one of these, for a message."""
        return name if value is None else f"{name}={value!r}"

    def refuse(self, path: Path, kind: str, *names: str) -> None:
        """Raise an error if one of these was said, and means nothing in such a file."""
        given = [self.option(name) for name in names if getattr(self, name)]
        if given:
            raise UserError(f"{path} is {kind}, where {' and '.join(given)} would do nothing")
