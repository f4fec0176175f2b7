"""How long the search over every threshold takes on synthetic tables, by rows and threads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.scores import training_loss
from experiments.tables import synthetic_table
from experiments.task import Status
from experiments.threshold_choices import CHOICES, search

LIMIT = 600.0
DEPTHS = {1000: (2, 3, 4), 5000: (2, 3)}
# Up to depth three; what takes longer is measured on one table.
N_TABLES = 3


@dataclass(frozen=True)
class SpeedCase:
    """One search over every threshold of a synthetic table, half of its rows censored."""

    rows: int
    depth: int
    number: int
    threads: int
    limit: float = LIMIT


def cases(quick: bool) -> list[SpeedCase]:
    """Return all cases; the quick ones are one small table."""
    if quick:
        return [SpeedCase(300, 2, 0, threads) for threads in (1, 2)]
    return [
        SpeedCase(rows, depth, number, threads)
        for rows, depths in DEPTHS.items()
        for depth in depths
        for number in range(N_TABLES if depth < 4 else 1)
        for threads in (1, 2)
    ]


def measure(case: SpeedCase) -> Measures:
    """Search, and compare with ten quantiles."""
    loaded = synthetic_table(case.number, rows=case.rows)
    found = search(
        loaded.X,
        loaded.y,
        case.depth,
        min_support=0.0,
        n_jobs=case.threads,
        time_limit=case.limit,
        **CHOICES["every threshold"],
    )
    ten = search(loaded.X, loaded.y, case.depth, min_support=0.0, **CHOICES["ten quantiles"])
    model = found.model
    proven = model.status_ == "optimal"
    return {
        "loss": training_loss(loaded.y, model.apply(loaded.X)),
        "ten_quantiles_loss": training_loss(loaded.y, ten.model.apply(loaded.X)),
        "root_loss": training_loss(loaded.y, np.zeros(case.rows, dtype=np.intp)),
        "gap": model.gap_,
        "cuts": model.n_cuts_,
        "evaluated": found.evaluated,
        "wall": found.wall,
        "seconds": found.seconds,
        "status": str(Status.DONE if proven else Status.TIME_LIMIT),
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
    missed = (rows["ten_quantiles_loss"] - rows["loss"]) / (rows["root_loss"] - rows["loss"])
    grouped = rows.assign(missed=missed).groupby(["rows", "depth", "threads"])
    frame = grouped.agg(
        tables=("number", "count"),
        proven=("status", lambda status: int((status == Status.DONE).sum())),
        wall=("wall", "median"),
        seconds=("seconds", "median"),
        evaluated=("evaluated", "median"),
        missed=("missed", "mean"),
    ).reset_index()
    for name in ("evaluated", "missed"):
        frame[name] = frame[name].map("{:.1%}".format)
    return [
        "The paper's synthetic tables (f = 1: three columns with a value of their own in each row, "
        "two categories, one yes or no), half of the rows censored. The whole fit, from the "
        "table to the tree. `wall` are the seconds that passed on a machine that was busy, "
        "`seconds` those of the processor, all threads together; both are medians of the tables. "
        "`evaluated` is the share of the cuts of all subproblems that was evaluated, `missed` what "
        "ten quantiles miss of what the optimum saves over a single leaf.",
        "",
        *table(frame, 2),
    ]
