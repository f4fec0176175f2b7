"""How the cells of a file are written, where the user has said it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surtree.reading.errors import UserError


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
