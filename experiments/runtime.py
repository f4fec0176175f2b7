"""Run time on the real tables, tuning included: from the rows of the two large tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.comparison import geometric_mean
from experiments.facts import published_folds
from experiments.methods import METHODS
from experiments.page import table
from experiments.tables import REAL_TABLES
from experiments.task import Status


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        The rows of both depths.
    folder : Path
        Not used: there are no figures.
    """
    rows = rows[rows["protocol"] == "paper"]
    lines = [
        "Processor seconds of one tuned fit on a training part of the paper's protocol: ten folds "
        "over all sizes, then the chosen one on all rows. A fit that was stopped counts with the "
        "time that it was given, so that the true ratio is larger. Local search begins 5 times in "
        "each fold and 100 times in the end. OSST's fits run in processes of their own, whose "
        "start of some seconds is part of its time.",
        "",
    ]
    for depth, at_depth in rows.groupby("depth"):
        lines += [f"## Depth up to {depth}", "", *_depth(at_depth), ""]
    return [*lines, "## As the authors report it", "", *_published()]


def _depth(rows: pd.DataFrame) -> list[str]:
    methods = [method for method in METHODS if method in set(rows["method"])]
    median = rows.groupby(["table", "method"])["seconds"].median().unstack()[methods]
    by_fold = rows.pivot_table(index=["table", "fold"], columns="method", values="seconds")
    stopped = rows[rows["status"] == Status.TIME_LIMIT].groupby("method").size()
    summary = [
        {
            "method": method,
            "fits": int(by_fold[method].notna().sum()),
            "stopped": int(stopped.get(method, 0)),
            "total seconds": by_fold[method].sum(),
            "times as long as surtree": geometric_mean(by_fold[method] / by_fold["surtree"]),
        }
        for method in methods
    ]
    tables = [name for name in REAL_TABLES if name in median.index]
    return [
        "Geometric mean of the ratios over tables and folds:",
        "",
        *table(pd.DataFrame(summary), 1),
        "",
        "Median seconds over folds:",
        "",
        *table(median.loc[tables].reset_index(), 2),
    ]


def _published() -> list[str]:
    """Return the ratios of the seconds that the authors report beside their trees."""
    rows = published_folds()
    seconds = rows.pivot_table(
        index=["depth", "dataset", "fold"], columns="method", values="seconds_reported"
    )
    frame = pd.DataFrame(
        [
            {
                "depth": depth,
                "OST to SurTree": geometric_mean(part["ost"] / part["surtree"]),
                "CTree to SurTree": geometric_mean(part["ctree"] / part["surtree"]),
                "SurTree, median seconds": float(part["surtree"].median()),
            }
            for depth, part in seconds[seconds > 0].groupby("depth")
        ]
    )
    return [
        "The same geometric mean of the seconds that the authors publish beside their trees, on "
        "their machine (the paper: more than 100 times for OST at depth three):",
        "",
        *table(frame, 1),
    ]
