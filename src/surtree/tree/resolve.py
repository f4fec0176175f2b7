"""A fitted model or its tree: functions that show a tree take either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from surtree.tree.tree import Tree


def fitted(model: Any) -> Any:
    """Return a tree as it is, and of a search over hyperparameters the model that it chose.

    Parameters
    ----------
    model : fitted estimator or Tree
        A model that is not fitted is a ``NotFittedError``, anything without a tree a TypeError.
    """
    if isinstance(model, Tree):
        return model
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
        chosen = getattr(model, "best_estimator_", model)
        if isinstance(getattr(chosen, "tree_", None), Tree):
            return chosen
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    raise TypeError(f"Pass a fitted model of surtree, or its tree_; {name} has no such tree.")


def tree_of(model: Any) -> Tree:
    """Return the tree of a fitted model, or a tree as it is.

    Parameters
    ----------
    model : fitted estimator or Tree
        As for `fitted`.
    """
    found = fitted(model)
    return found if isinstance(found, Tree) else found.tree_


def time_unit_of(model: Any) -> str | None:
    """Return what a model's time is counted in, where it knows.

    Parameters
    ----------
    model : fitted estimator or Tree
        As for `fitted`.
    """
    unit: str | None = getattr(fitted(model), "time_unit_", None)
    return unit


def horizons_of(model: Any) -> Sequence[float] | None:
    """Return the times at which a model's survival is to be stated, where it knows.

    Parameters
    ----------
    model : fitted estimator or Tree
        As for `fitted`.
    """
    times: Sequence[float] | None = getattr(fitted(model), "horizons_", None)
    return times


def cause_names_of(model: Any) -> Mapping[int, str] | None:
    """Return what the causes of a model are called, where it knows.

    Parameters
    ----------
    model : fitted estimator or Tree
        As for `fitted`.
    """
    names: Mapping[int, str] | None = getattr(fitted(model), "cause_names_", None)
    return names
