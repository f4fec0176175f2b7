"""Results of validation in a model file: plain values that JSON can hold, and their checks."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from surtree._support.json_file import Check, Number, flag, list_of, one_of, optional, record, text
from surtree._support.status import STATUSES
from surtree.metrics import Calibration, DecisionCurve
from surtree.validation._by_group import GroupPerformance
from surtree.validation._measures import Measure
from surtree.validation._stability import ColumnUse, LeafStability
from surtree.validation.held_out import MEASURES, HeldOutScores
from surtree.validation.results import METHODS, Validation
from surtree.validation.sizes import RULES, SizeScores, Tuning

_number = Number("a finite number")
_value = optional(_number)  # null stands for a score that rows do not have
_share = Number("a number from 0 to 1", 0.0, 1.0)
_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)
_prior = Number("a number, zero or more", 0.0)

# Early files do not say why a score is missing.
_measures = dict.fromkeys(MEASURES, list_of(_value))
_reasons = {"reasons": list_of(text)}
_cause = {"cause": Number("a cause, a whole number from 1", 1, 10**9, whole=True)}
held_out_format = record(
    _measures,
    also=_reasons
    | {"corrected": flag, "causes": list_of(record(_cause | _measures, also=_reasons))},
)
sizes_format = record(
    {
        **dict.fromkeys(("max_depth", "max_splits"), list_of(_count)),
        **dict.fromkeys(("held_out", "training_loss"), list_of(list_of(_number))),
        "scoring": text,
        "rule": one_of(*RULES),
        "shrinkage": _prior,
    }
)
tuning_format = record(
    {"shrinkages": list_of(_prior), "stratified": flag, "status": one_of(*STATUSES)}
)


# What is a single number of a calibration or a net benefit.
_NUMBERS = ("horizon", "cause")


def _arrays(kind: type) -> Check:
    """Return the check of a horizon and lists of numbers."""
    names = [field.name for field in fields(kind) if field.name not in _NUMBERS]
    return record(
        {"horizon": _number, **dict.fromkeys(names, list_of(_value))},
        also={"cause": optional(_cause["cause"])},
    )


_measure = record(
    {"name": text, "words": text}
    | dict.fromkeys(("apparent", "corrected", "lower", "upper"), _value),
    also={"reason": text, "monte_carlo_error": _value},
)
validation_format = record(
    {
        "method": one_of(*METHODS),
        "measures": list_of(_measure),
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
                | dict.fromkeys(("survival", "lower", "upper"), _value),
                also={"limits": list_of(list_of(_value))},
            )
        ),
        "instability": _value,
    },
    also={"interval": optional(list_of(_number)), "random_state": optional(_count)}
    | {"causes": list_of(_cause["cause"])}
    | {
        "groups": list_of(
            record(
                {"name": text, "n_rows": _count, "n_events": _count, "measures": list_of(_measure)}
            )
        )
    },
)


def save_held_out(scores: HeldOutScores | None) -> dict[str, Any] | None:
    """Return scores of held-out rows as plain values; NaN becomes None."""
    if scores is None:
        return None
    causes = [{"cause": cause} | _measures_of(one) for cause, one in scores.of_cause.items()]
    return _measures_of(scores) | {"corrected": scores.corrected, "causes": causes}


def _measures_of(scores: HeldOutScores) -> dict[str, Any]:
    return {name: _plain(getattr(scores, name)) for name in (*MEASURES, "reasons")}


def read_held_out(saved: dict[str, Any] | None) -> HeldOutScores | None:
    """Return the scores that `save_held_out` wrote, of the right form."""
    if saved is None:
        return None
    causes = saved.get("causes", [])
    n_folds = {len(one[name]) for one in (saved, *causes) for name in MEASURES}
    if len(n_folds) != 1 or 0 in n_folds:
        raise ValueError("its held-out scores are not of the same folds")
    of_cause = {one["cause"]: _read_measures(one, saved) for one in causes}
    return replace(_read_measures(saved, saved), of_cause=of_cause)


def _read_measures(part: dict[str, Any], saved: dict[str, Any]) -> HeldOutScores:
    reasons = part.get("reasons", ["", ""])
    if len(reasons) != 2:
        raise ValueError("its held-out scores have reasons of other scores")
    arrays = (np.array(part[name], dtype=np.float64) for name in MEASURES)
    loss, without, concordance, brier = arrays
    corrected = saved.get("corrected", False)
    return HeldOutScores(loss, without, concordance, brier, corrected, (reasons[0], reasons[1]))


def save_sizes(scores: SizeScores | None) -> dict[str, Any] | None:
    """Return the scores of all sizes as plain values."""
    if scores is None:
        return None
    return {name: _plain(getattr(scores, name)) for name in scores._names()}


def read_sizes(saved: dict[str, Any] | None) -> SizeScores | None:
    """Return the scores of all sizes that `save_sizes` wrote, of the right form."""
    if saved is None:
        return None
    arrays = {name: np.array(saved[name], dtype=np.int64) for name in ("max_depth", "max_splits")}
    lengths = {len(scores) for name in ("held_out", "training_loss") for scores in saved[name]}
    n_sizes = {len(saved[name]) for name in (*arrays, "held_out", "training_loss")}
    if len(n_sizes) != 1 or len(lengths) != 1 or 0 in n_sizes | lengths:
        raise ValueError("the scores of its sizes are not of the same sizes and folds")
    return SizeScores(
        **arrays,
        held_out=np.array(saved["held_out"], dtype=np.float64),
        training_loss=np.array(saved["training_loss"], dtype=np.float64),
        scoring=saved["scoring"],
        rule=saved["rule"],
        shrinkage=float(saved["shrinkage"]),
    )


def save_tuning(tuning: Tuning | None) -> dict[str, Any] | None:
    """Return what was tried as plain values."""
    return None if tuning is None else vars(tuning) | {"shrinkages": list(tuning.shrinkages)}


def read_tuning(saved: dict[str, Any] | None, chosen: float | None) -> Tuning | None:
    """Return what `save_tuning` wrote; ``chosen`` is the shrinkage of the scores beside it."""
    if saved is None:
        return None
    shrinkages = tuple(map(float, saved["shrinkages"]))
    if chosen not in shrinkages or list(shrinkages) != sorted(set(shrinkages)):
        raise ValueError("the shrinkage of its scores is not one of those that were tried")
    return Tuning(shrinkages, saved["stratified"], saved["status"])


def save_validation(result: Validation | None) -> dict[str, Any] | None:
    """Return a validation as plain values; NaN becomes None."""
    if result is None:
        return None
    names = (field.name for field in fields(result) if field.name != "repetitions")
    return {name: _plain(getattr(result, name)) for name in names}


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
        "measures": tuple(map(_read_measure, saved["measures"])),
        "columns": tuple(
            ColumnUse(**one | {"thresholds": tuple(one["thresholds"])}) for one in saved["columns"]
        ),
        "leaves": tuple(map(_read_leaf, saved["leaves"])),
        "horizons": tuple(saved["horizons"]),
        "interval": None if interval is None else tuple(interval),
        "calibration": _read_arrays(Calibration, saved["calibration"]),
        "decision": _read_arrays(DecisionCurve, saved["decision"]),
        "instability": _number_of(saved["instability"]),
        "causes": tuple(saved.get("causes", ())),
        "groups": tuple(
            GroupPerformance(**one | {"measures": tuple(map(_read_measure, one["measures"]))})
            for one in saved.get("groups", ())
        ),
    }
    return Validation(**saved | lists)


def _read_arrays(kind: Any, saved: dict[str, Any] | None) -> Any:
    if saved is None:
        return None
    arrays = {
        name: np.array([_number_of(value) for value in values], dtype=np.float64)
        for name, values in saved.items()
        if name not in _NUMBERS
    }
    if len({values.size for values in arrays.values()}) != 1:
        raise ValueError("a curve of its validation has lists of different lengths")
    return kind(horizon=float(saved["horizon"]), cause=saved.get("cause"), **arrays)


def _numbers(saved: dict[str, Any]) -> dict[str, Any]:
    return {name: _number_of(value) for name, value in saved.items()}


def _number_of(value: Any) -> Any:
    return np.nan if value is None else value


def _read_leaf(saved: dict[str, Any]) -> LeafStability:
    limits = tuple(tuple(map(_number_of, one)) for one in saved.get("limits", ()))
    if any(len(one) != 3 for one in limits):
        raise ValueError("limits of a leaf of its validation are not a time and two limits")
    return LeafStability(**_numbers(saved) | {"limits": limits})


def _read_measure(saved: dict[str, Any]) -> Measure:
    numbers = _numbers(saved)
    return Measure(value=numbers.pop("corrected"), **numbers)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(item) for item in (value.tolist() if hasattr(value, "tolist") else value)]
    if isinstance(value, Measure):
        # The order and the names are those of files since the first version.
        names = ("name", "words", "apparent", "value", "lower", "upper", "reason")
        saved = {name: _plain(getattr(value, name)) for name in (*names, "monte_carlo_error")}
        return {"corrected" if name == "value" else name: part for name, part in saved.items()}
    if isinstance(
        value, ColumnUse | LeafStability | Calibration | DecisionCurve | GroupPerformance
    ):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return None if isinstance(value, float) and value != value else value
