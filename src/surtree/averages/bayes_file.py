"""A fitted average over all trees as JSON: its tables, how rows are binned, and no code."""

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
    record,
    text,
)
from surtree._support.status import STATUSES
from surtree._support.types import Floats
from surtree._support.writing import write_text
from surtree.averages.binning import Binning
from surtree.averages.binning_file import BINNING_FIELDS, read_binning, save_binning
from surtree.averages.stages import Stage
from surtree.data.names import load_columns, save_columns
from surtree.estimators.model_validate import plain_parameters as check_parameters
from surtree.solver.average import PairTables
from surtree.tree.tree import read_baseline, save_baseline

FORMAT = "surtree.bayes"
VERSION = 1

_number = Number("a finite number")
_share = Number("a number from zero to one", 0.0, 1.0)

# What the files of all models here begin with.
MODEL_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": check_parameters,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "baseline": anything,
    **BINNING_FIELDS,
}
OTHER_FIELDS: dict[str, Check] = {"digest": text, "columns_are_texts": flag}
_STAGE = record(
    {
        "scale": Number("a number above zero", 0.0),
        "log_bayes_factor": _number,
        "tables": list_of(list_of(_number)),
    }
)
_FIELDS = MODEL_FIELDS | {
    "status": one_of(*STATUSES),
    "stages": list_of(_STAGE),
    "column_probability": list_of(_share),
    "first_questions": list_of(_share),
}
BAYES_FORMATS = {1: record(_FIELDS, also=OTHER_FIELDS)}


def write_model_file(model: Any, path: Path, format_: str, own: dict[str, Any]) -> None:
    """Write what all models here have, and what is a model's own, to a file."""
    MODEL_FILE.check(path)
    parameters = plain_parameters(model.get_params())
    saved = {
        "format": format_,
        "version": VERSION,
        "parameters": {name: parameters[name] for name in model.get_params() if name in parameters},
        **save_columns(model),
        "baseline": save_baseline(model.baseline_),
        **save_binning(model.binning_),
        **own,
    }
    saved["digest"] = digest(saved)
    write_text(path, json.dumps(saved, allow_nan=False, ensure_ascii=False) + "\n")


def read_model_file(
    path: Path, format_: str, formats: dict[int, Check]
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Return what a file has, the attributes that all models have, and whether it was edited."""
    saved = parse_model(path, format_, formats)
    try:
        formats[saved["version"]](saved, "")
        attributes = {
            **load_columns(saved),
            "baseline_": read_baseline(saved["baseline"]),
            "binning_": read_binning(saved),
        }
    except ValueError as error:
        raise damaged(path, error) from None
    return saved, attributes, saved.pop("digest", None) != digest(saved)


def write_bayes(model: Any, path: Path) -> None:
    """Write a fitted `SurTreeBayes` to a file; its ``progress`` hook is code, and is left out."""
    own = {
        "status": model.status_,
        "stages": [
            {
                "scale": float(stage.scale),
                "log_bayes_factor": stage.log_bayes_factor,
                "tables": stage.mean.values.tolist(),
            }
            for stage in model.stages_
        ],
        "column_probability": model.column_probability_.tolist(),
        "first_questions": [
            model.first_questions_.get(cut.rule, 0.0) for cut in model.binning_.cuts
        ],
    }
    write_model_file(model, path, FORMAT, own)


def read_bayes(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the model that `write_bayes` wrote, and what `fit` had learnt."""
    saved, attributes, is_edited = read_model_file(path, FORMAT, BAYES_FORMATS)
    binning: Binning = attributes["binning_"]
    n_bins = np.array([len(bins.answers) for bins in binning.columns], dtype=np.int32)
    for fault in _faults(saved, n_bins, len(binning.cuts)):
        raise damaged(path, ValueError(fault))
    questions = zip((cut.rule for cut in binning.cuts), saved["first_questions"], strict=True)
    attributes |= {
        "status_": "edited" if is_edited else saved["status"],
        "stages_": tuple(
            Stage(
                float(stage["scale"]),
                PairTables(n_bins, _floats(stage["tables"])),
                float(stage["log_bayes_factor"]),
            )
            for stage in saved["stages"]
        ),
        "column_probability_": _floats(saved["column_probability"]),
        "first_questions_": {
            rule: share for rule, share in sorted(questions, key=lambda each: -each[1]) if share > 0
        },
    }
    return saved["parameters"], attributes


def _faults(saved: dict[str, Any], n_bins: Any, n_cuts: int) -> Iterator[str]:
    """Yield what does not fit together, although it is sound in itself."""
    if len(saved["first_questions"]) != n_cuts:
        yield f"{n_cuts} questions, and probabilities of {len(saved['first_questions'])}"
    if len(saved["column_probability"]) != saved["n_columns"]:
        yield "another number of columns with a probability"
    size = PairTables.n_cells(n_bins)
    for stage in saved["stages"]:
        if any(len(table) != size for table in stage["tables"]):
            yield f"a table of a stage has other than {size} cells"
        if len(stage["tables"]) not in (1, 1 + int(n_bins.sum())):
            yield f"{len(stage['tables'])} tables in a stage"
    if not saved["stages"]:
        yield "it has no stage"


def _floats(numbers: Any) -> Floats:
    return np.array(numbers, dtype=np.float64)
