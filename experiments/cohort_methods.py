"""The methods of the experiment on small cohorts: each tuned, each with what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments import our_methods, peer_methods
from experiments.cox import CoxModel, fit_cox
from experiments.forecast import CURVES, PRIORS, Forecast
from experiments.prior_curves import prior_curves
from experiments.scores import (
    Floats,
    Target,
    curves_of_rows,
    risk_loss,
    row_sums,
    theta_of_rows,
)
from experiments.tables import Numbers
from experiments.task import Task
from experiments.tuning import choose
from surtree import leaf_curves
from surtree._support.parameters import LEAF_CURVES
from surtree.estimators.base import TreeEstimator
from surtree.survival.step_function import StepFunction

# Of a ridge, on standardised columns; the strictest first.
COX_PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0)
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
    exact = model.log_risk(test)
    if clips:
        known = model.log_risk(train)
        exact = exact.clip(known.min(), known.max())
    log_risk = (exact / _LOG_RISK_STEP).round()
    curves = {
        step: StepFunction(
            model.times, np.exp(-np.exp(step * _LOG_RISK_STEP) * model.cumulative_hazard), 1.0
        )
        for step in np.unique(log_risk)
    }
    return Forecast(
        theta=_cox_scale(model, train, task.y_train) * np.exp(exact),
        survival={"baseline": [curves[step] for step in log_risk]},
    )


def tuned_cox(task: Task) -> tuple[CoxModel, Floats, Floats]:
    """Return the model of the penalty with the least held-out loss, and both parts of the rows."""

    def candidates(X: Any, y: Target, others: Any) -> list[Floats]:
        train, test = _standardised(X, others)
        return [_cox_theta(model, train, y, test) for model in _cox_models(train, y)]

    best = choose(candidates, task, lambda y, y_test, theta: -risk_loss(y, y_test, theta))
    train, test = _standardised(task.X_train, task.X_test)
    return _cox_models(train, task.y_train)[best], train, test


def _cox_models(X: Floats, y: Target) -> list[CoxModel]:
    """Return a model for each penalty, each starting where the one before ended."""
    models: list[CoxModel] = []
    for penalty in COX_PENALTIES:
        start = models[-1].coefficients if models else None
        models.append(fit_cox(X, y, penalty, start))
    return models


def _cox_theta(model: CoxModel, X: Floats, y: Target, X_test: Floats) -> Floats:
    """Return risks relative to the baseline of the loss: as many events as there are expected."""
    return _cox_scale(model, X, y) * np.exp(model.log_risk(X_test))


def _cox_scale(model: CoxModel, X: Floats, y: Target) -> float:
    events, hazard = row_sums(y, y).values
    return float(events.sum() / (np.exp(model.log_risk(X)) @ hazard))


def _standardised(X: Any, others: Any) -> tuple[Floats, Floats]:
    """Return columns of numbers, with the mean and the variance of the first rows taken out."""
    X, others = (pd.DataFrame(rows).rename(columns=str) for rows in (X, others))
    numbers = Numbers().fit(X)
    train, test = (numbers.transform(rows).to_numpy() for rows in (X, others))
    spread = train.std(axis=0)
    varies = spread > 0
    centre, spread = train[:, varies].mean(axis=0), spread[varies]
    return (train[:, varies] - centre) / spread, (test[:, varies] - centre) / spread


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
