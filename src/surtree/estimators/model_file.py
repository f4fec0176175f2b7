"""A fitted estimator as JSON: everything that predicts or proves, and no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.json_file import damaged, digest, parse_model, plain_value
from surtree._support.parameters import LEAF_CURVES, LeafCurveKind
from surtree._support.schema import read_each
from surtree.cuts.cut import Cut
from surtree.cuts.cut_list import Cuts, load_cuts, save_cuts
from surtree.cuts.encoder import Encoder
from surtree.data.names import load_columns, save_columns
from surtree.estimators.model_validate import MODEL_FORMATS, validate_model
from surtree.survival.follow_up import read_follow_up, save_follow_up
from surtree.survival.time_axis import read_horizons
from surtree.tree.kept import read_kept, save_kept
from surtree.tree.objective_file import read_objective, save_objective
from surtree.tree.receipt import read_receipt, save_receipt
from surtree.tree.size import Size
from surtree.tree.teaching import read_teaching, save_teaching
from surtree.tree.tree import Tree, read_baseline
from surtree.validation.comparison import read_comparison, save_comparison
from surtree.validation.files import (
    read_held_out,
    read_sizes,
    read_tuning,
    read_validation,
    save_held_out,
    save_sizes,
    save_tuning,
    save_validation,
)

FORMAT = "surtree.model"
VERSION = 2

_NUMBERS = ("loss_", "lower_bound_", "gap_")
_COUNTS = ("n_cuts_", "n_evaluated_", "proven_depth_")
# The training rows say this of a tree, beside the certificate.
_OF_THE_ROWS = frozenset(
    {
        *("held_out_", "sizes_", "tuning_", "validation_", "heterogeneity_", "correction_"),
        *("receipt_", "comparison_", "_teaching", "kept_"),
    }
)
# Models were fitted with this before there was a choice.
_ASKED_BEFORE = {"category_cuts": "one"}
# Fields that all trees of a model share.
_SHARED = ("baseline", "known", "objective")


def read_model(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of a saved model, and what `fit` had learnt."""
    saved = parse_model(path, FORMAT, MODEL_FORMATS)
    try:
        MODEL_FORMATS[saved["version"]](saved, "")
        attributes = _attributes(saved)
    except ValueError as error:
        raise damaged(path, error) from None
    if saved.pop("digest", None) != digest(saved):
        attributes |= _without_proof(attributes)
    parameters = _ASKED_BEFORE | saved["parameters"]
    # Files of version 1 have a parameter that was removed.
    parameters.pop("refine", None)
    return parameters, attributes


def _without_proof(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate and the scores of a tree about which nothing is known."""
    return {
        **dict.fromkeys(attributes.keys() & _OF_THE_ROWS),
        "status_": "edited",
        "lower_bound_": 0.0,
        "gap_": 1.0,
        "proven_depth_": 0,
        "path_": tuple(size.with_splits(size.splits, 0.0) for size in attributes["path_"]),
    }


def model_dict(estimator: Any) -> dict[str, Any]:
    """Return a fitted `SurTree` as plain values that JSON can hold, without a digest."""
    # Sizes of a path often share a tree, and all trees a baseline and the categories of columns:
    # each is written once.
    trees: list[Tree] = [estimator.tree_]
    for size in estimator.path_:
        if not any(size.tree is tree for tree in trees):
            trees.append(size.tree)
    return {
        "format": FORMAT,
        "version": VERSION,
        "surtree_version": estimator.surtree_version_,
        "parameters": estimator._plain_parameters(),
        **save_columns(estimator),
        "time_unit": estimator.time_unit_,
        "follow_up": save_follow_up(estimator.follow_up_),
        "horizons": None if estimator.horizons_ is None else read_horizons(estimator.horizons_),
        "held_out": save_held_out(estimator.held_out_),
        "sizes": save_sizes(estimator.sizes_),
        "tuning": save_tuning(estimator.tuning_),
        "validation": save_validation(estimator.validation_),
        "rows": None if estimator.row_digest_ is None else list(estimator.row_digest_),
        "receipt": save_receipt(estimator.receipt_),
        "comparison": save_comparison(estimator.comparison_),
        "teaching": save_teaching(estimator._teaching),
        "kept": save_kept(estimator.kept_),
        **estimator.tree_.outcome.save_model(estimator),
        "status": estimator.status_,
        **{name.removesuffix("_"): float(getattr(estimator, name)) for name in _NUMBERS},
        **{name.removesuffix("_"): int(getattr(estimator, name)) for name in _COUNTS},
        "path": [
            {
                "splits": size.splits,
                "loss": size.loss,
                "lower_bound": size.lower_bound,
                "tree": next(index for index, tree in enumerate(trees) if tree is size.tree),
            }
            for size in estimator.path_
        ],
        "encoder": {
            name: plain_value(value) for name, value in estimator.encoder_.get_params().items()
        },
        **save_cuts(estimator.encoder_.cuts_),
        "heavier_side": estimator.encoder_.heavier_side_.tolist(),
        "objective": save_objective(trees[0].objective),
        "baseline": trees[0].to_dict()["baseline"],
        "trees": [
            {name: part for name, part in tree.to_dict().items() if name not in _SHARED}
            for tree in trees
        ],
    }


def _attributes(saved: dict[str, Any]) -> dict[str, Any]:
    baseline = read_baseline(saved["baseline"])
    read_objective(saved)  # an unknown one is a fault of the file, not of its first tree
    shared = {"known": {}} | {name: saved[name] for name in _SHARED if name in saved}
    # Version 1 has the kind of curve there; an unknown one is found with the parameters, later.
    asked = saved["parameters"].get("leaf_curve")
    kind: LeafCurveKind = asked if asked in LEAF_CURVES else "baseline"
    trees = read_each(
        lambda tree: Tree.from_dict(shared | tree, baseline, kind), saved["trees"], "trees"
    )
    cuts = load_cuts(saved)
    validate_model(saved, trees, cuts)
    shape = load_columns(saved)
    sizes = read_sizes(saved.get("sizes"))
    return {
        **shape,
        **{name: float(saved[name.removesuffix("_")]) for name in _NUMBERS},
        # Early files have no proven depth.
        **{name: saved.get(name.removesuffix("_"), 0) for name in _COUNTS},
        "status_": saved["status"],
        "surtree_version_": saved.get("surtree_version"),
        "time_unit_": saved.get("time_unit"),
        "follow_up_": read_follow_up(saved.get("follow_up")),
        "horizons_": saved.get("horizons"),
        "held_out_": read_held_out(saved.get("held_out")),
        "sizes_": sizes,
        "tuning_": read_tuning(saved.get("tuning"), None if sizes is None else sizes.shrinkage),
        "validation_": read_validation(saved.get("validation")),
        "row_digest_": tuple(saved["rows"]) if saved.get("rows") else None,
        "receipt_": read_receipt(saved),
        "comparison_": read_comparison(saved.get("comparison")),
        "_teaching": read_teaching(saved.get("teaching")),
        "kept_": read_kept(saved.get("kept")),
        **trees[0].outcome.read_model(saved),
        "tree_": trees[0],
        "path_": tuple(
            Size(
                size["splits"], float(size["loss"]), float(size["lower_bound"]), trees[size["tree"]]
            )
            for size in saved["path"]
        ),
        "encoder_": _encoder(saved, cuts, shape),
    }


def _encoder(saved: dict[str, Any], cuts: tuple[Cut, ...], shape: dict[str, Any]) -> Encoder:
    encoder = Encoder(**_ASKED_BEFORE | saved["encoder"])
    encoder._check_parameters()
    for name, value in shape.items():
        setattr(encoder, name, value)
    encoder.cuts_ = Cuts([(cuts.__getitem__, np.arange(len(cuts)))])
    encoder.heavier_side_ = np.array(saved["heavier_side"], dtype=bool)
    return encoder
