"""The progress bar of a search: best loss, bound, gap and remaining time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from surtree._support.parallel import FoldProgress
from surtree.solver.problem import Progress as SearchProgress
from surtree.solver.verbose import count_text, search_text


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
    progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    if not console.is_terminal:
        # Entered, it would end with an empty line before version 15 of rich.
        yield Bar(progress)
        return
    with progress:
        yield Bar(progress)


class Bar:
    """A line that says how far a search is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def searching(
        self, stop: Callable[[], bool], time_limit: float | None
    ) -> Callable[[SearchProgress], bool]:
        """Return a hook for `SurTree` that shows the search, and ends it when asked to."""
        task = self._begin("Searching")
        start = perf_counter()

        def show(now: SearchProgress) -> bool:
            detail = search_text(now, perf_counter() - start, time_limit)
            self._update(task, now.fraction, detail)
            return stop()

        return show

    def counting(self, description: str, what: str) -> Callable[[FoldProgress], None]:
        """Return a hook that shows how many folds or samples are done."""
        task = self._begin(description)

        def show(now: FoldProgress) -> None:
            self._update(task, now.done / now.total, count_text(now, what))

        return show

    def verifying(self) -> Callable[[float], None]:
        """Return a hook for `verify` that shows how many first questions are done."""
        task = self._begin("Verifying")
        return lambda share: self._update(task, share, "")

    def _begin(self, description: str) -> TaskID:
        for earlier in self._progress.task_ids:
            self._progress.remove_task(earlier)
        return self._progress.add_task(description, total=1.0, detail="")

    def _update(self, task: TaskID, fraction: float, detail: str) -> None:
        self._progress.update(task, completed=fraction, detail=detail)
