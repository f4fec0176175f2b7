"""What every estimator of competing risks predicts: relative risk and incidence of each cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.parameters import is_number, is_whole, require_leaf_curve
from surtree._support.types import Floats
from surtree.data.causes import read_cause_target
from surtree.data.named import RowInputs, is_lazy
from surtree.data.target import Target, require_events
from surtree.engines.kinds import CauseNames
from surtree.estimators.base import TreeEstimator
from surtree.estimators.parameters import Checks, no_monotone, of_value
from surtree.metrics import concordance_index_censored
from surtree.metrics.input import event_codes
from surtree.outcomes.incidence import cause_theta, causes_of, leaf_incidence
from surtree.solver.problem import Limits
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.step_function import curves_of_rows

CauseChoice = int | Sequence[int] | Mapping[int, float] | None


@dataclass(frozen=True)
class CauseLimits(Limits):
    """How large a tree may be, and how small its leaves: events are those of the chosen causes."""

    @property
    def least(self) -> dict[str, float]:
        """The least value in a leaf of each count of `RowSums`, by its name."""
        return {"samples": self.min_samples_leaf, "counted_events": self.min_events_leaf}


def require_causes(causes: Any) -> None:
    """Raise an error unless ``causes`` names causes, or weights of causes."""
    named = list(_weights(causes).items()) if causes is not None else []
    wrong = any(not is_whole(cause) or cause < 1 for cause, _ in named) or any(
        not is_number(weight) or not 0 <= weight < float("inf") for _, weight in named
    )
    if wrong or (causes is not None and not any(weight > 0 for _, weight in named)):
        raise ValueError(
            "causes must be None for all causes, one of them (1), several ([1, 2]), or weights of "
            f"them ({{1: 1.0, 2: 0.5}}); got {causes!r}."
        )


def require_cause_curve(leaf_curve: Any) -> None:
    """Raise an error for a kind of curve that competing risks do not have."""
    require_leaf_curve(leaf_curve)
    if leaf_curve == "breslow":
        raise ValueError(
            'leaf_curve="breslow" is for one cause of events: with competing risks, use '
            '"kaplan-meier", "shrunk" or "baseline".'
        )


CAUSE_CHECKS: Checks = {
    "causes": of_value(require_causes),
    "monotone": no_monotone("competing risks"),
    "leaf_curve": of_value(require_cause_curve),
}


def cause_weights(causes: CauseChoice, present: Iterable[int]) -> tuple[float, ...]:
    present = tuple(present)
    if causes is None:
        return (1.0,) * len(present)
    weights = _weights(causes)
    absent = [cause for cause, weight in weights.items() if weight > 0 and cause not in present]
    if absent:
        raise ValueError(
            f"No row has an event of cause {', '.join(map(str, absent))}: the causes in y are "
            f"{', '.join(map(str, present)) or 'none'}"
        )
    return tuple(float(weights.get(cause, 0.0)) for cause in present)


def plain_causes(causes: CauseChoice) -> Any:
    """Return a choice of causes as JSON can hold it: weights as a list of pairs."""
    if causes is None or is_whole(causes):
        return causes if causes is None else int(causes)  # type: ignore[arg-type]
    if isinstance(causes, Mapping):
        return [[int(cause), float(weight)] for cause, weight in causes.items()]
    return [int(cause) for cause in causes]  # type: ignore[union-attr]


def read_causes(saved: Any) -> CauseChoice:
    if isinstance(saved, list) and saved and all(isinstance(one, list) for one in saved):
        return {int(cause): float(weight) for cause, weight in saved}
    return saved  # type: ignore[no-any-return]


def _weights(causes: Any) -> dict[Any, Any]:
    if isinstance(causes, Mapping):
        return dict(causes)
    if is_whole(causes) or isinstance(causes, str) or not isinstance(causes, Iterable):
        return {causes: 1.0}
    return dict.fromkeys(causes, 1.0)


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
