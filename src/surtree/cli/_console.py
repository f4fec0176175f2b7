"""Output: results to standard output, messages to standard error, errors as one line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from surtree.cuts.unseen import UnseenCategoryWarning
from surtree.data.suspicion import SuspiciousColumnWarning
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.words.quoting import terminal_json, terminal_text

# Warnings that a user of the command line reads as a line.
_SAID = (UnseenCategoryWarning, BeyondFollowUpWarning)

DATA_ERROR = 1
INTERRUPTED = 130


class UserError(Exception):
    """An error that the user can fix, in one line."""


@contextmanager
def failures(*kinds: type[Exception], about: str = "") -> Iterator[None]:
    """Turn errors of these types into user errors, with a prefix."""
    try:
        yield
    except kinds as error:
        raise UserError(f"{about}{error}") from error


@contextmanager
def warnings_said() -> Iterator[None]:
    """Print warnings of the package as one line each, without a line of source."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in _SAID:
            warnings.simplefilter("always", kind)
        yield
    for warning in caught:
        if issubclass(warning.category, _SAID):
            say(f"surtree: {warning.message}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


@contextmanager
def guarded() -> Iterator[None]:
    """End the program as a shell user expects: with a line and an exit code, not a traceback."""
    try:
        with warnings.catch_warnings():
            # What commands read, they comment on in their own words.
            warnings.simplefilter("ignore", SuspiciousColumnWarning)
            yield
    except UserError as failure:
        say(f"surtree: {' '.join(str(failure).split())}")
        raise typer.Exit(DATA_ERROR) from None
    except KeyboardInterrupt:
        say("surtree: stopped by Ctrl-C before there was anything to save")
        raise typer.Exit(INTERRUPTED) from None


def end_now(code: int) -> NoReturn:
    """End the program without waiting for the threads of an abandoned search."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def say(message: str) -> None:
    """Write a message for a person."""
    print(terminal_text(message), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Write a result for a person."""
    print(terminal_text(text), flush=True)


def show_source(text: str) -> None:
    """Write a result for a program: as it is, but to a terminal, which texts could control."""
    sys.stdout.write(terminal_text(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def show_json(value: Any) -> None:
    """Write a result for a program."""
    print(terminal_json(value), flush=True)
