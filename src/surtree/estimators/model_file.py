"""A fitted estimator as JSON: everything that predicts or proves, and no code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.exact import SAME_LOSS
from surtree._support.json_file import (
    Check,
    Number,
    anything,
    cause_names_format,
    damaged,
    digest,
    flag,
    list_of,
    one_of,
    optional,
    parameters_format,
    parse_model,
    plain_value,
    read_each,
    record,
    shown,
    text,
)
from surtree._support.parameters import LEAF_CURVES, LeafCurveKind
from surtree._support.status import STATUSES, VOID
from surtree.cuts.cut import Cut, Cuts, load_cuts, save_cuts
from surtree.cuts.encoder import Encoder
from surtree.cuts.validate import known_categories, require_known, require_one_kind
from surtree.data.names import load_columns, save_columns
from surtree.outcomes.effect_results import correction_format, heterogeneity_format
from surtree.outcomes.risk_groups_file import (
    read_risk_groups,
    risk_groups_format,
    save_risk_groups,
)
from surtree.survival.follow_up import read_follow_up, save_follow_up
from surtree.survival.objectives import read_objective, save_objective
from surtree.survival.step_function import read_horizons
from surtree.tree.provenance import (
    Kept,
    Recalibration,
    Teaching,
    kept_format,
    read_fields,
    read_receipt,
    recalibration_format,
    receipt_format,
    save_fields,
    teaching_format,
)
from surtree.tree.size import Size
from surtree.tree.tree import Tree
from surtree.tree.validate import read_baseline
from surtree.validation.comparison import comparison_format, read_comparison, save_comparison
from surtree.validation.files import (
    held_out_format,
    read_held_out,
    read_sizes,
    read_tuning,
    read_validation,
    save_held_out,
    save_sizes,
    save_tuning,
    save_validation,
    sizes_format,
    tuning_format,
    validation_format,
)

_count = Number("a whole number, zero or more", 0, whole=True)
_loss = Number("a number, zero or more", 0.0)
_finite = Number("a finite number")


_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": parameters_format,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "status": one_of(*STATUSES),
    "loss": _loss,
    "lower_bound": _finite,
    "gap": _finite,
    "n_cuts": _count,
    "n_evaluated": _count,
    "path": list_of(
        record({"splits": _count, "loss": _loss, "lower_bound": _loss, "tree": _count})
    ),
    "encoder": record(
        dict.fromkeys(("n_thresholds", "max_categories", "min_support"), anything),
        also={"category_cuts": anything, "thresholds": anything},
    ),
    "cuts": list_of(anything),
    "heavier_side": list_of(flag),
    "baseline": anything,
}
_TREE: dict[str, Check] = dict.fromkeys(("format", "version", "nodes", "cuts", "risk"), anything)
_ALSO: dict[str, Check] = {
    "surtree_version": optional(text),
    "time_unit": optional(text),
    "digest": text,
    "known": known_categories,
    "proven_depth": _count,
    "columns_are_texts": flag,
}
_KEPT = {
    "held_out": optional(held_out_format),
    "sizes": optional(sizes_format),
    "tuning": optional(tuning_format),
    "validation": optional(validation_format),
    "follow_up": optional(list_of(optional(_loss))),
    "horizons": optional(list_of(_loss)),
    "cause_names": optional(cause_names_format),
    "heterogeneity": optional(heterogeneity_format),
    "correction": optional(correction_format),
    "rows": optional(list_of(_count)),
    "receipt": optional(receipt_format),
    "comparison": optional(comparison_format),
    "teaching": optional(teaching_format),
    "kept": optional(kept_format),
    "free_loss": optional(_loss),
    "risk_groups": optional(risk_groups_format),
    "recalibration": optional(recalibration_format),
}

# By version. Models of the first have no objective, which is relative risk, and the kind of curve
# of their trees is a parameter alone.
MODEL_FORMATS = {
    1: record(_FIELDS | {"trees": list_of(record(_TREE))}, also=_ALSO),
    2: record(
        _FIELDS
        | {
            "objective": anything,
            "trees": list_of(record(_TREE | {"leaf_curve": anything}, also={"arms": anything})),
        },
        also=_ALSO | _KEPT,
    ),
}


def _faults(saved: dict[str, Any], trees: tuple[Tree, ...], cuts: tuple[Cut, ...]) -> Iterator[str]:
    """Yield where sound parts do not fit; only the first fault is used: later ones rely on it."""
    if not trees:
        yield "there is no tree"
    if not trees[0].risk:
        yield "the at-risk counts of its tree are not there"
    yield from faults_of_columns(saved, [*cuts, *(cut for tree in trees for cut in tree.cuts)])
    if len(cuts) != len(saved["heavier_side"]):
        yield "the cuts and their heavier sides are not equally many"
    yield from trees[0].outcome.model_faults(saved)
    yield from _faults_of_path(saved, trees)
    yield from _faults_of_certificate(saved, trees)


def faults_of_columns(saved: dict[str, Any], cuts: list[Cut]) -> Iterator[str]:
    """Yield what does not fit between the columns of a table and questions about them."""
    n_columns, names = saved["n_columns"], saved["columns"]
    if names is not None and len(names) != n_columns:
        yield f"{len(names)} names for {n_columns} columns"
    if names is not None and len(set(names)) < n_columns:
        yield "two columns have the same name"
    if any(cut.column >= n_columns for cut in cuts):
        yield f"a question is about more than the {n_columns} columns"
    for cut in cuts:
        name = f"x{cut.column}" if names is None else names[cut.column]
        if cut.name != name:
            yield f"a question calls the column {shown(name)} {shown(cut.name)}"
    require_one_kind(cuts)
    if "known" in saved:  # early files do not say which categories there were
        require_known(cuts)


def _faults_of_path(saved: dict[str, Any], trees: tuple[Tree, ...]) -> Iterator[str]:
    path = saved["path"]
    if [size["splits"] for size in path] != list(range(len(path))):
        yield "its path does not count the splits from zero"
    # A tree that was kept by choice need not be the best of its size.
    kept = {0} if saved["status"] in ("kept", *VOID) else set()
    if {size["tree"] for size in path} | kept != set(range(len(trees))):
        yield "its path does not have each of its trees"
    if any(trees[size["tree"]].n_splits > size["splits"] for size in path):
        yield "a tree of its path has too many splits"
    for name in ("n_samples", "n_events"):
        if len({int(getattr(tree, name)[0]) for tree in trees}) > 1:
            yield "its trees are not of the same rows"


def _faults_of_certificate(saved: dict[str, Any], trees: tuple[Tree, ...]) -> Iterator[str]:
    before = math.inf
    for size in [saved | {"tree": 0}, *saved["path"]]:
        loss, tree = size["loss"], trees[size["tree"]]
        # Rounding grows with the sums, also where they cancel to a loss of almost nothing.
        rounding = SAME_LOSS * (float(tree.objective.exactness().scale(tree.sums[0])) + loss)
        if abs(loss - tree.total_loss) > rounding:
            yield f"a loss of {loss!r} belongs to a tree of loss {tree.total_loss!r}"
        if size["lower_bound"] > loss + rounding:
            yield f"a lower bound of {size['lower_bound']!r} belongs to a loss of {loss!r}"
    for size in saved["path"]:
        if size["loss"] > before + 4 * rounding:
            yield "its path has a size that is worse than a smaller one"
        before = size["loss"]
    loss, bound = saved["loss"], saved["lower_bound"]
    has_factor, status = trees[0].factor is not None, saved["status"]
    if has_factor != (status == "recalibrated") and not (has_factor and status == "edited"):
        yield "it is recalibrated by no factors, or the other way round"
    if (saved["status"] == "kept") != (saved.get("kept") is not None):
        yield "it is kept by choice without what is known of that, or the other way round"
    if saved["status"] in VOID:
        expected = 1.0
        if bound != 0 or any(size["lower_bound"] != 0 for size in saved["path"]):
            yield f"it is {saved['status']}, but has bounds"
    else:
        expected = (loss - bound) / loss if loss > 0 else 0.0
    if not math.isclose(saved["gap"], expected, rel_tol=SAME_LOSS, abs_tol=SAME_LOSS):
        yield f"a gap of {saved['gap']!r} is not that of loss and bound, {expected!r}"


FORMAT = "surtree.model"
VERSION = 2

_NUMBERS = ("loss_", "lower_bound_", "gap_")
_COUNTS = ("n_cuts_", "n_evaluated_", "proven_depth_")
# The training rows say this of a tree, beside the certificate.
_OF_THE_ROWS = frozenset(
    {
        *("held_out_", "sizes_", "tuning_", "validation_", "heterogeneity_", "correction_"),
        *("receipt_", "comparison_", "_teaching", "kept_", "free_loss_", "risk_groups_"),
        "recalibration_",
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
        "receipt": save_fields(estimator.receipt_),
        "comparison": save_comparison(estimator.comparison_),
        "teaching": save_fields(estimator._teaching),
        "kept": save_fields(estimator.kept_),
        "free_loss": estimator.free_loss_,
        "recalibration": save_fields(estimator.recalibration_),
        "risk_groups": save_risk_groups(estimator.risk_groups_, estimator.tree_),
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
    for fault in _faults(saved, trees, cuts):
        raise ValueError(fault)
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
        "_teaching": read_fields(Teaching, saved.get("teaching")),
        "kept_": read_fields(Kept, saved.get("kept")),
        "free_loss_": saved.get("free_loss"),
        "recalibration_": read_fields(Recalibration, saved.get("recalibration")),
        "risk_groups_": read_risk_groups(saved.get("risk_groups"), trees[0]),
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
