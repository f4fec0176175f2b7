"""Scores of a tree on rows that it has not seen; higher is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.estimators.tree import SurTree
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics.input import event_codes, parts_of_persons
from surtree.outcomes.incidence import cause_theta, leaf_incidence
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.row_sums import RowSums
from surtree.tree.curves import leaf_curves
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree

Scoring = str | Callable[[SurTree, Any, Any], float]


@dataclass(frozen=True, eq=False)
class Candidate:
    """One size, fitted on the training rows of a fold."""

    tree: Tree  # its tree, without at-risk counts
    # Makes the whole model, which takes longer than all that most scores need.
    model: Callable[[], SurTree]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The rows of a fold that its trees have not seen."""

    table: Table  # the rows; all weights are positive
    target: Target
    weight: Floats
    # The rows that the trees have seen, from which the censoring distribution is estimated.
    training_target: Target
    training_weight: Floats
    X: Any  # the rows as the user passed them, where a scorer of the user's asks for them
    y: Any
    # The rows add this to the sums of leaves, by the baseline of the fold, once that is known.
    sums: RowSums | None = None
    _answers: dict[Cut, NDArray[np.bool_]] = field(default_factory=dict)

    @cached_property
    def total(self) -> float:
        return self.target.total(self.weight)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of the held-out and of the training rows, as metrics take them."""
        return {"sample_weight": self.weight, "train_weight": self.training_weight}

    def leaves(self, tree: Tree) -> NDArray[np.intp]:
        """Return the leaf that each of the rows falls in."""
        return find_leaves(tree, self.table, self._answers)

    def risk(self, tree: Tree) -> Floats:
        theta = tree.theta if self.main_cause is None else cause_theta(tree, self.main_cause)
        return theta[self.leaves(tree)]

    @property
    def main_cause(self) -> int | None:
        """The cause that is scored, with competing risks."""
        if not self.target.causes:
            return None
        assert self.sums is not None
        return cast(CauseHazards, self.sums.objective).main_cause


Scorer = Callable[[Candidate, HeldOut], float]


def _negative_loss(candidate: Candidate, held_out: HeldOut) -> float:
    assert held_out.sums is not None
    tree = candidate.tree
    loss = held_out.sums.loss(tree.prediction[..., held_out.leaves(tree)])
    return -loss / held_out.total


def _concordance(candidate: Candidate, held_out: HeldOut) -> float:
    target, cause = held_out.target, held_out.main_cause
    how: Any = {"entry": target.entry} if cause is None else {"cause": cause}
    events = target.event if cause is None else event_codes(target, cause)
    return concordance_index_censored(
        events, target.time, held_out.risk(candidate.tree), sample_weight=held_out.weight, **how
    ).cindex


def _concordance_ipcw(candidate: Candidate, held_out: HeldOut) -> float:
    train, risk = held_out.training_target, held_out.risk(candidate.tree)
    # Later than this the training rows say nothing about censoring.
    how = {"cause": held_out.main_cause, "tau": float(train.time.max())} | held_out.weights
    return concordance_index_ipcw(train, held_out.target, risk, **how).cindex


def _integrated_brier(candidate: Candidate, held_out: HeldOut) -> float:
    model, cause = candidate.model(), held_out.main_cause
    tree, curves = model.tree_, np.empty(model.tree_.n_leaves, dtype=object)
    if cause is None:
        curves[:] = [curve.survival for curve in leaf_curves(tree, model.leaf_curve)]
    else:
        curves[:] = leaf_incidence(tree, cause)
    of_rows = curves[np.searchsorted(tree.leaves, held_out.leaves(tree))]
    return normalized_integrated_brier_score(
        held_out.training_target, held_out.target, of_rows, cause=cause, **held_out.weights
    )


@dataclass(frozen=True)
class _UsersScorer:
    """A scorer of scikit-learn or of the user; not a closure, as processes must receive it."""

    scorer: Callable[[SurTree, Any, Any], float]

    def __call__(self, candidate: Candidate, held_out: HeldOut) -> float:
        return float(self.scorer(candidate.model(), held_out.X, held_out.y))


SCORERS: dict[str, Scorer] = {
    "loss": _negative_loss,
    "concordance": _concordance,
    "concordance_ipcw": _concordance_ipcw,
    "integrated_brier": _integrated_brier,
}
# These need one prediction for each person.
_OF_PERSONS = ("concordance_ipcw", "integrated_brier")


def find_scorer(scoring: Scoring) -> Scorer:
    if isinstance(scoring, str) and scoring in SCORERS:
        return SCORERS[scoring]
    from sklearn.metrics import get_scorer

    try:
        if not isinstance(scoring, str) and not callable(scoring):
            raise ValueError
        return _UsersScorer(get_scorer(scoring))
    except ValueError:
        names = ", ".join(map(repr, SCORERS))
        raise ValueError(
            f"scoring must be one of {names}, the name of a scikit-learn scorer, or a function of "
            f"a model, X and y; got {scoring!r}."
        ) from None


def require_whole_persons(scoring: Scoring, target: Target) -> None:
    """Refuse to weigh the parts of persons, whose ends do not say how anybody is censored."""
    if scoring in _OF_PERSONS and parts_of_persons(target):
        raise ValueError(
            f"scoring={scoring!r} needs one row for each person: with several rows of a person, "
            "choose 'loss' or 'concordance'."
        )
