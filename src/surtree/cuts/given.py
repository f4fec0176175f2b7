"""Thresholds that the user gives for some columns, in place of quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from surtree._support.parameters import is_number
from surtree._support.types import Floats
from surtree.data.table import Column

GivenThresholds = Mapping[str, Sequence[float]]


def require_thresholds(thresholds: Any) -> None:
    """Raise an error unless ``thresholds`` is None, or lists of numbers by names of columns."""
    if thresholds is None:
        return
    if not isinstance(thresholds, Mapping):
        raise ValueError(
            "thresholds must be None, or a dictionary from names of columns to lists of numbers, "
            f"such as {{'age': [50, 65]}}; got {thresholds!r}."
        )
    for name, values in thresholds.items():
        if not isinstance(name, str):
            raise ValueError(f"thresholds must name columns by texts; got {name!r}.")
        if isinstance(values, str) or not isinstance(values, Iterable) or not all(map(_ok, values)):
            raise ValueError(f"thresholds of {name!r} must be finite numbers; got {values!r}.")
        if not len(list(values)):
            raise ValueError(f"thresholds of {name!r} are none: give one, or leave the column out.")


def _ok(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def require_names(thresholds: GivenThresholds | None, names: Sequence[str]) -> None:
    """Raise an error where thresholds are given for columns that a table does not have."""
    for name in thresholds or ():
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:10])}"
            raise ValueError(f"thresholds are given for {name!r}, which is no column: {hint}")


def given_for(thresholds: GivenThresholds | None, column: Column) -> Floats | None:
    """Return the thresholds that are given for a column, ascending; None if there are none."""
    if thresholds is None or column.name not in thresholds:
        return None
    if column.kind != "numeric":
        raise ValueError(
            f"thresholds are given for {column.name!r}, which is no column of numbers but of "
            f"{'booleans' if column.kind == 'boolean' else 'categories'}"
        )
    return np.unique(np.array(list(thresholds[column.name]), dtype=np.float64))
