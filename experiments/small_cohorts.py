"""A few hundred rows: trees with and without shrinkage beside other methods, all of them tuned."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from experiments.clock import processor_seconds
from experiments.cohort_methods import COHORT_METHODS, GRIDS
from experiments.experiment import Measures
from experiments.forecast import CURVES, Forecast, brier_column
from experiments.real import N_FOLDS, Outer, RealCase, cut_fold
from experiments.scores import Target
from experiments.synthetic import CENSORING
from experiments.tables import REAL_TABLES, real_table
from experiments.task import Status, Task
from experiments.tuning import take
from surtree import UnseenCategoryWarning
from surtree.datasets import make_survival_tree_data

Kind = Literal["real", "synthetic", "full"]

# The depth of all methods, and one that only trees with and without shrinkage are compared at.
DEPTH, DEEPER = 3, 4
ROWS: dict[Kind, tuple[int, ...]] = {"real": (100, 200, 500), "synthetic": (100, 200, 500, 1000)}
N_DRAWS = 10
TEST_ROWS = 5000
# What is compared on whole tables, by folds: there, the others are in `real-d3`.
FULL_METHODS = ("surtree", "no shrinkage", *GRIDS)
DEEPER_METHODS = ("surtree", "no shrinkage")
ALL_ROWS = 0
# The seed of the draws that confirm what was chosen on others, and what is run on them.
AGAIN, AGAIN_METHODS = 1, ("surtree", "no shrinkage", "grid 0-10")
# Tables of ten draws; test rows come from the same tree by a seed that no table has.
SYNTHETIC = {f"{share:.0%} censored": share for share in CENSORING}
_TEST_SEED = 1_000_000
# With fewer events than this a table is tuned by few folds, so that each has some.
_FEW_EVENTS, _FEW_FOLDS, _MANY_FOLDS = 30, 5, 10


@dataclass(frozen=True)
class CohortCase:
    """One method on one draw of training rows, or with ALL_ROWS on one fold of a whole table."""

    kind: Kind
    table: str
    rows: int
    draw: int
    method: str
    test_rows: int = TEST_ROWS
    depth: int = DEPTH
    seed: int = 0


def cases(quick: bool) -> list[CohortCase]:
    """Return all cases; the quick ones are a few draws of the smallest size."""
    tables = {"real": REAL_TABLES, "synthetic": tuple(SYNTHETIC), "full": REAL_TABLES}
    rows = {**ROWS, "full": (ALL_ROWS,)}
    n_draws, test_rows, depths = N_DRAWS, TEST_ROWS, (DEPTH, DEEPER)
    if quick:
        tables = {"real": ("acath",), "synthetic": ("50% censored",), "full": ("acath",)}
        rows |= {"real": (100,), "synthetic": (100,)}
        n_draws, test_rows, depths = 2, 500, (2,)
    return [
        CohortCase(kind, table, n, draw, method, test_rows, depth)
        for depth in depths
        for kind in tables
        for table in tables[kind]
        for n in rows[kind]
        for draw in range(min(n_draws, N_FOLDS) if kind == "full" else n_draws)
        for method in _methods(kind, depth)
    ]


def cases_again(quick: bool) -> list[CohortCase]:
    """Return cases on other draws, which nothing was chosen on: with and without shrinkage."""
    return [
        replace(case, draw=case.draw + N_DRAWS * (case.kind == "synthetic"), seed=AGAIN)
        for case in cases(quick)
        if case.method in AGAIN_METHODS and case.depth <= DEPTH
    ]


def _methods(kind: Kind, depth: int) -> tuple[str, ...]:
    if depth > DEPTH:
        return DEEPER_METHODS
    return FULL_METHODS if kind == "full" else tuple(COHORT_METHODS)


def measure(case: CohortCase) -> Measures:
    """Tune a method on the training rows, and score what it predicts of the test rows."""
    return measure_by(COHORT_METHODS[case.method], case)


def measure_by(method: Callable[[Task], Forecast], case: CohortCase) -> Measures:
    """Fit a method on the training rows of a case, and score what it predicts of the test rows."""
    return measure_outer(method, cohort(case), case.depth, case.seed)


def measure_outer(
    method: Callable[[Task], Forecast], outer: Outer, depth: int, seed: int
) -> Measures:
    """Fit a method on training rows, and score what it predicts of the test rows."""
    n_events = int(outer.y_train["event"].sum())
    n_folds = _FEW_FOLDS if n_events < _FEW_EVENTS else _MANY_FOLDS
    task = Task(outer.X_train, outer.y_train, outer.X_test, depth, seed, n_folds=n_folds)
    measures: Measures = {
        "events": n_events,
        "folds": n_folds,
        **dict.fromkeys(("c", "loss", *map(brier_column, CURVES)), np.nan),
        "splits": "",
        "shrinkage": np.nan,
    }
    status, message, seconds = Status.DONE, "", np.nan
    with warnings.catch_warnings():
        # A hundred rows do not have every category.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        start = processor_seconds()
        try:
            forecast = method(task)
            seconds = processor_seconds() - start
            measures |= forecast.scores(outer.y_train, outer.y_test)
            measures |= {
                "splits": "" if forecast.splits is None else forecast.splits,
                "shrinkage": forecast.shrinkage,
            }
        except Exception as error:
            status, message = Status.ERROR, f"{type(error).__name__}: {error}"
    return measures | {"seconds": seconds, "status": str(status), "message": message}


def cohort(case: CohortCase) -> Outer:
    """Return the training and the test rows of a case, the same ones for every method."""
    if case.kind == "full":
        return cut_fold(RealCase(case.table, "clean", case.depth, case.draw, "surtree", case.seed))
    if case.kind == "synthetic":
        X, y, truth = make_survival_tree_data(
            case.rows,
            censoring=SYNTHETIC[case.table],
            random_state=case.draw,
            backend="pandas",
        )
        return Outer(X, y, *truth.sample(case.test_rows, _TEST_SEED + case.draw, backend="pandas"))
    X, y = real_table(case.table).X, real_table(case.table).y
    train, test = _draw(y, case)
    return Outer(take(X, train), y[train], take(X, test), y[test])


def _draw(y: Target, case: CohortCase) -> tuple[np.ndarray, np.ndarray]:
    """Return random training rows with the share of events of all rows, and test rows."""
    random = np.random.default_rng([case.seed, case.rows, case.draw])
    order = random.permutation(len(y))
    events, censored = order[y["event"][order]], order[~y["event"][order]]
    n_events = round(case.rows * len(events) / len(y))
    train = np.concatenate([events[:n_events], censored[: case.rows - n_events]])
    rest = np.setdiff1d(order, train)
    test = random.permutation(rest)[: case.test_rows]
    return np.sort(train), np.sort(test)
