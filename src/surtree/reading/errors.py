"""Errors that a user can fix, and notes about what was read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


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
