"""The page of near-optimal trees: their mean, their range, and the best monotone one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.comparison import signed_rank_tests
from experiments.near_trees import (
    BAG,
    DESIGNS,
    MEAN_ROWS,
    MONOTONE_ROWS,
    MOST_TREES,
    SIGNS,
    TRUTH_ROWS,
    WITHIN,
)
from experiments.page import p_text, table
from experiments.task import Status

_SETS = {f"near_{round(100 * within)}": f"mean within {within:.0%}" for within in WITHIN}
_NAMES = {"best": "best tree", **_SETS, "bag": f"bag of {BAG}", "bayes": "average over all trees"}


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
    done = rows[rows["status"] == Status.DONE]
    lines = [*_mean(done[done["part"] == "mean"]), *_truth(done[done["part"] == "truth"])]
    lines += _monotone(done[done["part"] == "monotone"])
    if not failed.empty:
        lines += ["", "Runs that failed:", "", *table(failed[["part", "table", "draw", "message"]])]
    return lines


def _mean(rows: pd.DataFrame) -> list[str]:
    """Return the scores of means over sets, of one tree and of averages."""
    shown = {}
    for score in ("c", "loss"):
        columns = {f"{score}_{method}": name for method, name in _NAMES.items()}
        shown[score] = rows.groupby("table")[[*columns]].mean().rename(columns=columns)
    tests = [
        (score, signed_rank_tests(frame[["mean within 5%", "best tree"]]).iloc[0])
        for score, frame in shown.items()
    ]
    sentences = (
        f"{'Harrell' + chr(39) + 's C' if score == 'c' else 'loss'} "
        f"{test['mean difference']:+.4f} ({p_text(float(test['p-value']))})"
        for score, test in tests
    )
    sizes = rows.groupby("table")[[f"trees_{name}" for name in _SETS]].median()
    counted = sizes.rename(columns={f"trees_{one}": name for one, name in _SETS.items()})
    both = pd.DataFrame({score: frame.mean() for score, frame in shown.items()})
    both = both.rename(columns={"c": "Harrell's C", "loss": "loss per row"})
    return [
        "## The mean over near-optimal trees",
        "",
        f"The mean over the set of 5% less the best tree, over {len(shown['c'])} tables: "
        f"{'; '.join(sentences)}. One draw of {MEAN_ROWS} rows a table, or two, as far as time "
        "allowed (`experiments/near_trees.py` says what was changed). Means over tables:",
        "",
        *table(both.reset_index(names="method"), 4),
        "",
        f"Trees in a set (median over draws; {MOST_TREES} at most):",
        "",
        *table(counted.reset_index(), 0),
        "",
        "Harrell's C on each table:",
        "",
        *table(shown["c"].reset_index()),
        "",
    ]


def _truth(rows: pd.DataFrame) -> list[str]:
    """Return how often the truth is in the range of a set."""
    lines = [
        "## Is the truth in the range?",
        "",
        f"{TRUTH_ROWS} rows, {rows['draw'].nunique()} draws of each design, survival at the median "
        "time. *Inside*: the share of new rows whose true survival is between the least and the "
        "greatest prediction of the set. It is no interval, and has no level. *Error*: mean "
        "absolute distance of the mean of the set from the truth.",
        "",
    ]
    cells = []
    for design in DESIGNS:
        own = rows[rows["table"] == design].mean(numeric_only=True)
        cells.append({"hazards": design, "set": "best tree", "error": own["error_best"]})
        cells += [
            {
                "hazards": design,
                "set": name.removeprefix("mean "),
                "trees": own[f"trees_{one}"],
                "inside": own[f"inside_{one}"],
                "width": own[f"width_{one}"],
                "error": own[f"error_{one}"],
            }
            for one, name in _SETS.items()
        ]
    frame = pd.DataFrame(cells, columns=["hazards", "set", "trees", "inside", "width", "error"])
    return [*lines, *table(frame, {"trees": 0, "inside": 2, "width": 3, "error": 4}), ""]


def _monotone(rows: pd.DataFrame) -> list[str]:
    """Return what monotone trees cost, and what they are worth on other rows."""
    rows = rows.assign(
        c=rows["c_monotone"] - rows["c_best"], loss=rows["loss_monotone"] - rows["loss_best"]
    )
    means = rows.groupby("table")[["c", "loss"]].mean()
    turned, proven = int((rows["turns"] > 0).sum()), int((rows["gap"] == 0).sum())
    test = signed_rank_tests(pd.DataFrame({"monotone": means["loss"], "best": 0.0})).iloc[0]
    worth = (
        f"its training cost is {rows['cost'].median():.1%} in the median and "
        f"{rows['cost'].max():.1%} at most. On the other rows its loss differs by "
        f"{test['mean difference']:+.4f} from that of the best tree "
        f"({p_text(float(test['p-value']))}, {test['tables']} tables)"
    )
    signs = [
        {
            "table": name,
            "risk rises with": ", ".join(one for one, sign in of.items() if sign > 0) or "-",
            "falls with": ", ".join(one for one, sign in of.items() if sign < 0) or "-",
        }
        for name, of in SIGNS.items()
    ]
    columns = {
        "table": "table",
        "draw": "draw",
        "turns": "columns that turn",
        "cost": "training cost",
        "gap": "gap",
        "looked_at": "trees looked at",
        "c": "C, difference",
        "loss": "loss, difference",
    }
    return [
        "## Monotone trees",
        "",
        f"The best tree of five questions on {MONOTONE_ROWS} rows has a reversal in one of the "
        f"columns with a sign on {turned} of {len(rows)} draws. The best monotone tree "
        f"(`SurTree(monotone=...)`) was proven on {proven}; {worth}. Differences are monotone less "
        "best; trees looked at are those that two parts were joined to.",
        "",
        *table(pd.DataFrame(signs)),
        "",
        *table(
            rows[[*columns]].rename(columns=columns),
            {
                "columns that turn": 0,
                "training cost": 3,
                "gap": 4,
                "trees looked at": 0,
                "C, difference": 4,
            }
            | {"loss, difference": 4},
        ),
        "",
    ]
