"""A score card as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.json_file import damaged
from surtree._support.schema import Number, list_of, record
from surtree.averages.bayes_file import (
    MODEL_FIELDS,
    OTHER_FIELDS,
    read_model_file,
    write_model_file,
)

FORMAT = "surtree.points"

_FIELDS = MODEL_FIELDS | {
    "log_risk_at_zero": Number("a finite number"),
    "points": list_of(list_of(Number("a whole number, zero or more", 0, 2**31 - 1, whole=True))),
}
POINTS_FORMATS = {1: record(_FIELDS, also=OTHER_FIELDS)}


def write_points(model: Any, path: Path) -> None:
    """Write a fitted `PointsTable` to a file."""
    own = {
        "log_risk_at_zero": model.log_risk_at_zero_,
        "points": [points.tolist() for points in model.points_],
    }
    write_model_file(model, path, FORMAT, own)


def read_points(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the model that `write_points` wrote, and what `fit` had learnt."""
    saved, attributes, _ = read_model_file(path, FORMAT, POINTS_FORMATS)
    columns = attributes["binning_"].columns
    if [len(points) for points in saved["points"]] != [len(bins.answers) for bins in columns]:
        raise damaged(path, ValueError("points for another number of bins"))
    attributes |= {
        "log_risk_at_zero_": float(saved["log_risk_at_zero"]),
        "points_": tuple(np.array(points, dtype=np.intp) for points in saved["points"]),
    }
    return saved["parameters"], attributes
