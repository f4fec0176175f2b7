"""Columns that all but say what they are to predict."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from surtree._types import Floats

# Where fewer rows have the event, or have it not, a good question may be luck.
_FEWEST_ROWS = 10
# The share of the rarer kind of rows that a question may get wrong, and still tells them all.
_MOST_WRONG = 0.05
_CORRELATION = 0.98


def find_leaks(X: pl.DataFrame, event: NDArray[np.bool_], time: Floats) -> dict[str, str]:
    """Return what is suspicious about columns, by their names.

    Parameters
    ----------
    X : polars.DataFrame
        The columns that a tree may ask about.
    event, time : array
        The target.
    """
    found = {}
    for column in X:
        wrong = _wrong_rows(column, event)
        rarer = min(int(event.sum()), int((~event).sum()))
        if rarer >= _FEWEST_ROWS and wrong <= _MOST_WRONG * rarer:
            share = 1 - wrong / len(event)
            found[column.name] = f"all but tells whether the event happened ({share:.1%} of rows)"
        elif abs(rank := _rank_correlation(column, time)) >= _CORRELATION:
            found[column.name] = f"all but tells the time (rank correlation {rank:.3f})"
    return found


def _wrong_rows(column: pl.Series, event: NDArray[np.bool_]) -> int:
    """Return how many rows the best single question about a column gets wrong."""
    if column.dtype.is_numeric():
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        missing = np.isnan(values)
        return min(
            _wrong_by_threshold(np.where(missing, side, values), event)
            for side in (-np.inf, np.inf)
        )
    codes = column.cast(pl.String).rank("dense").fill_null(0).to_numpy().astype(np.intp)
    rows = np.bincount(codes)
    if np.count_nonzero(rows) * _FEWEST_ROWS > len(event):
        return len(event)  # so few rows of each value say nothing
    events = np.bincount(codes, weights=event)
    return int(np.minimum(events, rows - events).sum())


def _wrong_by_threshold(values: Floats, event: NDArray[np.bool_]) -> int:
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(values) - 1)
    events = np.cumsum(event[order])[ends]
    below = ends + 1
    # Rows up to the threshold that have the event, and rows above it that have none.
    wrong = events + (len(values) - below) - (events[-1] - events)
    return int(np.minimum(wrong, len(values) - wrong).min())


def _rank_correlation(column: pl.Series, time: Floats) -> float:
    if not column.dtype.is_numeric():
        return 0.0
    values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = ~np.isnan(values)
    if known.sum() < max(2 * _FEWEST_ROWS, len(time) / 2):
        return 0.0
    if np.ptp(values[known]) == 0 or np.ptp(time[known]) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values[known]), rankdata(time[known]))[0, 1])
