"""Passes over a source, with progress, and the check that all of them saw the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree.solver.problem import Progress, ProgressHook
from surtree.streaming.passes import Pass
from surtree.streaming.source import Source
from surtree.verbose import searching


class Reader:
    """Reads a source as often as it takes.

    Parameters
    ----------
    source : Source
        The table.
    n_threads : int
        How many batches are worked on at a time, where that is done here.
    progress : callable, optional
        Is told what is read, and how many rows were.
    verbose : int, default=0
        Whether each pass has a line on standard error.
    """

    def __init__(
        self,
        source: Source,
        n_threads: int = 1,
        progress: ProgressHook | None = None,
        verbose: int = 0,
    ) -> None:
        self.source = source
        self._n_threads = n_threads
        self._progress = progress
        self._verbose = verbose
        self._n_rows: int | None = None
        self.n_passes = 0

    def run(self, step: Pass[Any]) -> Any:
        """Return the sums of a pass over all rows."""
        self.n_passes += 1
        with searching(f"Pass {self.n_passes}", self._verbose, self._progress) as hook:
            outcome = self.source.run(
                step, self._n_threads, lambda n: self._show(hook, step.title, n)
            )
        if self._n_rows is not None and outcome.n_rows != self._n_rows:
            raise ValueError(
                f"{self.source.label} had {self._n_rows:,} rows and has {outcome.n_rows:,} now: it "
                "is read several times, and must have the same rows each time"
            )
        self._n_rows = outcome.n_rows
        return outcome.partial

    def _show(self, hook: ProgressHook | None, title: str, n_rows: int) -> None:
        if hook is None:
            return
        fraction = n_rows / self._n_rows if self._n_rows else 0.0
        reading = f"pass {self.n_passes}, {title}: {n_rows:,} rows"
        if hook(Progress(fraction, np.inf, 0.0, reading)):
            raise KeyboardInterrupt
