"""A bag of optimal trees: what the average over all trees is measured against."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from experiments.our_methods import ONE
from experiments.scores import Floats, Target
from experiments.tuning import take
from surtree import SurTree
from surtree.survival.step_function import StepFunction


class Bag(BaseEstimator):  # type: ignore[misc]
    """The mean of the optimal trees of bootstrap samples of the rows.

    The pages have rows of the `SurTreeBag` that surtree had before `SurTreeBayes`: its trees had
    the cuts of all rows; these have those of their sample.
    """

    def __init__(self, n_trees: int = 100, max_depth: int = 4) -> None:
        self.n_trees = n_trees
        self.max_depth = max_depth

    def fit(self, X: Any, y: Target) -> Self:
        """Find the optimal tree of each sample."""
        random = np.random.default_rng(0)
        self.trees_, self.times_ = [], np.unique(y["time"][y["event"]])
        while len(self.trees_) < self.n_trees:
            rows = random.integers(0, len(y), len(y))
            if not (y["event"] & (y["time"] > 0))[rows].any():
                continue
            tree = SurTree(self.max_depth, shrinkage=1.0, **ONE)
            self.trees_.append(tree.fit(take(X, rows), y[rows]))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the mean risk of rows over the trees."""
        return np.mean([tree.predict(X) for tree in self.trees_], axis=0)

    def predict_survival_function(self, X: Any) -> list[StepFunction]:
        """Return the mean curve of rows over the trees, each as far as its sample goes."""
        total = 0.0
        for tree in self.trees_:
            curves = tree.predict_survival_function(X)
            ends = curves[0].domain[1]
            total = total + np.array([curve(self.times_.clip(max=ends)) for curve in curves])
        return [StepFunction(self.times_, mean / len(self.trees_), 1.0) for mean in total]
