"""Checksums of rows: equal for the same rows, whatever their order and their batches.

The outcome of a row (event, time, entry and weight) is hashed, and so is each of its values. The
checksum of a column is the sum over the rows of outcome hash times value hash, without what exceeds
64 bits; so it covers which outcome each value stands beside. A pass reads some of the columns, and
its checksums are compared with those of all passes that have read the same columns before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from surtree.engines.rows import CountedRows

Hashes = NDArray[np.uint64]


def hash_words(words: Iterable[Hashes], n_rows: int, seed: int) -> Hashes:
    """Return a random number for each row, the same for rows with the same words."""
    mixed = np.full(n_rows, seed, dtype=np.uint64)
    for word in words:
        mixed = _mix(mixed ^ word)
    return _mix(mixed)


def _mix(x: Hashes) -> Hashes:
    """Mix the bits of numbers, as the splitmix64 generator does."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hash_text(text: str) -> int:
    """Return a hash of a text that is the same in every process, unlike Python's own."""
    content = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


# The outcomes alone, a column beside them, or several columns that belong together.
Key = tuple[str, ...]

# Rows that are hashed at a time: their hashes stay in the cache of a processor.
_BLOCK = 2**15
_SEED = 3
_MASK = 2**64 - 1
_HALF = np.uint64(32)
_MISSING = np.uint64(0x7FF8000000000001)


@dataclass(eq=False)
class Checksums:
    """Sums of the hashes of some rows."""

    # For the outcomes, for each column, and for all columns together: a whole number below 2**64.
    sums: dict[Key, int]

    @classmethod
    def of_no_rows(cls) -> Checksums:
        return cls({(): 0})

    def add(self, rows: CountedRows, columns: Iterable[str]) -> None:
        """Add the rows of a batch, with these columns beside the target."""
        outcome = _outcomes(rows)
        self._add((), int(outcome.sum()))
        names = tuple(sorted(columns))
        together = outcome.copy()
        for name in names:
            self._add((name,), _add_column(rows, name, outcome, together))
        if len(names) > 1:
            self._add(names, int(hash_words([together], rows.n, _SEED).sum()))

    def merge(self, other: Checksums) -> None:
        for key, number in other.sums.items():
            self._add(key, number)

    def _add(self, key: Key, number: int) -> None:
        self.sums[key] = (self.sums.get(key, 0) + number) & _MASK


def _outcomes(rows: CountedRows) -> Hashes:
    """Return a hash of the outcome of each row, and of its weight."""
    target = rows.target
    # No time has a sign: its bit says whether there was an event.
    ends = target.time.view(np.uint64) | (target.event.astype(np.uint64) << np.uint64(63))
    others = [] if target.entry is None else [target.entry + 0.0]
    others += [rows.weight] if rows.names.weight is not None else []
    words = [ends, *(np.ascontiguousarray(values).view(np.uint64) for values in others)]
    words += rows.names.marks(target)
    return hash_words(words, rows.n, _SEED)


def _add_column(rows: CountedRows, name: str, outcome: Hashes, together: Hashes) -> int:
    """Return the checksum of a column, and add the hashes of its values to those of the rows."""
    column = rows.column(name)
    factor = np.uint64(hash_text(name) | 1)
    labels: Hashes | None = None
    if column.kind == "categorical":
        labels = np.array(
            [*(hash_text(str(label)) for label in column.categories), _MISSING], dtype=np.uint64
        )
    numbers, scratch = np.empty(_BLOCK), np.empty(_BLOCK, dtype=np.uint64)
    total = 0
    for begin in range(0, rows.n, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        values = column.values[block]
        other = scratch[: values.size]
        if labels is not None:
            hashes = labels[values]
        else:
            hashes = numbers[: values.size].view(np.uint64)
            # Zero has no sign, and all missing values are the same.
            np.add(values, 0.0, out=hashes.view(np.float64))
            if column.has_missing:
                hashes[column.missing[block]] = _MISSING
        np.right_shift(hashes, _HALF, out=other)
        hashes ^= other
        hashes *= factor
        np.right_shift(hashes, _HALF, out=other)
        hashes ^= other
        together[block] += hashes
        np.multiply(hashes, outcome[block], out=other)
        total += int(other.sum())
    return total
