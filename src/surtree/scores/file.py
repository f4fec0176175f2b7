"""Held-out scores in a file: plain lists, and their checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from surtree._types import ArrayValue
from surtree.files.schema import Number, list_of, one_of, optional, record, text
from surtree.scores.held_out import SCORES, HeldOutScores
from surtree.scores.sizes import RULES, SizeScores

_score = Number("a finite number")
_count = Number("a whole number, zero or more", 0, 2**31 - 1, whole=True)

# A score that could not be computed is null. Early files do not say why.
held_out_format = record(
    dict.fromkeys(SCORES, list_of(optional(_score))),
    also={"reasons": list_of(text)},
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


def save_scores(scores: ArrayValue | None) -> dict[str, Any] | None:
    """Return scores as plain values that JSON can hold; NaN becomes None."""
    if scores is None:
        return None
    return {name: _plain(getattr(scores, name)) for name in scores._names()}


def read_held_out(saved: dict[str, Any] | None) -> HeldOutScores | None:
    """Return the scores of the chosen size that `save_scores` wrote, of the right form."""
    if saved is None:
        return None
    reasons = saved.get("reasons", ["", ""])
    if len(reasons) != 2:
        raise ValueError("its held-out scores have reasons of other scores")
    arrays = {name: np.array(saved[name], dtype=np.float64) for name in SCORES}
    if {values.size for values in arrays.values()} != {arrays["loss"].size} or not arrays[
        "loss"
    ].size:
        raise ValueError("its held-out scores are not of the same folds")
    return HeldOutScores(**arrays, reasons=(reasons[0], reasons[1]))


def read_sizes(saved: dict[str, Any] | None) -> SizeScores | None:
    """Return the scores of all sizes that `save_scores` wrote, of the right form."""
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
