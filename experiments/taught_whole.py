"""Taught trees beside trees of others on the paper's whole tables, fold by fold."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.cohort_comparison import METRICS
from experiments.forecast import brier_column
from experiments.page import table
from experiments.small_cohorts import DEPTH
from experiments.task import Status
from experiments.taught_page import tests

_TAUGHT = "taught"
_MEASURES = [name for name in METRICS if name != "loss"]


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows of the taught trees and of the real tables.
    folder : Path
        Not used: there are no figures.
    """
    if not {"kind", "protocol"} <= set(rows):
        return ["The rows of one of them are missing."]
    rows = rows[rows["status"] == Status.DONE]
    taught = rows[(rows["kind"] == "full") & (rows["method"] == _TAUGHT)]
    taught = taught.assign(ib=taught[brier_column("kaplan-meier")])
    others = rows[(rows["protocol"] == "clean") & (rows["depth"] == DEPTH)]
    others = others.assign(kind="full", rows=0, draw=others["fold"], loss=float("nan"))
    both = pd.concat([taught, others])
    names = list(dict.fromkeys(others["method"]))
    means = both.groupby(["table", "method"])[[*_MEASURES, "splits"]].mean()
    return [
        f"The folds are the same (seed 0), and so is the depth, {DEPTH}. `TaughtTree()` comes as "
        "it is, with seven splits, the others are tuned ([real tables](real-d3.md)), where surtree "
        "has no shrinkage. All curves are Kaplan-Meier's of the leaves, so that trees are compared "
        "and not curves; rows of the others have no held-out loss, and their Brier "
        "scores are from before the weights changed to the share just before a time, which is "
        "worth 0.0005 on average ([results](README.md)). The bar was that the taught "
        "tree is behind no other (p < .05).",
        "",
        "## Tests",
        "",
        *table(pd.DataFrame(tests(both, [(_TAUGHT, name) for name in names])), 4),
        "",
        "## Means over tables",
        "",
        *table(means.groupby("method").mean().loc[[_TAUGHT, *names]].reset_index(), 4),
    ]
