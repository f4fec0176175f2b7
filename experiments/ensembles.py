"""Many trees beside one: the tuned tree, the bag of optimal trees, and ensembles of others.

The exact average over all trees, a taught tree of the depth of the tuned one and the score card
were added later, on the same folds, with one question that was written down before: is the average
behind the bag in C, Brier score or loss (two-sided Wilcoxon signed-rank test over tables, p < .05)?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.bag import Bag
from experiments.clock import processor_seconds
from experiments.experiment import Measures
from experiments.our_methods import ONE
from experiments.real import N_FOLDS, Outer, RealCase, cut_fold
from experiments.scores import Floats, Target, risk_concordance, risk_loss
from experiments.tables import REAL_TABLES, Numbers
from experiments.task import Status
from experiments.tuning import take
from surtree import PointsTable, SurTreeBayes, SurTreeCV, TaughtTree
from surtree.metrics import normalized_integrated_brier_score

# Folds that nothing was chosen on; the defaults of the bag were, on folds of another seed.
SEED = 17
N_TREES = 100
# The largest depth of one tree.
DEPTH = 4
# Boosting takes time, and a forest memory, by the square of the rows: others get no more of them.
MOST_ROWS = 5000


@dataclass(frozen=True)
class EnsembleCase:
    """One method on one fold of a real table."""

    table: str
    fold: int
    method: str
    trees: int = N_TREES
    seed: int = SEED


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A fitted model, and how it wants to see rows."""

    model: Any
    prepare: Callable[[Any], Any]
    rows: int


def _ours(make: Callable[[EnsembleCase], Any], outer: Outer, case: EnsembleCase) -> _Fitted:
    model = make(case).fit(outer.X_train, outer.y_train)
    return _Fitted(model, lambda X: X, len(outer.y_train))


def _forest(outer: Outer, case: EnsembleCase) -> _Fitted:
    from sksurv.ensemble import RandomSurvivalForest

    # The leaves of scikit-survival's user guide.
    forest = RandomSurvivalForest(case.trees, min_samples_leaf=15, random_state=0)
    return _fit_other(forest, outer)


def _boosting(outer: Outer, case: EnsembleCase) -> _Fitted:
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    return _fit_other(
        GradientBoostingSurvivalAnalysis(n_estimators=case.trees, random_state=0), outer
    )


def _fit_other(model: Any, outer: Outer) -> _Fitted:
    """Fit a model of others on numbers and indicator columns, of at most `MOST_ROWS` rows."""
    rows = np.arange(len(outer.y_train))
    if rows.size > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST_ROWS])
    X = take(outer.X_train, rows)
    numbers = Numbers().fit(X)
    model.fit(numbers.transform(X).to_numpy(), outer.y_train[rows])
    return _Fitted(model, lambda X: numbers.transform(X).to_numpy(), rows.size)


OURS: dict[str, Callable[[EnsembleCase], Any]] = {
    "tuned tree": lambda case: SurTreeCV(max_depth=DEPTH, **ONE),
    "bag": lambda case: Bag(case.trees),
    "average": lambda case: SurTreeBayes(),
    "taught tree": lambda case: TaughtTree(DEPTH),
    "score card": lambda case: PointsTable(),
}
METHODS: dict[str, Callable[[Outer, EnsembleCase], _Fitted]] = {
    **{name: partial(_ours, make) for name, make in OURS.items()},
    "random survival forest": _forest,
    "gradient boosting": _boosting,
}


def cases(quick: bool) -> list[EnsembleCase]:
    """Return all cases; the quick ones are a fold of two small tables, with few trees."""
    if quick:
        return [EnsembleCase(name, 0, method, 5) for name in ("acath", "csl") for method in METHODS]
    return [
        EnsembleCase(table, fold, method)
        for table in REAL_TABLES
        for fold in range(N_FOLDS)
        for method in METHODS
    ]


def measure(case: EnsembleCase) -> Measures:
    """Fit a method on the training part of a fold, and score what it says of the test part."""
    outer = cut_fold(RealCase(case.table, "clean", DEPTH, case.fold, "surtree", case.seed))
    measures: Measures = dict.fromkeys(("rows", "c", "ib", "loss", "seconds", "after"), np.nan)
    status, message = Status.DONE, ""
    try:
        start = processor_seconds()
        fitted = METHODS[case.method](outer, case)
        fitted_at = processor_seconds()
        X_test = fitted.prepare(outer.X_test)
        risk = np.asarray(fitted.model.predict(X_test), dtype=float)
        survival = list(fitted.model.predict_survival_function(X_test))
        measures |= {"rows": fitted.rows, "seconds": fitted_at - start}
        measures["after"] = processor_seconds() - fitted_at
        measures |= score(outer.y_train, outer.y_test, risk, survival)
        if case.method in OURS:
            measures["loss"] = risk_loss(outer.y_train, outer.y_test, risk)
    except Exception as error:
        status, message = Status.ERROR, f"{type(error).__name__}: {error}"
    return measures | {"status": str(status), "message": message}


def score(y_train: Target, y_test: Target, risk: Floats, survival: list[Any]) -> dict[str, float]:
    """Return Harrell's C of risks and the normalised integrated Brier score of curves."""
    return {
        "c": risk_concordance(y_test, risk),
        "ib": normalized_integrated_brier_score(y_train, y_test, survival),
    }
