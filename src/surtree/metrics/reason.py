"""Why a figure is missing: the value of a score, or one sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surtree.data.target import Target


class Score(NamedTuple):
    """The value of a measure; where it is NaN, the reason."""

    value: float
    reason: str = ""


def score_or_reason(compute: Callable[[], float]) -> Score:
    """Return a score; where rows have none, the reason is the error that its metric raises."""
    try:
        return Score(float(compute()))
    except ValueError as error:
        return missing(str(error))


def missing(reason: str) -> Score:
    """Return that there is no value, and why."""
    return Score(np.nan, reason.rstrip("."))


def nobody_at_risk(target: Target, time: float) -> str:
    """Say that no row is at risk at a time, and when rows are."""
    text = f"no rows are at risk at {time:g}"
    if time > target.time.max():
        return f"{text}; the last follow-up is at {target.time.max():g}"
    if target.entry is not None and time < target.entry.min():
        return f"{text}; the first enter at {target.entry.min():g}"
    return text


def after_training(time: float, last_time: float) -> str:
    """Say why a model predicts nothing at a time; an empty text where it does."""
    if time <= last_time:
        return ""
    return f"{time:g} is after the last follow-up of the training rows, {last_time:g}"
