"""How rows are binned, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surtree._support.json_file import Check, Number, anything, list_of, record
from surtree.averages._binning import Binning, ColumnBins
from surtree.cuts.cut import load_cuts, save_cuts
from surtree.estimators.model_file import faults_of_columns

_BINS = record(
    {
        "answers": list_of(list_of(Number("zero or one", 0, 1, whole=True))),
        "weight": list_of(Number("a number above zero", 0.0)),
        "missing": Number("a bin", -1, 2**16, whole=True),
    }
)
BINNING_FIELDS: dict[str, Check] = {
    "cuts": list_of(anything),
    "known": anything,
    "bins": list_of(_BINS),
}


def save_binning(binning: Binning) -> dict[str, Any]:
    """Return the fields of a file that say how rows are binned."""
    return {
        **save_cuts(binning.cuts),
        "bins": [
            {
                "answers": bins.answers.astype(int).tolist(),
                "weight": bins.weight.tolist(),
                "missing": bins.missing,
            }
            for bins in binning.columns
        ],
    }


def read_binning(saved: dict[str, Any]) -> Binning:
    """Return the binning of a file, or raise a ValueError that says what does not fit together."""
    for fault in _faults(saved):
        raise ValueError(fault)
    cuts, columns, first = load_cuts(saved), [], 0
    for bins in saved["bins"]:
        answers = np.array(bins["answers"], dtype=np.bool_)
        asked = cuts[first : first + answers.shape[1]]
        if len({cut.column for cut in asked}) != 1:
            raise ValueError("the questions of a column are about others too")
        weight = np.array(bins["weight"], dtype=np.float64)
        columns.append(ColumnBins(asked, answers, weight, int(bins["missing"])))
        first += answers.shape[1]
    return Binning(tuple(columns))


def _faults(saved: dict[str, Any]) -> Iterator[str]:
    cuts = load_cuts(saved)
    yield from faults_of_columns(saved, list(cuts))
    n_cuts = 0
    for bins in saved["bins"]:
        widths = {len(answers) for answers in bins["answers"]}
        if len(widths) != 1 or len(bins["answers"]) != len(bins["weight"]):
            yield "the bins of a column have different numbers of answers"
            return
        if bins["missing"] >= len(bins["weight"]):
            yield "missing values have a bin that is not there"
        n_cuts += widths.pop()
    if n_cuts != len(cuts):
        yield f"{len(cuts)} questions, and answers to {n_cuts}"
