"""Whether the parts of a model that was read from a file fit together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from surtree._support.rounding import SAME_LOSS
from surtree._support.schema import (
    Check,
    Number,
    anything,
    flag,
    list_of,
    one_of,
    optional,
    record,
    shown,
    text,
)
from surtree._support.status import STATUSES
from surtree.cuts.cut import Cut
from surtree.cuts.validate import known_categories, require_known, require_one_kind
from surtree.outcomes.effect_results_file import correction_format, heterogeneity_format
from surtree.tree.kept import kept_format
from surtree.tree.receipt import receipt_format
from surtree.tree.teaching import teaching_format
from surtree.tree.tree import Tree
from surtree.validation.comparison import comparison_format
from surtree.validation.files import (
    held_out_format,
    sizes_format,
    tuning_format,
    validation_format,
)

_count = Number("a whole number, zero or more", 0, whole=True)
_loss = Number("a number, zero or more", 0.0)
_finite = Number("a finite number")


def plain_parameters(value: Any, where: str) -> None:
    """Check that parameters are plain values; what they mean is for the estimator to check."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {shown(value)}, not an object")
    for name, item in value.items():
        if isinstance(item, str):
            text(item, f"{where}.{name}")
        elif name == "thresholds" and isinstance(item, dict):
            for column, values in item.items():
                list_of(_finite)(values, f"{where}.{name}.{column}")
        elif name == "causes" and isinstance(item, list):
            one = list_of(_finite) if item and isinstance(item[0], list) else _finite
            list_of(one)(item, f"{where}.{name}")
        elif item is not None and not isinstance(item, bool):
            Number("a plain value")(item, f"{where}.{name}")


def cause_names(value: Any, where: str) -> None:
    """Check that names are those of causes, which are whole numbers."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {shown(value)}, not an object")
    for cause, name in value.items():
        text(name, f"{where}.{shown(cause)}")


_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": plain_parameters,
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
    "cause_names": optional(cause_names),
    "heterogeneity": optional(heterogeneity_format),
    "correction": optional(correction_format),
    "rows": optional(list_of(_count)),
    "receipt": optional(receipt_format),
    "comparison": optional(comparison_format),
    "teaching": optional(teaching_format),
    "kept": optional(kept_format),
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


def validate_model(saved: dict[str, Any], trees: tuple[Tree, ...], cuts: tuple[Cut, ...]) -> None:
    """Raise an error where parts that are sound in themselves do not fit together."""
    for fault in _faults(saved, trees, cuts):
        raise ValueError(fault)


def _faults(saved: dict[str, Any], trees: tuple[Tree, ...], cuts: tuple[Cut, ...]) -> Iterator[str]:
    """Yield what does not fit; only the first fault is used, so checks may rely on earlier ones."""
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
    kept = {0} if saved["status"] == "kept" else set()
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
    if (saved["status"] == "kept") != (saved.get("kept") is not None):
        yield "it is kept by choice without what is known of that, or the other way round"
    if saved["status"] == "edited":
        expected = 1.0
        if bound != 0 or any(size["lower_bound"] != 0 for size in saved["path"]):
            yield "it is edited, but has bounds"
    else:
        expected = (loss - bound) / loss if loss > 0 else 0.0
    if not math.isclose(saved["gap"], expected, rel_tol=SAME_LOSS, abs_tol=SAME_LOSS):
        yield f"a gap of {saved['gap']!r} is not that of loss and bound, {expected!r}"
