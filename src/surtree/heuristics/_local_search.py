"""Trees by local search: random trees, changed one node at a time until no change helps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surtree._support.parameters import LeafCurveKind, require_not_negative
from surtree._support.types import Floats
from surtree.cuts.encoder import Encoder, encoder_of
from surtree.estimators.parameters import SHARE, CutParameters, check_parameters, whole
from surtree.fitting.training import FitProblem, TrainingData, make_problem
from surtree.heuristics._base import HeuristicTree, prunings
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.survival.baseline import nelson_aalen
from surtree.tree.build import build_tree
from surtree.tree.tree import Tree

Rows = NDArray[np.intp]

_MOST_RESTARTS = 1_000_000


def _require_price(name: str, value: Any) -> None:
    if not isinstance(value, str):
        require_not_negative(name, value)
    elif value != "auto":
        raise ValueError(f"{name} must be a number, zero or more, or 'auto'; got {value!r}.")


@dataclass(eq=False, repr=False)
class LocalSearchTree(CutParameters, HeuristicTree):
    """A tree by coordinate descent from many random trees, as in OST of Bertsimas et al.

    One node at a time is changed for the better: another cut, no cut, one of its two subtrees in
    its place, or a cut where there was a leaf. When no such change reduces the loss of `SurTree`,
    the tree is a local optimum; the best of all restarts is kept. As a rule it is close to the
    optimum. Nothing is proven about it; `audit_tree` tells how far it is from the best.

    Parameters
    ----------
    n_restarts : int, default=100
        From how many trees to begin, up to a million. The first is grown from the top, so that the
        result is never worse than that; the others are random.
    ccp_alpha : float or "auto", default=0.0
        What a split must be worth: the search minimises ``loss + ccp_alpha * splits``. With
        "auto", a tree is searched for without a price on the rows that are not held out; of its
        prunings, the one with the smallest loss on the rows held out tells the price.
    validation_fraction : float, default=0.3
        The share of the rows that "auto" holds out, of those with and of those without an event.
    random_state : int, RandomState or None, default=0
        Where random trees and rows held out come from. None is different every time.
    max_depth, max_splits, min_samples_leaf, min_events_leaf, shrinkage : optional
        As in `SurTree`.
    leaf_curve, n_jobs : optional
        As in `SurTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`. ``n_thresholds=None`` with ``min_support=0`` is every threshold.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    loss_ : float
        Its loss on the training rows, the penalty of shrinkage included.
    ccp_alpha_ : float
        What a split had to be worth.
    restart_losses_ : array of float of shape (n_restarts,)
        For each restart, the loss of its tree and what its splits had to be worth.
    encoder_ : Encoder
        The fitted encoder, with the cuts that the search could use.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import LocalSearchTree
    >>> X, y = load_gbsg2()
    >>> model = LocalSearchTree(max_depth=3).fit(X, y)
    >>> round(model.loss_, 1)
    405.1
    """

    max_depth: int = 3
    max_splits: int | None = None
    _: KW_ONLY
    n_restarts: int = 100
    min_samples_leaf: int = 1
    min_events_leaf: int = 0
    ccp_alpha: float | Literal["auto"] = 0.0
    validation_fraction: float = 0.3
    shrinkage: float = 0.0
    leaf_curve: LeafCurveKind = "baseline"
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None

    ccp_alpha_: float = field(init=False)
    restart_losses_: Floats = field(init=False)
    encoder_: Encoder = field(init=False)

    _checks = HeuristicTree._checks | {
        "n_restarts": whole(1, _MOST_RESTARTS),
        "ccp_alpha": _require_price,
        "validation_fraction": SHARE,
    }

    def _grow(self, rows: TrainingData) -> Tree:
        limits = check_parameters(self)
        random = check_random_state(self.random_state)
        problem = make_problem(encoder_of(self), rows)
        seed = int(random.randint(2**31))
        alpha = (
            self._tune(problem, limits, random)
            if self.ccp_alpha == "auto"
            else float(self.ccp_alpha)
        )
        best = problem.core.local_search(
            limits,
            n_restarts=int(self.n_restarts),
            seed=seed,
            price=alpha,
            n_jobs=self.n_jobs,
        )
        self.ccp_alpha_ = alpha
        self.restart_losses_ = rows.sums.constant - best.worth
        self.encoder_ = problem.encoder
        return problem.build_with_at_risk(best.topology, self.leaf_curve)

    def _tune(self, problem: FitProblem, limits: Limits, random: np.random.RandomState) -> float:
        """Return the penalty of a split whose tree has the smallest loss on held-out rows."""
        target, weight = problem.data.target, problem.data.sums.weight
        fitted, held_out = _hold_out(target.event, self.validation_fraction, random)
        baseline = nelson_aalen(target.take(fitted), weight[fitted])

        objective = problem.data.sums.objective
        fitted_sums, held_out_sums = (
            objective.row_sums(target.take(rows), weight[rows], baseline)
            for rows in (fitted, held_out)
        )
        fitted_rows = Problem(problem.binned.take(fitted), fitted_sums)
        held_out_rows = Problem(problem.binned.take(held_out), held_out_sums)
        topology = fitted_rows.local_search(
            limits,
            n_restarts=int(self.n_restarts),
            seed=int(random.randint(2**31)),
            n_jobs=self.n_jobs,
        ).topology
        tree = build_tree(topology, fitted_rows, problem.encoder.cuts_, baseline)
        nested = prunings(tree.left, tree.right, tree.loss)
        losses = []
        for pruning in nested:
            leaf = held_out_rows.find_leaves(pruning.topology(topology))
            losses.append(held_out_sums.loss(tree.prediction[..., pruning.nodes[leaf]]))
        # If several are equally good, the smallest, which comes last.
        best = len(losses) - 1 - int(np.argmin(losses[::-1]))
        lower, upper = nested[best].alpha, nested[min(best + 1, len(nested) - 1)].alpha
        # Losses grow with the weight of the rows, and so does what a split is worth.
        return float(np.sqrt(lower * upper) * weight.sum() / weight[fitted].sum())


def _hold_out(
    event: NDArray[np.bool_], fraction: float, random: np.random.RandomState
) -> tuple[Rows, Rows]:
    """Return rows to fit on and rows held out, with the same share of events."""
    n_events = int(event.sum())
    if n_events < 2:
        raise ValueError(
            f"{n_events} row has an event, and ccp_alpha='auto' needs at least 2, one of them to "
            "hold out: set ccp_alpha to a number"
        )
    held_out = np.zeros(event.size, dtype=bool)
    for group in (np.flatnonzero(event), np.flatnonzero(~event)):
        n_held_out = min(max(round(fraction * group.size), 1), group.size - 1)
        held_out[random.permutation(group)[: max(n_held_out, 0)]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
