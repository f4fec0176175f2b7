"""A fitted average over all trees as JSON: its tables, how rows are binned, and no code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surtree._types import Floats
from surtree.cuts.cut_list import load_cuts, save_cuts
from surtree.data.names import load_columns, save_columns
from surtree.files.endings import MODEL_FILE
from surtree.files.model import damaged, digest, parse_model, plain_parameters
from surtree.files.schema import (
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
from surtree.files.writing import write_text
from surtree.posterior.binning import Binning, ColumnBins
from surtree.posterior.stages import Stage
from surtree.solver.average import PairTables
from surtree.status import STATUSES
from surtree.tree.model_validate import faults_of_columns
from surtree.tree.model_validate import plain_parameters as check_parameters
from surtree.tree.tree import read_baseline, save_baseline

FORMAT = "surtree.bayes"
VERSION = 1

_number = Number("a finite number")
_positive = Number("a number above zero", 0.0)
_share = Number("a number from zero to one", 0.0, 1.0)
_bit = Number("zero or one", 0, 1, whole=True)

_COLUMN = record({"answers": list_of(list_of(_bit)), "weight": list_of(_positive)})
_STAGE = record(
    {"scale": _positive, "log_bayes_factor": _number, "tables": list_of(list_of(_number))}
)
_FIELDS: dict[str, Check] = {
    "format": anything,
    "version": anything,
    "parameters": check_parameters,
    "columns": optional(list_of(text)),
    "n_columns": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    "status": one_of(*STATUSES),
    "baseline": anything,
    "cuts": list_of(anything),
    "known": anything,
    "bins": list_of(_COLUMN),
    "stages": list_of(_STAGE),
    "column_probability": list_of(_share),
    "first_questions": list_of(_share),
}
BAYES_FORMATS = {1: record(_FIELDS, also={"digest": text, "columns_are_texts": flag})}


def write_bayes(model: Any, path: Path) -> None:
    """Write a fitted `SurTreeBayes` to a file; its ``progress`` hook is code, and is left out."""
    MODEL_FILE.check(path)
    cuts = model.binning_.cuts
    saved = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": plain_parameters(model.get_params()),
        **save_columns(model),
        "status": model.status_,
        "baseline": save_baseline(model.baseline_),
        **save_cuts(cuts),
        "bins": [
            {"answers": bins.answers.astype(int).tolist(), "weight": bins.weight.tolist()}
            for bins in model.binning_.columns
        ],
        "stages": [
            {
                "scale": float(stage.scale),
                "log_bayes_factor": stage.log_bayes_factor,
                "tables": stage.mean.values.tolist(),
            }
            for stage in model.stages_
        ],
        "column_probability": model.column_probability_.tolist(),
        "first_questions": [model.first_questions_.get(cut.rule, 0.0) for cut in cuts],
    }
    saved["digest"] = digest(saved)
    write_text(path, json.dumps(saved, allow_nan=False, ensure_ascii=False) + "\n")


def read_bayes(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the model that `write_bayes` wrote, and what `fit` had learnt."""
    saved = parse_model(path, FORMAT, BAYES_FORMATS)
    try:
        BAYES_FORMATS[saved["version"]](saved, "")
        for fault in _faults(saved):
            raise ValueError(fault)
        binning, baseline = _read_binning(saved), read_baseline(saved["baseline"])
    except ValueError as error:
        raise damaged(path, error) from None
    n_bins = np.array([len(bins.answers) for bins in binning.columns], dtype=np.int32)
    questions = dict(zip((cut.rule for cut in binning.cuts), saved["first_questions"], strict=True))
    attributes = {
        **load_columns(saved),
        "status_": saved["status"],
        "baseline_": baseline,
        "binning_": binning,
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
            rule: share
            for rule, share in sorted(questions.items(), key=lambda item: -item[1])
            if share > 0
        },
    }
    if saved.pop("digest", None) != digest(saved):
        attributes["status_"] = "edited"
    return saved["parameters"], attributes


def _faults(saved: dict[str, Any]) -> Iterator[str]:
    """Yield what does not fit together, although it is sound in itself."""
    cuts = load_cuts(saved)
    yield from faults_of_columns(saved, list(cuts))
    n_cuts = 0
    for bins in saved["bins"]:
        widths = {len(answers) for answers in bins["answers"]}
        if len(widths) != 1 or len(bins["answers"]) != len(bins["weight"]):
            yield "the bins of a column have different numbers of answers"
            return
        n_cuts += widths.pop()
    if n_cuts != len(cuts) or len(saved["first_questions"]) != len(cuts):
        yield f"{len(cuts)} questions, and answers to {n_cuts}"
    if len(saved["column_probability"]) != saved["n_columns"]:
        yield "another number of columns with a probability"
    n_bins = np.array([len(bins["answers"]) for bins in saved["bins"]], dtype=np.int32)
    size = PairTables.n_cells(n_bins)
    for stage in saved["stages"]:
        if any(len(table) != size for table in stage["tables"]):
            yield f"a table of a stage has other than {size} cells"
        if len(stage["tables"]) not in (1, 1 + int(n_bins.sum())):
            yield f"{len(stage['tables'])} tables in a stage"
    if not saved["stages"]:
        yield "it has no stage"


def _read_binning(saved: dict[str, Any]) -> Binning:
    cuts, columns, first = load_cuts(saved), [], 0
    for bins in saved["bins"]:
        answers = np.array(bins["answers"], dtype=np.bool_)
        own = cuts[first : first + answers.shape[1]]
        if len({cut.column for cut in own}) != 1:
            raise ValueError("the questions of a column are about others too")
        columns.append(ColumnBins(own, answers, _floats(bins["weight"])))
        first += answers.shape[1]
    return Binning(tuple(columns))


def _floats(numbers: Any) -> Floats:
    return np.array(numbers, dtype=np.float64)
