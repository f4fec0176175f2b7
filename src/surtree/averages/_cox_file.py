"""A ridge Cox model as JSON."""

from __future__ import annotations

from typing import Any

from surtree._support.json_file import Number, anything, list_of, optional, record, text
from surtree.averages.ridge_cox import CoxTerm, RidgeCox
from surtree.cuts.cut import Cut
from surtree.estimators.model_file import faults_of_columns

_number = Number("a finite number")
_TERM = record(
    {
        "column": Number("a column", 0, 2**31 - 1, whole=True),
        "name": text,
        "cut": optional(anything),
        "mean": _number,
        "spread": Number("a number above zero", 1e-300),
        "coefficient": _number,
    }
)
COX_FORMAT = record(
    {
        "terms": list_of(_TERM),
        "penalty": Number("a number above zero", 0.0),
        "lowest": _number,
        "highest": _number,
    }
)


def save_cox(model: RidgeCox) -> dict[str, Any]:
    """Return a model as plain values."""
    terms = [
        vars(term) | {"cut": None if term.cut is None else term.cut.to_dict()}
        for term in model.terms
    ]
    return vars(model) | {"terms": terms}


def read_cox(saved: dict[str, Any], file: dict[str, Any]) -> RidgeCox:
    """Return the model that `save_cox` saved, or raise a ValueError that says what is wrong."""
    terms = tuple(
        CoxTerm(**{**term, "cut": None if term["cut"] is None else Cut.from_dict(term["cut"])})
        for term in saved["terms"]
    )
    for fault in faults_of_columns(file, [term.cut for term in terms if term.cut is not None]):
        raise ValueError(fault)
    if any(term.column >= file["n_columns"] for term in terms):
        raise ValueError("a coefficient of a column that is not there")
    if saved["lowest"] > saved["highest"]:
        raise ValueError("the lowest log risk is above the highest")
    return RidgeCox(terms, *(float(saved[name]) for name in ("penalty", "lowest", "highest")))
