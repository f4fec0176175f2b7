"""A validation in a file: plain lists, and their checks."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from surtree._support.schema import Check, Number, list_of, one_of, optional, record, text
from surtree.metrics import Calibration, DecisionCurve
from surtree.validation.result import METHODS, ColumnUse, LeafStability, Measure, Validation

_number = Number("a finite number")
_value = optional(_number)  # null stands for a measure that rows do not have
_share = Number("a number from 0 to 1", 0.0, 1.0)
_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)
_texts: dict[str, Check] = {"name": text, "words": text}


def _arrays(kind: type) -> Check:
    """Return the check of a horizon and lists of numbers."""
    names = [field.name for field in fields(kind) if field.name != "horizon"]
    return record({"horizon": _number, **dict.fromkeys(names, list_of(_value))})


validation_format = record(
    {
        "method": one_of(*METHODS),
        "measures": list_of(
            record(
                _texts | dict.fromkeys(("apparent", "corrected", "lower", "upper"), _value),
                also={"reason": text, "monte_carlo_error": _value},
            )
        ),
        "horizons": list_of(_number),
        "level": _share,
        **dict.fromkeys(("n_asked", "n_repetitions", "n_failed"), _count),
        "calibration": optional(_arrays(Calibration)),
        "decision": optional(_arrays(DecisionCurve)),
        "columns": list_of(
            record(
                {"name": text, "anywhere": _share, "first": _share, "thresholds": list_of(_number)}
            )
        ),
        "leaves": list_of(
            record(
                {"leaf": _count, "jaccard": _share}
                | dict.fromkeys(("survival", "lower", "upper"), _value)
            )
        ),
        "instability": _value,
    },
    also={"interval": optional(list_of(_number)), "random_state": optional(_count)},
)


def save_validation(found: Validation | None) -> dict[str, Any] | None:
    """Return a validation as plain values that JSON can hold; NaN becomes None."""
    if found is None:
        return None
    saved = {field.name: getattr(found, field.name) for field in fields(found)}
    del saved["repetitions"]
    return {name: _plain(value) for name, value in saved.items()}


def read_validation(saved: dict[str, Any] | None) -> Validation | None:
    """Return what `save_validation` wrote, of the right form."""
    if saved is None:
        return None
    if not saved["horizons"] or not saved["measures"]:
        raise ValueError("its validation has no measure")
    interval = saved.get("interval")
    if interval is not None and len(interval) != 2:
        raise ValueError("the interval of its validation is not two times")
    lists = {
        "measures": tuple(Measure(**_numbers(one)) for one in saved["measures"]),
        "columns": tuple(
            ColumnUse(**one | {"thresholds": tuple(one["thresholds"])}) for one in saved["columns"]
        ),
        "leaves": tuple(LeafStability(**_numbers(one)) for one in saved["leaves"]),
        "horizons": tuple(saved["horizons"]),
        "interval": None if interval is None else tuple(interval),
        "calibration": _read_arrays(Calibration, saved["calibration"]),
        "decision": _read_arrays(DecisionCurve, saved["decision"]),
        "instability": _number_of(saved["instability"]),
    }
    return Validation(**saved | lists)


def _read_arrays(kind: Any, saved: dict[str, Any] | None) -> Any:
    if saved is None:
        return None
    arrays = {
        name: np.array([_number_of(value) for value in values], dtype=np.float64)
        for name, values in saved.items()
        if name != "horizon"
    }
    if len({values.size for values in arrays.values()}) != 1:
        raise ValueError("a curve of its validation has lists of different lengths")
    return kind(horizon=float(saved["horizon"]), **arrays)


def _numbers(saved: dict[str, Any]) -> dict[str, Any]:
    return {name: _number_of(value) for name, value in saved.items()}


def _number_of(value: Any) -> Any:
    return float("nan") if value is None else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(number) for number in value.tolist()]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Measure | ColumnUse | LeafStability | Calibration | DecisionCurve):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return None if isinstance(value, float) and value != value else value
