"""Our methods, tuned and not: SurTree, CTree, greedy trees and local search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.scores import Labels, Partition, Target, concordance, negative_held_out_loss
from experiments.task import Task
from experiments.tuning import choose, inner_folds
from surtree import SurTree, SurTreeCV
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.prediction import TreeEstimator

# One less the confidence that the authors tuned CTree over, the strictest first.
CTREE_ALPHAS = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1)
# Random starts of local search: in the folds that choose its depth, and for the tree itself.
TUNING_RESTARTS, RESTARTS = 5, 100


def _apply(model: TreeEstimator, task: Task) -> Partition:
    return Partition(model.apply(task.X_train), model.apply(task.X_test))


def fit_surtree(task: Task) -> Partition:
    """Find the optimal tree of the depth."""
    model = SurTree(task.depth, min_support=task.min_support)
    return _apply(model.fit(task.X_train, task.y_train), task)


def tune_surtree(task: Task) -> Partition:
    """Choose depth and number of splits by the held-out loss."""
    model = SurTreeCV(task.depth, cv=inner_folds(task.seed), min_support=task.min_support)
    return _apply(model.fit(task.X_train, task.y_train), task)


def fit_ctree(task: Task, alpha: float = 0.05) -> Partition:
    """Grow a conditional inference tree."""
    model = ConditionalInferenceTree(task.depth, alpha=alpha)
    return _apply(model.fit(task.X_train, task.y_train), task)


def tune_ctree(task: Task) -> Partition:
    """Choose the level of the tests by Harrell's C, as the authors did."""

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        model = ConditionalInferenceTree(task.depth, alpha=CTREE_ALPHAS[-1]).fit(X, y)
        return [
            Partition(*leaves)
            for leaves in zip(*(stricter_leaves(model, rows) for rows in (X, others)), strict=True)
        ]

    best = choose(candidates, task.X_train, task.y_train, task.seed, concordance)
    return fit_ctree(task, CTREE_ALPHAS[best])


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


def _greedy(task: Task, price: float = 0.0) -> GreedyTree:
    # Every threshold of columns of numbers.
    return GreedyTree(task.depth, ccp_alpha=price, n_thresholds=None, min_support=0.0)


def fit_greedy(task: Task) -> Partition:
    """Grow a greedy tree."""
    return _apply(_greedy(task).fit(task.X_train, task.y_train), task)


def tune_greedy(task: Task) -> Partition:
    """Choose the price of a split by the held-out loss."""
    X, y = task.X_train, task.y_train
    alphas = np.array([pruned.alpha for pruned in _greedy(task).fit(X, y).path_])
    # Between two break points all prices make the same tree: their geometric mean stands for them.
    prices = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1] * 2)[::-1]

    def candidates(X_fold: Any, y_fold: Target, others: Any) -> list[Partition]:
        model = _greedy(task).fit(X_fold, y_fold)
        # What a split is worth grows with the number of rows.
        begin = np.array([pruned.alpha for pruned in model.path_]) * len(y) / len(y_fold)
        trees = [model.path_[np.searchsorted(begin, price, side="right") - 1] for price in prices]
        return [
            Partition(_leaves(pruned.tree, model, X_fold), _leaves(pruned.tree, model, others))
            for pruned in trees
        ]

    best = choose(candidates, X, y, task.seed, negative_held_out_loss)
    return _apply(_greedy(task, float(prices[best])).fit(X, y), task)


def _leaves(tree: Any, model: TreeEstimator, X: Any) -> Any:
    return tree.apply(model._read(X))


def _local_search(task: Task, depth: int, restarts: int, price: Any = 0.0) -> LocalSearchTree:
    return LocalSearchTree(
        depth,
        n_restarts=restarts,
        ccp_alpha=price,
        n_thresholds=None,
        min_support=0.0,
        random_state=task.seed,
    )


def fit_local_search(task: Task) -> Partition:
    """Search for a tree of the depth."""
    model = _local_search(task, task.depth, RESTARTS)
    return _apply(model.fit(task.X_train, task.y_train), task)


def tune_local_search(task: Task) -> Partition:
    """Choose the depth by the held-out loss; the search itself chooses the price of a split."""
    depths = range(1, task.depth + 1)

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        models = [_local_search(task, depth, TUNING_RESTARTS, "auto").fit(X, y) for depth in depths]
        return [Partition(model.apply(X), model.apply(others)) for model in models]

    best = choose(candidates, task.X_train, task.y_train, task.seed, negative_held_out_loss)
    model = _local_search(task, depths[best], RESTARTS, "auto")
    return _apply(model.fit(task.X_train, task.y_train), task)
