"""A test of heterogeneity and a correction of effects in a file, and their checks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surtree._support.schema import LARGEST, POSITIVE, Number, list_of, optional, record
from surtree._support.types import Floats
from surtree.data.target import Label
from surtree.outcomes.effect_results import (
    CorrectedEffect,
    EffectCorrection,
    HeterogeneityTest,
    monte_carlo_p_value,
    require_arms,
)

_number = Number("a finite number")
_ratio = Number("a number above zero", POSITIVE, LARGEST)
# An upper limit is null where there is none.
_limits = record(
    {"lower": Number("a number, zero or more", 0.0, LARGEST), "upper": optional(_ratio)}
)

heterogeneity_format = record(
    {
        "statistic": _number,
        "p_value": Number("a probability", POSITIVE, 1.0),
        "overall": list_of(_ratio),
        "limits": list_of(_limits),
        "drawn": list_of(_number),
    }
)
# The slope is null where no fold has a tree with a split.
correction_format = record(
    {
        "slope": optional(Number("a number from 0 to 1", 0.0, 1.0)),
        "error": optional(Number("a number, zero or more", 0.0, LARGEST)),
        "overall": list_of(_ratio),
        "corrected": list_of(_ratio),
        "limits": list_of(_limits),
        "n_repeats": Number("a whole number above zero", 1, 2**31 - 1, whole=True),
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
        "limits": _save_limits(test.limits),
        "drawn": test.drawn.tolist(),
    }


def read_heterogeneity(
    saved: dict[str, Any] | None, arms: tuple[Label, ...]
) -> HeterogeneityTest | None:
    """Return what `save_heterogeneity` wrote, of the right form."""
    if saved is None:
        return None
    if {len(saved[name]) for name in ("overall", "limits")} != {len(arms) - 1}:
        raise ValueError("its test of heterogeneity is of other arms")
    drawn = np.array(saved["drawn"], dtype=np.float64)
    statistic, p_value = float(saved["statistic"]), float(saved["p_value"])
    if not drawn.size or not math.isclose(p_value, monte_carlo_p_value(statistic, drawn)):
        raise ValueError("the p-value of its test is not that of its draws")
    overall = tuple(map(float, saved["overall"]))
    limits = _read_limits(saved["limits"])
    return HeterogeneityTest(statistic, p_value, overall, limits, arms, drawn)


def save_correction(correction: EffectCorrection | None) -> dict[str, Any] | None:
    """Return a correction as plain values; the tree beside it has the ratios of its leaves."""
    if correction is None:
        return None
    return {
        "slope": _finite(correction.slope),
        "error": _finite(correction.error),
        "overall": list(map(float, correction.overall)),
        "corrected": [float(one.corrected) for one in correction.leaves],
        "limits": _save_limits(tuple(one.limits for one in correction.leaves)),
        "n_repeats": int(correction.n_repeats),
    }


def read_correction(
    saved: dict[str, Any] | None, ratios: Floats, leaves: list[int], arms: tuple[Label, ...]
) -> EffectCorrection | None:
    """Return what `save_correction` wrote, for the leaves of a tree."""
    if saved is None:
        return None
    cells = [(leaf, row) for leaf in leaves for row in range(len(arms) - 1)]
    corrected, limits = saved["corrected"], _read_limits(saved["limits"])
    if len(saved["overall"]) != len(arms) - 1 or not len(corrected) == len(limits) == len(cells):
        raise ValueError("its correction is of other leaves or arms")
    slope, error = (
        math.nan if saved[name] is None else float(saved[name]) for name in ("slope", "error")
    )
    return EffectCorrection(
        slope,
        error,
        tuple(map(float, saved["overall"])),
        tuple(
            CorrectedEffect(leaf, arms[row + 1], float(ratios[row, leaf]), float(ratio), limit)
            for (leaf, row), ratio, limit in zip(cells, corrected, limits, strict=True)
        ),
        saved["n_repeats"],
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _save_limits(limits: tuple[tuple[float, float], ...]) -> list[dict[str, float | None]]:
    return [{"lower": float(lower), "upper": _finite(upper)} for lower, upper in limits]


def _read_limits(saved: list[dict[str, float | None]]) -> tuple[tuple[float, float], ...]:
    return tuple(
        (float(one["lower"] or 0.0), math.inf if one["upper"] is None else float(one["upper"]))
        for one in saved
    )
