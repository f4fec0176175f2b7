"""Cross-validation over candidates, for the methods that do not bring their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.scores import Target
from experiments.task import Task
from surtree import EventStratifiedKFold

N_FOLDS = 10

Candidates = Callable[[Any, Target, Any], Sequence[Any]]
Score = Callable[[Target, Target, Any], float]


def inner_folds(seed: int, n_folds: int = N_FOLDS) -> EventStratifiedKFold:
    """Return the folds that sizes are tuned on."""
    return EventStratifiedKFold(n_folds, random_state=seed)


def choose(candidates: Candidates, task: Task, score: Score) -> int:
    """Return the candidate with the highest mean score, the first one of these.

    Parameters
    ----------
    candidates : callable
        From training rows, their survival and held-out rows to what each candidate predicts (most
        often a partition), the simplest first.
    task : Task
        All training rows, and the folds.
    score : callable
        Of a prediction; higher is better.
    """
    X, y = task.X_train, task.y_train
    scores = []
    for train, test in inner_folds(task.seed, task.n_folds).split(X, y):
        predictions = candidates(take(X, train), y[train], take(X, test))
        scores.append([score(y[train], y[test], prediction) for prediction in predictions])
    # Differences by rounding alone are none.
    return int(np.argmax(np.mean(scores, axis=0).round(12)))


def take(X: Any, rows: Any) -> Any:
    """Return some rows of a data frame or an array."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
