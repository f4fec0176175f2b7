"""Round times: a grid that contains every tick of a time axis."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surtree._support.types import Floats

# The most intervals of a time axis.
MOST_TICKS = 8


def round_step(end: float) -> float:
    """Return a power of ten that divides the ticks of any time axis to an end.

    An axis has a tick at every multiple of one, two or five times a power of ten, and not more
    than `MOST_TICKS` of them.
    """
    return float(10.0 ** np.floor(np.log10(end / MOST_TICKS)))


def round_times(end: float) -> Floats:
    """Return zero and the multiples of `round_step`, as they are written, up to an end."""
    step = round_step(end)
    multiples = np.arange(np.floor(end / step) + 1)
    # 3 / 10 is the float 0.3, but 3 * 0.1 is a little more.
    return multiples * step if step >= 1 else multiples / np.rint(1 / step)


def round_horizons(end: float, most: int = 6) -> list[float]:
    """Return a few round times up to an end: multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(end / most))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= end / most)
    return [float(f"{step * multiple:.12g}") for multiple in range(1, int(end / step + 1e-9) + 1)]


def read_horizons(horizons: Iterable[float]) -> list[float]:
    """Return times that a user passed, each once and in order."""
    times = [float(time) for time in horizons]
    wrong = [time for time in times if not (np.isfinite(time) and time >= 0)]
    if wrong:
        raise ValueError(f"horizons must be times, zero or later; got {wrong[0]!r}.")
    return sorted(set(times))
