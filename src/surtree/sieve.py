"""Which questions are worth asking: those that divide the rows, each division once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surtree.questions import Questions

Floats = NDArray[np.float64]


def sift(
    asked: Sequence[Questions], weight: Floats, min_support: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Keep questions that enough rows answer either way, and that no earlier one has asked.

    Parameters
    ----------
    asked : sequence of Questions
        The questions about each column, all about the same rows; at least one column.
    weight : array of float
        The weights of the rows, all positive.
    min_support : float
        A question is kept when it holds for more than this share of the weight, and does not hold
        for more than this share too.

    Returns
    -------
    kept : array of bool
        Whether each question is kept, those of one column after those of another.
    heavier : array of bool
        Whether each question holds for more than half of the weight.
    """
    keys = _row_keys(len(weight))
    # Most often all weights are one, and to count the rows is to weigh them.
    weighed = None if (weight == 1).all() else weight
    sums = np.concatenate([questions.held(keys, weighed) for questions in asked], axis=1)
    rows, held, total = sums[0], sums[0 if weighed is None else -1], weight.sum()
    kept = (rows > 0) & (rows < len(weight))
    if min_support > 0:
        kept &= np.minimum(held, total - held) / total > min_support
    # A question and its opposite are the same split: both are known by the side without row 0.
    opposite = np.concatenate([questions.hold_for(0) for questions in asked])
    key_sums = sums[1 : len(keys) + 1]
    signatures = np.where(opposite, keys.sum(axis=1, keepdims=True) - key_sums, key_sums).T
    seen: set[tuple[float, ...]] = set()
    places = np.flatnonzero(kept)
    for place, signature in zip(places, map(tuple, signatures[places].tolist()), strict=True):
        kept[place] = signature not in seen
        seen.add(signature)
    return kept, held > total / 2


def _row_keys(n_rows: int) -> Floats:
    """Return a few random numbers for each row, whose sums tell sets of rows apart.

    They are whole and small enough for the sums to be exact, and together large enough for two
    different sets of rows to never meet: the odds are one in 2**75 or less.
    """
    bits = 52 - n_rows.bit_length()
    keys = np.random.default_rng(0).integers(2**bits, size=(math.ceil(75 / bits), n_rows))
    return keys.astype(np.float64)
