"""What heuristic trees have in common: how they read rows, and their loss."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import ArrayLike

from surtree.data.named import RowInputs
from surtree.estimators.base import TreeEstimator
from surtree.estimators.parameters import require_parameters
from surtree.fitting.training import TrainingData, read_training_data
from surtree.tree.tree import Tree


@dataclass(eq=False, repr=False)
class HeuristicTree(TreeEstimator):
    """The base class of heuristic trees."""

    loss_: float = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
    ) -> Self:
        """Fit a tree.

        Parameters
        ----------
        X, y, sample_weight, entry
            As in `SurTree.fit`.
        """
        require_parameters(self)
        self.tree_ = self._grow(read_training_data(self, RowInputs(X, y, sample_weight, entry)))
        self.loss_ = self.tree_.total_loss
        return self

    @abstractmethod
    def _grow(self, rows: TrainingData) -> Tree:
        """Return the tree of some rows, and remember what else is known of it."""
