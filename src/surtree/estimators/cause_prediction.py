"""What every estimator of competing risks predicts: relative risk and incidence of each cause."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.types import Floats
from surtree.data.causes import read_cause_target
from surtree.data.lazy import is_lazy
from surtree.data.named import RowInputs
from surtree.data.target import Target, require_events
from surtree.engines.kinds import CauseNames
from surtree.estimators.base import TreeEstimator
from surtree.estimators.cause_choice import CauseChoice, cause_weights
from surtree.metrics import concordance_index_censored
from surtree.metrics.input import event_codes
from surtree.outcomes.cause_figures import cause_theta, causes_of
from surtree.outcomes.incidence import leaf_incidence
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.step_function import curves_of_rows


class CauseEstimator(TreeEstimator):
    """The base class of estimators of competing risks. A subclass has the parameter ``causes``."""

    causes: CauseChoice
    _names_type = CauseNames

    @property
    def causes_(self) -> tuple[int, ...]:
        """The causes of the training rows, ascending."""
        check_is_fitted(self)
        return causes_of(self.tree_).causes

    @property
    def main_cause_(self) -> int:
        """The cause that counts most, and of equal ones the first."""
        check_is_fitted(self)
        return causes_of(self.tree_).main_cause

    def predict(self, X: Any, cause: int | None = None) -> Floats:
        """Return the hazard of a cause for each row, relative to the baseline of that cause.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        cause : int, optional
            The cause; by default ``main_cause_``.
        """
        leaves = self._route(X)
        return cause_theta(self.tree_, self._cause(cause))[leaves]

    def predict_cumulative_incidence(
        self,
        X: Any,
        cause: int | None = None,
        *,
        return_array: bool = False,
        times: ArrayLike | None = None,
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative incidence of a cause for each row.

        It is the probability of an event of this cause by a time, other causes being there: the
        curve of the row's leaf, of the kind that ``leaf_curve`` said in `fit` (`leaf_incidence`).

        Parameters
        ----------
        X, return_array, times
            As in `predict_survival_function`.
        cause : int, optional
            The cause; by default ``main_cause_``.
        """
        leaves = self._route(X)
        curves = leaf_incidence(self.tree_, self._cause(cause))
        return curves_of_rows(curves, self._leaf_index(leaves), return_array, times)

    def score(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        cause: int | None = None,
    ) -> float:
        """Return the concordance for a cause: how often the riskier row has such an event first.

        All pairs count the same; `surtree.metrics.concordance_index_ipcw` weighs them against
        censoring.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        cause : int, optional
            The cause; by default ``main_cause_``.
        """
        given = RowInputs(X, y, sample_weight)
        target: Target
        if is_lazy(X):
            outcomes = self._lazy_outcomes(given)
            target, weight = outcomes.target, outcomes.weight
            risk = cause_theta(self.tree_, self._cause(cause))[outcomes.leaf]
        else:
            given = given.in_memory(type(self).__name__)
            risk = self.predict(given.X, cause)
            target, weight = self._read_outcomes(given, risk.size)
        cause = self._cause(cause)
        events = event_codes(target, cause)
        return concordance_index_censored(
            events, target.time, risk, cause=cause, sample_weight=weight
        ).cindex

    def _cause(self, cause: int | None) -> int:
        objective = causes_of(self.tree_)
        if cause is None:
            return objective.main_cause
        return objective.causes[objective.position(cause)]

    def _read_target(self, given: RowInputs, n_rows: int) -> Target:
        return read_cause_target(given.y, n_rows, given.entry, given.id)

    def _objective(self, target: Target) -> CauseHazards:
        require_events(target)
        return CauseHazards(
            causes=target.causes,
            weights=cause_weights(self.causes, target.causes),
            shrinkage=float(getattr(self, "shrinkage", 0.0)),
        )
