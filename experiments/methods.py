"""All methods behind one face: training rows in, the leaf of each row out, tuned or not."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.clock import processor_seconds
from experiments.limited import CrashError, run_limited
from experiments.peers import fit_osst, fit_pystreed, fit_sksurv, sksurv_leaves
from experiments.scores import Labels, Partition, Target, brier, concordance, held_out_loss
from experiments.tables import Numbers
from experiments.tuning import Candidates, choose, inner_folds
from surtree import Encoder, SurTree, SurTreeCV
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.prediction import TreeEstimator
from surtree.sizes import candidate_sizes

View = Literal["binary", "numeric"]

# One less the confidence that the authors tuned CTree over, the strictest first.
CTREE_ALPHAS = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1)
OSST_PENALTIES = (0.01, 0.003, 0.001, 0.0003)
# Random starts of local search: in the folds that choose its depth, and for the tree itself.
TUNING_RESTARTS, RESTARTS = 5, 100


class Status(StrEnum):
    """How a run ended."""

    DONE = "done"
    TIME_LIMIT = "time limit"
    ERROR = "error"
    NOT_INSTALLED = "not installed"


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given.

    Parameters
    ----------
    X_train, y_train, X_test : table, structured array, table
        The rows.
    depth : int
        The largest depth.
    seed : int
        Of the folds that sizes are tuned on, and of random starts.
    min_support : float
        Cuts that hold for no larger share of the rows are left out; 0 for columns that are cut
        already.
    limit : float
        Processor seconds that a method of others may take.
    """

    X_train: Any
    y_train: Target
    X_test: Any
    depth: int
    seed: int = 0
    min_support: float = 0.01
    limit: float = 60.0


@dataclass(frozen=True)
class Method:
    """A way to a tree.

    Parameters
    ----------
    view : {"binary", "numeric"}
        What the paper's protocol feeds it: 0/1 columns, or numbers with indicator columns.
    fit : callable
        Grows a tree of the task's depth.
    tune : callable
        Chooses its size by ten-fold cross-validation first.
    package : str or None
        The package of others that it needs.
    guards_itself : bool
        Whether it keeps the limit by itself; others' packages run in a process that is stopped.
    """

    view: View
    fit: Callable[[Task], Partition]
    tune: Callable[[Task], Partition]
    package: str | None = None
    guards_itself: bool = False


@dataclass(frozen=True, eq=False)
class Attempt:
    """What became of a run: a partition, or the reason why there is none."""

    status: Status
    seconds: float
    leaves: Partition | None = None
    message: str = ""


def attempt(name: str, how: Literal["fit", "tune"], task: Task) -> Attempt:
    """Run a method; whatever goes wrong becomes a status.

    Parameters
    ----------
    name : str
        The name of the method.
    how : {"fit", "tune"}
        Without or with tuning.
    task : Task
        What it is given.
    """
    method = METHODS[name]
    package = method.package
    if package is not None and importlib.util.find_spec(package) is None:
        return Attempt(Status.NOT_INSTALLED, np.nan, message=package)
    start = processor_seconds()
    try:
        if package is None or method.guards_itself:
            seconds, leaves = timed(name, how, task)
        else:
            seconds, leaves = run_limited(task.limit, timed, name, how, task)
    except TimeoutError:
        return Attempt(Status.TIME_LIMIT, task.limit, message=f"more than {task.limit:g} s")
    except CrashError as error:
        return Attempt(Status.ERROR, processor_seconds() - start, message=str(error))
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return Attempt(Status.ERROR, processor_seconds() - start, message=message)
    return Attempt(Status.DONE, seconds, leaves)


def timed(name: str, how: Literal["fit", "tune"], task: Task) -> tuple[float, Partition]:
    """Run a method, and return also the processor seconds that it took."""
    start = processor_seconds()
    leaves = getattr(METHODS[name], how)(task)
    return processor_seconds() - start, leaves


def _apply(model: TreeEstimator, task: Task) -> Partition:
    return Partition(model.apply(task.X_train), model.apply(task.X_test))


def _fit_surtree(task: Task) -> Partition:
    model = SurTree(task.depth, min_support=task.min_support)
    return _apply(model.fit(task.X_train, task.y_train), task)


def _tune_surtree(task: Task) -> Partition:
    model = SurTreeCV(task.depth, cv=inner_folds(task.seed), min_support=task.min_support)
    return _apply(model.fit(task.X_train, task.y_train), task)


def _fit_ctree(task: Task, alpha: float = 0.05) -> Partition:
    model = ConditionalInferenceTree(task.depth, alpha=alpha)
    return _apply(model.fit(task.X_train, task.y_train), task)


def _tune_ctree(task: Task) -> Partition:
    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        model = ConditionalInferenceTree(task.depth, alpha=CTREE_ALPHAS[-1]).fit(X, y)
        return [
            Partition(*leaves)
            for leaves in zip(*(stricter_leaves(model, rows) for rows in (X, others)), strict=True)
        ]

    best = choose(candidates, task.X_train, task.y_train, task.seed, concordance)
    return _fit_ctree(task, CTREE_ALPHAS[best])


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


def _fit_greedy(task: Task) -> Partition:
    return _apply(_greedy(task).fit(task.X_train, task.y_train), task)


def _tune_greedy(task: Task) -> Partition:
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

    best = choose(candidates, X, y, task.seed, _negative_loss)
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


def _fit_local_search(task: Task) -> Partition:
    model = _local_search(task, task.depth, RESTARTS)
    return _apply(model.fit(task.X_train, task.y_train), task)


def _tune_local_search(task: Task) -> Partition:
    depths = range(1, task.depth + 1)

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        models = [_local_search(task, depth, TUNING_RESTARTS, "auto").fit(X, y) for depth in depths]
        return [Partition(model.apply(X), model.apply(others)) for model in models]

    best = choose(candidates, task.X_train, task.y_train, task.seed, _negative_loss)
    model = _local_search(task, depths[best], RESTARTS, "auto")
    return _apply(model.fit(task.X_train, task.y_train), task)


def _encoded(task: Task, X: Any, *others: Any) -> list[Any]:
    encoder = Encoder(min_support=task.min_support).fit(X)
    return [encoder.transform(rows) for rows in (X, *others)]


def _fit_pystreed(task: Task, size: tuple[int, int] | None = None) -> Partition:
    train, test = _encoded(task, task.X_train, task.X_test)
    apply = fit_pystreed(train, task.y_train, *(size or (task.depth,)))
    return Partition(apply(train), apply(test))


def _tune_pystreed(task: Task) -> Partition:
    # A tree without a split needs no search.
    sizes = [size for size in candidate_sizes(task.depth, None) if size[1] > 0]

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        train, test = _encoded(task, X, others)
        models = [fit_pystreed(train, y, *size) for size in sizes]
        root = Partition(np.zeros(len(train), dtype=int), np.zeros(len(test), dtype=int))
        return [root, *(Partition(apply(train), apply(test)) for apply in models)]

    best = choose(candidates, task.X_train, task.y_train, task.seed, _negative_loss)
    if best == 0:
        return Partition(np.zeros(len(task.X_train), int), np.zeros(len(task.X_test), int))
    return _fit_pystreed(task, sizes[best - 1])


def _fit_osst(task: Task) -> Partition:
    return _osst(task, OSST_PENALTIES[-1:], processor_seconds() + task.limit)(
        task.X_train, task.y_train, task.X_test
    )[0]


def _tune_osst(task: Task) -> Partition:
    end = processor_seconds() + task.limit
    candidates = _osst(task, OSST_PENALTIES, end)
    # By what it minimises.
    best = choose(candidates, task.X_train, task.y_train, task.seed, brier)
    chosen = _osst(task, OSST_PENALTIES[best : best + 1], end)
    return chosen(task.X_train, task.y_train, task.X_test)[0]


def _osst(task: Task, penalties: Sequence[float], end: float) -> Candidates:
    """Return a function that makes a tree for each penalty, all of them before an end.

    A second fit in the same process with another number of rows crashes.
    """

    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        train, test = _encoded(task, X, others)
        left = max(end - processor_seconds(), 0.0)
        return run_limited(left, _osst_partitions, train, y, test, task.depth, penalties, left)

    return candidates


def _osst_partitions(
    train: Any, y: Target, test: Any, depth: int, penalties: Sequence[float], limit: float
) -> list[Partition]:
    models = [fit_osst(train, y, depth, penalty, limit) for penalty in penalties]
    return [Partition(apply(train), apply(test)) for apply in models]


def _fit_sksurv(task: Task) -> Partition:
    return _sksurv(task, task.X_train, task.y_train, task.X_test)[task.depth]


def _tune_sksurv(task: Task) -> Partition:
    def candidates(X: Any, y: Target, others: Any) -> list[Partition]:
        return _sksurv(task, X, y, others)

    # By what its own ``score`` is.
    best = choose(candidates, task.X_train, task.y_train, task.seed, concordance)
    return candidates(task.X_train, task.y_train, task.X_test)[best]


def _sksurv(task: Task, X: Any, y: Target, others: Any) -> list[Partition]:
    """Return the trees of all depths: grown from the top, the deepest one contains the others."""
    X, others = (pd.DataFrame(rows).rename(columns=str) for rows in (X, others))
    numbers = Numbers().fit(X)
    train, test = numbers.transform(X), numbers.transform(others)
    model = fit_sksurv(train, y, task.depth, task.seed)
    return [
        Partition(sksurv_leaves(model, train, depth), sksurv_leaves(model, test, depth))
        for depth in range(task.depth + 1)
    ]


def _negative_loss(y_train: Target, y_test: Target, leaves: Partition) -> float:
    return -held_out_loss(y_train, y_test, leaves)


METHODS: dict[str, Method] = {
    "surtree": Method("binary", _fit_surtree, _tune_surtree),
    "ctree": Method("numeric", _fit_ctree, _tune_ctree),
    "local search": Method("numeric", _fit_local_search, _tune_local_search),
    "greedy": Method("numeric", _fit_greedy, _tune_greedy),
    "pystreed": Method("binary", _fit_pystreed, _tune_pystreed, "pystreed"),
    "osst": Method("binary", _fit_osst, _tune_osst, "osst", guards_itself=True),
    "scikit-survival": Method("numeric", _fit_sksurv, _tune_sksurv, "sksurv"),
}
OURS = tuple(name for name, method in METHODS.items() if method.package is None)
