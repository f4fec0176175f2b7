"""What the files of all averages have: format, parameters, columns and the baseline hazard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from surtree._support.json_file import damaged, digest, parse_model
from surtree._support.schema import Check, Number, anything, flag, list_of, optional, record, text
from surtree.data.names import load_columns, save_columns
from surtree.estimators.model_validate import plain_parameters
from surtree.tree.tree import read_baseline

VERSION = 1

_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": plain_parameters,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "baseline": anything,
}


def file_format(fields: dict[str, Check]) -> Check:
    """Return the check of a file that has some fields beside those of all averages."""
    return record(_FIELDS | fields, also={"digest": text, "columns_are_texts": flag})


def file_content(model: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what all averages have, and the fields of one of them."""
    return {
        "format": model._format,
        "version": VERSION,
        "parameters": model._plain_parameters(),
        **save_columns(model),
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
            "baseline_": read_baseline(saved["baseline"]),
            **read(saved),
        }
    except ValueError as error:
        raise damaged(path, error) from None
    return saved["parameters"], attributes, saved.pop("digest", None) != digest(saved)
