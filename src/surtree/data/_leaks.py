"""Columns that all but say what they are to predict."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from surtree._support.types import Floats
from surtree.data.table import Column
from surtree.data.target import Target

# In fewer rows, of which so many have the event or have it not, a good question may be luck.
FEWEST_ROWS = 40
FEWEST_EVENTS = 10
# The share of the rarer kind of rows that a question may get wrong, and still tells them all.
_MOST_WRONG = 0.05
_CORRELATION = 0.98
# The share of rows whose value is exactly their time, and how many times that of chance it must be.
EQUAL = 0.1
_TIMES_CHANCE = 5
_FEWEST_TIMES = 20
# The share of the rarer rows in which an event and the difference of two times may not agree.
_MOST_APART = 0.1
# The end of the reason for the time of a second outcome.
SECOND = "as the time of a second outcome is"
# How closely a column of the name of an outcome goes along with the event.
_ASSOCIATION = 0.5
_BETWEEN = r"[ _.-]"
# Nobody is dead when a prediction is made.
_DEATH = re.compile(
    rf"(?i)(?:death|dead|died|deceased)(?:{_BETWEEN}?(?:event|status|flag|ind|indicator))?"
)
_OUTCOME = re.compile(
    rf"(?i)(?:^|{_BETWEEN})(?:death|dead|died|deceased|mortality|status|p?stat|event|outcome"
    r"|cens(?:or|ored)?|recur(?:red|rence)?|relapsed?|progress(?:ed|ion)?|fail(?:ed|ure)?|survived"
    rf"|alive|vital|os|pfs|dfs|rfs|efs)(?:$|{_BETWEEN})"
)


def is_named_like_outcome(name: str) -> bool:
    return _OUTCOME.search(name) is not None


def find_leak(column: Column, target: Target) -> str:
    """Return why a column seems to be known only afterwards; empty if it does not."""
    if target.time.size < FEWEST_ROWS:
        return ""
    reason = ""
    if column.kind != "categorical":
        reason = _equals_time(column.values, target.time)
    reason = reason or _tells_event(column, target.event)
    # Of rows that enter late, the time when they enter, and their age then, are known before.
    if not reason and column.kind != "categorical" and target.entry is None:
        reason = _tells_time(column.values, target.event, target.time)
    return reason or _is_second_outcome(column, target.event)


def _tells_event(column: Column, event: NDArray[np.bool_]) -> str:
    """Return why a column all but tells whether the event happened; empty if it does not."""
    rarer = min(int(event.sum()), int((~event).sum()))
    if rarer < FEWEST_EVENTS:
        return ""
    wrong = _wrong_rows(column, event)
    if wrong > _MOST_WRONG * rarer:
        return ""
    if wrong == 0:
        return "tells in every row whether the event happened"
    return f"all but tells whether the event happened ({1 - wrong / event.size:.1%} of rows)"


def _wrong_rows(column: Column, event: NDArray[np.bool_]) -> int:
    """Return how many rows the best single question about a column gets wrong."""
    if column.kind != "categorical":
        return min(
            _wrong_by_threshold(np.where(column.missing, side, column.values), event)
            for side in ((-np.inf, np.inf) if column.has_missing else (np.inf,))
        )
    codes = column.values + 1  # the missing ones are a category too
    rows = np.bincount(codes)
    if np.count_nonzero(rows) * FEWEST_EVENTS > event.size:
        return event.size  # so few rows of each value say nothing
    events = np.bincount(codes, weights=event)
    return int(np.minimum(events, rows - events).sum())


def _wrong_by_threshold(values: Floats, event: NDArray[np.bool_]) -> int:
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), values.size - 1)
    events = np.cumsum(event[order])[ends]
    below = ends + 1
    # Rows up to the threshold that have the event, and rows above it that have none.
    wrong = events + (values.size - below) - (events[-1] - events)
    return int(np.minimum(wrong, values.size - wrong).min())


def _tells_time(values: Floats, event: NDArray[np.bool_], time: Floats) -> str:
    """Return why a column all but tells the time; empty if it does not.

    It must tell that of events too: the date of entry tells when rows are censored at one date.
    """
    known = ~np.isnan(values)
    happened = known & event
    if known.sum() < max(2 * FEWEST_EVENTS, time.size / 2) or happened.sum() < FEWEST_EVENTS:
        return ""
    rank = _rank_correlation(values[known], time[known])
    if min(abs(rank), abs(_rank_correlation(values[happened], time[happened]))) < _CORRELATION:
        return ""
    return f"all but tells the time (rank correlation {rank:.3f})"


def _rank_correlation(values: Floats, time: Floats) -> float:
    if np.ptp(values) == 0 or np.ptp(time) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values), rankdata(time))[0, 1])


def _equals_time(values: Floats, time: Floats) -> str:
    """Return why a column is the time, or that of a second outcome; empty if it is neither.

    Two outcomes have the same time where rows are censored, and a measure of something else hardly
    ever has that very value.
    """
    equal = values == time
    share = float(equal.mean())
    if equal.sum() < FEWEST_EVENTS or share < EQUAL:
        return ""
    if share == 1:
        return "is the time itself"
    times, of_time = np.unique(time, return_counts=True)
    known, of_known = np.unique(values[~np.isnan(values)], return_counts=True)
    common, in_times, in_known = np.intersect1d(
        times, known, assume_unique=True, return_indices=True
    )
    chance = float((of_time[in_times] / time.size) @ (of_known[in_known] / values.size))
    if times.size < _FEWEST_TIMES or share < _TIMES_CHANCE * chance or common.size < FEWEST_EVENTS:
        return ""
    return f"is equal to the time in {share:.0%} of rows, {SECOND}"


def _is_second_outcome(column: Column, event: NDArray[np.bool_]) -> str:
    """Return why a column of two values is another outcome, if it has the name of one."""
    marks = _two_values(column)
    if marks is None or not is_named_like_outcome(column.name) or event.all():
        return ""
    association = abs(float(np.corrcoef(marks, event)[0, 1]))
    if association < _ASSOCIATION and not _DEATH.fullmatch(column.name):
        return ""
    return f"is named like an outcome (correlation with the event {association:.2f})"


def marks_second_time(column: Column, second: Floats, time: Floats) -> bool:
    """Return whether a column of two values says where the time of a second outcome differs."""
    marks = _two_values(column)
    if marks is None:
        return False
    differs = second != time
    apart = int((marks != differs).sum())
    rarer = min(int(differs.sum()), int((~differs).sum()))
    return rarer >= FEWEST_EVENTS and min(apart, time.size - apart) <= _MOST_APART * rarer


def _two_values(column: Column) -> NDArray[np.bool_] | None:
    """Return which rows have the greater of two values; None unless there are two in all rows."""
    low, high = column.values.min(), column.values.max()  # NaN or -1 where a value is missing
    if not (low < high) or (column.kind == "categorical" and low < 0):
        return None
    marks = column.values == high
    return np.asarray(marks) if (marks | (column.values == low)).all() else None
