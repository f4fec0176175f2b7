"""Random tables, targets, weights, entry times and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from surtree.cuts.categories import CATEGORY_CUTS
from tests.problems import LEVELS, MANY, Case, take

Rng = np.random.Generator
T = TypeVar("T")

# What `expected_losses` leaves out: it says which cuts there are.
CUTS = {"n_thresholds": 3, "min_support": 0.0, "category_cuts": "one"}


def pick(rng: Rng, options: Sequence[T]) -> T:
    """Return one of some values, as it is."""
    return options[int(rng.integers(len(options)))]


def chance(rng: Rng, probability: float) -> bool:
    """Return True with this probability."""
    return bool(rng.random() < probability)


def draw_column(rng: Rng, n: int, earlier: Sequence[pd.Series] = ()) -> pd.Series:
    """Draw a column of any kind, perhaps made of an earlier one."""
    kinds = ["number", "real", "ties", "whole", "boolean", "nominal", "ordinal", "constant"]
    numeric = [column for column in earlier if column.dtype == float]
    if numeric:
        kinds += ["copy", "negated", "nested"]
    kind = pick(rng, kinds)
    if kind == "number":
        values = pd.Series(rng.permutation(n) / 4)
    elif kind == "real":
        values = pd.Series(rng.normal(size=n) * 10.0 ** rng.integers(-6, 7))
    elif kind == "ties":
        values = pd.Series(rng.integers(0, 4, n).astype(float))
    elif kind == "whole":
        values = pd.Series(rng.integers(-3, 4, n))
    elif kind == "boolean":
        values = pd.Series(rng.random(n) < 0.5)
    elif kind in ("nominal", "ordinal"):
        names = pick(rng, [LEVELS, MANY]) if kind == "nominal" else LEVELS
        values = pd.Series([pick(rng, names) for _ in range(n)], dtype=object)
        if kind == "ordinal":
            values = pd.Series(pd.Categorical(values, categories=LEVELS, ordered=True))
    elif kind == "constant":
        values = pd.Series(np.full(n, 7.0))
    else:
        before = pick(rng, numeric)
        values = {
            "copy": before.copy(),
            "negated": -before,
            "nested": (before > before.median()).astype(float),
        }[kind]
    if chance(rng, 0.25) and kind != "whole":
        values = values.astype(object) if values.dtype == bool else values
        gone = pd.Series(rng.random(n) < pick(rng, [0.1, 0.5, 0.9]))
        values = values.mask(gone, None if values.dtype == object else np.nan)
    return values


def draw_table(rng: Rng, n: int, n_columns: int) -> pd.DataFrame:
    """Draw a table of columns of all kinds."""
    columns: list[pd.Series] = []
    for _ in range(n_columns):
        columns.append(draw_column(rng, n, columns))
    return pd.DataFrame({f"c{k}": values for k, values in enumerate(columns)})


def target(event: Any, time: Any) -> np.ndarray:
    """Return a survival target."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def draw_target(rng: Rng, n: int) -> np.ndarray:
    """Draw times with and without ties; all, some or just one of the rows have an event."""
    if chance(rng, 0.6):
        time = rng.choice([1, 2, 2.5, 3, 5, 8], n)
    else:
        time = rng.exponential(size=n) * 10.0 ** rng.integers(-3, 5) + 1e-9
    event = rng.random(n) < pick(rng, [0.0, 0.3, 0.6, 0.6, 1.0])
    event[rng.integers(n)] = True
    return target(event, time)


def draw_weight(rng: Rng, y: np.ndarray) -> np.ndarray | None:
    """Draw weights, as a rule none; some are zero."""
    kind = pick(rng, ["none", "none", "none", "some", "whole", "real"])
    if kind == "none":
        return None
    if kind == "some":
        return rng.choice([1, 2, 0.5, 1.3], len(y))
    if kind == "real":
        return rng.gamma(1.0, size=len(y)) + 1e-3
    weight = rng.integers(0, 4, len(y)).astype(float)
    weight[np.flatnonzero(y["event"])[0]] = 2
    return weight


def draw_entry(rng: Rng, y: np.ndarray) -> np.ndarray | None:
    """Draw entry times, as a rule none."""
    if chance(rng, 0.75):
        return None
    return y["time"] * rng.choice([0, 0.3, 0.8], len(y))


def draw_limits(rng: Rng, depth: int, n: int) -> dict[str, Any]:
    """Draw limits of the tree, besides its depth."""
    limits: dict[str, Any] = {"max_depth": depth}
    if chance(rng, 0.3):
        limits["max_splits"] = int(rng.integers(0, 2**depth + 1))
    if chance(rng, 0.3):
        limits["min_samples_leaf"] = int(rng.integers(1, max(2, n // 3)))
    if chance(rng, 0.3):
        limits["min_events_leaf"] = int(rng.integers(0, 4))
    if chance(rng, 0.25):
        limits["shrinkage"] = pick(rng, [0.01, 0.5, 1.0, 3.0, 10.0, 1000.0])
    return limits


def draw_case(rng: Rng, n: int, n_columns: int, depth: int) -> Case:
    """Draw a problem of any kind."""
    y = draw_target(rng, n)
    limits = draw_limits(rng, depth, n) | CUTS
    limits["category_cuts"] = pick(rng, CATEGORY_CUTS)
    return Case(draw_table(rng, n, n_columns), y, draw_weight(rng, y), draw_entry(rng, y), limits)


def counted(case: Case) -> Case:
    """Return the rows that count: those of weight zero are absent."""
    return case if case.weight is None else take(case, np.flatnonzero(case.weight > 0))
