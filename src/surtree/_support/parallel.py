"""Folds and samples side by side: one driver, which leaves no search running."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Condition
from time import perf_counter
from typing import Any, Generic, Literal, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class FoldProgress:
    """How many of the folds are done.

    Parameters
    ----------
    done, total : int
        The folds that are done, and all of them.
    seconds : float
        The time since the start.

    Examples
    --------
    >>> from surtree import FoldProgress
    >>> print(FoldProgress(done=4, total=10, seconds=2.0))
    4 of 10 folds, 2.0 s, 3.0 s left
    """

    done: int
    total: int
    seconds: float

    @property
    def eta(self) -> float:
        """The seconds that are left if the other folds take as long; infinity before the first."""
        if not self.done:
            return float("inf")
        return self.seconds * (self.total - self.done) / self.done

    def __str__(self) -> str:
        return f"{self.done} of {self.total} folds, {self.seconds:.1f} s, {self.eta:.1f} s left"


@dataclass(frozen=True, eq=False)
class Finished(Generic[Result]):
    """The results of the jobs that are done, by their number, and whether others were stopped."""

    results: dict[int, Result]
    stopped: bool = False


class Stopped(BaseException):
    """Ends a job whose run is over: nobody waits for its result."""


class _Run:
    """The jobs of one call of `run_all`, told by a flag that it is over."""

    def __init__(self, outer: _Run | None = None) -> None:
        self._outer = outer
        self._is_over = False
        self._n_running = 0
        self._changed = Condition()

    # Another process cannot be told: joblib ends it, or its result is not used.
    def __reduce__(self) -> tuple[type[_Run], tuple[()]]:
        return _Run, ()

    @property
    def is_over(self) -> bool:
        return self._is_over or (self._outer is not None and self._outer.is_over)

    @contextmanager
    def job(self) -> Iterator[None]:
        """Count a job that runs in this thread, and let its searches know that it belongs here."""
        token = _RUN.set(self)
        with self._changed:
            self._n_running += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_running -= 1
                self._changed.notify_all()
            _RUN.reset(token)

    def end(self) -> None:
        """Tell all jobs to stop, and wait until none of them runs."""
        self._is_over = True
        with self._changed:
            while self._n_running:
                # A wait without an end would be deaf to Ctrl-C on some systems.
                self._changed.wait(0.1)


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


def require_running() -> None:
    """Raise `Stopped` in a job whose run is over; every search asks this a few times a second."""
    run = _RUN.get()
    if run is not None and run.is_over:
        raise Stopped


def run_all(
    job: Callable[[Item], Result],
    items: Iterable[Item],
    total: int,
    *,
    n_jobs: int | None,
    prefer: Literal["threads", "processes"] = "threads",
    progress: Callable[[FoldProgress], object] | None = None,
    keeps_done: bool = False,
) -> Finished[Result]:
    """Run a function for each item, several at the same time, and return the results in order.

    Jobs run through joblib: in what the caller prefers, unless ``joblib.parallel_config`` names
    another backend. They stop where the progress hook, which is called after each, returns
    something true; and whatever is raised here, in a job or by Ctrl-C, none runs on. With
    ``keeps_done``, Ctrl-C raises nothing either, once a job is done.
    """
    from joblib.parallel import get_active_backend
    from sklearn.utils.parallel import Parallel, delayed

    # Not every backend returns results as they are done; on a cluster that is used only if needed.
    backend = get_active_backend(prefer=prefer)[0]
    can_stream = getattr(backend, "supports_return_generator", False)
    streams = can_stream and (progress is not None or keeps_done)
    parallel = Parallel(
        # More jobs than items would idle.
        n_jobs=n_jobs if n_jobs is None else min(n_jobs, total),
        prefer=prefer,
        return_as="generator_unordered" if streams else "list",
    )
    run, start, stopped = _Run(_RUN.get()), perf_counter(), False
    results: dict[int, Result] = {}
    outputs: Any = ()
    try:
        outputs = parallel(delayed(_call)(run, job, *numbered) for numbered in enumerate(items))
        for number, is_done, result in outputs:
            require_running()
            if not is_done:
                continue
            results[number] = result
            if progress is not None and progress(
                FoldProgress(len(results), total, perf_counter() - start)
            ):
                stopped = len(results) < total
                break
    except KeyboardInterrupt:
        if not (keeps_done and results):
            raise
        stopped = True
    finally:
        run.end()
        if hasattr(outputs, "close"):
            with warnings.catch_warnings():
                # joblib says how many jobs are cancelled, which is what was asked for.
                warnings.simplefilter("ignore", UserWarning)
                outputs.close()
    return Finished({number: results[number] for number in sorted(results)}, stopped)


def _call(
    run: _Run, job: Callable[[Item], Result], number: int, item: Item
) -> tuple[int, bool, Result | None]:
    with run.job():
        try:
            require_running()
            return number, True, job(item)
        except Stopped:
            return number, False, None
