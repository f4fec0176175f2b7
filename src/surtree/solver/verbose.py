"""The line of ``verbose=1``: how far a search is, on standard error. Nothing else prints here.

The words are those of the command line's progress bar, too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any, Protocol, TypeVar

from sklearn.base import clone

from surtree.solver.problem import Progress, ProgressHook

Now = TypeVar("Now")
# A bound that is a smaller share of the loss says nothing.
_LEAST_BOUND = 0.001


class Counted(Protocol):
    """How many of some things are done, as `FoldProgress` says."""

    @property
    def done(self) -> int:
        """How many are done."""

    @property
    def total(self) -> int:
        """How many there are."""

    @property
    def eta(self) -> float:
        """The seconds that are left."""


def searching(
    label: str, verbose: int, hook: ProgressHook | None, time_limit: float | None = None
) -> AbstractContextManager[ProgressHook | None]:
    """Return a context that gives the hook of a search; with ``verbose``, it writes a line too."""
    start = perf_counter()

    def text(now: Progress) -> str:
        return f"{now.fraction:4.0%}  {search_text(now, perf_counter() - start, time_limit)}"

    return _line(label, verbose, hook, text)


def counting(
    label: str, noun: str, verbose: int, hook: Callable[[Any], object] | None
) -> AbstractContextManager[Callable[[Any], object] | None]:
    """Return a context that gives the hook of folds, trees or samples, as `searching` does."""
    return _line(label, verbose, hook, lambda now: count_text(now, noun))


def quiet(model: Any) -> Any:
    """Return a model that writes no lines of its own, as one that is fitted many times."""
    talks = {name: 0 for name, value in model.get_params().items() if _is_verbose(name) and value}
    return clone(model).set_params(**talks) if talks else model


def _is_verbose(name: str) -> bool:
    return name.rpartition("__")[2] == "verbose"  # steps of a pipeline have prefixes


def search_text(now: Progress, seconds: float, time_limit: float | None) -> str:
    """Return how far a search is after so many seconds."""
    if now.reading:
        return now.reading
    left = seconds * (1 - now.fraction) / now.fraction if now.fraction > 0 else math.inf
    clock = f"ETA {_clock(left)}"
    if time_limit is not None and time_limit - seconds < left:
        clock = f"stops in {_clock(max(0.0, time_limit - seconds))}"
    proof = "nothing proven yet"
    if not is_nothing(now.lower_bound, now.loss):
        gap = (now.loss - now.lower_bound) / now.loss if now.loss > 0 else 0.0
        proof = f"bound {now.lower_bound:.6g}  gap {gap:.1%}"
    return f"loss {now.loss:.6g}  {proof}  {clock}"


def is_nothing(bound: float, loss: float) -> bool:
    """Return whether a lower bound is so small a share of the loss that it says nothing."""
    return bound < _LEAST_BOUND * loss


def count_text(now: Counted, noun: str) -> str:
    """Return how many of some things are done."""
    return f"{now.done} of {now.total} {noun}  ETA {_clock(now.eta)}"


@contextmanager
def _line(
    label: str,
    verbose: int,
    hook: Callable[[Now], object] | None,
    text: Callable[[Now], str],
) -> Iterator[Callable[[Now], object] | None]:
    if not verbose:
        yield hook
        return
    start, width = perf_counter(), 0

    def write(words: str, end: str = "") -> None:
        nonlocal width
        shown = f"{label}: {words}"
        # A shorter line leaves nothing of a longer one.
        print(f"\r{shown:<{width}}", end=end, file=sys.stderr, flush=True)
        width = len(shown)

    def show(now: Now) -> object:
        write(text(now))
        return None if hook is None else hook(now)

    outcome = "stopped"
    try:
        yield show
        outcome = "done"
    finally:
        write(f"{outcome} after {perf_counter() - start:.1f} s", end="\n")


def _clock(seconds: float) -> str:
    if seconds == math.inf:
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
