"""Methods of others, tuned and not: pystreed, OSST and scikit-survival's tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments import peers
from experiments.clock import processor_seconds
from experiments.limited import run_limited
from experiments.scores import Partition, Target, brier, negative_held_out_loss, tuning_concordance
from experiments.tables import Numbers
from experiments.task import Task
from experiments.tuning import Candidates, choose
from surtree import Encoder
from surtree.validation.sizes import candidate_sizes

OSST_PENALTIES = (0.01, 0.003, 0.001, 0.0003)


def _encoded(task: Task, X: Any, *others: Any) -> list[Any]:
    encoder = Encoder(min_support=task.min_support).fit(X)
    return [encoder.transform(rows) for rows in (X, *others)]


def fit_pystreed(task: Task, size: tuple[int, int] | None = None) -> Partition:
    """Find STreeD's tree of the depth, or of a depth and a number of splits."""
    train, test = _encoded(task, task.X_train, task.X_test)
    apply = peers.fit_pystreed(train, task.y_train, *(size or (task.depth,)))
    return Partition(apply(train), apply(test))


def tune_pystreed(task: Task) -> Partition:
    """Choose depth and number of splits by the held-out loss, as for SurTree."""
    # A tree without a split needs no search.
    sizes = [size for size in candidate_sizes(task.depth, None) if size[1] > 0]

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        train, test = _encoded(task, X, others)
        models = [peers.fit_pystreed(train, y, *size) for size in sizes]
        root = Partition(np.zeros(len(train), dtype=int), np.zeros(len(test), dtype=int))
        return [root, *(Partition(apply(train), apply(test)) for apply in models)]

    best = choose(candidates, task, negative_held_out_loss)
    if best == 0:
        return Partition(np.zeros(len(task.X_train), int), np.zeros(len(task.X_test), int))
    return fit_pystreed(task, sizes[best - 1])


def fit_osst(task: Task) -> Partition:
    """Find the tree with the least price of a leaf."""
    return _osst(task, OSST_PENALTIES[-1:], processor_seconds() + task.limit)(
        task.X_train, task.y_train, task.X_test
    )[0]


def tune_osst(task: Task) -> Partition:
    """Choose the price of a leaf by the integrated Brier score, which OSST minimises."""
    end = processor_seconds() + task.limit
    candidates = _osst(task, OSST_PENALTIES, end)
    best = choose(candidates, task, brier)
    chosen = _osst(task, OSST_PENALTIES[best : best + 1], end)
    return chosen(task.X_train, task.y_train, task.X_test)[0]


def _osst(task: Task, penalties: Sequence[float], end: float) -> Candidates:
    """Return a function that makes a tree for each penalty, all of them before an end.

    A second fit in the same process with another number of rows crashes.
    """

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        train, test = _encoded(task, X, others)
        left = max(end - processor_seconds(), 0.0)
        return run_limited(left, _osst_partitions, train, y, test, task.depth, penalties, left)

    return candidates


def _osst_partitions(
    train: Any, y: Target, test: Any, depth: int, penalties: Sequence[float], limit: float
) -> list[Partition]:
    models = [peers.fit_osst(train, y, depth, penalty, limit) for penalty in penalties]
    return [Partition(apply(train), apply(test)) for apply in models]


def fit_sksurv(task: Task) -> Partition:
    """Grow scikit-survival's tree."""
    return _sksurv(task, task.X_train, task.y_train, task.X_test)[task.depth]


def tune_sksurv(task: Task) -> Partition:
    """Choose the depth by Harrell's C, which is the tree's own score."""

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        return _sksurv(task, X, y, others)

    best = choose(candidates, task, tuning_concordance)
    return candidates(task.X_train, task.y_train, task.X_test)[best]


def _sksurv(task: Task, X: Any, y: Target, others: Any) -> list[Partition]:
    """Return the trees of all depths: grown from the top, the deepest one contains the others."""
    X, others = (pd.DataFrame(rows).rename(columns=str) for rows in (X, others))
    numbers = Numbers().fit(X)
    train, test = numbers.transform(X), numbers.transform(others)
    model = peers.fit_sksurv(train, y, task.depth, task.seed)
    return [
        Partition(peers.sksurv_leaves(model, train, depth), peers.sksurv_leaves(model, test, depth))
        for depth in range(task.depth + 1)
    ]
