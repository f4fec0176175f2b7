"""Applies a tree as a person would: by the text of its rules alone, one row at a time."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pandas as pd

from surtree import Tree


def is_true(condition: str, row: dict[str, Any]) -> bool:
    """Read a condition such as ``age > 55.5 or missing`` and answer it for a row."""
    name = next(n for n in sorted(row, key=len, reverse=True) if condition.startswith(f"{n} "))
    value, words = row[name], condition.removeprefix(f"{name} ")
    missing = value is None or value is pd.NA or value != value
    if words in ("is missing", "is not missing"):
        return missing is (words == "is missing")
    for ending, answer in (
        (" or missing", True),
        (" or is missing", True),
        (" and not missing", False),
    ):
        if words.endswith(ending):
            words = words.removesuffix(ending)
            if missing:
                return answer
    if missing:
        return False
    for sign, holds in (("> ", operator.gt), ("<= ", operator.le)):
        if words.startswith(sign):
            return bool(holds(value, float(words.removeprefix(sign))))
    words = words.removeprefix("is ")
    for start, inside in (("one of ", True), ("none of ", False), ("not ", False), ("", True)):
        if words.startswith(start):
            return (str(value) in words.removeprefix(start).split(", ")) is inside
    raise AssertionError(f"no way to read {condition!r}")


def leaf_by_rules(tree: Tree, X: pd.DataFrame) -> np.ndarray:
    """Return the leaf of each row; every row must satisfy the rules of exactly one."""
    leaf, rules = [], tree.rules()
    for row in X.to_dict(orient="records"):
        reached = [rule.leaf for rule in rules if all(is_true(c, row) for c in rule.conditions)]
        assert len(reached) == 1, (row, reached)
        leaf += reached
    return np.array(leaf)
