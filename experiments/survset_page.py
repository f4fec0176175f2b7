"""The page of SurvSet's other tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from experiments.cohort_comparison import METRICS
from experiments.comparison import P_VALUE
from experiments.page import table
from experiments.survset import METHODS, SEED, UNUSED
from experiments.task import Status
from experiments.taught_methods import TREES
from experiments.taught_page import BEHIND, LEVEL, is_ahead, tests, with_own_curves

TAUGHT = ("taught", "taught, 3 splits", "taught, equal size")
_COMPARED = (
    *((one, other) for one in TAUGHT for other in TREES),
    *((one, "cox") for one in ("average after Cox", "average", "points", "taught")),
    ("average after Cox", "average"),
)


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    failed = rows[rows["status"] != Status.DONE]
    rows = with_own_curves(rows[rows["status"] == Status.DONE])
    order = [method for method in METHODS if method in set(rows["method"])]
    found = tests(rows, _COMPARED)
    lines = ["## What it shows", "", *_verdicts(found), "", "## What was done", ""]
    lines += [*_about(rows), ""]
    if not failed.empty:
        counts = failed.groupby(["table", "method", "message"]).size().reset_index(name="folds")
        lines += ["Runs that failed:", "", *table(counts), ""]
    lines += ["## Tests", "", *table(pd.DataFrame(found), 4), "", "## Means over tables", ""]
    by_table = rows.groupby(["table", "method"])[[*METRICS, "splits"]].mean()
    means = by_table.groupby("method").mean().loc[order]
    means["seconds"] = rows.groupby("method")["seconds"].median()
    lines += [*table(means.reset_index(), 4), "", "Seconds are medians of processor time.", ""]
    facts = rows.groupby("table")[["n_train", "events", "n_columns"]].first()
    for metric, (title, _) in METRICS.items():
        cells = by_table[metric].unstack()[order]
        shown = facts.join(cells) if metric == "c" else cells
        lines += [f"## {title}", "", "Means over folds.", "", *table(shown.reset_index(), 3), ""]
    return lines[:-1]


def _verdicts(found: list[dict[str, Any]]) -> list[str]:
    """Return a line for each bar that was set before."""
    lines = []
    offset = [
        line for line in found if (line["one"], line["other"]) == ("average after Cox", "cox")
    ]
    if offset:
        ahead = [line["measure"] for line in offset if is_ahead(line) and line[P_VALUE] < LEVEL]
        behind = [
            line["measure"] for line in offset if not is_ahead(line) and line[P_VALUE] < BEHIND
        ]
        is_met = {"ib", "loss"} <= set(ahead) and not behind
        lines.append(
            f"- {_mark(is_met)}: the average with Cox as its offset is ahead of Cox in Brier score "
            f"and loss at p < {LEVEL} and behind it in no measure: ahead in "
            f"{', '.join(ahead) or 'none'}, behind in {', '.join(behind) or 'none'}."
        )
    lines += [
        f"- {_mark(line['mean difference'] > -0.005)}: the score card is less than .005 behind Cox "
        f"in C: {line['mean difference']:+.4f}."
        for line in found
        if (line["one"], line["other"], line["measure"]) == ("points", "cox", "c")
    ]
    for one in TAUGHT:
        own = [line for line in found if line["one"] == one and line["other"] in TREES]
        n_ahead = sum(is_ahead(line) and line[P_VALUE] < LEVEL for line in own)
        n_behind = sum(not is_ahead(line) and line[P_VALUE] < BEHIND for line in own)
        lines.append(
            f"- {one}: ahead of the other trees at p < {LEVEL} in {n_ahead} of {len(own)} tests, "
            f"behind at p < {BEHIND} in {n_behind}."
        )
    return lines


def _mark(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


def _about(rows: pd.DataFrame) -> list[str]:
    unused = ", ".join(f"{name} ({why})" for name, why in UNUSED.items())
    return [
        f"{rows['table'].nunique()} tables of SurvSet that are not among the paper's, by a rule "
        "that looks at no outcome, set before any of these rows: prepared as the paper's, 120 to "
        f"6,000 rows, one row a person, at most 100 columns. Not used: {unused}. Five folds of "
        f"seed {SEED}; all methods with the settings of [the taught trees](taught.md), none chosen "
        "on any of these tables. The linear predictor of Cox is clipped to its range on training "
        "rows. Columns are those of one fold's "
        "training rows; 'splits' are means.",
        "",
        f"{len(rows):,} fits.",
    ]
