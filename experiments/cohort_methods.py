"""The methods of the experiment on small cohorts: each tuned, each with what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from experiments import our_methods, peer_methods
from experiments.forecast import CURVES, PRIORS, Forecast
from experiments.prior_curves import prior_curves
from experiments.scores import Floats, curves_of_rows, row_sums, theta_of_rows
from experiments.task import Task
from surtree import leaf_curves
from surtree._support.parameters import LEAF_CURVES
from surtree.averages.ridge_cox import RidgeCox, cross_fit
from surtree.data.table import read_table
from surtree.data.target import read_target
from surtree.estimators.base import TreeEstimator
from surtree.survival.cox import RiskSets
from surtree.survival.step_function import StepFunction

# Other shrinkages for SurTreeCV to choose from than its default.
GRIDS = {
    "grid 0-10": (0.0, 1.0, 3.0, 10.0),
    "grid 1-30": (1.0, 3.0, 10.0, 30.0),
}
# Rows whose log risks differ by less share a curve, which saves most of the time of a Brier score.
_LOG_RISK_STEP = 0.01


def _tree(
    tune: Callable[..., TreeEstimator], task: Task, *, priors: bool = False, **options: Any
) -> Forecast:
    """Return what a tuned tree of this package predicts, with every kind of curve that it has.

    With ``priors`` there are curves with a prior of so many rows too.
    """
    model = tune(task, **options)
    leaves = model.tree_.leaves
    curves = {
        kind: [curve.survival for curve in leaf_curves(model, kind)]
        for kind in CURVES
        if kind in LEAF_CURVES
    }
    if priors:
        train = np.searchsorted(leaves, model.apply(task.X_train))
        for kind, prior in PRIORS.items():
            curves[kind] = prior_curves(task.y_train, train, leaves.size, prior)
    test = np.searchsorted(leaves, model.apply(task.X_test))
    return Forecast(
        theta=model.predict(task.X_test),
        survival={kind: [of_leaf[leaf] for leaf in test] for kind, of_leaf in curves.items()},
        splits=model.tree_.n_splits,
        shrinkage=getattr(model, "shrinkage", 0.0),
    )


def _sksurv(task: Task) -> Forecast:
    """Return what scikit-survival's tree predicts: its curves are Kaplan-Meier's."""
    leaves = peer_methods.tune_sksurv(task)
    return Forecast(
        theta=theta_of_rows(task.y_train, leaves),
        survival={"kaplan-meier": curves_of_rows(task.y_train, leaves)},
        splits=leaves.splits,
    )


def _cox(task: Task) -> Forecast:
    """Choose the penalty of a Cox model by the held-out loss."""
    return _cox_forecast(task, clips=False)


def clipped_cox(task: Task) -> Forecast:
    """Clip the linear predictor of that model to its range on training rows."""
    return _cox_forecast(task, clips=True)


def _cox_forecast(task: Task, clips: bool) -> Forecast:
    """Return what the model of the best penalty predicts."""
    model, train, test = tuned_cox(task)
    known, exact = model.log_risk_of(train.T), model.log_risk_of(test.T)
    if clips:
        exact = exact.clip(known.min(), known.max())
    log_risk = (exact / _LOG_RISK_STEP).round()
    # As many events as are expected by the baseline of the loss; curves have Breslow's.
    y = task.y_train
    events, hazard = row_sums(y, y).values
    scale = events.sum() / (np.exp(known) @ hazard)
    sets = RiskSets.of(read_target(y, len(y)), np.ones(len(y)), np.zeros(len(y), dtype=np.intp))
    baseline = np.cumsum(sets.deaths / sets.at_risk(np.exp(known)))
    curves = {
        step: StepFunction(sets.times, np.exp(-np.exp(step * _LOG_RISK_STEP) * baseline), 1.0)
        for step in np.unique(log_risk)
    }
    return Forecast(
        theta=scale * np.exp(exact),
        survival={"baseline": [curves[step] for step in log_risk]},
    )


def tuned_cox(task: Task) -> tuple[RidgeCox, Floats, Floats]:
    """Return the model of the penalty with the least held-out loss, and both parts of the rows."""
    reader, y = BaseEstimator(), task.y_train
    table = read_table(reader, task.X_train, reset=True)
    target, weight = read_target(y, len(y)), np.ones(len(y))
    model = cross_fit(table, target, weight, task.n_folds, task.seed, clip=False).model
    others = read_table(reader, task.X_test, reset=False)
    return model, model.values(table).T, model.values(others).T


COHORT_METHODS: dict[str, Callable[[Task], Forecast]] = {
    "surtree": partial(_tree, our_methods.tuned_surtree, priors=True),
    "no shrinkage": partial(_tree, our_methods.tuned_surtree, priors=True, shrinkage=0.0),
    **{
        name: partial(_tree, our_methods.tuned_surtree, shrinkage=grid)
        for name, grid in GRIDS.items()
    },
    "greedy": partial(_tree, our_methods.tuned_greedy),
    "ctree": partial(_tree, our_methods.tuned_ctree),
    "local search": partial(_tree, our_methods.tuned_local_search),
    "scikit-survival": _sksurv,
    "cox": _cox,
}
