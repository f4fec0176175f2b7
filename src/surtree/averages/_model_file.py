"""What the files of all averages have: format, parameters, columns and the baseline hazard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    parameters_format,
    parse_model,
    record,
    text,
)
from surtree.averages._binning import BINNING_FIELDS, Binning, read_binning, save_binning
from surtree.data.names import load_columns, save_columns
from surtree.survival.follow_up import read_follow_up, save_follow_up
from surtree.survival.step_function import read_horizons
from surtree.tree.validate import read_baseline, save_baseline
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
    "parameters": parameters_format,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "baseline": anything,
    **BINNING_FIELDS,
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


@dataclass(frozen=True)
class ModelFile:
    """The files of one kind of average: those of all, and fields of its own."""

    format: str
    fields: dict[str, Check]
    content: Callable[[Any], dict[str, Any]]  # of a model, what its own fields are
    attributes: Callable[[dict[str, Any], Binning], dict[str, Any]]  # what these say of a model

    def save(self, model: Any) -> dict[str, Any]:
        """Return a fitted model as plain values."""
        return {
            "format": self.format,
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
            "baseline": save_baseline(model.baseline_),
            **save_binning(model.binning_),
            **self.content(model),
        }

    def read(self, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters of a saved model, and what `fit` had learnt."""
        also = {"digest": text, "columns_are_texts": flag} | _KEPT
        check = record(_FIELDS | self.fields, also=also)
        saved = parse_model(path, self.format, {VERSION: check})
        try:
            check(saved, "")
            binning = read_binning(saved)
            attributes = {
                **load_columns(saved),
                "validation_": read_validation(saved.get("validation")),
                "comparison_": read_comparison(saved.get("comparison")),
                "follow_up_": read_follow_up(saved.get("follow_up")),
                **{f"{name}_": saved.get(name) for name in _AS_SAVED},
                "baseline_": read_baseline(saved["baseline"]),
                "binning_": binning,
                **self.attributes(saved, binning),
            }
        except ValueError as error:
            raise damaged(path, error) from None
        if saved.pop("digest", None) != digest(saved):
            attributes["validation_"] = attributes["comparison_"] = None
            if "status_" in attributes:
                attributes["status_"] = "edited"
        return saved["parameters"], attributes
