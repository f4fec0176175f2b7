"""A score card as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surtree._support.json_file import Number, list_of
from surtree.averages._binning_file import BINNING_FIELDS, read_binning, save_binning
from surtree.averages._model_file import file_content, file_format, read_file
from surtree.tree.tree import save_baseline

FORMAT = "surtree.points"

_points = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)
_FORMAT = file_format(
    {
        **BINNING_FIELDS,
        "log_risk_at_zero": Number("a finite number"),
        "points": list_of(list_of(_points)),
    }
)


def points_content(model: Any) -> dict[str, Any]:
    """Return a fitted `PointsTable` as plain values."""
    return file_content(
        model,
        {
            "baseline": save_baseline(model.baseline_),
            **save_binning(model.binning_),
            "log_risk_at_zero": model.log_risk_at_zero_,
            "points": [points.tolist() for points in model.points_],
        },
    )


def read_points(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of a saved `PointsTable`, and what `fit` had learnt."""
    return read_file(path, FORMAT, _FORMAT, _attributes)[:2]


def _attributes(saved: dict[str, Any]) -> dict[str, Any]:
    binning = read_binning(saved)
    if [len(points) for points in saved["points"]] != [
        len(bins.answers) for bins in binning.columns
    ]:
        raise ValueError("points for another number of bins")
    return {
        "binning_": binning,
        "log_risk_at_zero_": float(saved["log_risk_at_zero"]),
        "points_": tuple(np.array(points, dtype=np.intp) for points in saved["points"]),
    }
