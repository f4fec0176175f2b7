"""What the leaves of a tree are called wherever people read: A, B, ..., Z, AA, AB, ..."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count, product
from string import ascii_uppercase


def leaf_names(leaves: Iterable[int]) -> dict[int, str]:
    """Return the name of each leaf, by its node, of all the leaves of a tree."""
    letters = chain.from_iterable(product(ascii_uppercase, repeat=n) for n in count(1))
    return dict(zip(sorted(set(leaves)), map("".join, letters), strict=False))
