"""Fitted models, reduced to what they say of rows: risk, survival curves, leaves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.metrics._predicted import Curve, evaluate, last_time, share_curves
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of each row."""

    risk: Floats  # higher is riskier
    curves: NDArray[np.object_]  # the distinct survival curves, step functions
    of_row: NDArray[np.intp]  # which of them each row has: in a tree, the place of its leaf

    @property
    def survival(self) -> list[Curve]:
        """The survival curve of each row."""
        return list(self.curves[self.of_row])

    @property
    def last_time(self) -> float:
        """The last time at which all curves have a value: that of the training rows."""
        return min(map(last_time, self.curves))

    def at(self, time: float) -> Floats:
        """Return the predicted survival of each row at a time, NaN after the last follow-up."""
        asked = np.array([time])
        # A single time may give an array or, as scikit-survival does it, a number.
        values = [
            float(np.ravel(evaluate(curve, asked))[0]) if time <= last_time(curve) else np.nan
            for curve in self.curves
        ]
        return np.array(values)[self.of_row]

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return those of some rows."""
        return Predictions(self.risk[rows], self.curves, self.of_row[rows])


def has_tree(model: Any) -> bool:
    """Return whether a model is a tree of this package: scikit-survival's has another ``tree_``."""
    return isinstance(getattr(model, "tree_", None), Tree)


def predict(model: Any, X: Any) -> Predictions:
    """Ask a fitted survival model about rows."""
    if has_tree(model):  # the table is read once, not for risks and curves
        return predictions_of_leaves(model.tree_, model.apply(X))
    model, X = _last_step(model, X)
    curves = share_curves(list(model.predict_survival_function(X)))
    return Predictions(
        np.asarray(model.predict(X), dtype=np.float64),
        _objects(list(curves.distinct)),
        curves.of_row,
    )


def predictions_of_leaves(tree: Tree, leaves: NDArray[np.intp]) -> Predictions:
    """Return what a tree says of rows."""
    return Predictions(tree.theta[leaves], _curves(tree), np.searchsorted(tree.leaves, leaves))


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A tree, and the kind of curve that its leaves predict; None is the tree's own."""

    tree: Tree
    kind: LeafCurveKind | None

    def survival_at(self, X: Any, times: Floats) -> Floats:
        """Return the survival of each row at each time, NaN after the last follow-up."""
        place = np.searchsorted(self.tree.leaves, self.tree.apply(X))
        curves = _curves(self.tree, self.kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeyondFollowUpWarning)
            return np.stack([curve(times) for curve in curves])[place]


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
    if has_tree(model):
        return FittedTree(model.tree_, None)
    return FittedModel(model)


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
    return _objects([curve.survival for curve in leaf_curves(tree, kind)])


def _objects(items: list[Any]) -> NDArray[np.object_]:
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found
