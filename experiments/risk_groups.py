"""Risk groups that are chosen by data: how optimistic their curves are, apparent and corrected."""

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
from surtree import RiskGroup, SurTree, SurTreeCV, risk_groups
from surtree._support.exact import Terms
from surtree.data.target import read_target
from surtree.survival import cox_groups
from surtree.survival.baseline import nelson_aalen
from surtree.survival.cox_groups import GroupCounts
from surtree.tree.at_risk import Leaving, count_at_risk

# The logarithms of the hazard ratios of two columns, of six.
DESIGNS = {"nothing": (0.0, 0.0), "moderate": (0.7, 0.4), "strong": (1.4, 0.7)}
N_ROWS = (200, 500)
MODELS = {"depth 3": 200, "tuned": 40}  # tables of each
N_GROUPS, HORIZON, FAR_ROWS = 3, 0.7, 20_000


@dataclass(frozen=True)
class GroupCase:
    """One table of rows."""

    model: str
    design: str
    rows: int
    number: int
    far_rows: int = FAR_ROWS


def cases(quick: bool) -> list[GroupCase]:
    """Return all cases; the quick ones are a small table of each kind."""
    if quick:
        return [GroupCase(model, design, 150, 0, 2_000) for model in MODELS for design in DESIGNS]
    return [
        GroupCase(model, design, rows, number)
        for model, n_tables in MODELS.items()
        for number in range(n_tables)
        for rows in N_ROWS
        for design in DESIGNS
    ]


def draw(design: str, n: int, seed: list[int]) -> tuple[pd.DataFrame, Any, np.ndarray]:
    """Return columns, event and time, and the time of the event if nobody were censored."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    one, other = DESIGNS[design]
    time = rng.exponential(1 / np.exp(one * (X["a"] > 0) + other * (X["b"] > 0.5)))
    end = rng.exponential(2.0, n)
    return X, (time <= end, np.minimum(time, end)), time


def measure(case: GroupCase) -> Measures:
    """Compare what groups of a table say with the same groups of many more rows."""
    place = list(DESIGNS).index(case.design)
    X, y, _ = draw(case.design, case.rows, [41, place, case.rows, case.number])
    model = SurTree(3) if case.model == "depth 3" else SurTreeCV(2)
    model.fit(X, y)
    n_leaves = model.tree_.n_leaves
    groups = risk_groups(model, X, y, k=min(N_GROUPS, n_leaves))
    # The number that is chosen where none is given: it has the same folds.
    chosen = [loss <= error for loss, error in zip(groups.losses, groups.errors, strict=True)]
    result: Measures = {"k": chosen.index(True) + 1, "leaves": n_leaves}
    for kind in ("apparent", "corrected"):
        for what in ("low", "high", "log ratio"):
            result |= {f"{kind} {what} off": np.nan, f"{kind} {what} covers": np.nan}
    if n_leaves >= N_GROUPS:
        far_X, far_y, far_time = draw(case.design, case.far_rows, [42, place, case.number])
        far = groups.predict(far_X)
        ratio = _ratio(far_y, np.array([groups.names.index(name) for name in far]))
        for kind, shown in (("apparent", groups.groups), ("corrected", groups.held_out)):
            for name, group in (("low", shown[0]), ("high", shown[-1])):
                truth = float((far_time[far == name] > HORIZON).mean())
                value, limits = group.curve.at(HORIZON)
                result[f"{kind} {name} off"] = value - truth
                result[f"{kind} {name} covers"] = _inside(truth, *limits)
            value, limits = _high_over_low(shown)
            result[f"{kind} log ratio off"] = value - np.log(ratio)
            result[f"{kind} log ratio covers"] = _inside(np.log(ratio), *limits)
    return result | {"status": str(Status.DONE)}


def _high_over_low(shown: Sequence[RiskGroup]) -> tuple[float, tuple[float, float]]:
    """Return the logarithm of the ratio of the outermost groups; none if it is not finite."""
    n_times = shown[0].curve.group.tree.event_times.size
    counts = [
        [counts.at_events(n_times) for counts in group.curve.group.leaf_counts] for group in shown
    ]
    both = GroupCounts(
        np.stack([sum(one.at_risk for one in parts) for parts in counts]),
        np.stack([sum(one.deaths for one in parts) for parts in counts]),
    )
    ratio = cox_groups.hazard_ratios(both, 0)[-1]
    if not (np.isfinite(ratio) and ratio > 0):
        return np.nan, (np.nan, np.nan)
    lower, upper = np.log(cox_groups.ratio_limits(both, len(counts) - 1, 0))
    return float(np.log(ratio)), (float(lower), float(upper))


def _ratio(y: Any, group: np.ndarray) -> float:
    target = read_target(y)
    baseline = nelson_aalen(target, np.ones(group.size))
    weight = Terms.of(np.ones(group.size))
    counts = count_at_risk(N_GROUPS, Leaving(group, target, weight), None, baseline)
    parts = [one.at_events(baseline.times.size) for one in counts]
    both = GroupCounts(
        np.stack([one.at_risk for one in parts]), np.stack([one.deaths for one in parts])
    )
    return float(cox_groups.hazard_ratios(both, 0)[-1])


def _inside(truth: float, lower: float, upper: float) -> float:
    return float(lower <= truth <= upper) if np.isfinite([lower, upper]).all() else np.nan


def page(rows: pd.DataFrame, folder: Path) -> Sequence[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    own = rows.assign(chosen=rows["k"].astype(float))
    by = own.groupby(["model", "design", "rows"], sort=False)
    lines = [
        "## What was done",
        "",
        f"Tables of {' and '.join(map(str, N_ROWS))} rows with six columns, of which two, one or "
        "none of use tell the hazard: "
        + "; ".join(
            f"*{name}*, hazard ratios {np.exp(one):.1f} and {np.exp(other):.1f}"
            for name, (one, other) in DESIGNS.items()
        )
        + f". A tree of depth three without any tuning ({MODELS['depth 3']} tables a line), and "
        f"`SurTreeCV(2)` ({MODELS['tuned']}), both merged into {N_GROUPS} groups by `risk_groups`. "
        f"The truth is the same groups in {FAR_ROWS:,} new rows: survival at {HORIZON:g} without "
        'censoring, and the hazard ratio of "high" over "low". *Apparent* is what the rows of the '
        "fit say, *corrected* what held-out rows say (ten folds). Designs and measures "
        "were fixed before any was run; how many tables there were was changed twice for lack of "
        "time, once after a page of 60 and 12 tables a line had been seen.",
    ]
    for what, text in (
        ("off", "## By how much survival, and the logarithm of the hazard ratio, are above"),
        ("covers", "## Share of nominal 95% limits that hold the truth"),
    ):
        columns = [
            f"{kind} {name} {what}"
            for name in ("low", "high", "log ratio")
            for kind in ("apparent", "corrected")
        ]
        means = by[columns].mean().reset_index()
        means.columns = [name.removesuffix(f" {what}") for name in means]
        lines += ["", text, "", *table(means, 3)]
    k = by["chosen"].agg(["mean", "min", "max"]).reset_index()
    one = by["chosen"].apply(lambda values: (values == 1).mean()).to_numpy()
    leaves = by["leaves"].mean().to_numpy()
    k = k.assign(**{"one group": one, "leaves": leaves})
    known = by["apparent low off"].count().to_numpy()
    return [
        *lines,
        "",
        f"Trees with fewer than {N_GROUPS} leaves have no such groups: tables that count, in the "
        f"order of the lines: {', '.join(map(str, known))}.",
        "",
        "## How many groups are chosen",
        "",
        "Where no number of groups is given: the mean, the least and the most, and the share of "
        "tables with one group, which is right where columns tell nothing.",
        "",
        *table(k, 2),
    ]
