"""Trees by local search: random trees, changed one node at a time until no change helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from surtree._support.parameters import (
    MAX_DEPTH,
    LeafCurveKind,
    is_number,
    require_jobs,
    require_leaf_curve,
    require_not_negative,
    require_random_state,
    require_shrinkage,
    require_whole,
)
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.data.named import RowInputs
from surtree.estimators.base import TreeEstimator
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.training import read_training_data
from surtree.heuristics.pruning import prunings
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.survival.baseline import nelson_aalen
from surtree.tree.build import build_tree

Rows = NDArray[np.intp]

_MOST_RESTARTS = 1_000_000


class LocalSearchTree(TreeEstimator):
    """A tree by coordinate descent from many random trees, as in OST of Bertsimas et al.

    One node at a time is changed for the better: another cut, no cut, one of its two subtrees in
    its place, or a cut where there was a leaf. When no such change reduces the loss of `SurTree`,
    the tree is a local optimum; the best of all restarts is kept. As a rule it is close to the
    optimum. Nothing is proven about it; `audit_tree` tells how far it is from the best.

    Parameters
    ----------
    max_depth : int, default=3
        The largest number of questions that a row is asked, from 0 to 20.
    max_splits : int or None, default=None
        The largest number of questions in the tree. None is as many as the depth allows.
    n_restarts : int, default=100
        From how many trees to begin, up to a million. The first is grown from the top, so that the
        result is never worse than that; the others are random.
    min_samples_leaf : int, default=1
        The smallest number of rows in a leaf. Rows of weight zero do not count.
    min_events_leaf : int, default=0
        The smallest number of rows with an event in a leaf.
    ccp_alpha : float or "auto", default=0.0
        What a split must be worth: the search minimises ``loss + ccp_alpha * splits``. With
        "auto", a tree is searched for without a price on the rows that are not held out; of its
        prunings, the one with the smallest loss on the rows held out tells the price.
    validation_fraction : float, default=0.3
        The share of the rows that "auto" holds out, of those with and of those without an event.
    shrinkage : float, default=0.0
        The events that the prior of each leaf is worth, as in `SurTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds
        Which cuts there are: see `SurTree`. ``n_thresholds=None`` with ``min_support=0`` is every
        threshold.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}, default="baseline"
        Which curve the survival of a leaf is read off, wherever it is stated: the baseline hazard
        times theta, the leaf's own Kaplan-Meier curve, that curve shrunk towards all rows by a
        prior that is worth ``shrinkage`` events, or the curve of a Cox model with the leaves as
        groups (`leaf_curves`). It does not change the tree.
    random_state : int, RandomState or None, default=0
        Where random trees and rows held out come from. None is different every time.
    n_jobs : int or None, default=None
        Threads that restart. The tree does not depend on it.

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

    def __init__(
        self,
        max_depth: int = 3,
        max_splits: int | None = None,
        *,
        n_restarts: int = 100,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        ccp_alpha: float | Literal["auto"] = 0.0,
        validation_fraction: float = 0.3,
        shrinkage: float = 0.0,
        n_thresholds: int | None = 10,
        max_categories: int = 10,
        min_support: float = 0.01,
        category_cuts: CategoryCuts = "subsets",
        thresholds: GivenThresholds | None = None,
        leaf_curve: LeafCurveKind = "baseline",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.n_restarts = n_restarts
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.ccp_alpha = ccp_alpha
        self.validation_fraction = validation_fraction
        self.shrinkage = shrinkage
        self.n_thresholds = n_thresholds
        self.max_categories = max_categories
        self.min_support = min_support
        self.category_cuts = category_cuts
        self.thresholds = thresholds
        self.leaf_curve = leaf_curve
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
    ) -> Self:
        """Search for a tree.

        Parameters
        ----------
        X, y, sample_weight, entry
            As in `SurTree.fit`.

        Returns
        -------
        LocalSearchTree
            The estimator itself.
        """
        limits = self._check_parameters()
        rows = read_training_data(self, RowInputs(X, y, sample_weight, entry))
        random = check_random_state(self.random_state)
        problem = make_problem(encoder_of(self), rows)
        seed = int(random.randint(2**31))
        alpha = (
            self._tune(problem, limits, random)
            if self.ccp_alpha == "auto"
            else float(self.ccp_alpha)
        )
        found = problem.core.local_search(
            limits,
            n_restarts=int(self.n_restarts),
            seed=seed,
            price=alpha,
            n_jobs=self.n_jobs,
        )
        self.tree_ = problem.build_with_at_risk(found.topology, self.leaf_curve)
        self.loss_ = self.tree_.total_loss
        self.ccp_alpha_ = alpha
        self.restart_losses_ = rows.sums.constant - found.worth
        self.encoder_ = problem.encoder
        return self

    def _tune(self, problem: FitProblem, limits: Limits, random: np.random.RandomState) -> float:
        """Return the penalty of a split whose tree has the smallest loss on held-out rows."""
        target, weight = problem.data.target, problem.data.sums.weight
        fitted, held_out = _hold_out(target.event, self.validation_fraction, random)
        baseline = nelson_aalen(target.take(fitted), weight[fitted])

        def part(rows: Rows) -> Problem:
            bins = np.ascontiguousarray(problem.binned.bins[:, rows])
            sums = problem.data.sums.objective.row_sums(target.take(rows), weight[rows], baseline)
            return Problem(replace(problem.binned, bins=bins), sums)

        fitted_rows, held_out_rows = part(fitted), part(held_out)
        topology = fitted_rows.local_search(
            limits,
            n_restarts=int(self.n_restarts),
            seed=int(random.randint(2**31)),
            n_jobs=self.n_jobs,
        ).topology
        tree = build_tree(topology, fitted_rows, problem.encoder.cuts_, baseline)
        found = prunings(tree.left, tree.right, tree.loss)
        losses = []
        for pruning in found:
            leaf = held_out_rows.find_leaves(pruning.topology(topology))
            losses.append(held_out_rows.sums.loss(tree.prediction[..., pruning.nodes[leaf]]))
        # If several are equally good, the smallest, which comes last.
        best = len(losses) - 1 - int(np.argmin(losses[::-1]))
        lower, upper = found[best].alpha, found[min(best + 1, len(found) - 1)].alpha
        # Losses grow with the weight of the rows, and so does what a split is worth.
        return float(np.sqrt(lower * upper) * weight.sum() / weight[fitted].sum())

    def _check_parameters(self) -> Limits:
        require_whole("max_depth", self.max_depth, 0, MAX_DEPTH)
        if self.max_splits is not None:
            require_whole("max_splits", self.max_splits, 0)
        require_whole("n_restarts", self.n_restarts, 1, _MOST_RESTARTS)
        require_random_state(self.random_state)
        require_whole("min_samples_leaf", self.min_samples_leaf, 1)
        require_whole("min_events_leaf", self.min_events_leaf, 0)
        require_jobs(self.n_jobs)
        require_leaf_curve(self.leaf_curve)
        require_shrinkage(self.shrinkage)
        if isinstance(self.ccp_alpha, str):
            if self.ccp_alpha != "auto":
                raise ValueError(
                    f"ccp_alpha must be a number, zero or more, or 'auto'; got {self.ccp_alpha!r}."
                )
        else:
            require_not_negative("ccp_alpha", self.ccp_alpha)
        fraction = self.validation_fraction
        if not (is_number(fraction) and 0 < fraction < 1):
            raise ValueError(
                f"validation_fraction must be a number between 0 and 1; got {fraction!r}."
            )
        return Limits(
            max_depth=self.max_depth,
            max_splits=self.max_splits,
            min_samples_leaf=self.min_samples_leaf,
            min_events_leaf=self.min_events_leaf,
        )


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
