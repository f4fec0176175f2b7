"""Whether the probability that a column is asked about is one.

Written down before any row was run. Two sources of tables:

- *prior*: columns of 200 or 500 rows (four normal, two of 0 and 1), a tree drawn from the prior of
  `SurTreeBayes` (depth 2, its strength too), a theta for each leaf from its Gamma distribution,
  Weibull times of shape 1.5 with that hazard ratio, exponential censoring; 200 tables of each size.
  Of all columns with a probability in a bin, the share that the tree asks about should be the mean
  probability of the bin: a deviation of more than three binomial standard errors is named.
- *permuted*: up to 200 or 500 rows of each real table (the paper's and SurvSet's others), the rows
  of all columns permuted together, so that they say nothing of the outcome; two permutations each.
  The mean probability should be below the prior's, and at most 1% of columns be above one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.survset import OTHER_TABLES
from experiments.tables import REAL_TABLES, real_table
from experiments.task import Status
from experiments.tree_posterior import (
    LIMITS,
    PRIOR,
    columns_of,
    drawn_thetas,
    frame,
    leaves_of,
    problem_of,
    target,
)
from experiments.tuning import take
from surtree import SurTreeBayes
from surtree.averages._stages import MergedRows
from surtree.fitting.training import FitProblem

ROWS = (200, 500)
N_TABLES, N_PERMUTATIONS, SEED = 200, 2, 41
EDGES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
HALF, MOST_ABOVE = 0.5, 0.01
_FROM_PRIOR = "prior"


@dataclass(frozen=True)
class ColumnCase:
    """One table: one whose tree was drawn from the prior, or permuted rows of a real one."""

    source: str
    rows: int
    number: int


def cases(quick: bool) -> list[ColumnCase]:
    """Return all cases; the quick ones are few and small."""
    if quick:
        sources = (_FROM_PRIOR, "Melanoma")
        return [ColumnCase(source, 100, number) for source in sources for number in range(3)]
    return [
        *(ColumnCase(_FROM_PRIOR, rows, number) for rows in ROWS for number in range(N_TABLES)),
        *(
            ColumnCase(name, rows, number)
            for name in (*REAL_TABLES, *OTHER_TABLES)
            for rows in ROWS
            for number in range(N_PERMUTATIONS)
        ),
    ]


def measure(case: ColumnCase) -> Measures:
    """Keep the probability of each column, and whether it is asked about in truth."""
    rng = np.random.default_rng([SEED, case.rows, case.number])
    X, y, problem, used = (_from_prior if case.source == _FROM_PRIOR else _permuted)(case, rng)
    model = SurTreeBayes(n_stages=1).fit(X, y)
    prior = _zero(problem).average(LIMITS, PRIOR).asked
    columns = model.binning_.column_index
    return {
        "events": int(y["event"].sum()),
        "probability": _joined(model.column_probability_[columns]),
        "prior": _joined(prior),
        "used": " ".join(str(int(one)) for one in used),
        "status": str(Status.DONE),
    }


def _joined(values: np.ndarray) -> str:
    return " ".join(f"{value:.5f}" for value in values)


def _zero(problem: FitProblem):
    """Return the same rows without events, after which the posterior is the prior."""
    rows = MergedRows.of(problem.binned, problem.data.sums)
    n = rows.events.size
    return MergedRows(rows.binned, np.zeros(n), np.zeros(n), rows.samples, rows.index).problem(
        np.zeros(n)
    )


def _from_prior(case: ColumnCase, rng: np.random.Generator):
    columns = rng.normal(size=(case.rows, 6))
    columns[:, 4:] = columns[:, 4:] > 0
    X = frame(columns)
    draft = problem_of(X, target(np.ones(case.rows), np.arange(1.0, case.rows + 1)))
    draws = _zero(draft).draw(LIMITS, PRIOR, n_draws=1, seed=int(rng.integers(2**31)))
    tree, strength = draws.topologies[0], PRIOR.strengths[int(draws.strength[0])]
    leaf, nothing = leaves_of(tree, draft.binned, draft.binned.bins), np.zeros(case.rows)
    theta = drawn_thetas(tree, strength, leaf, (nothing, nothing), rng)[leaf]
    time = (rng.exponential(size=case.rows) / theta) ** (1 / 1.5)
    end = rng.exponential(2.0, size=case.rows)
    y = target(time <= end, np.minimum(time, end))
    used = np.isin(np.arange(len(draft.binned.n_bins)), columns_of(tree, draft.binned))
    return X, y, draft, used


def _permuted(case: ColumnCase, rng: np.random.Generator):
    whole = real_table(case.source)
    order = rng.permutation(len(whole.y))[: case.rows]
    X, y = take(whole.X, order), whole.y[rng.permutation(order)]
    problem = problem_of(X, y)
    return X, y, problem, np.zeros(len(problem.binned.n_bins), dtype=bool)


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    is_prior = rows["source"] == _FROM_PRIOR
    columns = pd.concat([_columns(row) for row in rows.itertuples()])
    drawn, permuted = columns[columns["is_prior"]], columns[~columns["is_prior"]]
    calibration = pd.DataFrame(
        [
            _bin(size, own, low, high)
            for size, own in drawn.groupby("rows")
            for low, high in pairwise(EDGES)
        ]
    )
    calibration = calibration[calibration["columns"] > 0]
    off = (calibration["asked about"] - calibration["mean probability"]).abs()
    n_off = int((off > 3 * calibration["standard error"]).sum())
    return [
        "`SurTreeBayes.column_probability_` is the posterior probability that a tree of the first "
        "stage asks about a column at all. What follows was written down before it was run.",
        "",
        "## Trees drawn from the prior",
        "",
        f"{int(is_prior.sum())} tables with a tree from the prior, six columns each; times are "
        "Weibull, a third or so censored, and the baseline is estimated from the same rows, as "
        f"ever. {n_off} of {len(calibration)} bins are off by more than three standard errors.",
        "",
        *table(calibration, 3),
        "",
        f"The mean of all probabilities is {drawn['probability'].mean():.3f}, that of the prior "
        f"{drawn['prior'].mean():.3f}, and {drawn['used'].mean():.3f} of all columns are asked "
        "about.",
        *_permuted_page(rows[~is_prior], permuted),
    ]


def _permuted_page(rows: pd.DataFrame, permuted: pd.DataFrame) -> list[str]:
    """Say how probable columns are that say nothing."""
    if permuted.empty:
        return []
    noise = pd.DataFrame(
        [
            {
                "rows": f"up to {size}",
                "columns": len(own),
                "mean of the prior": own["prior"].mean(),
                "mean probability": own["probability"].mean(),
                "above .5": (own["probability"] > HALF).mean(),
                "above .9": (own["probability"] > 0.9).mean(),
                "largest": own["probability"].max(),
            }
            for size, own in permuted.groupby("rows")
        ]
    )
    above = (permuted["probability"] > HALF).mean()
    means = permuted[["probability", "prior"]].mean()
    return [
        "",
        "## Real tables, permuted",
        "",
        f"Columns that say nothing of the outcome: rows of {rows['source'].nunique()} real tables, "
        f"permuted against their outcome, {rows['number'].nunique()} times each. The bar, at most "
        f"{MOST_ABOVE:.0%} of columns above one half, is "
        f"{'met' if above <= MOST_ABOVE else '**missed**'}: {above:.2%}. That the mean probability "
        f"is below the prior's is {'met' if means.iloc[0] < means.iloc[1] else '**missed**'}: "
        f"{means.iloc[0]:.4f} against {means.iloc[1]:.4f}.",
        "",
        *table(noise, 4),
    ]


def _columns(row) -> pd.DataFrame:
    """Return the columns of a table as rows."""
    values = {
        name: np.array(str(getattr(row, name)).split(), dtype=float)
        for name in ("probability", "prior", "used")
    }
    return pd.DataFrame(values).assign(rows=row.rows, is_prior=row.source == _FROM_PRIOR)


def _bin(size: int, own: pd.DataFrame, low: float, high: float) -> dict[str, object]:
    is_last = high == EDGES[-1]
    probability = own["probability"]
    there = own[(probability >= low) & ((probability < high) | is_last)]
    mean = there["probability"].mean()
    return {
        "rows": size,
        "probability": f"{low:g} to {high:g}",
        "columns": len(there),
        "mean probability": mean,
        "asked about": there["used"].mean(),
        "standard error": np.sqrt(mean * (1 - mean) / max(len(there), 1)),
    }
