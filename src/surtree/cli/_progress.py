"""The progress bar of a search: best loss, bound, gap and remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from surtree.parallel import FoldProgress
from surtree.solver.problem import Progress as SearchProgress


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """Show a bar on standard error, if that is a terminal, until the end of the block."""
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield Bar(progress)


class Bar:
    """A line that says how far a search is.

    Parameters
    ----------
    progress : rich.progress.Progress
        What draws it.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def searching(
        self, stop: Callable[[], bool], time_limit: float | None
    ) -> Callable[[SearchProgress], bool]:
        """Return a hook for `SurTree` that shows the search, and ends it when asked to.

        Parameters
        ----------
        stop : callable
            Whether the search is to end.
        time_limit : float, optional
            The seconds after which it ends anyway.
        """
        task = self._begin("Searching")
        start = perf_counter()

        def show(now: SearchProgress) -> bool:
            if now.reading:
                self._update(task, now.fraction, now.reading)
                return stop()
            left = _seconds_left(now.fraction, perf_counter() - start, time_limit)
            gap = (now.loss - now.lower_bound) / now.loss if now.loss > 0 else 0.0
            self._update(
                task,
                now.fraction,
                f"loss {now.loss:.6g}  bound {now.lower_bound:.6g}  gap {gap:.1%}  "
                f"ETA {_clock(left)}",
            )
            return stop()

        return show

    def tuning(self) -> Callable[[FoldProgress], None]:
        """Return a hook for `SurTreeCV` that shows how many folds are done."""
        task = self._begin("Tuning   ")

        def show(now: FoldProgress) -> None:
            detail = f"{now.done} of {now.total} folds  ETA {_clock(now.eta)}"
            self._update(task, now.done / now.total, detail)

        return show

    def validating(self) -> Callable[[FoldProgress], None]:
        """Return a hook for `validate` that shows how many samples are done."""
        task = self._begin("Validating")

        def show(now: FoldProgress) -> None:
            detail = f"{now.done} of {now.total} samples  ETA {_clock(now.eta)}"
            self._update(task, now.done / now.total, detail)

        return show

    def _begin(self, description: str) -> TaskID:
        for earlier in self._progress.task_ids:
            self._progress.remove_task(earlier)
        return self._progress.add_task(description, total=1.0, detail="")

    def _update(self, task: TaskID, fraction: float, detail: str) -> None:
        self._progress.update(task, completed=fraction, detail=detail)


def _seconds_left(fraction: float, seconds: float, time_limit: float | None) -> float:
    left = seconds * (1 - fraction) / fraction if fraction > 0 else float("inf")
    return left if time_limit is None else max(0.0, min(left, time_limit - seconds))


def _clock(seconds: float) -> str:
    if seconds == float("inf"):
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
