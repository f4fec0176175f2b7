"""How often noise alone is said to predict new data: the verdict of cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import CompetingRisksTreeCV, SurTreeCV
from surtree.scores.held_out import CLEARLY

Outcome = Literal["one event", "two causes"]
N_COLUMNS = 8
N_TABLES = 200
# What the threshold is compared with, in standard errors.
THRESHOLDS = (1.0, 2.0, CLEARLY, 3.0)


@dataclass(frozen=True)
class VerdictCase:
    """One simulated table; one column of it may have an effect."""

    outcome: Outcome
    rows: int
    censored: float
    hazard_ratio: float
    number: int


def cases(quick: bool) -> list[VerdictCase]:
    """Return all cases; the quick ones are four small tables."""
    if quick:
        return [VerdictCase("one event", 60, 0.4, 1.0, number) for number in range(4)]
    designs = [
        *(("one event", rows, share, 1.0) for rows in (100, 200, 500) for share in (0.0, 0.4, 0.7)),
        *(("two causes", rows, 0.4, 1.0) for rows in (200, 500)),
        *(("one event", rows, 0.4, 2.0) for rows in (100, 200, 500)),
    ]
    return [VerdictCase(*design, number) for design in designs for number in range(N_TABLES)]


def draw(case: VerdictCase) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Draw a table of exponential times: continuous columns, and some of 0 and 1."""
    seed = [29, case.number, case.rows, round(10 * case.censored), round(10 * case.hazard_ratio)]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(case.rows, N_COLUMNS))
    X[:, ::3] = X[:, ::3] > 0
    time = rng.exponential(size=case.rows) / case.hazard_ratio ** (X[:, 1] > 0)
    end = np.full(case.rows, np.inf)
    if case.censored:
        end = rng.exponential(1 / case.censored - 1, size=case.rows)
    event = time <= end
    if case.outcome == "two causes":
        return X, (np.where(event, rng.integers(1, 3, case.rows), 0), np.minimum(time, end))
    return X, (event, np.minimum(time, end))


def measure(case: VerdictCase) -> Measures:
    """Tune a tree with the defaults, and keep what cross-validation says of it."""
    X, y = draw(case)
    model = (SurTreeCV if case.outcome == "one event" else CompetingRisksTreeCV)().fit(X, y)
    saved = model.held_out_.loss_without_tree - model.held_out_.loss
    return {
        "splits": model.tree_.n_splits,
        "saved": float(saved.mean()),
        "error": float(saved.std(ddof=1) / np.sqrt(saved.size)),
        "concordance": model.held_out_.mean("concordance"),
        "status": str(Status.DONE),
    }


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    keys = ["outcome", "hazard_ratio", "rows", "censored"]
    shares = rows[keys].copy()
    shares["a tree"] = rows["splits"] > 0
    for threshold in THRESHOLDS:
        clear = rows["saved"] > threshold * rows["error"]
        shares[f"{threshold:g} standard errors"] = shares["a tree"] & clear
    mean = shares.groupby(keys).mean().reset_index()
    n_tables = rows.groupby(keys).size().min()
    return [
        f"Simulated tables of {N_COLUMNS} columns, {n_tables} of each kind; in those with a hazard "
        "ratio of 1 no column says anything. `SurTreeCV()` and `CompetingRisksTreeCV()` tune a "
        "tree, and reports say that it predicts new data better than no tree if the loss on "
        f"held-out rows is smaller by more than {CLEARLY:g} standard errors (of the differences, "
        "fold by fold).",
        "",
        "The folds are those that the size was chosen on, so one standard error, the usual rule, "
        f"is far too easy. The threshold of {CLEARLY:g} was chosen on other tables, with other "
        "seeds, to be wrong in at most one table of twenty.",
        "",
        "Share of tables in which a tree is chosen, and in which the loss is smaller by more than "
        "so many standard errors:",
        "",
        *table(mean, dict.fromkeys(["a tree", *mean.columns[5:]], 3)),
        "",
        "Where the hazard ratio is 1, the share should be at most 0.05; its own standard error is "
        f"{np.sqrt(0.05 * 0.95 / n_tables):.3f}. Where it is 2 (of one half of the rows against "
        "the other), the verdict is right, and the share is its power.",
        "",
    ]
