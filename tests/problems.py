"""Small random tables for property tests, and losses by nothing but their definition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from surtree.cuts.categories import CATEGORY_CUTS, all_subsets, singles_and_prefixes
from surtree.solver import reference
from surtree.solver.problem import BinnedRows, Limits
from surtree.survival.objective import RelativeRisk
from surtree.survival.row_sums import RowSums

LEVELS = ("a", "b", "c", "d")
MANY = ("A", "B", "C", "D", "E")
# Where the midpoint of adjacent floats rounds up or down, underflows or overflows.
CROWDED = (1.0, 0.3, -0.3, 0.0, 5e-324, -1.5e-323, 2.2250738585072014e-308, 1e16, 1e308, -1e308)


@dataclass(frozen=True)
class Case:
    X: pd.DataFrame
    y: np.ndarray
    weight: np.ndarray | None
    entry: np.ndarray | None
    limits: dict[str, Any]


def column(draw: st.DrawFn, n: int, earlier: list[pd.Series]) -> pd.Series:
    kinds = ["number", "ties", "boolean", "nominal", "many", "ordinal", "constant"]
    if earlier:
        kinds += ["copy", "negated", "nested"]
    kind = draw(st.sampled_from(kinds))
    numbers = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    if kind == "number":
        values = pd.Series(draw(st.permutations(range(n))), dtype=float) / 4
    elif kind == "ties":
        values = pd.Series(draw(numbers), dtype=float)
    elif kind == "boolean":
        values = pd.Series(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    elif kind == "many":
        codes = draw(st.lists(st.integers(0, len(MANY) - 1), min_size=n, max_size=n))
        values = pd.Series([MANY[code] for code in codes], dtype=object)
    elif kind in ("nominal", "ordinal"):
        codes = draw(numbers)
        values = pd.Series([LEVELS[code] for code in codes], dtype=object)
        if kind == "ordinal":
            values = pd.Series(pd.Categorical(values, categories=LEVELS, ordered=True))
    elif kind == "constant":
        values = pd.Series([7.0] * n)
    else:
        before = draw(st.sampled_from(earlier))
        if before.dtype != float or before.isna().all():
            return before.copy()
        if kind == "copy":
            values = before.copy()
        elif kind == "negated":
            values = -before
        else:
            values = (before > before.median()).astype(float)
    if draw(st.integers(0, 3)) == 0:
        gone = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        values = values.astype(object) if values.dtype == bool else values
        values = values.mask(pd.Series(gone), None if values.dtype == object else np.nan)
    return values


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 16, max_columns: int = 3) -> Case:
    """Draw a table with ties, missing values, weights, entry times or events at zero, limits."""
    n = draw(st.integers(2, max_rows))
    columns: list[pd.Series] = []
    for _ in range(draw(st.integers(1, max_columns))):
        columns.append(column(draw, n, columns))
    X = pd.DataFrame({f"c{k}": values for k, values in enumerate(columns)})

    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"] = draw(st.lists(st.sampled_from([1, 2, 2.5, 3, 5, 8]), min_size=n, max_size=n))
    y["event"] = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    y["event"][draw(st.integers(0, n - 1))] = True

    weight = entry = None
    if draw(st.booleans()):
        weight = np.array(draw(st.lists(st.sampled_from([1, 2, 0.5, 1.3]), min_size=n, max_size=n)))
    if draw(st.integers(0, 2)) == 0:
        shares = draw(st.lists(st.sampled_from([0, 0.3, 0.8]), min_size=n, max_size=n))
        entry = y["time"] * shares
    elif (y["time"][y["event"]] > 1).any():
        y["time"][y["event"] & (y["time"] == 1)] = draw(st.sampled_from([0, 1]))

    depth = draw(st.integers(0, 4))
    limits = {"max_depth": depth, "n_thresholds": 3, "min_support": 0.0}
    if draw(st.booleans()):
        limits["max_splits"] = draw(st.integers(0, 2**depth - 1))
    if draw(st.booleans()):
        limits["min_samples_leaf"] = draw(st.integers(1, 4))
    if draw(st.booleans()):
        limits["min_events_leaf"] = draw(st.integers(0, 3))
    limits["category_cuts"] = draw(st.sampled_from(CATEGORY_CUTS))
    if draw(st.integers(0, 2)) == 0:
        limits["shrinkage"] = draw(st.sampled_from([0.1, 1.0, 10.0]))
    return Case(X, y, weight, entry, limits)


@st.composite
def neighbouring_floats(draw: st.DrawFn) -> list[float]:
    """Draw floats that stand next to each other, in one or more places, and some others."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    values = draw(st.lists(finite, max_size=3))
    for start in draw(st.lists(st.sampled_from(CROWDED) | finite, min_size=1, max_size=3)):
        values.append(start)
        towards = draw(st.sampled_from([-math.inf, math.inf]))
        for _ in range(draw(st.integers(1, 6))):
            step = math.nextafter(values[-1], towards)
            values.append(step if math.isfinite(step) else values[-1])
    return values


def limits_of(case: Case) -> Limits:
    """Return the limits of a problem as the solver takes them."""
    others = ("n_thresholds", "min_support", "category_cuts", "shrinkage")
    return Limits(**{name: value for name, value in case.limits.items() if name not in others})


def objective_of(case: Case) -> RelativeRisk:
    """Return what a leaf is worth in a problem."""
    return RelativeRisk(case.limits.get("shrinkage", 0.0))


def expected_losses(case: Case, holds: np.ndarray) -> np.ndarray:
    """Return the optimal loss for 0, 1, 2, ... splits, by the formulas of the paper."""
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    hazard = row_hazard(case.y, weight, case.entry)
    events = weight * case.y["event"]
    shrinkage = case.limits.get("shrinkage", 0.0)
    rows = relative_risk_rows(events, weight * hazard, case.y["event"], shrinkage)
    solution = reference.solve(holds, rows, limits_of(case))
    return -(events @ np.log(hazard)) - np.asarray(solution.gains)


def relative_risk_rows(
    events: np.ndarray, hazard: np.ndarray, event: np.ndarray, shrinkage: float = 0.0
) -> RowSums:
    """Return rows with given sums; of the loss only the part that trees change is of use."""
    ones = np.ones(len(events))
    counts = {"samples": ones, "events": np.asarray(event, dtype=float)}
    objective = RelativeRisk(shrinkage)
    return RowSums(objective, np.stack([events, hazard]), counts, ones, 0 * ones)


def random_problem(
    rng: np.random.Generator, max_rows: int = 14, max_columns: int = 3
) -> tuple[BinnedRows, np.ndarray]:
    """Draw rows by bins, with all kinds of cuts and missing values, and what each cut holds.

    Small enough for the reference solver at depth three.
    """
    n = int(rng.integers(2, max_rows + 1))
    lines, n_bins, missing_bin, cuts = [], [], [], []
    for line in range(rng.integers(1, max_columns + 1)):
        q = int(rng.integers(2, 6))
        missing = bool(rng.random() < 0.3)
        missing_bin.append(q if missing else -1)
        n_bins.append(q + missing)
        lines.append(rng.integers(0, q + missing, n))
        kind = rng.choice(["above", "above", "single", "subsets", "prefixes"])
        if kind == "above":
            sets = [range(k, q) for k in range(1, q)]
        elif kind == "single":
            sets = [[k] for k in range(q)]
        else:
            found = all_subsets(q) if kind == "subsets" else singles_and_prefixes(np.arange(q))
            sets = [found.members(k) for k in range(len(found.first))]
        sides = (False, True) if missing and rng.random() < 0.5 else (missing,)
        cuts += [(line, list(held), also) for held in sets for also in sides]
        if missing:
            cuts.append((line, [q], True))
    holds = [
        np.isin(lines[line], held) | (also & (lines[line] == missing_bin[line]))
        for line, held, also in cuts
    ]
    gaps = [sum(1 << b for b in range(held[0], held[-1]) if b not in held) for _, held, _ in cuts]
    columns = (
        n_bins,
        missing_bin,
        [line for line, _, _ in cuts],
        [held[0] for _, held, _ in cuts],
        [held[-1] for _, held, _ in cuts],
    )
    binned = BinnedRows(
        np.array(lines, dtype=np.uint16),
        *(np.array(each, dtype=np.int32) for each in columns),
        np.array([also for _, _, also in cuts]),
        np.array(gaps, dtype=np.uint64),
    )
    return binned, np.column_stack(holds)


def row_hazard(y: np.ndarray, weight: np.ndarray, entry: np.ndarray | None) -> np.ndarray:
    """Nelson-Aalen, row by row: slow, and read off its definition."""
    entry = np.full(len(y), -1.0) if entry is None else entry  # there at time zero already
    steps = {}
    for t in np.unique(y["time"][y["event"]]):
        deaths = weight[(y["time"] == t) & y["event"]].sum()
        steps[t] = deaths / weight[(entry < t) & (t <= y["time"])].sum()
    floor = min(1 / (weight.sum() + 1), min(steps.values()))
    return np.array(
        [
            max(sum(step for t, step in steps.items() if begin < t <= end), floor)
            for begin, end in zip(entry, y["time"], strict=True)
        ]
    )


def leaf_loss(
    y: np.ndarray,
    weight: np.ndarray,
    hazard: np.ndarray,
    leaf: np.ndarray,
    shrinkage: float = 0.0,
) -> float:
    """Return the loss of a partition of the rows, each part with the theta that suits it best.

    A prior adds its penalty for each part.
    """
    loss = 0.0
    for number in np.unique(leaf):
        rows = leaf == number
        events = weight[rows] @ y["event"][rows] + shrinkage
        if events == 0:
            continue
        theta = events / (weight[rows] @ hazard[rows] + shrinkage)
        loss -= weight[rows] @ (y["event"][rows] * np.log(hazard[rows] * theta))
        # Of theta (H + a) - (E + a) log theta - a, what is left once theta is put in.
        loss -= shrinkage * np.log(theta)
    return float(loss)


def take(case: Case, rows: np.ndarray) -> Case:
    """Return some rows of a problem, in this order."""
    return replace(
        case,
        X=case.X.iloc[rows].reset_index(drop=True),
        y=case.y[rows],
        weight=None if case.weight is None else case.weight[rows],
        entry=None if case.entry is None else case.entry[rows],
    )
