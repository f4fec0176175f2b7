"""Quantile cuts of many numeric columns at once: what `candidates` finds in each, in one go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.compiled import bin_columns, sum_bins
from surtree._support.exact import Terms, quantile_positions
from surtree._support.types import Floats
from surtree.cuts.thresholds import midpoint

# Columns longer than this are not sorted: a selection of the values at the quantiles is faster.
LONG = 50_000


@dataclass(frozen=True, eq=False)
class QuantileColumn:
    """The quantile cuts of one column."""

    # How many thresholds each value is above; where it is missing, the number of bins.
    bins: NDArray[np.uint16]
    thresholds: Floats  # ascending; no two of them divide the rows alike, and each divides them
    # The rows above each threshold: their number, the hash of their set (halves), their weight.
    n_rows: NDArray[np.int64]
    key: NDArray[np.uint64]
    weight: Floats
    has_missing: bool  # whether some values are missing


def quantile_columns(
    values: Floats, n_thresholds: int, weight: Terms
) -> list[QuantileColumn | None]:
    # With as many thresholds as rows, every midpoint is one.
    if values.shape[1] < 2 or n_thresholds >= values.shape[1]:
        return [None] * len(values)
    with np.errstate(invalid="ignore"):
        is_usable, lower, upper = _order_statistics(values, n_thresholds)
        thresholds = midpoint(lower, upper)
    usable = np.flatnonzero(is_usable)
    if not usable.size:
        return [None] * len(values)
    if usable.size < len(values):
        values, thresholds = values[usable], thresholds[usable]
    bins = bin_columns(values, thresholds)
    columns = _columns(bins, thresholds, n_thresholds, weight)
    out: list[QuantileColumn | None] = [None] * is_usable.size
    for index, column in zip(usable.tolist(), columns, strict=True):
        out[index] = column
    return out


def neighbours(values: Floats) -> Callable[[float], tuple[float, float]]:
    """Return a function that finds the values of a column on either side of a threshold."""

    def find(threshold: float) -> tuple[float, float]:
        above = values > threshold
        return float(values[values <= threshold].max()), float(values[above].min())

    return find


def _order_statistics(
    values: Floats, n_thresholds: int
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return which columns have enough values, and the values on either side of each quantile."""
    n_columns, n_rows = values.shape
    if n_rows > LONG:
        positions = quantile_positions(n_rows, n_thresholds).astype(np.intp)
        wanted = np.unique(np.concatenate(([0], positions, positions + 1, [n_rows - 1])))
        chosen = np.partition(values, wanted, axis=1)[:, wanted]  # NaN would come last
        n_distinct = 1 + np.count_nonzero(chosen[:, 1:] > chosen[:, :-1], axis=1)
        is_finite = np.isfinite(chosen[:, 0]) & np.isfinite(chosen[:, -1])
        near = np.searchsorted(wanted, positions)
        lower, upper = chosen[:, near], chosen[:, np.searchsorted(wanted, positions + 1)]
        return is_finite & (n_distinct > n_thresholds + 1), lower, upper
    ascending = np.sort(values, axis=1)
    n_present = n_rows - np.count_nonzero(np.isnan(ascending), axis=1)
    n_distinct = 1 + np.count_nonzero(ascending[:, 1:] > ascending[:, :-1], axis=1)
    every = np.arange(n_columns)
    last = ascending[every, np.maximum(n_present, 1) - 1]
    is_finite = np.isfinite(ascending[:, 0]) & np.isfinite(last)
    shared = quantile_positions(n_rows, n_thresholds).astype(np.intp)
    if (n_present == n_rows).all():
        lower, upper = ascending[:, shared], ascending[:, shared + 1]
    else:
        positions = np.stack(
            [quantile_positions(max(float(n), 2.0), n_thresholds) for n in n_present.tolist()]
        ).astype(np.intp)
        lower, upper = (
            ascending[every[:, None], positions],
            ascending[every[:, None], positions + 1],
        )
    return is_finite & (n_distinct > n_thresholds + 1), lower, upper


def _columns(
    bins: NDArray[np.uint16], thresholds: Floats, n_thresholds: int, weight: Terms
) -> list[QuantileColumn]:
    n_columns, n_bins = len(bins), n_thresholds + 1
    n, low, high, weighed = (
        sums.reshape(n_columns, -1)
        for sums in sum_bins(bins, n_bins + 1, None if weight.are_ones else weight)
    )
    has_missing = n[:, n_bins] > 0
    n_above, low_above, high_above = (_above(sums[:, :n_bins]) for sums in (n, low, high))
    weight_above = n_above.astype(np.float64) if weight.are_ones else _above(weighed[:, :n_bins])
    keys = np.stack((low_above, high_above), axis=1)
    # Where there are no rows between two thresholds, both divide the rows alike: keep the first.
    is_new = (n[:, : n_bins - 1] > 0) & (n_above > 0)
    out = []
    for column in range(n_columns):
        kept: slice | NDArray[np.intp] = slice(None)
        column_bins = bins[column]
        if not is_new[column].all():
            kept = np.flatnonzero(is_new[column])
            # The number of kept thresholds below each bin; missing values come after the last.
            merged = np.concatenate(([0], np.cumsum(is_new[column]), [kept.size + 1]))
            column_bins = merged.astype(np.uint16)[column_bins]
        out.append(
            QuantileColumn(
                column_bins,
                thresholds[column][kept],
                n_above[column][kept],
                keys[column][:, kept],
                weight_above[column][kept],
                bool(has_missing[column]),
            )
        )
    return out


def _above(sums: NDArray[Any]) -> NDArray[Any]:
    """Return the sums over the bins above each of them but the last."""
    return np.cumsum(sums[:, :0:-1], axis=1, dtype=sums.dtype)[:, ::-1]
