"""The second program on the real tables: whether it confirms the optimum, and what that takes."""

from __future__ import annotations

import resource
import warnings
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from experiments.clock import processor_seconds
from experiments.experiment import Measures
from experiments.page import table
from experiments.tables import REAL_TABLES, real_table
from surtree import SurTree, verify

# Seconds for the part that can be confirmed with every threshold, and for the search itself.
LIMIT = 60.0
# From 241 to 2,982 distinct rows.
EVERY_THRESHOLD = ("acath", "nwtco", "Aids2", "csl", "rott2")


@dataclass(frozen=True)
class VerifyCase:
    """One table, with the paper's thresholds or with every one of them."""

    table: str
    depth: int
    every_threshold: bool = False


def cases(quick: bool) -> list[VerifyCase]:
    """Return both depths of all tables, and every threshold of some; or one quick case."""
    if quick:
        return [VerifyCase("acath", 2)]
    paper = [VerifyCase(name, depth) for depth in (3, 4) for name in REAL_TABLES]
    return paper + [VerifyCase(name, 3, every_threshold=True) for name in EVERY_THRESHOLD]


def measure(case: VerifyCase) -> Measures:
    """Fit the best trees of a table, and let the second program look at them."""
    loaded = real_table(case.table)
    model = SurTree(
        case.depth,
        n_thresholds=None if case.every_threshold else 10,
        category_cuts="one",
        time_limit=LIMIT,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(loaded.X, loaded.y)
        start = processor_seconds()
        found = verify(
            model, loaded.X, loaded.y, time_limit=LIMIT if case.every_threshold else None
        )
    return {
        "rows": len(loaded.X),
        "questions": len(model.encoder_.cuts_),
        "search": model.status_,
        "outcome": found.outcome,
        "confirmed_parts": sum(part.outcome == "confirmed" for part in found.parts),
        "share": found.share,
        "seconds": processor_seconds() - start,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "status": "done",
    }


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there is no figure.
    """
    every = rows["every_threshold"].astype(str) == "True"
    lines = [
        "`surtree.verify` after `SurTree(depth, category_cuts='one')`, with ten thresholds a "
        "column as in the paper. Seconds are those of the processor, all parts together; memory is "
        "the most that the process has had until then, with what was there before.",
        "",
    ]
    for depth, part in rows[~every].groupby("depth"):
        n_confirmed = (part["outcome"] == "confirmed").sum()
        lines += [
            f"## Depth {depth}",
            "",
            f"{n_confirmed} of {len(part)} tables are confirmed, in {part['seconds'].sum():.1f} "
            f"seconds together; the slowest takes {part['seconds'].max():.1f} seconds, and the "
            f"process has {part['mebibytes'].max():.0f} MiB at most.",
            "",
            *table(_shown(part)),
            "",
        ]
    return [
        *lines,
        "## Every threshold",
        "",
        f"Depth 3, with a limit of {LIMIT:.0f} seconds of the clock, of which a busy machine gives "
        "few: the seconds of the processor say how much work was done. The share is that of every "
        "lower bound of the file that is confirmed, the least over all sizes.",
        "",
        *table(_shown(rows[every])),
        "",
    ]


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    frame = rows[
        ["table", "rows", "questions", "search", "outcome", "share", "seconds", "mebibytes"]
    ]
    return frame.assign(
        share=frame["share"].map("{:.1%}".format),
        seconds=frame["seconds"].map("{:.1f}".format),
        mebibytes=frame["mebibytes"].map("{:.0f}".format),
    )
