"""Whether the limits of `evaluate`, of calibration groups and of incidences cover what they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import (
    CompetingRisksTree,
    EffectTree,
    Evaluation,
    NotRandomisedWarning,
    SurTree,
    confidence_band,
    evaluate,
    leaf_incidence_band,
)
from surtree._support.parameters import LeafCurveKind
from surtree.metrics import calibration

LEVEL = 0.95
N_TABLES, TRAIN_ROWS, FAR_ROWS, HORIZON = 100, 500, 20_000, 1.0
SHRINKAGE = 3.0
DESIGNS = ("proportional", "lognormal", "many censored")
ROWS = (150, 500)


@dataclass(frozen=True)
class EvaluationCase:
    """One table of new rows."""

    design: str
    rows: int
    number: int
    far_rows: int = FAR_ROWS


def cases(quick: bool) -> list[EvaluationCase]:
    """Return all cases; the quick ones are a few small tables."""
    if quick:
        return [EvaluationCase(design, 150, 0, 2000) for design in DESIGNS]
    return [
        EvaluationCase(design, rows, number)
        for design in DESIGNS
        for rows in ROWS
        for number in range(N_TABLES)
    ]


def _draw(
    design: str, n: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return columns, event times and censoring times."""
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    risk = np.exp(0.7 * (X["a"] > 0) + 0.4 * (X["b"] > 0)).to_numpy()
    if design == "lognormal":
        time = np.exp(rng.normal(size=n) * 0.9) / risk
    else:
        time = rng.exponential(1 / risk)
    return X, time, rng.exponential(0.8 if design == "many censored" else 2.0, size=n)


def measure(case: EvaluationCase) -> Measures:
    """Evaluate a model that was fitted elsewhere, and compare with a large table."""
    model = _model(case.design)
    rng = np.random.default_rng([7, DESIGNS.index(case.design), case.rows, case.number])
    X, time, censored = _draw(case.design, case.rows, rng)
    y = (time <= censored, np.minimum(time, censored))
    found = evaluate(model, X, y, horizons=[HORIZON], random_state=case.number)
    far, far_X, alive = _far(case.design, case.far_rows)
    result: Measures = {
        f"covers {one.name}": _inside(truth.value, one.lower, one.upper)
        for one, truth in zip(found.measures, far.measures, strict=True)
    }
    far_leaf = model.apply(far_X)
    result["covers leaf ratio"] = _mean(
        _inside(truth.ratio, leaf.lower, leaf.upper)
        for leaf, truth in zip(found.leaves, far.leaves, strict=True)
    )
    result["covers leaf survival"] = _mean(
        _inside(alive[far_leaf == leaf.leaf].mean(), leaf.observed_lower[0], leaf.observed_upper[0])
        for leaf in found.leaves
    )
    groups = calibration(y, model.predict_survival_function(X), HORIZON)
    shown = np.round(model.predict_survival_function(far_X, times=[HORIZON])[:, 0], 9)
    result["covers calibration"] = _mean(
        _inside(alive[np.isclose(shown, predicted, atol=1e-6)].mean(), lower, upper)
        for predicted, lower, upper in zip(
            groups.predicted, groups.lower, groups.upper, strict=True
        )
        if np.isclose(shown, predicted, atol=1e-6).any()
    )
    result |= _shrunk(case, X, y, far_X, alive) | _incidence(case, rng) | _lot(X, y, rng)
    return result | {"status": str(Status.DONE)}


def _shrunk(
    case: EvaluationCase, X: pd.DataFrame, y: tuple[np.ndarray, ...], far_X: Any, alive: Any
) -> Measures:
    """Return whether bands of shrunk curves cover, of leaves that were given beforehand."""
    model = SurTree(
        1, thresholds={"a": [0.0]}, shrinkage=SHRINKAGE, leaf_curve="shrunk", min_support=0.0
    ).fit(X[["a"]], y)
    far_leaf = model.apply(far_X[["a"]])
    covers = []
    for leaf in model.tree_.leaves.tolist():
        low, high = confidence_band(model, leaf, LEVEL)
        covers.append(_inside(alive[far_leaf == leaf].mean(), low(HORIZON), high(HORIZON)))
    return {"covers shrunk": _mean(covers)}


def _lot(X: pd.DataFrame, y: tuple[np.ndarray, ...], rng: np.random.Generator) -> Measures:
    """Return whether a trial whose arms were drawn by lot is said not to be one."""
    arm = rng.permutation(np.arange(len(X)) % 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        EffectTree(1).fit(X, y, arm)
    return {"warned": float(any(w.category is NotRandomisedWarning for w in caught))}


@cache
def _far(design: str, n: int) -> tuple[Evaluation, pd.DataFrame, np.ndarray]:
    """Return the figures of a large table, its columns, and who is alive at the horizon."""
    rng = np.random.default_rng([8, DESIGNS.index(design)])
    X, time, censored = _draw(design, n, rng)
    y = time <= censored, np.minimum(time, censored)
    return evaluate(_model(design), X, y, horizons=[HORIZON], n_bootstraps=1), X, time > HORIZON


@cache
def _model(design: str) -> SurTree:
    X, time, censored = _draw(design, TRAIN_ROWS, np.random.default_rng([9, DESIGNS.index(design)]))
    y = (time <= censored, np.minimum(time, censored))
    return SurTree(2, thresholds={"a": [0.0], "b": [0.0]}).fit(X, y)


def _incidence(case: EvaluationCase, rng: np.random.Generator) -> Measures:
    """Return whether bands of incidences cover, of leaves that were given beforehand."""
    X, first, censored = _draw(case.design, case.rows, rng)
    second = rng.exponential(2.0, size=case.rows)
    time = np.minimum(np.minimum(first, second), censored)
    cause = np.where(time == first, 1, np.where(time == second, 2, 0))
    tree = CompetingRisksTree(
        1, thresholds={"a": [0.0]}, leaf_curve="kaplan-meier", min_support=0.0
    ).fit(X[["a"]], (cause, time))
    far_X, far_first, _ = _draw(case.design, case.far_rows, np.random.default_rng(10))
    far_second = np.random.default_rng(11).exponential(2.0, size=case.far_rows)
    died = (far_first < far_second) & (far_first <= HORIZON / 2)
    far_leaf = tree.apply(far_X[["a"]])
    covers: dict[LeafCurveKind, list[float]] = {"kaplan-meier": [], "baseline": []}
    for leaf in tree.tree_.leaves.tolist():
        for kind, found in covers.items():
            low, high = leaf_incidence_band(tree, leaf, 1, LEVEL, kind)
            truth = died[far_leaf == leaf].mean()
            found.append(_inside(truth, low(HORIZON / 2), high(HORIZON / 2)))
    return {
        "covers incidence": _mean(covers["kaplan-meier"]),
        "covers baseline incidence": _mean(covers["baseline"]),
    }


def _inside(truth: float, lower: float, upper: float) -> float:
    return float(lower <= truth <= upper) if np.isfinite([lower, upper]).all() else np.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    names = {
        "concordance": "Harrell's C",
        "concordance_ipcw": "Uno's C",
        "brier": "reduction of the Brier score",
        "calibration_slope": "calibration slope",
        f"calibration_at_{HORIZON:g}": "predicted - observed survival",
        "leaf ratio": "observed / expected of a leaf",
        "leaf survival": "observed survival of a leaf",
        "calibration": "calibration groups",
        "shrunk": "band of a shrunk curve",
        "incidence": "band of an incidence",
        "baseline incidence": "of a baseline incidence",
    }
    columns = [name for name in rows if name.startswith("covers ")]
    means = rows.groupby(["design", "rows"], sort=False)[columns].mean().reset_index()
    means.columns = [
        names.get(name.removeprefix("covers "), name.removeprefix("covers ")) for name in means
    ]
    n_tables = int(rows.groupby(["design", "rows"]).size().min())
    error = float(np.sqrt(LEVEL * (1 - LEVEL) / n_tables))
    return [
        "## What was done",
        "",
        f"A tree of depth two with its thresholds given is fitted once on {TRAIN_ROWS} rows of a "
        f"design. It is evaluated on {n_tables} fresh tables a line by `evaluate` (200 bootstrap "
        f"draws), and limits of nominal {LEVEL:.0%} are compared with the values in {FAR_ROWS:,} "
        "rows, or with survival without censoring in these. Calibration groups are those of "
        "`surtree.metrics.calibration`. The band of an incidence is that of the Aalen-Johansen "
        "estimate in the two leaves of a question that was given beforehand, with a second cause. "
        "Bands of shrunk curves are those of the same leaves, with a shrinkage of "
        f"{SHRINKAGE:g} events. The band of a baseline incidence is that of the relative risk "
        f"alone. The Monte Carlo error of a share is {error:.3f} or a little less.",
        "",
        "## Share of limits that hold the truth",
        "",
        *table(means, 3),
        "",
        f"Arms that are drawn by lot: `NotRandomisedWarning` in {int(rows['warned'].sum())} of "
        f"{len(rows):,} trials.",
    ]
