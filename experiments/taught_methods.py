"""The methods of the experiments on taught trees: averages, trees that they teach, and rivals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments import our_methods
from experiments.bag import Bag
from experiments.cohort_methods import COHORT_METHODS
from experiments.forecast import Forecast
from experiments.scores import Floats, Target
from experiments.tables import Numbers
from experiments.task import Task
from surtree import PointsTable, SurTreeBayes, TaughtTree, leaf_curves
from surtree.data.target import read_target
from surtree.survival.baseline import nelson_aalen
from surtree.survival.step_function import StepFunction

N_TREES = 100
# Rows of a leaf of the forest, as in scikit-survival's user guide.
FOREST_LEAF = 15
# Rows whose log risks differ by less share a curve, which saves most of the time of a Brier score.
_LOG_RISK_STEP = 0.01


def _taught(task: Task, max_splits: int | None = None, teacher: Any = None) -> Forecast:
    """Return what a taught tree predicts, as it comes."""
    model = TaughtTree(task.depth, max_splits, teacher=teacher).fit(task.X_train, task.y_train)
    leaf = np.searchsorted(model.tree_.leaves, model.apply(task.X_test))
    curves = {
        kind: [curve.survival for curve in leaf_curves(model, kind)]
        for kind in ("baseline", "kaplan-meier")
    }
    return Forecast(
        theta=model.predict(task.X_test),
        survival={kind: [each[k] for k in leaf] for kind, each in curves.items()},
        splits=model.tree_.n_splits,
    )


def _taught_equal(task: Task) -> Forecast:
    """Return what a taught tree predicts that has as many splits as the tuned one."""
    return _taught(task, our_methods.tuned_surtree(task).tree_.n_splits)


def _proportional(make: Callable[[], Any], task: Task) -> Forecast:
    """Return what a model predicts whose risk multiplies one baseline."""
    model = make().fit(task.X_train, task.y_train)
    theta = model.predict(task.X_test)
    return Forecast(theta=theta, survival={"baseline": curves_of_risk(theta, task.y_train)})


def curves_of_risk(theta: Floats, y: Target) -> list[StepFunction]:
    """Return the curve of each risk, which multiplies the baseline of the training rows."""
    step = (np.log(theta) / _LOG_RISK_STEP).round()
    baseline = nelson_aalen(read_target(y, len(y)), np.ones(len(y)))
    curves = {
        one: StepFunction(baseline.times, baseline.survival(np.exp(one * _LOG_RISK_STEP)), 1.0)
        for one in np.unique(step)
    }
    return [curves[one] for one in step]


def _bag(task: Task) -> Forecast:
    """Return what a bag of optimal trees predicts: its curves are means of those of its trees."""
    model = Bag(N_TREES).fit(task.X_train, task.y_train)
    curves = list(model.predict_survival_function(task.X_test))
    return Forecast(model.predict(task.X_test), {"baseline": curves})


def _forest(task: Task) -> Forecast:
    from sksurv.ensemble import RandomSurvivalForest

    return _other(
        RandomSurvivalForest(N_TREES, min_samples_leaf=FOREST_LEAF, random_state=task.seed), task
    )


def _boosting(task: Task) -> Forecast:
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    return _other(
        GradientBoostingSurvivalAnalysis(n_estimators=N_TREES, random_state=task.seed), task
    )


def _other(model: Any, task: Task) -> Forecast:
    """Return what an ensemble of scikit-survival predicts, on a scale of its own."""
    numbers = Numbers().fit(task.X_train)
    train, test = (numbers.transform(X).to_numpy() for X in (task.X_train, task.X_test))
    model.fit(train, task.y_train)
    curves = list(model.predict_survival_function(test))
    return Forecast(model.predict(test), {"baseline": curves}, is_relative=False)


AVERAGES: dict[str, Callable[[Task], Forecast]] = {
    "taught": _taught,
    "taught, 3 splits": partial(_taught, max_splits=3),
    "average": partial(_proportional, SurTreeBayes),
    "points": partial(_proportional, PointsTable),
}
LATER: dict[str, Callable[[Task], Forecast]] = {
    "taught, equal size": _taught_equal,
    "average after Cox": partial(_proportional, partial(SurTreeBayes, cox="offset")),
}
# Stages of depth three, for synthetic tables, whose truth is a tree of depth four.
DEEP: dict[str, Callable[[Task], Forecast]] = {
    "taught, depth 3": partial(_taught, teacher=SurTreeBayes(3)),
    "average, depth 3": partial(_proportional, partial(SurTreeBayes, 3)),
}
ENSEMBLES: dict[str, Callable[[Task], Forecast]] = {
    "bag": _bag,
    "random survival forest": _forest,
    "gradient boosting": _boosting,
}
TREES = ("surtree", "scikit-survival", "ctree", "greedy")
METHODS = {
    **AVERAGES,
    **LATER,
    **DEEP,
    **{name: COHORT_METHODS[name] for name in (*TREES, "cox")},
    **ENSEMBLES,
}
