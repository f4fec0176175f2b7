"""What the files of all averages have: format, parameters, columns and the baseline hazard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from surtree._support.json_file import (
    Check,
    Number,
    anything,
    damaged,
    digest,
    flag,
    list_of,
    optional,
    parse_model,
    record,
    text,
)
from surtree.data.names import load_columns, save_columns
from surtree.estimators.model_file import plain_parameters
from surtree.survival.follow_up import read_follow_up, save_follow_up
from surtree.survival.step_function import read_horizons
from surtree.tree.tree import read_baseline
from surtree.validation.comparison import (
    comparison_format,
    read_comparison,
    save_comparison,
)
from surtree.validation.files import read_validation, save_validation, validation_format

VERSION = 1
_AS_SAVED = ("time_unit", "horizons", "n_rows", "n_events")

_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": plain_parameters,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "baseline": anything,
}
_count = Number("a whole number, zero or more", 0, whole=True)
_time = Number("a number, zero or more", 0.0)
_KEPT: dict[str, Check] = {
    "validation": optional(validation_format),
    "comparison": optional(comparison_format),
    "time_unit": optional(text),
    "horizons": optional(list_of(_time)),
    "follow_up": optional(list_of(optional(_time))),
    "n_rows": optional(_count),
    "n_events": optional(_count),
}


def file_format(fields: dict[str, Check]) -> Check:
    """Return the check of a file that has some fields beside those of all averages."""
    return record(_FIELDS | fields, also={"digest": text, "columns_are_texts": flag} | _KEPT)


def file_content(model: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what all averages have, and the fields of one of them."""
    return {
        "format": model._format,
        "version": VERSION,
        "parameters": model._plain_parameters(),
        **save_columns(model),
        "validation": save_validation(model.validation_),
        "comparison": save_comparison(model.comparison_),
        "time_unit": model.time_unit_,
        "horizons": None if model.horizons_ is None else read_horizons(model.horizons_),
        "follow_up": save_follow_up(model.follow_up_),
        "n_rows": model.n_rows_,
        "n_events": model.n_events_,
        **fields,
    }


def read_file(
    path: Path, format_: str, check: Check, read: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Return the parameters and the attributes that a file has, and whether it was edited."""
    saved = parse_model(path, format_, {VERSION: check})
    try:
        check(saved, "")
        attributes = {
            **load_columns(saved),
            "validation_": read_validation(saved.get("validation")),
            "comparison_": read_comparison(saved.get("comparison")),
            "follow_up_": read_follow_up(saved.get("follow_up")),
            **{f"{name}_": saved.get(name) for name in _AS_SAVED},
            "baseline_": read_baseline(saved["baseline"]),
            **read(saved),
        }
    except ValueError as error:
        raise damaged(path, error) from None
    is_edited = saved.pop("digest", None) != digest(saved)
    if is_edited:
        attributes["validation_"] = attributes["comparison_"] = None
    return saved["parameters"], attributes, is_edited
