"""A fitted estimator as JSON: everything that predicts or proves, and no code."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from surtree.cut import Cut
from surtree.cuts import Cuts
from surtree.encoding import Encoder
from surtree.path import Size
from surtree.tree import Tree
from surtree.writing import write_text

FORMAT = "surtree.model"
VERSION = 1

_NUMBERS = ("loss_", "lower_bound_", "gap_")
_COUNTS = ("n_cuts_", "n_evaluated_")
# Losses are added up again from what was read; more than this is damage, not rounding.
_TOLERANCE = 1e-9


def write_model(estimator: Any, path: Path) -> None:
    """Write a fitted `SurTree` to a file.

    Parameters
    ----------
    estimator : SurTree
        The estimator. Its ``progress`` hook is code, and is left out.
    path : Path
        Where to write.
    """
    text = json.dumps(_to_dict(estimator), allow_nan=False, ensure_ascii=False)
    write_text(path, text + "\n")


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `write_model` wrote.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    parameters, attributes : dict
        What the estimator is made with, and what `fit` had learnt.
    """
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path} is not a model of surtree, or is damaged: it is not JSON ({error})."
        ) from None
    found = (saved.get("format"), saved.get("version")) if isinstance(saved, dict) else (None, None)
    if found[0] != FORMAT:
        raise ValueError(
            f"{path} is not a model of surtree: its format is {found[0]!r}, not {FORMAT!r}."
        )
    if found[1] != VERSION:
        raise ValueError(
            f"{path} is a model of version {found[1]!r}, and this surtree reads version {VERSION}: "
            "install the surtree that wrote it, or a newer one."
        )
    try:
        return dict(saved["parameters"]), _attributes(saved)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        detail = f"{error.args[0]!r} is not there" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is damaged: {detail}") from error


def _to_dict(estimator: Any) -> dict[str, Any]:
    # Sizes of a path often share a tree, and all trees share a baseline: each is written once.
    trees: list[Tree] = [estimator.tree_]
    for size in estimator.path_:
        if not any(size.tree is tree for tree in trees):
            trees.append(size.tree)
    parameters = estimator.get_params() | {"progress": None}
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "columns": None if names is None else names.tolist(),
        "n_columns": estimator.n_features_in_,
        "status": estimator.status_,
        **{name.removesuffix("_"): float(getattr(estimator, name)) for name in _NUMBERS},
        **{name.removesuffix("_"): int(getattr(estimator, name)) for name in _COUNTS},
        "path": [
            {
                "splits": size.splits,
                "loss": size.loss,
                "lower_bound": size.lower_bound,
                "tree": next(place for place, tree in enumerate(trees) if tree is size.tree),
            }
            for size in estimator.path_
        ],
        "encoder": {name: _plain(value) for name, value in estimator.encoder_.get_params().items()},
        "cuts": [cut.to_dict() for cut in estimator.encoder_.cuts_],
        "heavier_side": estimator.encoder_.heavier_side_.tolist(),
        "baseline": trees[0].to_dict()["baseline"],
        "trees": [
            {name: part for name, part in tree.to_dict().items() if name != "baseline"}
            for tree in trees
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    # Only a time limit can be infinite, and then it is none; JSON has no infinity.
    return None if isinstance(value, float) and math.isinf(value) else value


def _attributes(saved: dict[str, Any]) -> dict[str, Any]:
    trees = [Tree.from_dict({**tree, "baseline": saved["baseline"]}) for tree in saved["trees"]]
    path = tuple(
        Size(size["splits"], size["loss"], size["lower_bound"], trees[size["tree"]])
        for size in saved["path"]
    )
    numbers = {name: float(saved[name.removesuffix("_")]) for name in _NUMBERS}
    for loss, tree in ((numbers["loss_"], trees[0]), *((size.loss, size.tree) for size in path)):
        if not math.isclose(loss, tree.total_loss, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            raise ValueError(f"a loss of {loss!r} belongs to a tree of loss {tree.total_loss!r}")
    n_columns = int(saved["n_columns"])
    if any(tree.column.max(initial=-1) >= n_columns for tree in trees):
        raise ValueError(f"a tree asks about more than the {n_columns} columns")
    shape: dict[str, Any] = {"n_features_in_": n_columns}
    if saved["columns"] is not None:
        shape["feature_names_in_"] = np.array(saved["columns"], dtype=object)
        if len(saved["columns"]) != n_columns:
            raise ValueError(f"{len(saved['columns'])} names for {n_columns} columns")
    return {
        **shape,
        **numbers,
        **{name: int(saved[name.removesuffix("_")]) for name in _COUNTS},
        "status_": str(saved["status"]),
        "tree_": trees[0],
        "path_": path,
        "encoder_": _encoder(saved, shape),
    }


def _encoder(saved: dict[str, Any], shape: dict[str, Any]) -> Encoder:
    encoder = Encoder(**saved["encoder"])
    for name, value in shape.items():
        setattr(encoder, name, value)
    cuts = tuple(map(Cut.from_dict, saved["cuts"]))
    encoder.cuts_ = Cuts([(cuts.__getitem__, np.arange(len(cuts)))])
    encoder.heavier_side_ = np.array(saved["heavier_side"], dtype=bool)
    if len(encoder.cuts_) != encoder.heavier_side_.size:
        raise ValueError("the cuts and their heavier sides are not equally many")
    return encoder
