"""What is left of a time limit."""

from __future__ import annotations

from time import perf_counter


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
