"""The page of SurvSet's other tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from experiments.cohort_comparison import METRICS
from experiments.comparison import P_VALUE
from experiments.page import table
from experiments.real import N_FOLDS
from experiments.survset import METHODS, OTHER_TABLES, SEED, UNUSED
from experiments.task import Status
from experiments.taught_methods import TREES
from experiments.taught_page import BEHIND, LEVEL, is_ahead, shared_draws, tests, with_own_curves

TAUGHT = ("taught", "taught, 3 splits", "taught, equal size")
_COMPARED = (
    *((one, other) for one in TAUGHT for other in TREES),
    *((one, "cox") for one in ("average after Cox", "average", "points", "taught")),
    ("average after Cox", "average"),
)

_SECONDS = (
    "Of folds that all of these methods have; a method with less than half of the tables is not "
    "here, nor among the tests. Seconds are medians of processor time."
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
    # A test over less than half of the tables says little: while rows are missing it waits.
    n_tables = rows.groupby("method")["table"].nunique()
    enough = set(n_tables.index[n_tables > n_tables.max() / 2])
    found = tests(rows, [pair for pair in _COMPARED if enough.issuperset(pair)])
    lines = ["## What it shows", "", *_verdicts(found, _is_open(rows)), "", "## What was done", ""]
    lines += [*_about(rows), ""]
    if not failed.empty:
        counts = failed.groupby(["table", "method", "message"]).size().reset_index(name="folds")
        lines += ["Runs that failed:", "", *table(counts), ""]
    lines += ["## Tests", "", *table(pd.DataFrame(found), 4), "", "## Means over tables", ""]
    order = [method for method in order if method in enough]
    shown = shared_draws(rows[rows["method"].isin(order)])
    by_table = shown.groupby(["table", "method"])[[*METRICS, "splits"]].mean()
    means = by_table.groupby("method").mean().loc[order]
    means["seconds"] = shown.groupby("method")["seconds"].median()
    lines += [*table(means.reset_index(), 4), "", _SECONDS, ""]
    facts = rows.groupby("table")[["n_train", "events", "n_columns"]].first()
    for metric, (title, _) in METRICS.items():
        cells = by_table[metric].unstack()[order]
        cells = facts.join(cells) if metric == "c" else cells
        lines += [f"## {title}", "", "Means over folds.", "", *table(cells.reset_index(), 3), ""]
    return lines[:-1]


def _is_open(rows: pd.DataFrame) -> bool:
    """Tell whether folds are missing of what the bars are about."""
    n_folds = rows[rows["method"].isin(("average after Cox", "points", "cox"))]
    return len(n_folds) < 3 * N_FOLDS * len(OTHER_TABLES)


def _verdicts(found: list[dict[str, Any]], is_open: bool) -> list[str]:
    """Return a line for each bar that was set before; without all folds it is open."""
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
            f"- {_mark(is_met, is_open)}: the average after Cox is ahead of Cox in Brier score "
            f"and loss at p < {LEVEL} and behind it in no measure: ahead in "
            f"{', '.join(ahead) or 'none'}, behind in {', '.join(behind) or 'none'}."
        )
    lines += [
        f"- {_mark(line['mean difference'] > -0.005, is_open)}: the score card is less than .005 "
        f"behind Cox in C: {line['mean difference']:+.4f}."
        for line in found
        if (line["one"], line["other"], line["measure"]) == ("points", "cox", "c")
    ]
    for one in TAUGHT:
        own = [line for line in found if line["one"] == one and line["other"] in TREES]
        if not own:
            continue
        n_ahead = sum(is_ahead(line) and line[P_VALUE] < LEVEL for line in own)
        n_behind = sum(not is_ahead(line) and line[P_VALUE] < BEHIND for line in own)
        lines.append(
            f"- {one}: ahead of the other trees at p < {LEVEL} in {n_ahead} of {len(own)} tests, "
            f"behind at p < {BEHIND} in {n_behind}."
        )
    return lines


def _mark(is_met: bool, is_open: bool) -> str:
    if is_open:
        return f"open, since folds are missing; so far {'met' if is_met else 'not met'}"
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
        f"{len(rows):,} fits, {rows.groupby(['table', 'draw']).ngroups} of "
        f"{N_FOLDS * len(OTHER_TABLES)} folds; a test has the folds that both methods have.",
    ]
