"""The paper's figure of synthetic data: scores against the number of rows, by censoring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.comparison import signed_rank_tests
from experiments.experiment import Measures
from experiments.figures import STYLES, figure
from experiments.methods import METHODS, attempt
from experiments.page import table
from experiments.scores import brier, concordance, training_loss
from experiments.task import Task
from surtree.datasets import make_survival_tree_data

ROWS = (100, 200, 500, 1000, 2000, 5000)
CENSORING = (0.1, 0.5, 0.8)
N_TABLES = 5
DEPTH = 4
TEST_ROWS = 50_000
# Test rows are drawn from the same tree by a seed that no table has.
_TEST_SEED = 1_000_000
METHODS_RUN = ("surtree", "ctree", "local search", "greedy")


@dataclass(frozen=True)
class SyntheticCase:
    """One method on one synthetic table."""

    censoring: float
    rows: int
    number: int
    method: str
    test_rows: int = TEST_ROWS
    depth: int = DEPTH
    seed: int = 0


def cases(quick: bool) -> list[SyntheticCase]:
    """Return all cases; the quick ones are small tables with few test rows."""
    rows = (100, 200) if quick else ROWS
    numbers = range(1 if quick else N_TABLES)
    censoring = CENSORING[1:2] if quick else CENSORING
    test_rows = 2000 if quick else TEST_ROWS
    return [
        SyntheticCase(share, n, number, method, test_rows)
        for n in rows
        for share in censoring
        for number in numbers
        for method in METHODS_RUN
    ]


def measure(case: SyntheticCase) -> Measures:
    """Tune a method on a table, and score its tree on many rows of the same tree."""
    X, y, truth = make_survival_tree_data(
        case.rows, censoring=case.censoring, random_state=case.number, backend="pandas"
    )
    X_test, y_test = truth.sample(case.test_rows, _TEST_SEED + case.number, backend="pandas")
    tried = attempt(case.method, "tune", Task(X, y, X_test, case.depth, case.seed))
    measures: Measures = {"c": float("nan"), "ib": float("nan"), "loss": float("nan"), "splits": ""}
    if tried.leaves is not None:
        measures = {
            "c": concordance(y, y_test, tried.leaves),
            "ib": brier(y, y_test, tried.leaves),
            "loss": training_loss(y, tried.leaves.train),
            "splits": tried.leaves.splits,
        }
    return measures | {
        "seconds": tried.seconds,
        "status": str(tried.status),
        "message": tried.message,
    }


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page, and save the figure.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Where the figure goes.
    """
    _draw(rows, folder / "synthetic.svg")
    means = rows.groupby(["censoring", "rows", "method"])[["c", "ib", "splits"]].mean().unstack()
    methods = [method for method in METHODS if method in set(rows["method"])]
    lines = [
        f"Mean of {rows['number'].nunique()} tables each, {rows['test_rows'].max():,} test rows "
        f"from the same tree, trees of depth up to {rows['depth'].max()}, sizes tuned by ten "
        "folds. Methods see the columns as they are; SurTree cuts them at ten quantiles.",
        "",
        "![Harrell's C and integrated Brier score against the number of rows](synthetic.svg)",
        "",
    ]
    for metric, title in (("c", "Harrell's C"), ("ib", "Normalised integrated Brier score")):
        frame = means[metric][methods].reset_index()
        lines += [
            f"## {title}",
            "",
            *table(frame, {**dict.fromkeys(methods, 3), "censoring": 1}),
            "",
        ]
        paired = rows.pivot_table(
            index=["censoring", "rows", "number"], columns="method", values=metric
        )
        lines += [
            "Wilcoxon signed-rank tests over all tables:",
            "",
            *table(signed_rank_tests(paired[methods]), 4),
            "",
        ]
    return lines


def _draw(rows: pd.DataFrame, path: Path) -> None:
    shares = sorted(rows["censoring"].unique())
    with figure(path, 2, len(shares), sharex=True, sharey="row") as axes:
        for column, share in enumerate(shares):
            for line, (metric, title) in enumerate((("c", "Harrell's C"), ("ib", "1 - IB / IB₀"))):
                ax = axes[line][column]
                for method, part in rows[rows["censoring"] == share].groupby("method", sort=False):
                    colour, marker = STYLES[method]
                    mean = part.groupby("rows")[metric].mean()
                    ax.plot(mean.index, mean, color=colour, marker=marker, ms=4, label=method)
                ax.set_xscale("log")
                if line == 0:
                    ax.set_title(f"{share:.0%} censored")
                else:
                    ax.set_xlabel("rows")
                if column == 0:
                    ax.set_ylabel(title)
        axes[0][0].legend(loc="lower right", fontsize=8)
