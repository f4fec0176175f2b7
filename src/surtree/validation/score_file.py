"""Held-out scores in a file: plain lists, and their checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surtree._support.schema import Number, flag, list_of, one_of, optional, record, text
from surtree.validation.held_out import MEASURES, HeldOutScores
from surtree.validation.sizes import RULES, SizeScores

_score = Number("a finite number")
_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)

# A score that could not be computed is null. Early files do not say why.
_measures = dict.fromkeys(MEASURES, list_of(optional(_score)))
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
        **dict.fromkeys(("held_out", "training_loss"), list_of(list_of(_score))),
        "scoring": text,
        "rule": one_of(*RULES),
        "shrinkage": Number("a number, zero or more", 0.0),
    }
)


def save_sizes(scores: SizeScores | None) -> dict[str, Any] | None:
    """Return the scores of all sizes as plain values that JSON can hold."""
    if scores is None:
        return None
    return {name: _plain(getattr(scores, name)) for name in scores._names()}


def save_held_out(scores: HeldOutScores | None) -> dict[str, Any] | None:
    """Return scores of held-out rows as plain values that JSON can hold; NaN becomes None."""
    if scores is None:
        return None
    causes = [{"cause": cause} | _measures_of(one) for cause, one in scores.of_cause.items()]
    return _measures_of(scores) | {"corrected": scores.corrected, "causes": causes}


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


def _measures_of(scores: HeldOutScores) -> dict[str, Any]:
    return {name: _plain(getattr(scores, name)) for name in (*MEASURES, "reasons")}


def read_sizes(saved: dict[str, Any] | None) -> SizeScores | None:
    """Return the scores of all sizes that `save_sizes` wrote, of the right form."""
    if saved is None:
        return None
    arrays = {name: np.array(saved[name], dtype=np.int64) for name in ("max_depth", "max_splits")}
    lengths = {len(line) for name in ("held_out", "training_loss") for line in saved[name]}
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


def _plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    if value.ndim > 1:
        return value.tolist()
    return [None if number != number else number for number in value.tolist()]
