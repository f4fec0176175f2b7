"""A search that Ctrl-C ends early, with the best tree so far."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import polars as pl

from surtree.cli._console import failures
from surtree.cli._progress import Bar, progress_bar
from surtree.cli._survival import Survival
from surtree.estimator import SurTree
from surtree.selection import SurTreeCV
from surtree.sizes import Rule, SizeScores

# Seconds for a tree, once the user has lost patience with tuning.
_LAST_SECONDS = 1.0


@dataclass(frozen=True)
class Settings:
    """What to search for.

    Parameters
    ----------
    limits : dict
        Parameters that `SurTree` and `SurTreeCV` share.
    n_jobs : int, optional
        Threads.
    folds : int, optional
        Choose the size by cross-validation with so many folds; None: no tuning.
    rule : {"best", "1se"}
        How the size is chosen.
    """

    limits: dict[str, Any]
    n_jobs: int | None
    folds: int | None = None
    rule: Rule = "best"


@dataclass(frozen=True)
class Found:
    """What a search came to.

    Parameters
    ----------
    model : SurTree
        The fitted model.
    sizes : SizeScores, optional
        What tuning found.
    stopped : str
        What Ctrl-C has ended, in the words of a message; empty where nothing was.
    """

    model: SurTree
    sizes: SizeScores | None = None
    stopped: str = ""


def search(X: pl.DataFrame, survival: Survival, settings: Settings) -> Found:
    """Fit a tree, of a tuned size if asked for, with a progress bar.

    Ctrl-C ends the search with the best tree so far; a second one ends the program.
    """
    with _interrupts() as interrupts, progress_bar() as bar:
        sizes, limits = None, settings.limits
        if settings.folds is not None:
            try:
                with interrupts.raised():
                    sizes, best = _tune(X, survival, settings, bar)
            except KeyboardInterrupt:
                limits = limits | {"time_limit": _LAST_SECONDS}
                return Found(
                    _fit(X, survival, replace(settings, limits=limits), bar, _Interrupts()),
                    stopped="the tuning: this is the best tree of the largest size, found in a "
                    "second, and not one of a tuned size",
                )
            limits = limits | best
        model = _fit(X, survival, replace(settings, limits=limits), bar, interrupts)
    if model.status_ != "interrupted":
        return Found(model, sizes)
    return Found(
        model,
        sizes,
        stopped=f"the search: this is the best tree so far, and no tree has a loss that is more "
        f"than {model.gap_:.1%} smaller",
    )


def _tune(
    X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar
) -> tuple[SizeScores, dict[str, int]]:
    search = SurTreeCV(
        **settings.limits,
        cv=settings.folds,
        rule=settings.rule,
        n_jobs=settings.n_jobs,
        progress=bar.tuning(),
        refit=False,
    )
    with failures(ValueError, TypeError):
        search.fit(X, survival.y, survival.weight, survival.entry)
    return search.sizes_, search.best_params_


def _fit(
    X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar, interrupts: _Interrupts
) -> SurTree:
    hook = bar.searching(lambda: interrupts.asked, settings.limits.get("time_limit"))
    model = SurTree(**settings.limits, n_jobs=settings.n_jobs, progress=hook)
    with failures(ValueError, TypeError):
        return model.fit(X, survival.y, survival.weight, survival.entry)


class _Interrupts:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.asked = False
        self._raises = False

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Let Ctrl-C raise KeyboardInterrupt within the block, as it does by default."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def note(self, _signal: int, _frame: FrameType | None) -> None:
        """Remember the first Ctrl-C, and let a second one end the program."""
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._raises:
            raise KeyboardInterrupt


@contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    interrupts = _Interrupts()
    before = signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
