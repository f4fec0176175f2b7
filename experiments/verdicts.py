"""How often noise alone is said to predict new data: the verdict of cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import CompetingRisksTreeCV, SurTreeCV
from surtree.validation.held_out import CLEARLY

Outcome = Literal["one event", "two causes"]
N_TABLES = 150
# What the threshold is compared with, in standard errors.
THRESHOLDS = (0.7, 1.0, CLEARLY, 1.5)


@dataclass(frozen=True)
class VerdictCase:
    """One simulated table; one column of it may have an effect, on the first of two causes."""

    outcome: Outcome
    columns: int
    rows: int
    censored: float
    hazard_ratio: float
    number: int


def cases(quick: bool) -> list[VerdictCase]:
    """Return all cases; the quick ones are two small tables of each outcome."""
    if quick:
        return [
            VerdictCase(outcome, 4, 60, 0.4, 1.0, number)
            for outcome in get_args(Outcome)
            for number in range(2)
        ]
    designs = [
        *(("one event", 8, rows, share, 1.0) for rows in (100, 200, 500) for share in (0.4, 0.7)),
        ("one event", 8, 200, 0.0, 1.0),
        *(("one event", columns, 200, 0.4, 1.0) for columns in (3, 30)),
        *(("two causes", 8, rows, 0.4, ratio) for ratio in (1.0, 2.5) for rows in (200, 500)),
        *(("one event", 8, rows, 0.4, 2.0) for rows in (100, 200, 500)),
    ]
    return [VerdictCase(*design, number) for design in designs for number in range(N_TABLES)]


def draw(case: VerdictCase) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Draw a table of exponential times: continuous columns, and some of 0 and 1."""
    seed = [2030, case.number, case.columns, case.rows, round(10 * case.censored)]
    rng = np.random.default_rng([*seed, round(10 * case.hazard_ratio)])
    X = rng.normal(size=(case.rows, case.columns))
    X[:, ::3] = X[:, ::3] > 0
    time = rng.exponential(size=case.rows) / case.hazard_ratio ** (X[:, 1] > 0)
    end = np.full(case.rows, np.inf)
    if case.censored:
        end = rng.exponential(1 / case.censored - 1, size=case.rows)
    if case.outcome == "one event":
        return X, (time <= end, np.minimum(time, end))
    other = rng.exponential(size=case.rows)
    first = np.minimum(time, other)
    cause = np.where(first <= end, np.where(time <= other, 1, 2), 0)
    return X, (cause, np.minimum(first, end))


def measure(case: VerdictCase) -> Measures:
    """Tune a tree with the defaults, and keep what cross-validation says, of each cause."""
    X, y = draw(case)
    model = (SurTreeCV if case.outcome == "one event" else CompetingRisksTreeCV)().fit(X, y)
    measures: Measures = {"splits": model.tree_.n_splits}
    # Standard errors of the loss saved are those of scores that have it as their loss.
    saved = [
        replace(scores, loss=scores.loss_without_tree - scores.loss)
        for _, scores in model.held_out_.by_cause()
    ]
    for name, scores in zip_longest(("", "_2"), saved):
        measures |= {
            f"saved{name}": np.nan if scores is None else scores.mean("loss"),
            f"error{name}": np.nan if scores is None else scores.standard_error("loss"),
        }
    return measures | {"status": str(Status.DONE)}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    keys = ["outcome", "hazard_ratio", "columns", "rows", "censored"]
    parts = []
    for cause, name in enumerate(("", "_2"), start=1):
        part = rows[rows[f"saved{name}"].notna()]
        shares = part[keys].assign(cause=np.where(part["outcome"] == "one event", "-", str(cause)))
        shares["a tree"] = part["splits"] > 0
        for threshold in THRESHOLDS:
            clear = part[f"saved{name}"] > threshold * part[f"error{name}"]
            shares[f"{threshold:g} standard errors"] = shares["a tree"] & clear
        parts.append(shares)
    keys.insert(1, "cause")
    mean = pd.concat(parts).groupby(keys, sort=False).mean().reset_index()
    # The effect is one on the first cause.
    is_noise = (mean["hazard_ratio"] == 1) | (mean["cause"] == "2")
    n_tables = rows.groupby([name for name in keys if name != "cause"]).size().min()
    digits = dict.fromkeys(mean.columns[len(keys) :], 3) | {"hazard_ratio": 1, "censored": 1}
    rule = f"{CLEARLY:g} standard errors"
    return [
        f"Simulated tables, {n_tables} of each kind. `SurTreeCV()` and `CompetingRisksTreeCV()` "
        "tune a tree, and reports say that it predicts new data better than no tree if its loss "
        "on held-out rows, corrected for the choice of size, is smaller than that of a single "
        f"group by more than {CLEARLY:g} standard errors (of the differences, fold by fold; with "
        "competing risks, of each cause). The threshold was chosen on other tables, with other "
        "seeds, to be wrong in at most one table of twenty: with 1, noise of 500 rows of which 70% "
        "are censored was said to predict in 8% of 200.",
        "",
        "Share of tables in which a tree is chosen, and in which the loss is smaller by more than "
        "so many standard errors.",
        "",
        "## Noise",
        "",
        "No column says anything of the event, or of this cause: where the hazard ratio is above "
        "1, it is that of the first cause, and the second has none. The share should be at most "
        f"0.05; its own standard error is {np.sqrt(0.05 * 0.95 / n_tables):.3f}. The mean of "
        f"the column for {rule} is {mean.loc[is_noise, rule].mean():.3f}.",
        "",
        *table(mean[is_noise], digits),
        "",
        "## Power",
        "",
        "One half of the rows has this hazard ratio against the other: the verdict is right.",
        "",
        *table(mean[~is_noise], digits),
        "",
    ]
