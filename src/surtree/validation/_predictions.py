"""Predictions of fitted models: risk and curves of rows, one for each channel of the outcome."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.metrics.predicted import Curve, evaluate, last_time, share_curves
from surtree.outcomes.cause_figures import cause_theta, causes_of
from surtree.outcomes.incidence import leaf_incidence
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of each row.

    With channels, such as the causes of competing risks, risks and curves have a first axis of
    channels, and `of` returns those of one; without, they are about one event.
    """

    risk: Floats  # higher is riskier; the last axis is that of rows
    curves: NDArray[np.object_]  # the distinct curves, step functions, along the last axis
    of_row: NDArray[np.intp]  # which of them each row has: in a tree, the index of its leaf
    channels: tuple[Hashable, ...] = ()

    def of(self, channel: Hashable) -> Predictions:
        """Return the predictions of one channel; None is that of one event."""
        if channel is None:
            return self
        index = self.channels.index(channel)
        return Predictions(self.risk[index], self.curves[index], self.of_row)

    @property
    def curve_of_row(self) -> list[Curve]:
        """The curve of each row."""
        return list(self.curves[self.of_row])

    @property
    def last_time(self) -> float:
        """The last time at which all curves have a value: that of the training rows."""
        return min(map(last_time, self.curves.ravel()))

    def at(self, time: float) -> Floats:
        """Return the value of each row's curve at a time, NaN after the last follow-up."""
        asked = np.array([time])
        # A single time may give an array or, as scikit-survival does it, a number.
        values = [
            float(np.ravel(evaluate(curve, asked))[0]) if time <= last_time(curve) else np.nan
            for curve in self.curves
        ]
        return np.array(values)[self.of_row]

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return those of some rows."""
        return Predictions(self.risk[..., rows], self.curves, self.of_row[rows], self.channels)


def pool(parts: Sequence[Predictions], part_of_row: NDArray[np.intp]) -> Predictions:
    """Return predictions in which each row has those of one of the parts."""
    rows = np.arange(part_of_row.size)
    starts = np.cumsum([0, *(part.curves.shape[-1] for part in parts)])
    return Predictions(
        np.stack([part.risk for part in parts], axis=-1)[..., rows, part_of_row],
        np.concatenate([part.curves for part in parts], axis=-1),
        starts[part_of_row] + np.stack([part.of_row for part in parts])[part_of_row, rows],
        parts[0].channels,
    )


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
        _objects(curves.distinct),
        curves.of_row,
    )


def predictions_of_leaves(tree: Tree, leaves: NDArray[np.intp]) -> Predictions:
    """Return what a tree of one event says of rows."""
    return Predictions(tree.theta[leaves], _curves(tree), np.searchsorted(tree.leaves, leaves))


def cause_predictions_of_leaves(tree: Tree, leaves: NDArray[np.intp]) -> Predictions:
    """Return what a tree of competing risks says of rows, a channel for each cause."""
    causes = causes_of(tree).causes
    return Predictions(
        np.stack([cause_theta(tree, cause)[leaves] for cause in causes]),
        np.stack([_objects(leaf_incidence(tree, cause)) for cause in causes]),
        np.searchsorted(tree.leaves, leaves),
        causes,
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
    return _objects([curve.survival for curve in leaf_curves(tree, kind)])


def _objects(items: Sequence[Any]) -> NDArray[np.object_]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
