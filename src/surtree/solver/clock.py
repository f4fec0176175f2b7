"""What is left of a time limit."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

from surtree.solver.problem import Progress, ProgressHook


class Clock:
    """Counts a time limit down from when it is made."""

    def __init__(self, time_limit: float | None) -> None:
        self._end = None if time_limit is None else perf_counter() + time_limit

    def left(self) -> float | None:
        """Return the seconds that are left, always above zero, which would mean no limit."""
        return None if self._end is None else max(self._end - perf_counter(), 1e-9)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._end is not None and perf_counter() >= self._end


class Watch:
    """Passes the progress of one part after another on, as that of the whole search."""

    def __init__(self, hook: ProgressHook | None, constant: float) -> None:
        self._hook = hook
        self._constant = constant
        self._shown = Progress(0.0, math.inf, 0.0)
        self.stopped = False

    @property
    def is_on(self) -> bool:
        """Whether somebody watches."""
        return self._hook is not None

    def know(self, gain: float) -> None:
        """Remember that there is a tree of this gain."""
        loss = min(self._shown.loss, self._constant - gain)
        self._shown = replace(self._shown, loss=loss)

    def whole(self) -> ProgressHook | None:
        """Return the hook for the search over all cuts and the full depth."""
        return self._show if self._hook is not None else None

    def part(self) -> ProgressHook | None:
        """Return the hook for any other search: its bounds and its end are not those of all."""

        def show(now: Progress) -> bool:
            return self._show(replace(now, fraction=0.0, lower_bound=0.0))

        return show if self._hook is not None else None

    def _show(self, now: Progress) -> bool:
        before = self._shown
        loss = min(before.loss, now.loss)
        if math.isinf(loss):  # there is no tree at all yet
            return False
        self._shown = Progress(
            max(before.fraction, now.fraction),
            loss,
            min(max(before.lower_bound, now.lower_bound), loss),
        )
        assert self._hook is not None
        wanted = bool(self._hook(self._shown))
        self.stopped |= wanted
        return wanted
