"""Round times: a grid that contains every tick of a time axis."""

from __future__ import annotations

import numpy as np

from surtree._types import Floats

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
