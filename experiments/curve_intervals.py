"""Whether intervals of S(t | x) around the average over all trees cover.

Written down before any row was run. Five columns (three normal, one uniform, one of 0 and 1),
Weibull times of shape 1.5, exponential censoring of about 40%; the truth is a tree of depth two
(thetas .35, .9, 1.2, 3) or a Cox model (.7, -.5, .3 on the first three columns). For 200 new rows
each, S(t | x) at the times when a quarter and one half of all have had the event. Nominal level
90%: the 5th and 95th of 99 draws.

- *posterior*: draws of a tree of the first stage, thetas from their posterior;
- *bootstrap*: the posterior mean of the first stage, of rows with weights of the Bayesian bootstrap
  (exponential, mean one; the baseline is that of the weights);
- *both*: one draw of a tree and its thetas from the posterior under such weights.

150 tables of 200 rows and 30 of 500 for each truth. The bar: *both* covers at least 88.5% (90% up
to the error of the simulation) with each truth and size. The share of rows for which the interval
holds what `SurTreeBayes()` predicts (sixteen stages) is kept too: an interval that often does not
hold the prediction cannot be shown beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.scores import Floats
from experiments.task import Status
from experiments.tree_posterior import (
    LIMITS,
    PRIOR,
    drawn_thetas,
    frame,
    leaves_of,
    problem_of,
    target,
)
from surtree import SurTreeBayes
from surtree.fitting.training import FitProblem

TRUTHS, KINDS = ("tree", "cox"), ("posterior", "bootstrap", "both")
N_TABLES = {200: 150, 500: 30}
N_DRAWS, N_NEW, SEED, LEVEL = 99, 200, 43, 0.9
ENOUGH = 0.885
_SHAPE, _CENSORING, _SHARES = 1.5, 2.0, (0.25, 0.5)
_MANY = 20_000


@dataclass(frozen=True)
class CurveCase:
    """One simulated table."""

    truth: str
    rows: int
    number: int
    draws: int = N_DRAWS


def cases(quick: bool) -> list[CurveCase]:
    """Return all cases; the quick ones are two small tables of each truth."""
    if quick:
        return [CurveCase(truth, 60, number, 19) for truth in TRUTHS for number in range(2)]
    return [
        CurveCase(truth, rows, number)
        for truth in TRUTHS
        for rows, n_tables in N_TABLES.items()
        for number in range(n_tables)
    ]


def measure(case: CurveCase) -> Measures:
    """Keep the share of intervals that hold the truth, and their mean width."""
    rng = np.random.default_rng([SEED, TRUTHS.index(case.truth), case.rows, case.number])
    times = _times(case.truth)
    columns = _draw_columns(case.rows + N_NEW, rng)
    theta = true_theta(case.truth, columns)
    X, X_new = frame(columns[: case.rows]), frame(columns[case.rows :])
    time = (rng.exponential(size=case.rows) / theta[: case.rows]) ** (1 / _SHAPE)
    end = rng.exponential(_CENSORING, size=case.rows)
    y = target(time <= end, np.minimum(time, end))
    truth = np.exp(-np.outer(theta[case.rows :], times**_SHAPE))
    model = SurTreeBayes().fit(X, y)
    baseline = model.baseline_.at(times)
    shown = np.exp(-np.outer(model.predict(X_new), baseline))
    draws = _draws(problem_of(X, y), model.binning_.find(model._read(X_new)), times, case, rng)
    measures: Measures = {"events": int(y["event"].sum())}
    cut = (1 - LEVEL) / 2 * (case.draws + 1)
    for kind in KINDS:
        values = np.sort(draws[kind], axis=0)
        low, high = values[round(cut) - 1], values[case.draws - round(cut)]
        measures |= {
            f"covers_{kind}": float(((low <= truth) & (truth <= high)).mean()),
            f"width_{kind}": float((high - low).mean()),
            f"holds_{kind}": float(((low <= shown) & (shown <= high)).mean()),
        }
    return measures | {"status": str(Status.DONE)}


def true_theta(truth: str, columns: Floats) -> Floats:
    """Return the hazard ratio of rows."""
    if truth == "cox":
        return np.exp(columns[:, :3] @ np.array([0.7, -0.5, 0.3]))
    right = np.where(columns[:, 1] > 0.3, 3.0, 1.2)
    return np.where(columns[:, 0] > 0, right, np.where(columns[:, 2] > 0, 0.9, 0.35))


def _draw_columns(n: int, rng: np.random.Generator) -> Floats:
    columns = rng.normal(size=(n, 5))
    columns[:, 3], columns[:, 4] = rng.uniform(size=n), columns[:, 4] > 0
    return columns


def _times(truth: str) -> Floats:
    """Return the times when given shares of all have had the event."""
    rng = np.random.default_rng(SEED)
    theta = true_theta(truth, _draw_columns(_MANY, rng))
    time = (rng.exponential(size=_MANY) / theta) ** (1 / _SHAPE)
    return np.quantile(time, _SHARES)


def _draws(
    problem: FitProblem, new: np.ndarray, times: Floats, case: CurveCase, rng: np.random.Generator
) -> dict[str, Floats]:
    """Return draws of the curves of new rows, of shape (n_draws, n_rows, n_times), by kind."""
    kept: dict[str, list[Floats]] = {kind: [] for kind in KINDS}

    def keep(kind: str, theta: Floats, weighted: FitProblem) -> None:
        kept[kind].append(np.exp(-np.outer(theta, weighted.data.baseline.at(times))))

    seed = int(rng.integers(2**31))
    for theta in _posterior(problem, new, case.draws, seed, rng):
        keep("posterior", theta, problem)
    everyone = np.ones(case.rows, dtype=bool)
    for _ in range(case.draws):
        weight = rng.exponential(size=case.rows)
        weighted = problem.take(everyone, weight / weight.mean())
        keep("bootstrap", weighted.core.average(LIMITS, PRIOR).mean.at(new), weighted)
        (theta,) = _posterior(weighted, new, 1, int(rng.integers(2**31)), rng)
        keep("both", theta, weighted)
    return {kind: np.array(values) for kind, values in kept.items()}


def _posterior(
    problem: FitProblem, new: np.ndarray, n_draws: int, seed: int, rng: np.random.Generator
) -> list[Floats]:
    """Return draws of the thetas of new rows from the posterior of trees and of their leaves."""
    draws = problem.core.draw(LIMITS, PRIOR, n_draws=n_draws, seed=seed)
    events, expected = problem.data.sums.values
    drawn = []
    for tree, strength in zip(draws.topologies, draws.strength.tolist(), strict=True):
        leaf = leaves_of(tree, problem.binned, problem.binned.bins)
        of_node = drawn_thetas(tree, PRIOR.strengths[strength], leaf, (events, expected), rng)
        drawn.append(of_node[leaves_of(tree, problem.binned, new)])
    return drawn


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    lines = []
    for (truth, size), own in rows.groupby(["truth", "rows"], sort=False):
        for kind in KINDS:
            covers = own[f"covers_{kind}"]
            lines.append(
                {
                    "truth": truth,
                    "rows": size,
                    "interval": kind,
                    "tables": len(own),
                    "covers": covers.mean(),
                    "standard error": covers.std() / np.sqrt(len(own)),
                    "width": own[f"width_{kind}"].mean(),
                    "holds the prediction": own[f"holds_{kind}"].mean(),
                }
            )
    found = pd.DataFrame(lines)
    both = found[found["interval"] == "both"]
    is_met = (both["covers"] >= ENOUGH).all()
    said = ", ".join(
        f"{row.covers:.1%} ({row.truth}, {row.rows} rows)" for row in both.itertuples()
    )
    return [
        f"Curves of {N_NEW} new rows at two times, {LEVEL:.0%} intervals from {N_DRAWS} draws. "
        "What was run, and the bar, were written down before (the docstring of "
        "`experiments/curve_intervals.py`).",
        "",
        "- *posterior*: exact draws of trees of the first stage and of the thetas of their leaves;",
        "- *bootstrap*: the posterior mean of the first stage under weights of the Bayesian "
        "bootstrap;",
        "- *both*: one exact draw under each such weights.",
        "",
        f"The bar, that *both* covers at least {ENOUGH:.1%} with each truth and size, is "
        f"{'met' if is_met else '**missed**'}: {said}.",
        "",
        *table(found, 3),
        "",
        "Coverage is the mean over tables of the share of rows and times; its standard error is "
        "that over tables. 'Holds the prediction': the share of intervals that hold what "
        "`SurTreeBayes()` predicts, whose sixteen stages go beyond the first.",
    ]
