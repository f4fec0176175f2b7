"""Leaving centres out: whether the limits of each centre cover, and what the spread says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import SurTree, evaluate, validate

# By how much the logarithm of the hazard varies between centres.
DESIGNS = {"centres alike": 0.0, "centres differ": 0.4}
N_CENTRES, N_ROWS, N_TABLES, FAR_ROWS, HORIZON, LEVEL = 6, (60, 150), 20, 4_000, 0.7, 0.95
NAMES = ("concordance", "calibration_slope", f"calibration_at_{HORIZON:g}", "brier")


@dataclass(frozen=True)
class CentreCase:
    """A table of rows of some centres; ``rows`` are those of one."""

    design: str
    rows: int
    number: int
    far_rows: int = FAR_ROWS


def cases(quick: bool) -> list[CentreCase]:
    """Return all cases; the quick ones are a small table of each design."""
    if quick:
        return [CentreCase(design, 60, 0, 500) for design in DESIGNS]
    return [
        CentreCase(design, rows, number)
        for number in range(N_TABLES)
        for rows in N_ROWS
        for design in DESIGNS
    ]


def draw(level: float, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return the columns and the target of rows of one centre."""
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    time = rng.exponential(1 / np.exp(level + 0.9 * (X["a"] > 0) + 0.5 * (X["b"] > 0)))
    end = rng.exponential(1.5, n)
    return X, np.column_stack([time <= end, np.minimum(time, end)])


def measure(case: CentreCase) -> Measures:
    """Compare what is said of each centre with many more rows of it."""
    place = list(DESIGNS).index(case.design)
    rng = np.random.default_rng([61, place, case.rows, case.number])
    levels = rng.normal(0.0, DESIGNS[case.design], N_CENTRES)
    parts = [draw(level, case.rows, rng) for level in levels]
    X = pd.concat([X for X, _ in parts], ignore_index=True)
    y = np.concatenate([y for _, y in parts])
    y = (y[:, 0] > 0, y[:, 1])
    centre = np.repeat(np.arange(N_CENTRES), case.rows)
    model = SurTree(2, shrinkage=1.0)
    result = validate(
        model,
        X,
        y,
        groups=centre,
        method="groups",
        n_bootstraps=100,
        horizons=[HORIZON],
        level=LEVEL,
    )
    covers: dict[str, list[float]] = {name: [] for name in NAMES}
    off: dict[str, list[float]] = {name: [] for name in NAMES}
    for number, group in enumerate(result.groups):
        others = centre != number
        fitted = SurTree(2, shrinkage=1.0).fit(X[others], (y[0][others], y[1][others]))
        far_X, far = draw(levels[number], case.far_rows, rng)
        truth = evaluate(
            fitted, far_X, (far[:, 0] > 0, far[:, 1]), horizons=[HORIZON], n_bootstraps=1
        )
        for name in NAMES:
            one, true = group[name], truth[name].value
            if np.isfinite([one.lower, one.upper, true]).all():
                covers[name].append(float(one.lower <= true <= one.upper))
                off[name].append(one.value - true)
    return {
        **{f"covers {name}": float(np.mean(covers[name] or [np.nan])) for name in NAMES},
        **{f"off {name}": float(np.mean(off[name] or [np.nan])) for name in NAMES},
        "status": str(Status.DONE),
    }


def page(rows: pd.DataFrame, folder: Path) -> Sequence[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    by = rows.groupby(["design", "rows"], sort=False)
    n_limits = int(by.size().min()) * N_CENTRES
    lines = [
        "## What was done",
        "",
        f"Tables of {N_CENTRES} centres, each with {' or '.join(map(str, N_ROWS))} rows; "
        "*centres differ*: the logarithm of the hazard of a centre is normal with a standard "
        f'deviation of {DESIGNS["centres differ"]:g}. `validate` with `method="groups"` predicts '
        "each centre by a tree of depth two (shrinkage 1) of the others. The truth is the same "
        f"tree on {FAR_ROWS:,} other rows of the centre. {N_TABLES} tables a line, "
        f"each with 100 draws, so {n_limits} limits (Monte Carlo error about "
        f"{(0.0475 / n_limits) ** 0.5:.3f}). Designs, tables and measures "
        "were fixed before any was run.",
    ]
    for what, text in (
        ("covers", f"## Share of nominal {LEVEL:.0%} limits that hold the truth"),
        ("off", "## By how much values are above the truth"),
    ):
        means = by[[f"{what} {name}" for name in NAMES]].mean().reset_index()
        means.columns = [name.removeprefix(f"{what} ") for name in means]
        lines += ["", text, "", *table(means, 3)]
    return lines
