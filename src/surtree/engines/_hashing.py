"""Hashes of rows, the same in every process: sums of them tell sets of rows apart."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

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
