"""Predictions of fitted models, and what predicts without what only fitting needed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics.predicted import evaluate, share_curves
from surtree.outcomes.measures import Predictions, objects
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree


def has_tree(model: Any) -> bool:
    """Return whether a model is a tree of this package: scikit-survival's has another ``tree_``."""
    return isinstance(getattr(model, "tree_", None), Tree)


def predict(model: Any, X: Any, target: Target) -> Predictions:
    """Ask a fitted survival model about rows; a tree of arms wants to know the arm of each."""
    if has_tree(model):  # the table is read once, not for risks and curves
        return model.tree_.outcome.predicted(model.apply(X), target)  # type: ignore[no-any-return]
    model, X = _last_step(model, X)
    curves = share_curves(list(model.predict_survival_function(X)))
    return Predictions(
        np.asarray(model.predict(X), dtype=np.float64),
        objects(curves.distinct),
        curves.of_row,
    )


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A tree, and the kind of curve that its leaves predict; None is the tree's own."""

    tree: Tree
    kind: LeafCurveKind | None

    def survival_at(self, X: Any, times: Floats) -> Floats:
        """Return the survival of each row at each time, NaN after the last follow-up."""
        index = np.searchsorted(self.tree.leaves, self.tree.apply(X))
        curves = _curves(self.tree, self.kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeyondFollowUpWarning)
            return np.stack([curve(times) for curve in curves])[index]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Any other fitted survival estimator."""

    model: Any

    def survival_at(self, X: Any, times: Floats) -> Floats:
        """Return the survival of each row at each time."""
        model, X = _last_step(self.model, X)
        return np.stack(
            [np.ravel(evaluate(curve, times)) for curve in model.predict_survival_function(X)]
        )


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return what predicts and what it sees: a pipeline does not hand on survival functions."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline) and not hasattr(model, "predict_survival_function"):
        return model[-1], model[:-1].transform(X) if len(model) > 1 else X
    return model, X


def predicting(model: Any) -> FittedTree | FittedModel:
    """Return what predicts survival, without what only fitting needed."""
    return FittedTree(model.tree_, None) if has_tree(model) else FittedModel(model)


def reduced(model: Any) -> FittedTree | FittedModel:
    """Return the same with leaves that predict their own Kaplan-Meier curves, for limits.

    A multiple of the baseline of all rows is biased: rows of high risk leave first, so the hazard
    of all rows falls although that of no row does. In an interval that bias would count for more
    than what little the shared baseline saves in variance.
    """
    if has_tree(model) and model.tree_.risk:
        return FittedTree(model.tree_, "kaplan-meier")
    return predicting(model)


def _curves(tree: Tree, kind: LeafCurveKind | None = None) -> NDArray[np.object_]:
    return objects([curve.survival for curve in leaf_curves(tree, kind)])
