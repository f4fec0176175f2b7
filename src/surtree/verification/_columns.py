"""Columns as whole numbers, by what stands in a model file: like the program, it shares no code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode(claim: dict[str, Any], column: int, values: NDArray[Any]) -> NDArray[np.intp]:
    """Return how many thresholds of the file are below each value, or which category it is."""
    known, above = claim["known"].get(str(column)), edges(claim, column)
    if known is None and not above:  # nothing is asked but whether the value is missing
        return np.array([-1 if value is None or value != value else 0 for value in values.tolist()])
    if (known is None) != (values.dtype.kind == "f"):
        then, now = ("numbers", "categories") if known is None else ("categories", "numbers")
        raise ValueError(
            f"Column {claim_name(claim, column)!r} held {then} in the training table and holds "
            f"{now} in this one: convert it to {then}."
        )
    if known is not None:
        number = {label: code for code, label in enumerate(known)}
        return np.array([number.get(label, -1) for label in values.tolist()], dtype=np.intp)
    codes = np.searchsorted(above, values, side="left")
    return np.where(np.isnan(values), -1, codes)


def edges(claim: dict[str, Any], column: int) -> list[float]:
    """Return the thresholds of a column, ascending; between False and True it is one half."""
    asked = [cut for cut in claim["cuts"] if cut["column"] == column]
    return sorted({0.5 if cut["categories"] else cut["threshold"] for cut in asked} - {None})


def claim_name(claim: dict[str, Any], column: int) -> str:
    return str(next(cut["name"] for cut in claim["cuts"] if cut["column"] == column))
