"""Whether limits of restricted means, of differences of arms and the like cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    arm_differences,
    evaluate,
    restricted_means,
)

SIZES, N_TABLES, FAR_ROWS, HORIZON = (150, 500), 200, 40_000, 1.0
# Uniform censoring up to so much: 38% or 63% are censored.
CENSORED = {"some": 3.0, "many": 1.2}
GIVEN = {"a": [0.0]}
# A fitted tree on fresh rows, by `evaluate`: fewer tables, of columns that say something.
JUDGED, N_JUDGED, N_SAMPLES, FEW_FAR_ROWS, JUDGED_HORIZON = "evaluate", 100, 100, 10_000, 0.6


@dataclass(frozen=True)
class TimeCase:
    """One table of rows."""

    kind: str
    has_effects: bool
    censored: str
    rows: int
    number: int


class Drawn(NamedTuple):
    """Rows, with the times that nobody would see."""

    X: pd.DataFrame
    cause: np.ndarray  # 0 where censored
    time: np.ndarray
    true_time: np.ndarray
    true_cause: np.ndarray
    arm: np.ndarray


def cases(quick: bool) -> list[TimeCase]:
    """Return all cases; the quick ones are one table of each kind."""
    if quick:
        return [TimeCase(kind, True, "some", 150, 0) for kind in (*KINDS, JUDGED)]
    return [
        TimeCase(kind, has_effects, censored, rows, number)
        for number in range(N_TABLES)
        for kind in (*KINDS, JUDGED)
        for has_effects in (True, False)
        for censored in CENSORED
        for rows in SIZES
        if kind != JUDGED or (has_effects and number < N_JUDGED)
    ]


def draw(case: TimeCase, n: int, seed: list[int]) -> Drawn:
    """Return rows of two causes; those of one event are rows of the first cause alone."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    high, other = (X["a"] > 0).to_numpy(), (X["b"] > 0).to_numpy()
    arm = rng.permutation(np.arange(n) % 2)
    tells = float(case.has_effects)
    log_risk = tells * (0.8 * high + 0.4 * other)
    if case.kind == "arms":
        log_risk = 0.4 * other - arm * tells * np.where(high, 0.9, -0.2)
    # Not proportional: the shape differs between rows.
    shape = np.where(other & case.has_effects, 1.4, 1.0)
    first = rng.exponential(size=n) ** (1 / shape) / np.exp(log_risk)
    second = np.full(n, np.inf)
    if case.kind == "causes":
        second = rng.exponential(1.5 / np.exp(tells * 0.7 * ~other))
    time, end = np.minimum(first, second), rng.uniform(0, CENSORED[case.censored], n)
    cause = np.where(first <= second, 1, 2)
    seen = np.where(time <= end, cause, 0)
    return Drawn(X, seen, np.minimum(time, end), time, cause, arm)


def _seed(case: TimeCase) -> list[int]:
    names = list(KINDS).index(case.kind), list(CENSORED).index(case.censored)
    return [41, *names, int(case.has_effects), case.rows, case.number]


def measure(case: TimeCase) -> Measures:
    """Compare limits in leaves that were given, and in fitted ones, with many more rows."""
    result: Measures = {
        f"{how} {what}": np.nan for how in ("given", "fitted") for what in ALL_FIGURES
    }
    result |= {f"{how} {what}": np.nan for how in ("covers", "off") for what in ALL_MEASURES}
    if case.kind == JUDGED:
        return result | _judged(case) | {"status": str(Status.DONE)}
    rows = draw(case, case.rows, [*_seed(case), 0])
    far = draw(case, FAR_ROWS, [*_seed(case), 1])
    for how, limits in (("given", {"max_depth": 1, "thresholds": GIVEN}), ("fitted", {})):
        columns = ["a"] if how == "given" else list(rows.X)
        covered: dict[str, list[bool]] = {}
        kind = KINDS[case.kind]
        for what, found, truth in kind(rows, far, columns, {"max_depth": 2} | limits):
            if np.isfinite(found).all():
                covered.setdefault(what, []).append(found[0] <= truth <= found[1])
        result |= {f"{how} {what}": float(np.mean(hits)) for what, hits in covered.items()}
    return result | {"status": str(Status.DONE)}


def _judged(case: TimeCase) -> Measures:
    """Compare measures of a fitted tree on some rows with those on many without censoring."""
    start = [43, list(CENSORED).index(case.censored), case.rows]
    train, far = (draw(case, n, [*start, seed]) for n, seed in ((500, 0), (FEW_FAR_ROWS, 1)))
    rows = draw(case, case.rows, [*start, 2, case.number])
    model = SurTree(max_depth=2, shrinkage=3).fit(train.X, (train.cause > 0, train.time))
    how = {"horizons": [JUDGED_HORIZON], "random_state": case.number}
    found = evaluate(model, rows.X, (rows.cause > 0, rows.time), n_bootstraps=N_SAMPLES, **how)
    everyone = np.ones(FEW_FAR_ROWS, dtype=bool), far.true_time
    truth = evaluate(model, far.X, everyone, n_bootstraps=1, **how)
    result: Measures = {}
    for what in ALL_MEASURES:
        one, true = found[f"{what}_at_{JUDGED_HORIZON:g}"], truth[f"{what}_at_{JUDGED_HORIZON:g}"]
        if np.isfinite(one.lower):
            result[f"covers {what}"] = float(one.lower <= true.value <= one.upper)
        result[f"off {what}"] = one.value - true.value
    return result


Checked = Iterator[tuple[str, tuple[float, float], float]]


def _leaves(rows: Drawn, far: Drawn, columns: list[str], limits: dict[str, Any]) -> Checked:
    model = SurTree(**limits).fit(rows.X[columns], (rows.cause > 0, rows.time))
    leaf = model.apply(far.X[columns])
    for mean in restricted_means(model, _reached(model)):
        if mean.leaf:
            inside = np.minimum(far.true_time[leaf == mean.leaf], mean.horizon)
            yield "restricted mean", mean.limits, inside.mean()


def _causes(rows: Drawn, far: Drawn, columns: list[str], limits: dict[str, Any]) -> Checked:
    model = CompetingRisksTree(**limits).fit(rows.X[columns], (rows.cause, rows.time))
    leaf = model.apply(far.X[columns])
    for mean in restricted_means(model, _reached(model)):
        own = leaf == mean.leaf
        if mean.leaf:
            lost = np.maximum(mean.horizon - far.true_time[own], 0.0)
            lost *= far.true_cause[own] == mean.channel
            yield "time lost to a cause", mean.limits, lost.mean()


def _arms(rows: Drawn, far: Drawn, columns: list[str], limits: dict[str, Any]) -> Checked:
    model = EffectTree(**limits, reference=0)
    model.fit(rows.X[columns], (rows.cause > 0, rows.time), rows.arm)
    leaf = model.apply(far.X[columns])
    for one in arm_differences(model, _reached(model)):
        own = leaf == one.leaf if one.leaf else np.ones(leaf.size, dtype=bool)
        treated, others = (far.true_time[own & (far.arm == arm)] for arm in (1, 0))
        mean = np.minimum(treated, one.horizon).mean() - np.minimum(others, one.horizon).mean()
        gain = (treated > one.horizon).mean() - (others > one.horizon).mean()
        where = "" if one.leaf else ", all rows"
        yield f"difference of means{where}", one.mean_limits, mean
        yield f"difference of survival{where}", one.survival_limits, gain


def _reached(model: SurTree) -> float:
    """Return the horizon, or the last time that all leaves reach."""
    return min(HORIZON, restricted_means(model)[0].horizon)


KINDS: dict[str, Callable[..., Checked]] = {"leaves": _leaves, "causes": _causes, "arms": _arms}
HOW = ("given", "fitted", "covers", "off")
ALL_MEASURES = ("auc", "c", "ici", "e50", "e90")
ALL_FIGURES = (
    "restricted mean",
    "time lost to a cause",
    "difference of means",
    "difference of survival",
    "difference of means, all rows",
    "difference of survival, all rows",
)


def page(rows: pd.DataFrame, folder: Path) -> Sequence[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    n_tables = int(
        rows[rows["kind"] != JUDGED]
        .groupby(["kind", "has_effects", "censored", "rows"])
        .size()
        .min()
    )
    lines = [
        "## What was done",
        "",
        f"{n_tables} tables a line (*evaluate*: see below); limits of nominal 95% at time "
        f"{HORIZON:g} (earlier where a "
        "leaf or arm is not followed so far), against the true times, which are not censored, of "
        f"{FAR_ROWS:,} other rows. *Given*: two leaves by a question that was given beforehand; "
        "*fitted*: a tree of depth two of the same rows. Hazards of rows are not proportional. "
        "*effects* false: no column says anything, and arms do not differ. Designs and numbers "
        "were fixed before any table was drawn. The Monte Carlo error of a share of a line is "
        f"at most {np.sqrt(0.05 * 0.95 / n_tables):.3f} where leaves of a table are as good as "
        "one.",
    ]
    lines += [
        "",
        f"*evaluate*: a tree of depth two that was fitted once on 500 rows, on {N_JUDGED} fresh "
        f"tables a line, with {N_SAMPLES} samples; the truth is that of {FEW_FAR_ROWS:,} rows "
        f"without censoring at {JUDGED_HORIZON:g}. ICI, E50 and E90 have no interval: *off* is by "
        "how much they are above the truth on average.",
    ]
    for kind, part in rows.groupby("kind", sort=False):
        shares = part.dropna(axis=1, how="all")
        names = [name for name in shares if name.split()[0] in HOW]
        means = shares.groupby(["has_effects", "censored", "rows"], sort=False)[names].mean()
        means.index.names = ["effects", "censored", "rows"]
        lines += ["", f"## {str(kind).capitalize()}", "", *table(means.reset_index(), 3)]
    return lines
