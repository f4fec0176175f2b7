"""Whether the limits of `evaluate`, of calibration groups and of incidences cover what they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.evaluation_designs import (
    LAST_ENTRY,
    PLAIN,
    SAMPLED,
    STEP,
    as_frame,
    draw,
    draw_sampled,
)
from experiments.experiment import Measures
from experiments.page import table
from experiments.sampled_rows import WEIGHTS, Seen
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

LEVEL = 0.95
N_TABLES, N_SAMPLED_TABLES, TRAIN_ROWS, FAR_ROWS, HORIZON = 100, 40, 500, 20_000, 1.0
SHRINKAGE = 3.0
DESIGNS = (*PLAIN, *SAMPLED)
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
    plain = [
        EvaluationCase(design, rows, number)
        for design in PLAIN
        for rows in ROWS
        for number in range(N_TABLES)
    ]
    sampled = [
        EvaluationCase(design, rows, number)
        for number in range(N_SAMPLED_TABLES)
        for design in SAMPLED
        for rows in ROWS
    ]
    return plain + sampled


class Rows(NamedTuple):
    """The rows of a table: columns, outcome, and weights and entry times where it has them."""

    X: pd.DataFrame
    y: tuple[np.ndarray, np.ndarray]
    inputs: dict[str, Any]


class Truth(NamedTuple):
    """The figures of a large table; of everybody in it, the columns, and who is alive then."""

    figures: Evaluation
    X: pd.DataFrame
    alive: np.ndarray


def _draw_rows(design: str, n: int, rng: np.random.Generator) -> Rows:
    if design in SAMPLED:
        return _seen_rows(draw_sampled(design, n, rng)[0])
    X, time, censored = draw(design, n, rng)
    return Rows(X, (time <= censored, np.minimum(time, censored)), {})


def _seen_rows(seen: Seen) -> Rows:
    return Rows(as_frame(seen), (seen.event, seen.time), seen.inputs)


def measure(case: EvaluationCase) -> Measures:
    """Evaluate a model that was fitted elsewhere, and compare with a large table."""
    model = _model(case.design)
    rng = np.random.default_rng([7, DESIGNS.index(case.design), case.rows, case.number])
    rows = _draw_rows(case.design, case.rows, rng)
    found = evaluate(
        model, rows.X, rows.y, **rows.inputs, horizons=[HORIZON], random_state=case.number
    )
    far, far_X, alive = _far(case.design, case.far_rows)
    result: Measures = {
        f"covers {one.name}": _inside(truth.value, one.lower, one.upper)
        for one, truth in zip(found.measures, far.measures, strict=True)
    }
    far_leaf = model.apply(far_X)
    ratios = {leaf.leaf: leaf.ratio for leaf in far.leaves}
    result["covers leaf ratio"] = _mean(
        _inside(ratios[leaf.leaf], leaf.lower, leaf.upper) for leaf in found.leaves
    )
    result["covers leaf survival"] = _mean(
        _inside(alive[far_leaf == leaf.leaf].mean(), leaf.observed_lower[0], leaf.observed_upper[0])
        for leaf in found.leaves
    )
    groups = found.calibration
    assert groups is not None
    shown = np.round(model.predict_survival_function(far_X, times=[HORIZON])[:, 0], 9)
    result["covers calibration"] = _mean(
        _inside(alive[np.isclose(shown, predicted, atol=1e-6)].mean(), lower, upper)
        for predicted, lower, upper in zip(
            groups.predicted, groups.lower, groups.upper, strict=True
        )
        if np.isclose(shown, predicted, atol=1e-6).any()
    )
    result |= _shrunk(rows, far_X, alive) | _incidence(case, rng)
    result["warned"] = _lot(rows, rng) if case.design in PLAIN else np.nan
    return result | {"status": str(Status.DONE)}


def _shrunk(rows: Rows, far_X: pd.DataFrame, alive: np.ndarray) -> Measures:
    """Return whether bands of shrunk curves cover, of leaves that were given beforehand."""
    model = SurTree(
        1, thresholds={"a": [0.0]}, shrinkage=SHRINKAGE, leaf_curve="shrunk", min_support=0.0
    ).fit(rows.X[["a"]], rows.y, **rows.inputs)
    far_leaf = model.apply(far_X[["a"]])
    covers = []
    for leaf in model.tree_.leaves.tolist():
        low, high = confidence_band(model, leaf, LEVEL)
        covers.append(_inside(alive[far_leaf == leaf].mean(), low(HORIZON), high(HORIZON)))
    return {"covers shrunk": _mean(covers)}


def _lot(rows: Rows, rng: np.random.Generator) -> float:
    """Return whether a trial whose arms were drawn by lot is said not to be one."""
    arm = rng.permutation(np.arange(len(rows.X)) % 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        EffectTree(1).fit(rows.X, rows.y, arm)
    return float(any(w.category is NotRandomisedWarning for w in caught))


@cache
def _far(design: str, n: int) -> Truth:
    rng = np.random.default_rng([8, DESIGNS.index(design)])
    if design in SAMPLED:
        seen, X, time, _ = draw_sampled(design, n, rng)
        rows = _seen_rows(seen)
    else:
        X, time, censored = draw(design, n, rng)
        rows = Rows(X, (time <= censored, np.minimum(time, censored)), {})
    figures = evaluate(
        _model(design), rows.X, rows.y, **rows.inputs, horizons=[HORIZON], n_bootstraps=1
    )
    return Truth(figures, X, time > HORIZON)


@cache
def _model(design: str) -> SurTree:
    """Return the model of a design: where rows are sampled, that of plain proportional hazards."""
    design = design if design in PLAIN else PLAIN[0]
    rows = _draw_rows(design, TRAIN_ROWS, np.random.default_rng([9, DESIGNS.index(design)]))
    return SurTree(2, thresholds={"a": [0.0], "b": [0.0]}).fit(rows.X, rows.y)


def _incidence(case: EvaluationCase, rng: np.random.Generator) -> Measures:
    """Return whether bands of incidences cover, of leaves that were given beforehand."""
    rows = _draw_causes(case.design, case.rows, rng)
    tree = CompetingRisksTree(
        1, thresholds={"a": [0.0]}, leaf_curve="kaplan-meier", min_support=0.0
    ).fit(rows.X[["a"]], rows.y, **rows.inputs)
    far_X, died = _far_incidence(case.design, case.far_rows)
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


def _draw_causes(design: str, n: int, rng: np.random.Generator) -> Rows:
    if design in SAMPLED:
        return _seen_rows(draw_sampled(design, n, rng, second=True)[0])
    X, first, censored = draw(design, n, rng)
    second = rng.exponential(2.0, size=n)
    time = np.minimum(np.minimum(first, second), censored)
    return Rows(X, (np.where(time == first, 1, np.where(time == second, 2, 0)), time), {})


@cache
def _far_incidence(design: str, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns of everybody, and who has had the event of the first cause."""
    rng = np.random.default_rng(10)
    if design in SAMPLED:
        _, X, time, cause = draw_sampled(design, n, rng, second=True)
        return X, (cause == 1) & (time <= HORIZON / 2)
    X, first, _ = draw(design, n, rng)
    second = np.random.default_rng(11).exponential(2.0, size=n)
    return X, (first < second) & (first <= HORIZON / 2)


def _inside(truth: float, lower: float, upper: float) -> float:
    return float(lower <= truth <= upper) if np.isfinite([lower, upper]).all() else np.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


_NAMES = {
    "concordance": "Harrell's C",
    "concordance_ipcw": "Uno's C",
    "brier": "Brier score saved",
    "calibration_slope": "calibration slope",
    f"calibration_at_{HORIZON:g}": "predicted - observed survival",
    "leaf ratio": "observed / expected of a leaf",
    "leaf survival": "observed survival of a leaf",
    "calibration": "calibration groups",
    "shrunk": "band of a shrunk curve",
    "incidence": "band of an incidence",
    "baseline incidence": "of a baseline incidence",
}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    columns = [name for name in rows if name.startswith("covers ")]
    means = rows.groupby(["design", "rows"], sort=False)[columns].mean().reset_index()
    means.columns = [
        _NAMES.get(name.removeprefix("covers "), name.removeprefix("covers ")) for name in means
    ]
    plain = rows[rows["design"].isin(PLAIN)]
    n_tables, n_sampled = (
        int(part.groupby(["design", "rows"]).size().min())
        for part in (plain, rows.drop(index=plain.index))
    )
    tried = rows["warned"].dropna()
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
        f"alone. The Monte Carlo error of a share is {_error(n_tables):.3f} or a little less.",
        "",
        "## Share of limits that hold the truth",
        "",
        *table(means[means["design"].isin(PLAIN)], 3),
        "",
        f"Arms that are drawn by lot: `NotRandomisedWarning` in {int(tried.sum())} of "
        f"{tried.size:,} trials.",
        "",
        *_sampled_lines(means, n_sampled),
    ]


def _error(n_tables: int) -> float:
    return float(np.sqrt(LEVEL * (1 - LEVEL) / n_tables))


def _sampled_lines(means: pd.DataFrame, n_tables: int) -> list[str]:
    return [
        "## Late entry and weights",
        "",
        f"The same with {n_tables} tables a line (Monte Carlo error {_error(n_tables):.3f} or "
        "less) of the proportional design, of whose persons not all are seen:",
        "",
        f"- *late entry*: a third enters at zero, others uniformly up to {LAST_ENTRY:g}, and who "
        "has had the event or is censored before is never seen.",
        *(f"- *{name}*: {what}." for name, what in WEIGHTS.items()),
        "",
        f"Steps of merged rows are {STEP:g}; their number of rows is that of persons. The truth is "
        f"that of {FAR_ROWS:,} such rows, and survival that of everybody, seen or not.",
        "",
        *table(means[~means["design"].isin(PLAIN)], 3),
        "",
        "Over both sizes, and over the five measures of `evaluate` (Monte Carlo error "
        f"{_error(2 * n_tables):.3f} or less):",
        "",
        *table(_pooled(means), 3),
        "",
        "Limits of measures come from draws of the rows with their weights, and cover about "
        "as much as without late entry and weights, or a little less. Only merged rows are drawn "
        "as if each were one person, and limits are too wide. Limits of leaves and groups count a "
        "weight as so many persons: they are right for merged rows, and too narrow where one "
        "person was seen and counts for several. Weights with mean one lessen this.",
    ]


def _pooled(means: pd.DataFrame) -> pd.DataFrame:
    """Return the coverage of each design over its sizes, of limits of one kind together."""
    is_plain = means["design"].isin(PLAIN)
    own = means.assign(design=means["design"].mask(is_plain, "the designs above"))
    own = own.groupby("design", sort=False)
    measures = own[list(_NAMES.values())[:5]].mean().mean(axis=1)
    leaves = own[[_NAMES["leaf ratio"], _NAMES["leaf survival"]]].mean()
    return pd.concat([measures.rename("measures"), leaves], axis=1).reset_index()
