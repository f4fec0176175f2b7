"""A test of heterogeneity and a correction of effects in a file, and their checks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surtree._types import Floats
from surtree.data.arms import Label
from surtree.files.schema import LARGEST, POSITIVE, Number, list_of, optional, record
from surtree.scores.effects import (
    EffectCorrection,
    HeterogeneityTest,
    correction_of,
    permutation_p_value,
    require_arms,
)

_number = Number("a finite number")
_ratio = Number("a number above zero", POSITIVE, LARGEST)

heterogeneity_format = record(
    {
        "statistic": _number,
        "p_value": Number("a probability", POSITIVE, 1.0),
        "overall": list_of(_ratio),
        "permuted": list_of(_number),
    }
)
# The slope is null where no sample has a tree with a split.
correction_format = record(
    {
        "slope": optional(Number("a number from 0 to 1", 0.0, 1.0)),
        "outside": optional(_number),
        "n_samples": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
    }
)


def save_heterogeneity(
    test: HeterogeneityTest | None, arms: tuple[Label, ...]
) -> dict[str, Any] | None:
    """Return a test as plain values that JSON can hold, or raise an error if it has other arms."""
    if test is None:
        return None
    require_arms(test, arms)
    return {
        "statistic": float(test.statistic),
        "p_value": float(test.p_value),
        "overall": list(map(float, test.overall)),
        "permuted": test.permuted.tolist(),
    }


def read_heterogeneity(
    saved: dict[str, Any] | None, arms: tuple[Label, ...]
) -> HeterogeneityTest | None:
    """Return what `save_heterogeneity` wrote, of the right form."""
    if saved is None:
        return None
    if len(saved["overall"]) != len(arms) - 1:
        raise ValueError("its test of heterogeneity is of other arms")
    permuted = np.array(saved["permuted"], dtype=np.float64)
    statistic, p_value = float(saved["statistic"]), float(saved["p_value"])
    if not permuted.size or not math.isclose(p_value, permutation_p_value(statistic, permuted)):
        raise ValueError("the p-value of its test is not that of its permutations")
    overall = tuple(map(float, saved["overall"]))
    return HeterogeneityTest(statistic, p_value, overall, arms, permuted)


def save_correction(correction: EffectCorrection | None) -> dict[str, Any] | None:
    """Return a correction as plain values; the tree beside it has the effects of its leaves."""
    if correction is None:
        return None
    slopes = {"slope": correction.slope, "outside": correction.outside}
    plain = {name: float(value) if value == value else None for name, value in slopes.items()}
    return plain | {"n_samples": int(correction.n_samples)}


def read_correction(
    saved: dict[str, Any] | None, ratios: Floats, leaves: list[int], arms: tuple[Label, ...]
) -> EffectCorrection | None:
    """Return what `save_correction` wrote, for the leaves of a tree."""
    if saved is None:
        return None
    slopes = {
        name: float("nan") if saved[name] is None else float(saved[name])
        for name in ("slope", "outside")
    }
    return correction_of(ratios, leaves, arms, **slopes, n_samples=saved["n_samples"])
