"""Which page a model has that is no tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from surtree.averages.bayes import SurTreeBayes
from surtree.averages.points import PointsTable
from surtree.estimators.base import SurvivalEstimator
from surtree.report._average import average_page
from surtree.report._card import card_page
from surtree.report._plain import Asked, expectation, plain_page
from surtree.tree.resolve import last_step

# The page of each class, and its heading; other models have one that says what they are.
_PAGES: dict[type[Any], tuple[str, Callable[[Any, Asked], str]]] = {
    PointsTable: ("Score card", card_page),
    SurTreeBayes: ("Average over all survival trees", average_page),
}


def plain_model(model: Any) -> Any:
    """Return a fitted model of surtree that is no tree; None for all that have one."""
    last = last_step(model).model
    if not isinstance(last, SurvivalEstimator):
        return None
    check_is_fitted(last)
    # A search without its last fit has no tree, and says so itself.
    return None if hasattr(last, "tree_") or not hasattr(last, "baseline_") else last


def plain_model_page(model: Any, asked: Asked) -> str:
    """Return the page of a model that is no tree."""
    heading, page = _PAGES.get(type(model), (type(model).__name__, _any_page))
    return page(model, asked if asked.title else replace(asked, title=heading))


def _any_page(model: Any, asked: Asked) -> str:
    return plain_page(model, asked, [expectation(model, asked)])
