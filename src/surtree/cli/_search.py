"""A search that Ctrl-C ends early, with the best tree so far."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from types import FrameType
from typing import Any

import polars as pl
from sklearn.exceptions import ConvergenceWarning

from surtree.cli._console import failures
from surtree.cli._progress import Bar, progress_bar
from surtree.cli._survival import Survival
from surtree.competing_risks import CompetingRisksTree, CompetingRisksTreeCV
from surtree.estimator import SurTree
from surtree.model_selection.cv import SurTreeCV
from surtree.model_selection.event_kfold import EventStratifiedKFold
from surtree.scores.sizes import Rule

_FOLDS = 10

# Seconds for a last tree, after the user has interrupted the tuning.
_LAST_SECONDS = 1.0

_UNFINISHED = "the search: this is the best tree so far, with a gap of {:.1%}"
_UNTUNED = (
    "the tuning: this is the best tree of the largest size, found in a second, and not one of a "
    "tuned size"
)


@dataclass(frozen=True)
class Settings:
    """What to search for.

    Parameters
    ----------
    limits : dict
        Parameters that `SurTree` and `SurTreeCV` share.
    time_limit : float, optional
        Seconds for everything.
    n_jobs : int, optional
        Threads.
    folds : int, optional
        The number of folds of the cross-validation that chooses the size; None: no tuning.
    rule : {"best", "1se"}
        How the size is chosen.
    """

    limits: dict[str, Any]
    time_limit: float | None = None
    n_jobs: int | None = None
    folds: int | None = None
    rule: Rule = "best"


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Parameters
    ----------
    model : SurTree
        The fitted model.
    tuning : SurTreeCV, optional
        How its size was chosen.
    stopped : str
        What Ctrl-C has ended, in the words of a message; empty where nothing was.
    """

    model: SurTree
    tuning: SurTreeCV | None = None
    stopped: str = ""


def search(X: pl.DataFrame, survival: Survival, settings: Settings) -> Found:
    """Fit a tree, of a tuned size if asked for, with a progress bar.

    Ctrl-C ends the search with the best tree so far; a second one ends the program.
    """
    with progress_bar() as bar, warnings.catch_warnings():
        # The certificate that is printed says so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if settings.folds is None:
            return _search_once(X, survival, settings, bar)
        try:
            tuning = _tune(X, survival, settings, bar)
        except KeyboardInterrupt:
            # Without a chosen shrinkage, the least of those to choose from.
            shrinkage = min(settings.limits.get("shrinkage", (0.0,)))
            last = replace(
                settings,
                limits=settings.limits | {"shrinkage": shrinkage},
                time_limit=_LAST_SECONDS,
            )
            return replace(_search_once(X, survival, last, bar), stopped=_UNTUNED)
        return Found(tuning.best_estimator_, tuning)


def _search_once(X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar) -> Found:
    with first_interrupt() as interrupted:
        hook = bar.searching(interrupted.is_set, settings.time_limit)
        model = (SurTree if survival.causes is None else CompetingRisksTree)(
            **_limits(settings, survival),
            time_limit=settings.time_limit,
            n_jobs=settings.n_jobs,
            progress=hook,
        )
        with failures(ValueError, TypeError):
            model.fit(X, survival.y, survival.weight, survival.entry, survival.id)
    return Found(model, stopped=unfinished(model))


def unfinished(model: SurTree) -> str:
    """Return what Ctrl-C has ended, in the words of a message; empty where nothing was."""
    return _UNFINISHED.format(model.gap_) if model.status_ == "interrupted" else ""


def _tune(X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar) -> SurTreeCV:
    tuning = (SurTreeCV if survival.causes is None else CompetingRisksTreeCV)(
        **_limits(settings, survival),
        time_limit=_share_of_time(settings),
        cv=_folds(X, survival, settings.folds),
        rule=settings.rule,
        n_jobs=settings.n_jobs,
        progress=bar.tuning(),
    )
    with failures(ValueError, TypeError):
        return tuning.fit(X, survival.y, survival.weight, survival.entry, survival.id)


def _folds(X: pl.DataFrame, survival: Survival, n_folds: int | None) -> Any:
    """Return how many folds there are, or the folds where groups of rows stay together."""
    if survival.group is None or n_folds is None:
        return n_folds
    with failures(ValueError):
        return list(EventStratifiedKFold(n_folds).split(X, survival.event, survival.group))


def _limits(settings: Settings, survival: Survival) -> dict[str, Any]:
    if survival.causes is None:
        return settings.limits
    return settings.limits | {"causes": list(survival.causes) or None}


def _share_of_time(settings: Settings) -> float | None:
    """Return the time limit of each search, such that all of them together keep the limit."""
    if settings.time_limit is None or settings.folds is None:
        return settings.time_limit
    n_depths = max(int(settings.limits["max_depth"]) - 1, 1)
    n_shrinkages = len(settings.limits.get("shrinkage", SurTreeCV().shrinkage))
    # Each fold tries all of them and scores the chosen one; then comes the fit on all rows.
    return settings.time_limit / (settings.folds * (n_depths * n_shrinkages + 1) + 1)


def default_folds(survival: Survival) -> int | None:
    """Return ten folds, fewer where events are few; None, for no tuning, where there is one."""
    n_with_event = survival.n_with_event  # each fold needs one
    return min(_FOLDS, n_with_event) if n_with_event > 1 else None


@contextmanager
def first_interrupt() -> Iterator[Event]:
    """Set an event at the first Ctrl-C; a second one raises KeyboardInterrupt as ever."""
    interrupted = Event()

    def note(_signal: int, _frame: FrameType | None) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
