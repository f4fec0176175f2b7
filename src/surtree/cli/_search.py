"""A search that Ctrl-C ends early, with the best tree so far."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from types import FrameType
from typing import Any

import polars as pl
from sklearn.exceptions import ConvergenceWarning

from surtree.cli._progress import Bar, progress_bar
from surtree.cli._survival import Survival
from surtree.data.named import RowInputs
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.model_selection.causes import CompetingRisksTreeCV
from surtree.model_selection.cv import LAST_SECONDS, SurTreeCV
from surtree.model_selection.event_kfold import EventStratifiedKFold
from surtree.reading.errors import failures
from surtree.validation.sizes import Rule

_FOLDS = 10

# The splits of the tree that is left where Ctrl-C ends the tuning before folds could choose a size.
_FEW_SPLITS = 3

_UNFINISHED = "the search: this is the best tree so far, with a gap of {:.1%}"
_UNTUNED = (
    "the tuning before two folds were done: this is a tree of at most {} splits with shrinkage "
    "{:g}, and neither is tuned"
)
_PARTLY_TUNED = (
    "the tuning after {} of {} folds: these alone chose the size and the shrinkage, and the tree "
    "was searched for a second at most"
)
_UNMEASURED = "the last step, the scores on held-out rows: the tree is tuned, and they are missing"


@dataclass(frozen=True)
class Settings:
    """What to search for."""

    limits: dict[str, Any]  # parameters that `SurTree` and `SurTreeCV` share
    time_limit: float | None = None  # seconds for everything
    n_jobs: int | None = None  # threads
    # The number of folds of the cross-validation that chooses the size; None: no tuning.
    folds: int | None = None
    rule: Rule = "best"  # how the size is chosen


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and what there is to say about it."""

    model: Any
    tuning: SurTreeCV | None = None  # how its size was chosen
    stopped: str = ""  # what Ctrl-C has ended, in the words of a message; empty where nothing was
    text: str = ""  # for a person
    content: dict[str, Any] = field(default_factory=dict)  # for a program


def search_tree(X: pl.DataFrame, survival: Survival, settings: Settings) -> Fitted:
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
            return _search_untuned(X, survival, settings, bar)
        return Fitted(tuning.best_estimator_, tuning, _stopped(tuning, settings.folds))


def _search_untuned(X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar) -> Fitted:
    """Fit a small tree with a shrinkage in the middle of those to choose from."""
    shrinkages = sorted(settings.limits.get("shrinkage", SurTreeCV().shrinkage))
    shrinkage = shrinkages[len(shrinkages) // 2]
    asked = settings.limits.get("max_splits")
    splits = _FEW_SPLITS if asked is None else min(asked, _FEW_SPLITS)
    limits = settings.limits | {"shrinkage": shrinkage, "max_splits": splits}
    last = replace(settings, limits=limits, time_limit=LAST_SECONDS)
    model = _search_once(X, survival, last, bar).model
    # Its own search may have ended; but nobody asked for a tree of this size.
    model.set_params(time_limit=settings.time_limit)
    model.status_ = "interrupted"
    return Fitted(model, stopped=_UNTUNED.format(splits, shrinkage))


def _stopped(tuning: SurTreeCV, n_folds: int) -> str:
    """Return what Ctrl-C has ended, in the words of a message; empty where nothing was."""
    if tuning.n_splits_ < n_folds:
        return _PARTLY_TUNED.format(tuning.n_splits_, n_folds)
    if tuning.held_out_ is None and tuning.status_ != "interrupted":
        return _UNMEASURED
    return unfinished(tuning.best_estimator_)


def _search_once(X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar) -> Fitted:
    with first_interrupt() as interrupted:
        hook = bar.searching(interrupted.is_set, settings.time_limit)
        how = {"time_limit": settings.time_limit, "n_jobs": settings.n_jobs, "progress": hook}
        model: SurTree = estimator(survival, settings.limits | how)
        with failures(ValueError, TypeError):
            model.fit(X, **survival.inputs)
    return Fitted(model, stopped=unfinished(model))


def estimator(
    survival: Survival, parameters: dict[str, Any], reference: str | None = None, **tuning: Any
) -> Any:
    """Return the estimator of an outcome, to be fitted; with what tuning takes, a search."""
    if survival.arm is not None:
        return EffectTree(**parameters, reference=reference)
    if survival.causes is None:
        return (SurTreeCV if tuning else SurTree)(**parameters, **tuning)
    causes = list(survival.causes) or None
    return (CompetingRisksTreeCV if tuning else CompetingRisksTree)(
        **parameters, **tuning, causes=causes
    )


def unfinished(model: SurTree) -> str:
    """Return what Ctrl-C has ended, in the words of a message; empty where nothing was."""
    return _UNFINISHED.format(model.gap_) if model.status_ == "interrupted" else ""


def _tune(X: pl.DataFrame, survival: Survival, settings: Settings, bar: Bar) -> SurTreeCV:
    tuning: SurTreeCV = estimator(
        survival,
        settings.limits,
        time_limit=_share_of_time(settings),
        cv=_folds(X, survival, settings.folds),
        rule=settings.rule,
        n_jobs=settings.n_jobs,
        progress=bar.counting("Tuning   ", "folds"),
    )
    with failures(ValueError, TypeError):
        return tuning._fit(RowInputs(X, **survival.inputs), keeps_done=True)


def _folds(X: pl.DataFrame, survival: Survival, n_folds: int | None) -> Any:
    """Return how many folds there are, or the folds where groups of rows stay together."""
    if survival.group is None or n_folds is None:
        return n_folds
    with failures(ValueError):
        return list(EventStratifiedKFold(n_folds).split(X, survival.event, survival.group))


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
