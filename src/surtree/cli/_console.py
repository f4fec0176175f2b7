"""Output: results to standard output, messages to standard error, errors as one line."""

from __future__ import annotations

import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from typing import Any, NoReturn

import numpy as np
import typer

from surtree.cuts.unseen import UnseenCategoryWarning
from surtree.data.suspicious_columns import SuspiciousColumnWarning
from surtree.reading.errors import ReadingWarning, UserError
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.words.quoting import terminal_json, terminal_text

# Warnings that a user of the command line reads as a line.
_SHOWN = (ReadingWarning, UnseenCategoryWarning, BeyondFollowUpWarning)

DATA_ERROR = 1
INTERRUPTED = 130


@dataclass(frozen=True)
class Result:
    """What a command ends with."""

    text: str  # for a person
    content: Mapping[str, Any] = field(default_factory=dict)  # for a program
    messages: tuple[str, ...] = ()  # why it did not end as it should have
    code: int = 0  # the exit code

    def show(self, *, json: bool) -> None:
        """Write the result, and end the program with its exit code."""
        if json:
            print(terminal_json(plain(self.content)), flush=True)
        else:
            show(self.text)
        for message in self.messages:
            say(message)
        if self.code == INTERRUPTED:
            end_now(self.code)
        if self.code:
            raise typer.Exit(self.code)


@contextmanager
def guarded() -> Iterator[None]:
    """End the program as a shell user expects: with a line and an exit code, not a traceback."""
    try:
        with warnings.catch_warnings():
            # Commands comment on columns in their own words.
            warnings.simplefilter("ignore", SuspiciousColumnWarning)
            for kind in _SHOWN:
                warnings.simplefilter("always", kind)
            with shown_as_lines(*_SHOWN):
                yield
    except UserError as failure:
        say(" ".join(str(failure).split()))
        raise typer.Exit(DATA_ERROR) from None
    except KeyboardInterrupt:
        say("stopped by Ctrl-C before there was anything to save")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def shown_as_lines(*kinds: type[Warning]) -> Iterator[None]:
    """Print warnings of some kinds as a line when they are raised, without a line of source."""
    with warnings.catch_warnings():
        show_others = warnings.showwarning

        def show_warning(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, kinds):
                say(str(message))
            else:
                show_others(message, category, *where, **more)

        warnings.showwarning = show_warning
        yield


def end_now(code: int) -> NoReturn:
    """End the program without waiting for the threads of an abandoned search."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def say(message: str) -> None:
    """Write a message for a person."""
    print(terminal_text(f"surtree: {message}"), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Write a result for a person; in a terminal, sentences are broken between words."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    print("\n".join(wrapped(line, width) for line in terminal_text(text).split("\n")), flush=True)


def wrapped(line: str, width: int) -> str:
    """Return a sentence on lines of a width; lines of tables and trees stay whole."""
    is_table = "  " in line.strip() or line.lstrip().startswith(("\u251c", "\u2502", "\u2514"))
    if not width or len(line) <= width or is_table:
        return line
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def show_source(text: str) -> None:
    """Write a result for a program: as it is, but to a terminal, which texts could control."""
    sys.stdout.write(terminal_text(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: null for infinity and for what is not a number."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
