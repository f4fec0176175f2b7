"""A score card as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree._support.json_file import Number, list_of
from surtree.averages._binning import Binning
from surtree.averages._model_file import ModelFile

_points = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)


def _content(model: Any) -> dict[str, Any]:
    return {
        "log_risk_at_zero": model.log_risk_at_zero_,
        "points": [points.tolist() for points in model.points_],
    }


def _attributes(saved: dict[str, Any], binning: Binning) -> dict[str, Any]:
    points = tuple(np.array(each, dtype=np.intp) for each in saved["points"])
    if [each.size for each in points] != [len(bins.answers) for bins in binning.columns]:
        raise ValueError("points for another number of bins")
    return {"log_risk_at_zero_": float(saved["log_risk_at_zero"]), "points_": points}


POINTS_FILE = ModelFile(
    "surtree.points",
    {"log_risk_at_zero": Number("a finite number"), "points": list_of(list_of(_points))},
    _content,
    _attributes,
)
