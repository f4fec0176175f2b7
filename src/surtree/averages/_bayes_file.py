"""A fitted average over all trees as JSON: its tables, how rows are binned, and no code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surtree._support.json_file import Number, list_of, one_of, optional, record
from surtree._support.status import STATUSES
from surtree._support.types import Floats
from surtree.averages._binning import Binning
from surtree.averages._cox_file import COX_FORMAT, read_cox, save_cox
from surtree.averages._model_file import ModelFile
from surtree.averages._stages import Stage
from surtree.solver.average import MAX_DEPTH, PairTables

_number = Number("a finite number")
_share = Number("a number from zero to one", 0.0, 1.0)
_STAGE = record(
    {
        "scale": Number("a number above zero", 0.0),
        "log_bayes_factor": _number,
        "tables": list_of(list_of(_number)),
    }
)
_FIELDS = {
    "status": one_of(*STATUSES),
    "cox": optional(COX_FORMAT),
    "stages": list_of(_STAGE),
    "column_probability": list_of(_share),
    "first_questions": list_of(_share),
}


def _content(model: Any) -> dict[str, Any]:
    return {
        "status": model.status_,
        "cox": None if model.cox_ is None else save_cox(model.cox_),
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


def _attributes(saved: dict[str, Any], binning: Binning) -> dict[str, Any]:
    n_bins = np.array([len(bins.answers) for bins in binning.columns], dtype=np.int32)
    for fault in _faults(saved, n_bins, len(binning.cuts)):
        raise ValueError(fault)
    questions = zip((cut.rule for cut in binning.cuts), saved["first_questions"], strict=True)
    return {
        "status_": saved["status"],
        "cox_": None if saved["cox"] is None else read_cox(saved["cox"], saved),
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


def _faults(saved: dict[str, Any], n_bins: Any, n_cuts: int) -> Iterator[str]:
    """Yield what does not fit together, although it is sound in itself."""
    if len(saved["first_questions"]) != n_cuts:
        yield f"{n_cuts} questions, and probabilities of {len(saved['first_questions'])}"
    if len(saved["column_probability"]) != saved["n_columns"]:
        yield "another number of columns with a probability"
    shapes = {PairTables.shape(n_bins, depth) for depth in range(MAX_DEPTH + 1)}
    for stage in saved["stages"]:
        tables = stage["tables"]
        if {(len(tables), len(table)) for table in tables or [()]} - shapes:
            yield f"{len(tables)} tables in a stage, or another number of cells in them"
    if not saved["stages"]:
        yield "it has no stage"


def _floats(numbers: Any) -> Floats:
    return np.array(numbers, dtype=np.float64)


BAYES_FILE = ModelFile("surtree.bayes", _FIELDS, _content, _attributes)
