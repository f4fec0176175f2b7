"""A tree that was chosen by hand, as a model whose certificate says so."""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np

from surtree._support.exact import SAME_LOSS
from surtree.averages.taught import TaughtTree
from surtree.estimators.tree import SurTree
from surtree.questions._search_result import missed_share
from surtree.tree.provenance import Kept
from surtree.tree.resolve import chosen_model, last_step
from surtree.tree.tree import Tree

# What stays known of a model with another tree.
_OF_THE_ROWS = {"time_unit_", "horizons_", "follow_up_", "cause_names_"}


class Choice(Protocol):
    """A result that has a tree: `Swap`, `ForcedTree`, `FirstTree`."""

    @property
    def tree(self) -> Tree | None:
        """The tree; None where there is none."""

    @property
    def condition(self) -> str:
        """What it is the best of, as in 'asks "age > 50" first'."""

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that no tree of this kind is better."""


def keep(model: Any, choice: Tree | Choice) -> SurTree:
    """Make a model of a tree that was chosen by hand.

    The model predicts, and `save`, `write_report`, `export_methods` and `evaluate` take it as any
    other. Its ``status_`` is "kept", and ``kept_`` says what its tree is the best of, and what it
    misses. Scores and receipts of the model do not go with it; `validate` refuses it.

    Parameters
    ----------
    model : fitted SurTree, SurTreeCV or CompetingRisksTree
        The model of the best tree, of the same rows.
    choice : Swap, ForcedTree, FirstTree or Tree
        What `question_swaps`, `force_questions` or `near_optimal` gave: one of the ``swaps``, a
        result of ``first``, or one of the ``trees``.

    Returns
    -------
    SurTree
        A new model of the class of the given one. Its ``lower_bound_`` and ``gap_`` are about all
        trees, and ``path_`` has the best tree of each size, as before.

    Examples
    --------
    >>> from surtree import SurTree, keep, question_swaps
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    >>> kept = keep(model, question_swaps(model, X, y).at("")[1])
    >>> kept.status_, kept.tree_.n_leaves
    ('kept', 6)
    >>> print(kept.kept_.condition, round(kept.kept_.missed, 3))
    asks "progesterone_receptor > 26" first 0.017
    """
    if last_step(model).transformers:
        raise TypeError("model is a pipeline with transformers: pass its last step, pipeline[-1]")
    fitted = chosen_model(model)
    if not isinstance(fitted, SurTree) or isinstance(fitted, TaughtTree):
        raise TypeError(f"model must be a fitted SurTree or SurTreeCV; got {fitted!r}")
    if fitted.status_ in ("edited", "kept"):
        raise ValueError(
            f"this model is {fitted.status_}, and its tree not the best: pass the model that the "
            "best tree is of"
        )
    tree = choice if isinstance(choice, Tree) else getattr(choice, "tree", None)
    if not isinstance(tree, Tree):
        raise TypeError(
            "choice must be a swap, the result of force_questions or of first, or a Tree; got "
            f"{choice!r}"
        )
    _require_same_problem(fitted, tree)
    best = fitted.tree_
    loss, bound = tree.total_loss, float(fitted.path_[-1].lower_bound)
    known = ("", False) if isinstance(choice, Tree) else (choice.condition, choice.is_proven)
    missed = missed_share(loss, best.total_loss, float(best.loss[0]))
    kept = copy(fitted)
    for name in fitted._known_later:
        if name not in _OF_THE_ROWS:
            setattr(kept, name, None)
    kept.tree_, kept.loss_, kept.lower_bound_ = tree, loss, min(bound, loss)
    kept.gap_ = (loss - kept.lower_bound_) / loss if loss > 0 else 0.0
    kept.kept_ = Kept(*known, missed, fitted.status_ == "optimal")
    kept.status_ = "kept"
    return kept


def _require_same_problem(model: SurTree, tree: Tree) -> None:
    """Raise an error unless a tree is of the rows of a model, and within its limits."""
    best = model.tree_
    same = (
        tree.objective == best.objective
        and tree.last_time == best.last_time
        and tree.last_event == best.last_event
        and int(tree.n_samples[0]) == int(best.n_samples[0])
        and bool(np.isclose(tree.loss[0], best.loss[0], rtol=SAME_LOSS, atol=0))
    )
    if not same:
        raise ValueError("the tree is not of the rows, or not of the shrinkage, of the model")
    if tree.leaf_curve != best.leaf_curve:
        raise ValueError(
            f"the tree has {tree.leaf_curve} curves, and the model {best.leaf_curve} ones"
        )
    bound = float(model.path_[-1].lower_bound)
    larger = tree.depth > model.max_depth or tree.n_splits >= len(model.path_)
    if larger or tree.total_loss < bound - SAME_LOSS * (1 + abs(bound)):
        raise ValueError("the tree is not within the limits of the model: fit that with the same")
