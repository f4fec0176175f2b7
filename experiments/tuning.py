"""Ten-fold cross-validation over candidates, for the methods that do not bring their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.scores import Partition, Target
from surtree import EventStratifiedKFold

N_FOLDS = 10

Candidates = Callable[[Any, Target, Any], Sequence[Partition]]
Score = Callable[[Target, Target, Partition], float]


def inner_folds(seed: int) -> EventStratifiedKFold:
    """Return the folds that sizes are tuned on."""
    return EventStratifiedKFold(N_FOLDS, random_state=seed)


def choose(candidates: Candidates, X: Any, y: Target, seed: int, score: Score) -> int:
    """Return the candidate with the highest mean score, the first one of these.

    Parameters
    ----------
    candidates : callable
        From training rows, their survival and held-out rows to a partition for each candidate,
        the simplest first.
    X, y : table and structured array
        All training rows.
    seed : int
        Of the folds.
    score : callable
        Of a partition; higher is better.
    """
    scores = []
    for train, test in inner_folds(seed).split(X, y):
        partitions = candidates(take(X, train), y[train], take(X, test))
        scores.append([score(y[train], y[test], partition) for partition in partitions])
    # Differences by rounding alone are none.
    return int(np.argmax(np.mean(scores, axis=0).round(12)))


def take(X: Any, rows: Any) -> Any:
    """Return some rows of a data frame or an array."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
