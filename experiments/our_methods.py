"""Our methods, tuned and not: SurTree, CTree, greedy trees and local search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.scores import (
    Labels,
    Partition,
    Target,
    negative_held_out_loss,
    tuning_concordance,
)
from experiments.task import Task
from experiments.tuning import choose, inner_folds
from surtree import SurTree, SurTreeCV, Tree
from surtree.estimators.base import TreeEstimator
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.heuristics._base import best_pruning, prunings

# One less the confidence that the authors tuned CTree over, the strictest first.
CTREE_ALPHAS = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1)
# Random starts of local search: in the folds that choose its depth, and for the tree itself.
TUNING_RESTARTS, RESTARTS = 5, 100
# The paper's questions about categories.
ONE: dict[str, Any] = {"category_cuts": "one"}


def _apply(model: TreeEstimator, task: Task) -> Partition:
    return Partition(model.apply(task.X_train), model.apply(task.X_test))


def fit_surtree(task: Task) -> Partition:
    """Find the optimal tree of the depth."""
    model = SurTree(task.depth, min_support=task.min_support, **ONE)
    return _apply(model.fit(task.X_train, task.y_train), task)


def tune_surtree(task: Task) -> Partition:
    """Choose depth and number of splits by the held-out loss."""
    return _apply(tuned_surtree(task, shrinkage=0.0), task)


def tuned_surtree(task: Task, **options: Any) -> SurTree:
    """Return the tree of the size, and with options of `SurTreeCV` the shrinkage, chosen so."""
    folds = inner_folds(task.seed, task.n_folds)
    search = SurTreeCV(task.depth, cv=folds, min_support=task.min_support, **ONE, **options)
    return search.fit(task.X_train, task.y_train).best_estimator_


def fit_ctree(task: Task, alpha: float = 0.05) -> Partition:
    """Grow a conditional inference tree."""
    return _apply(_ctree(task, alpha), task)


def _ctree(task: Task, alpha: float) -> ConditionalInferenceTree:
    return ConditionalInferenceTree(task.depth, alpha=alpha).fit(task.X_train, task.y_train)


def tune_ctree(task: Task) -> Partition:
    """Choose the level of the tests by Harrell's C, as the authors did."""
    return _apply(tuned_ctree(task), task)


def tuned_ctree(task: Task) -> ConditionalInferenceTree:
    """Return the tree of the level chosen so."""

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        model = ConditionalInferenceTree(task.depth, alpha=CTREE_ALPHAS[-1]).fit(X, y)
        return [
            Partition(*leaves)
            for leaves in zip(*(stricter_leaves(model, rows) for rows in (X, others)), strict=True)
        ]

    best = choose(candidates, task, tuning_concordance)
    return _ctree(task, CTREE_ALPHAS[best])


def stricter_leaves(model: ConditionalInferenceTree, X: Any) -> list[Labels]:
    """Return the leaf of each row for each of CTREE_ALPHAS, from the tree of the largest.

    A stricter test makes the same tree, but ends where the test of a node fails.

    Parameters
    ----------
    model : ConditionalInferenceTree
        Fitted with the largest alpha.
    X : data frame
        The rows.
    """
    tree, p_value = model.tree_, np.ones(len(model.tests_))
    for node in np.flatnonzero(~tree.is_leaf):
        p_value[node] = model.tests_[node].p_value[tree.cuts[tree.cut[node]].column]
    leaf = model.apply(X)
    return [ends(tree.left, tree.right, p_value < alpha)[leaf] for alpha in CTREE_ALPHAS]


def ends(left: Labels, right: Labels, splits: NDArray[np.bool_]) -> Labels:
    """Return for each node of a tree the leaf above or at it, where some nodes split no more.

    Parameters
    ----------
    left, right : array of int
        The children of each node, in preorder; -1 for a leaf.
    splits : array of bool
        Which nodes still split.
    """
    end = np.arange(left.size)
    for node in np.flatnonzero(left >= 0):
        if end[node] != node or not splits[node]:
            end[[left[node], right[node]]] = end[node]
    return end


def fit_greedy(task: Task) -> Partition:
    """Grow a greedy tree."""
    return _apply(_greedy(task.depth, 0.0).fit(task.X_train, task.y_train), task)


def tune_greedy(task: Task) -> Partition:
    """Choose the price of a split by the held-out loss."""
    return _apply(tuned_greedy(task), task)


def tuned_greedy(task: Task) -> GreedyTree:
    """Return the tree of the price chosen so."""
    best = _choose_price(task, partial(_greedy, price=0.0), [task.depth])
    return _greedy(*best).fit(task.X_train, task.y_train)


def _greedy(depth: int, price: float) -> GreedyTree:
    # Every threshold of columns of numbers.
    return GreedyTree(depth, ccp_alpha=price, n_thresholds=None, min_support=0.0, **ONE)


def fit_local_search(task: Task) -> Partition:
    """Search for a tree of the depth."""
    model = _local_search(task.depth, 0.0, RESTARTS, task.seed)
    return _apply(model.fit(task.X_train, task.y_train), task)


def tune_local_search(task: Task) -> Partition:
    """Choose the depth and the price of a split by the held-out loss."""
    return _apply(tuned_local_search(task), task)


def tuned_local_search(task: Task) -> LocalSearchTree:
    """Return the tree of the depth and price chosen so."""
    grow = partial(_local_search, price=0.0, restarts=TUNING_RESTARTS, seed=task.seed)
    best = _choose_price(task, grow, range(1, task.depth + 1))
    return _local_search(*best, RESTARTS, task.seed).fit(task.X_train, task.y_train)


def _local_search(depth: int, price: float, restarts: int, seed: int) -> LocalSearchTree:
    return LocalSearchTree(
        depth,
        n_restarts=restarts,
        ccp_alpha=price,
        n_thresholds=None,
        min_support=0.0,
        random_state=seed,
        **ONE,
    )


def _choose_price(
    task: Task, grow: Callable[[int], TreeEstimator], depths: Sequence[int]
) -> tuple[int, float]:
    """Return the depth and the price of a split with the smallest held-out loss.

    The trees of all prices are prunings of one tree that is grown without a price.
    """
    X, y = task.X_train, task.y_train
    pairs = [(depth, price) for depth in depths for price in _prices(grow(depth).fit(X, y).tree_)]

    def candidates(X_fold: Any, y_fold: Target, others: Any) -> list[Partition]:
        models = {depth: grow(depth).fit(X_fold, y_fold) for depth in depths}
        leaves = {d: (model.apply(X_fold), model.apply(others)) for d, model in models.items()}
        # What a split is worth grows with the number of rows.
        share = len(y_fold) / len(y)
        end = {pair: _ends_at(models[pair[0]].tree_, pair[1] * share) for pair in pairs}
        return [Partition(*(end[pair][leaf] for leaf in leaves[pair[0]])) for pair in pairs]

    return pairs[choose(candidates, task, negative_held_out_loss)]


def _prices(tree: Tree) -> NDArray[np.float64]:
    """Return a price for each pruning of a tree, the smallest pruning first."""
    alphas = np.array([pruning.alpha for pruning in prunings(tree.left, tree.right, tree.loss)])
    # Between two break points all prices make the same tree: their geometric mean stands for them.
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), 2 * alphas[-1])[::-1]


def _ends_at(tree: Tree, price: float) -> Labels:
    """Return for each node the leaf above or at it in the best pruning for a price."""
    found = best_pruning(prunings(tree.left, tree.right, tree.loss), price)
    splits = np.zeros(tree.left.size, dtype=bool)
    splits[found.nodes[found.left >= 0]] = True
    return ends(tree.left, tree.right, splits)
