"""Endings of file names: a file is what its name says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
