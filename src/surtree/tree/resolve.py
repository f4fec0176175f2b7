"""A fitted model, what is around it, or its tree: functions that show a tree take any of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surtree.cuts.cut import Cut
from surtree.tree.tree import Tree


@dataclass(frozen=True)
class LastStep:
    """The model at the end of pipelines and searches, and the transformers before it."""

    model: Any
    transformers: tuple[Any, ...] = ()

    def transform(self, X: Any) -> Any:
        """Return a table as the model sees it."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X

    @property
    def names(self) -> tuple[str, ...] | None:
        """The columns that the transformers make, where the model has seen no names of its own."""
        if not self.transformers or hasattr(self.model, "feature_names_in_"):
            return None
        given: tuple[Any, ...] = ()
        for transformer in self.transformers:
            try:
                given = (transformer.get_feature_names_out(*given),)
            except (AttributeError, ValueError):  # not every transformer knows its columns
                return None
        return tuple(map(str, given[0]))


def last_step(model: Any) -> LastStep:
    """Return the last step of a pipeline, or what a search over hyperparameters chose.

    A search of our own stays as it is: it has a tree, and knows more than the model that it chose.
    """
    transformers: list[Any] = []
    while True:
        # By what they have, because scikit-learn's pipelines take long to import.
        if hasattr(model, "named_steps"):
            check_is_fitted(model)
            if len(model) > 1:
                transformers.append(model[:-1])
            model = model[-1]
        elif hasattr(model, "best_estimator_") and not hasattr(model, "tree_"):
            model = model.best_estimator_
        else:
            return LastStep(model, tuple(transformers))


def shown_model(model: Any) -> Any:
    """Return the model that `last_step` has, with the names that transformers give its columns."""
    last = last_step(model)
    names = last.names
    if names is None or not isinstance(getattr(last.model, "tree_", None), Tree):
        return last.model
    return _with_names(last.model, names)


def chosen_model(model: Any) -> Any:
    """Return a tree as it is, and of a pipeline or a search the model that it fitted."""
    if isinstance(model, Tree):
        return model
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
        shown = shown_model(model)
        chosen = getattr(shown, "best_estimator_", shown)
        if isinstance(getattr(chosen, "tree_", None), Tree):
            return chosen
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    raise TypeError(f"Pass a fitted model of surtree, or its tree_; {name} has no such tree.")


def tree_of(model: Any) -> Tree:
    chosen = chosen_model(model)
    return chosen if isinstance(chosen, Tree) else chosen.tree_


def time_unit_of(model: Any) -> str | None:
    """Return what a model's time is counted in, where it knows."""
    unit: str | None = getattr(chosen_model(model), "time_unit_", None)
    return unit


def renamed(tree: Tree, names: Sequence[str]) -> Tree:
    """Return a tree with other names of its columns."""
    return replace(tree, cuts=renamed_cuts(tree.cuts, names))


def renamed_cuts(cuts: Iterable[Cut], names: Sequence[str]) -> tuple[Cut, ...]:
    """Return questions with other names of their columns."""
    return tuple(replace(cut, name=names[cut.column]) for cut in cuts)


def _with_names(model: Any, names: tuple[str, ...]) -> Any:
    """Return a copy of a fitted model for people to read, with these names of columns."""
    named = copy(model)
    named.feature_names_in_ = np.array(names, dtype=object)
    named.tree_ = renamed(model.tree_, names)
    if hasattr(model, "best_estimator_"):
        named.best_estimator_ = _with_names(model.best_estimator_, names)
    if hasattr(model, "encoder_"):
        named.encoder_ = copy(model.encoder_)
        named.encoder_.cuts_ = renamed_cuts(model.encoder_.cuts_, names)
    return named


def horizons_of(model: Any) -> Sequence[float] | None:
    """Return the times at which a model's survival is to be stated, where it knows."""
    times: Sequence[float] | None = getattr(chosen_model(model), "horizons_", None)
    return times


def cause_names_of(model: Any) -> Mapping[int, str] | None:
    names: Mapping[int, str] | None = getattr(chosen_model(model), "cause_names_", None)
    return names


def needed_steps(tree: Tree) -> dict[int, list[tuple[int, int]]]:
    """Return the steps to each leaf that tell its rows, as pairs of a node and its child."""
    paths = tree.paths()
    return {leaf: _needed(tree, paths[leaf]) for leaf in tree.leaves.tolist()}


def _needed(tree: Tree, path: tuple[int, ...]) -> list[tuple[int, int]]:
    steps: dict[Any, tuple[int, int]] = {}
    for node, child in pairwise(path):
        cut, right = tree.worded_cuts[node], child == tree.right[node]
        if cut.threshold is None:
            steps[child] = (node, child)
            continue
        # The last threshold on the same side of a column is the tightest: it implies earlier ones
        # that treat missing values alike, or all of them if no such value arrives here.
        if cut.missing is None:
            for missing in (False, True):
                steps.pop((cut.column, missing, right), None)
        steps[cut.column, cut.missing, right] = (node, child)
    return list(steps.values())
