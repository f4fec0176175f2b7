"""A fitted bag as JSON: its trees, what they say out of bag, and no code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.endings import MODEL_FILE
from surtree._support.json_file import damaged, digest, parse_model, plain_parameters
from surtree._support.schema import (
    Check,
    Number,
    anything,
    flag,
    list_of,
    one_of,
    optional,
    read_each,
    record,
    text,
)
from surtree._support.status import STATUSES
from surtree._support.types import Floats
from surtree._support.writing import write_text
from surtree.data.names import load_columns, save_columns
from surtree.estimators.model_validate import faults_of_columns
from surtree.estimators.model_validate import plain_parameters as check_parameters
from surtree.tree.tree import Tree, read_baseline, save_baseline

FORMAT = "surtree.bag"
VERSION = 1

_number = Number("a finite number")
_risk = Number("a number, zero or more", 0.0)

_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": check_parameters,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "status": one_of(*STATUSES),
    "baseline": anything,
    "oob_risk": list_of(optional(_risk)),
    "oob_score": optional(_number),
    "oob_loss": optional(_number),
    "trees": list_of(anything),
}
BAG_FORMATS = {1: record(_FIELDS, also={"digest": text, "columns_are_texts": flag})}


def write_bag(bag: Any, path: Path) -> None:
    """Write a fitted `SurTreeBag` to a file."""
    MODEL_FILE.check(path)
    parameters = plain_parameters(bag.get_params())
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None
    saved = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": parameters,
        **save_columns(bag),
        "status": bag.status_,
        "baseline": save_baseline(bag.baseline_),
        "oob_risk": [_or_none(risk) for risk in bag.oob_risk_.tolist()],
        "oob_score": _or_none(bag.oob_score_),
        "oob_loss": _or_none(bag.oob_loss_),
        "trees": [tree.to_dict() for tree in bag.trees_],
    }
    saved["digest"] = digest(saved)
    write_text(path, json.dumps(saved, allow_nan=False, ensure_ascii=False) + "\n")


def read_bag(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `write_bag` wrote."""
    saved = parse_model(path, FORMAT, BAG_FORMATS)
    try:
        BAG_FORMATS[saved["version"]](saved, "")
        trees = read_each(Tree.from_dict, saved["trees"], "trees")
        for fault in _faults(saved, trees):
            raise ValueError(fault)
        baseline = read_baseline(saved["baseline"])
    except ValueError as error:
        raise damaged(path, error) from None
    attributes = {
        **load_columns(saved),
        "status_": saved["status"],
        "baseline_": baseline,
        "oob_risk_": _floats(saved["oob_risk"]),
        "oob_score_": float(_floats([saved["oob_score"]])[0]),
        "oob_loss_": float(_floats([saved["oob_loss"]])[0]),
        "trees_": trees,
    }
    if saved.pop("digest", None) != digest(saved):
        unknown = np.full(len(saved["oob_risk"]), np.nan)
        attributes |= {"status_": "edited", "oob_risk_": unknown}
        attributes |= {"oob_score_": np.nan, "oob_loss_": np.nan}
    return saved["parameters"], attributes


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
