"""Sums by distinct values: tallies of batches add up to that of all rows, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.thresholds import first_of_each

# Whole numbers in a range up to this many times their number, or up to this size, are counted in
# an array: no sorting.
_RANGE, _SMALL_RANGE = 4, 2**16
# Up to here, a float that is a whole number is that number.
_MOST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct values, and sums over the rows that have each of them."""

    keys: NDArray[Any]  # the values, ascending
    sums: Floats  # whole numbers, or parts of terms (`Grid`): adding them up does not round

    @classmethod
    def empty(cls, n_sums: int, dtype: Any = np.float64) -> Tally:
        return cls(np.empty(0, dtype), np.empty((n_sums, 0)))

    @classmethod
    def of(cls, values: NDArray[Any], terms: Floats) -> Tally:
        """Add up the terms of rows, of shape (n_sums, n_rows), by the keys of the rows."""
        keys, index = group(values)
        return cls(keys, sums_by(index, terms, keys.size))

    @classmethod
    def counts(cls, values: NDArray[Any]) -> Tally:
        if not values.size:
            return cls.empty(1, values.dtype)
        ascending = np.sort(values)
        starts = first_of_each(ascending)
        return cls(ascending[starts], np.diff(starts, append=values.size)[None].astype(np.float64))

    @property
    def size(self) -> int:
        """How many distinct values there are."""
        return int(self.keys.size)

    def __add__(self, other: Tally) -> Tally:
        if not self.size or not other.size:
            return other if not self.size else self
        keys = np.union1d(self.keys, other.keys)
        sums = np.zeros((len(self.sums), keys.size))
        for one in (self, other):
            sums[:, np.searchsorted(keys, one.keys)] += one.sums
        return Tally(keys, sums)


def sums_by(index: NDArray[np.intp], terms: Floats, size: int) -> Floats:
    """Return the sums of terms of shape (n_sums, n_rows) by an index, (n_sums, size)."""
    sums = [np.bincount(index, term, minlength=size) for term in terms]
    return np.array(sums, dtype=np.float64).reshape(len(terms), size)


def group(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values, ascending, and the position of each value among them."""
    if not values.size:
        return values, np.empty(0, dtype=np.intp)
    low, high = values.min(), values.max()
    are_near = float(high) - float(low) <= max(_RANGE * values.size, _SMALL_RANGE)
    if are_near and max(abs(float(low)), abs(float(high))) < _MOST_WHOLE:
        whole = values.astype(np.int64)
        if values.dtype.kind != "f" or bool((whole == values).all()):
            shifted = whole - int(low)
            is_there = np.zeros(int(high) - int(low) + 1, dtype=bool)
            is_there[shifted] = True
            held = np.flatnonzero(is_there)
            index = np.cumsum(is_there) - 1
            return (held + int(low)).astype(values.dtype), index[shifted]
    keys, inverse = np.unique(values, return_inverse=True)
    return keys, inverse.astype(np.intp, copy=False)
