"""A fitted bag as JSON: its trees, what they say out of bag, and no code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.schema import Number, anything, list_of, one_of, optional, read_each
from surtree._support.status import STATUSES
from surtree._support.types import Floats
from surtree.averages._model_file import file_content, file_format, read_file
from surtree.estimators.model_validate import faults_of_columns
from surtree.tree.tree import Tree, save_baseline

FORMAT = "surtree.bag"

_number = Number("a finite number")
_FORMAT = file_format(
    {
        "status": one_of(*STATUSES),
        "oob_risk": list_of(optional(Number("a number, zero or more", 0.0))),
        "oob_score": optional(_number),
        "oob_loss": optional(_number),
        "trees": list_of(anything),
    }
)


def bag_content(bag: Any) -> dict[str, Any]:
    """Return a fitted `SurTreeBag` as plain values."""
    return file_content(
        bag,
        {
            "status": bag.status_,
            "baseline": save_baseline(bag.baseline_),
            "oob_risk": [_or_none(risk) for risk in bag.oob_risk_.tolist()],
            "oob_score": _or_none(bag.oob_score_),
            "oob_loss": _or_none(bag.oob_loss_),
            "trees": [tree.to_dict() for tree in bag.trees_],
        },
    )


def read_bag(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of a saved bag, and what `fit` had learnt."""
    parameters, attributes, is_edited = read_file(path, FORMAT, _FORMAT, _attributes)
    if is_edited:
        unknown = np.full(attributes["oob_risk_"].size, np.nan)
        attributes |= {"status_": "edited", "oob_risk_": unknown}
        attributes |= {"oob_score_": np.nan, "oob_loss_": np.nan}
    return parameters, attributes


def _attributes(saved: dict[str, Any]) -> dict[str, Any]:
    trees = read_each(Tree.from_dict, saved["trees"], "trees")
    for fault in _faults(saved, trees):
        raise ValueError(fault)
    return {
        "status_": saved["status"],
        "oob_risk_": _floats(saved["oob_risk"]),
        "oob_score_": float(_floats([saved["oob_score"]])[0]),
        "oob_loss_": float(_floats([saved["oob_loss"]])[0]),
        "trees_": trees,
    }


def _faults(saved: dict[str, Any], trees: tuple[Tree, ...]) -> Iterator[str]:
    """Yield what does not fit together, although it is sound in itself."""
    is_whole = len(trees) == saved["parameters"].get("n_estimators")
    if not is_whole and saved["status"] != "interrupted":
        yield f"it has {len(trees)} trees, and its n_estimators is another number"
    yield from faults_of_columns(saved, [cut for tree in trees for cut in tree.cuts])
    for name in ("leaf_curve", "shrinkage"):
        asked = saved["parameters"].get(name)
        of_trees = {
            getattr(tree if name == "leaf_curve" else tree.objective, name) for tree in trees
        }
        if of_trees != {asked}:
            yield f"its trees were fitted with another {name}"


def _or_none(number: float) -> float | None:
    return None if number != number else float(number)


def _floats(numbers: list[float | None]) -> Floats:
    return np.array(numbers, dtype=np.float64)
