"""Rows with the same bins, merged: batches become distinct rows with sums, and add up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.thresholds import first_of_each
from surtree.engines._batches import Batch
from surtree.engines._encode import Binner, RenumberedBinner
from surtree.engines._row_values import RowValues
from surtree.engines.rows import TargetNames
from surtree.engines.source import TooManyRowsError

Words = NDArray[np.uint64]
# The bins of a row are digits of whole numbers up to here.
_MOST = 2**63


@dataclass(frozen=True)
class Packing:
    """How the bins of a row are packed into words of 64 bits."""

    radix: tuple[tuple[int, ...], ...]  # for each word, the number of bins of each column in it

    @classmethod
    def of(cls, n_bins: list[int]) -> Packing:
        words: list[list[int]] = [[]]
        product = 1
        for n in n_bins:
            if product * n > _MOST:
                words.append([])
                product = 1
            words[-1].append(n)
            product *= n
        return cls(tuple(map(tuple, words)))

    def pack(self, bins: list[NDArray[np.uint16]], n_rows: int) -> Words:
        """Return the words of rows, of shape (n_words, n_rows)."""
        words = np.zeros((len(self.radix), n_rows), dtype=np.uint64)
        columns = iter(bins)
        for word, radices in zip(words, self.radix, strict=True):
            for radix in radices:
                word *= np.uint64(radix)
                word += next(columns)
        return words

    def unpack(self, words: Words) -> NDArray[np.uint16]:
        """Return the bins of rows, of shape (n_columns, n_rows)."""
        bins: list[NDArray[np.uint16]] = []
        for word, radices in zip(words, self.radix, strict=True):
            rest, digits = word, []
            for radix in reversed(radices):
                rest, digit = np.divmod(rest, np.uint64(radix))
                digits.append(digit.astype(np.uint16))
            bins += reversed(digits)
        return np.array(bins, dtype=np.uint16).reshape(-1, words.shape[1])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows, and the sums over all rows that are equal to each."""

    words: Words  # the packed bins
    sums: Floats  # whole numbers of some units: adding them up does not round

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.words.shape[1])

    @classmethod
    def of(cls, words: Words, terms: Floats) -> DistinctRows:
        """Merge rows with the same words, and add up their terms."""
        if not words.shape[1]:
            return cls(words, terms)
        order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(words[::-1])
        words = words[:, order]
        if len(words) == 1:
            starts = first_of_each(words[0])
        else:
            is_new = np.ones(words.shape[1], dtype=bool)
            is_new[1:] = (words[:, 1:] != words[:, :-1]).any(axis=0)
            starts = np.flatnonzero(is_new)
        # One kind of terms at a time, so that little is copied.
        sums = np.array([np.add.reduceat(term[order], starts) for term in terms])
        return cls(words[:, starts], sums)

    def __add__(self, other: DistinctRows) -> DistinctRows:
        return DistinctRows.of(
            np.concatenate((self.words, other.words), axis=1),
            np.concatenate((self.sums, other.sums), axis=1),
        )


@dataclass(eq=False)
class Merging:
    """Distinct rows of some batches: parts, each less than half as long as the one before."""

    parts: list[DistinctRows] = field(default_factory=list)  # the parts; a row may be in several
    n_rows: int = 0  # how many rows were merged

    def add(self, rows: DistinctRows, most: int) -> None:
        """Add distinct rows, and raise an error if there are more than so many."""
        self.parts.append(rows)
        while len(self.parts) > 1 and 2 * self.parts[-1].n >= self.parts[-2].n:
            last = self.parts.pop()
            self.parts[-1] = self.parts[-1] + last
        if sum(part.n for part in self.parts) > most and self.whole().n > most:
            raise TooManyRowsError(f"{self.whole().n:,} of {self.n_rows:,} rows are distinct")

    def whole(self) -> DistinctRows:
        while len(self.parts) > 1:
            last = self.parts.pop()
            self.parts[-1] = self.parts[-1] + last
        return self.parts[0]


@dataclass(frozen=True, eq=False)
class MergePass:
    """The pass that bins rows, looks up their hazard, and merges those with the same bins."""

    names: TargetNames  # the columns of the target
    binners: tuple[Binner | RenumberedBinner, ...]  # how columns become bins
    values: RowValues  # what rows add
    most: int  # the most distinct rows that there is room for
    title = "bins and merging"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *(binner.name for binner in self.binners))

    @property
    def packing(self) -> Packing:
        """How bins are packed; missing values have a bin after the others."""
        return Packing.of([binner.n_bins + 1 for binner in self.binners])

    def start(self) -> Merging:
        return Merging()

    def add(self, partial: Merging, batch: Batch) -> Merging:
        rows = self.names.read(batch)
        bins = [binner.bins(rows.column(binner.name)) for binner in self.binners]
        parts = self.values.of_rows(rows).whole()
        partial.n_rows += rows.n
        partial.add(DistinctRows.of(self.packing.pack(bins, rows.n), parts), self.most)
        return partial

    def merge(self, one: Merging, other: Merging) -> Merging:
        one.n_rows += other.n_rows
        for part in other.parts:
            one.add(part, self.most)
        return one


def row_bytes(values: RowValues, n_columns: int) -> int:
    """Return about how many bytes a distinct row takes, in all copies that there are at a time."""
    # Its words and sums, a copy while parts are merged; its bins, and what the core makes of both.
    row = 8 * (values.n_parts + 1 + n_columns // 8)
    return 2 * row + 6 * n_columns + 64
