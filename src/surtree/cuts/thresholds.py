"""Candidate thresholds of a numeric column, and how they are rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Context
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.exact import quantile_positions
from surtree._support.parameters import is_number
from surtree._support.types import Floats
from surtree.data.table import Column

# All the significant digits that a float has.
_DIGITS = 17


def distinct_values(values: Floats, repeats: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the distinct values in ascending order, and how often each occurs."""
    # A plain sort is several times faster than argsort, which only repeats need.
    order = None if repeats is None else np.argsort(values)
    ascending = np.sort(values) if order is None else values[order]
    starts = first_of_each(ascending)
    if repeats is None:
        return ascending[starts], np.diff(starts, append=len(values)).astype(np.float64)
    return ascending[starts], np.add.reduceat(repeats[order], starts)


def first_of_each(ascending: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each value of an ascending array stands first."""
    is_new = np.empty(len(ascending), dtype=bool)
    is_new[0] = True
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return is_new.nonzero()[0]


def quantile_thresholds(distinct: Floats, counts: Floats, n_thresholds: int | None) -> Floats:
    """Return the thresholds of a numeric column, ascending, as the paper's authors choose them.

    In the sorted list of all values, repeats included, every two neighbours have a midpoint (so a
    repeated value is one too). If at most ``n_thresholds`` midpoints differ, all are thresholds;
    else those in the middle of ``n_thresholds`` equal parts of the list of midpoints. Between two
    adjacent floats the midpoint is the lower one, so that it separates them.
    """
    if n_thresholds is None:
        return midpoint(distinct[:-1], distinct[1:])
    # Midpoints between different values all differ, so more values have too many midpoints.
    if len(distinct) <= n_thresholds + 1:
        midpoints = _midpoints(distinct, counts)
        if len(midpoints) <= n_thresholds:
            return midpoints
    ends = np.cumsum(counts)
    positions = quantile_positions(float(ends[-1]), n_thresholds)
    # Shares of persons may leave the list shorter than two.
    at = (np.searchsorted(ends, positions + step, side="right") for step in (0, 1))
    lower, upper = (distinct[np.minimum(index, len(distinct) - 1)] for index in at)
    thresholds = midpoint(lower, upper)
    return thresholds[first_of_each(thresholds)]


def midpoint(lower: ArrayLike, upper: ArrayLike) -> Floats:
    """Return a number between two values: above it are the values from the upper one on."""
    lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    with np.errstate(over="ignore"):
        middle = (lower + upper) / 2
    middle = np.where(np.isfinite(middle), middle, lower / 2 + upper / 2)
    # Adjacent floats have no number between them, and the midpoint may have been rounded up.
    return np.where(middle < upper, middle, lower)


def readable(threshold: float, lower: float, upper: float) -> float:
    """Return the threshold with the fewest digits that still separates two neighbouring values."""
    reach = (upper - lower) / 4
    for digits in range(1, _DIGITS + 1):
        # Adding zero turns a negative zero into zero.
        candidate = float(f"{threshold:.{digits - 1}e}") + 0.0
        if abs(candidate - threshold) > reach:
            continue
        if candidate < lower:
            # A threshold that equals a value of its column must not be rounded down.
            candidate = _rounded_up(threshold, digits)
        if lower <= candidate < upper and abs(candidate - threshold) <= reach:
            return candidate
    return threshold


def _rounded_up(number: float, digits: int) -> float:
    rounding = Context(prec=digits, rounding=ROUND_CEILING)
    return float(rounding.create_decimal_from_float(number)) + 0.0


def _midpoints(distinct: Floats, counts: Floats) -> Floats:
    """Return every midpoint between neighbours in the sorted list with repeats, once."""
    between = midpoint(distinct[:-1], distinct[1:])
    return np.unique(np.concatenate((distinct[counts > 1], between)))


GivenThresholds = Mapping[str, Sequence[float]]


def require_thresholds(thresholds: Any) -> None:
    """Raise an error unless ``thresholds`` is None, or lists of numbers by names of columns."""
    if thresholds is None:
        return
    if not isinstance(thresholds, Mapping):
        raise ValueError(
            "thresholds must be None, or a dictionary from names of columns to lists of numbers, "
            f"such as {{'age': [50, 65]}}; got {thresholds!r}."
        )
    for name, values in thresholds.items():
        if not isinstance(name, str):
            raise ValueError(f"thresholds must name columns by texts; got {name!r}.")
        if isinstance(values, str) or not isinstance(values, Iterable) or not all(map(_ok, values)):
            raise ValueError(f"thresholds of {name!r} must be finite numbers; got {values!r}.")
        if not len(list(values)):
            raise ValueError(f"thresholds of {name!r} are none: give one, or leave the column out.")


def _ok(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def require_names(thresholds: GivenThresholds | None, names: Sequence[str]) -> None:
    """Raise an error where thresholds are given for columns that a table does not have."""
    for name in thresholds or ():
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:10])}"
            raise ValueError(f"thresholds are given for {name!r}, which is no column: {hint}")


def given_for(thresholds: GivenThresholds | None, column: Column) -> Floats | None:
    """Return the thresholds that are given for a column, ascending; None if there are none."""
    if thresholds is None or column.name not in thresholds:
        return None
    if column.kind != "numeric":
        raise ValueError(
            f"thresholds are given for {column.name!r}, which is no column of numbers but of "
            f"{'booleans' if column.kind == 'boolean' else 'categories'}"
        )
    return np.unique(np.array(list(thresholds[column.name]), dtype=np.float64))
