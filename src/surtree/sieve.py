"""Which questions are worth asking: those that divide the rows, each division once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surtree import _core
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
    # Most often all weights are one, and to count the rows is to weigh them.
    weighed = None if (weight == 1).all() else weight
    found = [questions.held(weighed) for questions in asked]
    n_rows = np.concatenate([held.n_rows for held in found])
    held, total = np.concatenate([held.weight for held in found]), weight.sum()
    kept = (n_rows > 0) & (n_rows < len(weight))
    if min_support > 0:
        kept &= np.minimum(held, total - held) / total > min_support
    # A question and its opposite are the same split: both are known by the side without row 0.
    opposite = np.concatenate([questions.hold_for(0) for questions in asked])
    key = np.concatenate([held.key for held in found], axis=1)
    names = np.where(opposite, _key_of_all(len(weight)) - key, key).T
    seen: set[tuple[int, ...]] = set()
    places = np.flatnonzero(kept)
    for place, name in zip(places, map(tuple, names[places].tolist()), strict=True):
        kept[place] = name not in seen
        seen.add(name)
    return kept, held > total / 2


def _key_of_all(n_rows: int) -> NDArray[np.uint64]:
    """Return the key of all rows, in a column."""
    _, low, high, _ = _core.sum_bins(np.zeros(n_rows, dtype=np.uint16), 1, None)
    return np.stack((low, high))
