"""The paper's two large tables: fifteen real data sets, five folds, every method tuned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.experiment import Measures
from experiments.facts import fold_of_rows
from experiments.methods import METHODS, OURS, attempt
from experiments.scores import Partition, Target, brier, concordance, paper_brier, training_loss
from experiments.tables import REAL_TABLES, binary, numeric, real_table
from experiments.task import Task, View
from experiments.tuning import take
from surtree import EventStratifiedKFold

Protocol = Literal["paper", "inside", "clean"]
# "inside" is "paper" with columns cut by the training rows: what cutting by all rows is worth.
PROTOCOLS: dict[Protocol, tuple[str, ...]] = {
    "paper": tuple(METHODS),
    "inside": ("surtree",),
    "clean": tuple(METHODS),
}
N_FOLDS = 5
# Processor seconds for one tuned fit of a package of others.
LIMIT = 120.0


@dataclass(frozen=True)
class RealCase:
    """One method on one fold of a real table."""

    table: str
    protocol: Protocol
    depth: int
    fold: int
    method: str
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Outer:
    """A fold of a table, as a method sees it."""

    X_train: Any
    y_train: Target
    X_test: Any
    y_test: Target


def cases(depth: int, quick: bool) -> list[RealCase]:
    """Return all cases of a depth; the quick ones are two small tables with our methods."""
    tables = ("divorce", "acath") if quick else REAL_TABLES
    folds = range(1) if quick else range(N_FOLDS)
    return [
        RealCase(table, protocol, depth, fold, method)
        for table in tables
        for protocol, methods in PROTOCOLS.items()
        for fold in folds
        for method in methods
        if method in OURS or not quick
    ]


def pilot_of(case: RealCase) -> RealCase | None:
    """Return the first fold of the first protocol: the others take about as long."""
    pilot = replace(case, protocol="paper", fold=0)
    return None if case == pilot else pilot


def measure(case: RealCase) -> Measures:
    """Tune a method on the training part of a fold, and score its tree on the test part."""
    outer = cut_fold(case)
    # In the paper's protocol columns are cut before, and no cut is dropped later.
    min_support = 0.0 if case.protocol == "paper" else 0.01
    task = Task(
        outer.X_train, outer.y_train, outer.X_test, case.depth, case.seed, min_support, LIMIT
    )
    tried = attempt(case.method, "tune", task)
    scores: dict[str, float] = dict.fromkeys(("c", "ib", "loss"), np.nan)
    if tried.leaves is not None:
        scores = score(outer.y_train, outer.y_test, tried.leaves, case.protocol != "clean")
    splits = "" if tried.leaves is None else tried.leaves.splits
    return {
        **scores,
        "splits": splits,
        "seconds": tried.seconds,
        "status": str(tried.status),
        "message": tried.message,
    }


def score(y_train: Target, y_test: Target, leaves: Partition, is_paper: bool) -> dict[str, float]:
    """Return Harrell's C, the normalised integrated Brier score and the training loss."""
    return {
        "c": concordance(y_train, y_test, leaves),
        "ib": (paper_brier if is_paper else brier)(y_train, y_test, leaves),
        "loss": training_loss(y_train, leaves.train),
    }


def cut_fold(case: RealCase) -> Outer:
    """Return the training and the test part of a case, by its protocol."""
    X, y = real_table(case.table).X, real_table(case.table).y
    if case.protocol == "paper":
        X = _prepared(case.table, METHODS[case.method].view)
    if case.protocol == "clean":
        test = _fresh_folds(case.table, case.seed) == case.fold
    else:
        test = fold_of_rows(case.table, case.depth) == case.fold
    train, held_out = np.flatnonzero(~test), np.flatnonzero(test)
    return Outer(take(X, train), y[train], take(X, held_out), y[held_out])


@cache
def _prepared(table: str, view: View) -> pd.DataFrame | NDArray[np.uint8]:
    """Return the columns as the authors cut them, by all rows."""
    X = real_table(table).X
    return binary(X) if view == "binary" else numeric(X)


def _fresh_folds(table: str, seed: int) -> NDArray[np.intp]:
    y = real_table(table).y
    number = np.empty(len(y), dtype=np.intp)
    splitter = EventStratifiedKFold(N_FOLDS, random_state=seed)
    for fold, (_, test) in enumerate(splitter.split(y, y)):
        number[test] = fold
    return number
