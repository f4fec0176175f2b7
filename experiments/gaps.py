"""How far each heuristic is from the optimum on the real tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.figures import STYLES, figure
from experiments.methods import METHODS, attempt
from experiments.page import table
from experiments.scores import training_loss
from experiments.tables import REAL_TABLES, binary, numeric, real_table
from experiments.task import Task, View

DEPTHS = (2, 3, 4)
LIMIT = 30.0
HEURISTICS = ("local search", "greedy", "ctree", "scikit-survival")


@dataclass(frozen=True)
class GapCase:
    """One method, without tuning, on all rows of one real table in one of two views."""

    table: str
    depth: int
    view: View
    method: str


def cases(quick: bool) -> list[GapCase]:
    """Return all cases; the quick ones are one small table at depth two."""
    tables, depths = (("acath",), (2,)) if quick else (REAL_TABLES, DEPTHS)
    runs: list[tuple[View, str]] = [("binary", "surtree")]
    runs += [(view, method) for view in ("binary", "numeric") for method in HEURISTICS]
    return [
        GapCase(name, depth, view, method)
        for name in tables
        for depth in depths
        for view, method in runs
    ]


def measure(case: GapCase) -> Measures:
    """Fit a method to all rows, and return its loss and that of a single leaf."""
    loaded = real_table(case.table)
    X = binary(loaded.X) if case.view == "binary" else numeric(loaded.X)
    task = Task(X, loaded.y, X[:1], case.depth, min_support=0.0, limit=LIMIT)
    tried = attempt(case.method, "fit", task)
    loss, splits = np.nan, ""
    if tried.leaves is not None:
        loss, splits = training_loss(loaded.y, tried.leaves.train), tried.leaves.splits
    return {
        "root_loss": training_loss(loaded.y, np.zeros(len(loaded.y), dtype=np.intp)),
        "loss": loss,
        "splits": splits,
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
    optimum = rows[rows["method"] == "surtree"].set_index(["table", "depth"])["loss"]
    others = rows[rows["method"] != "surtree"].join(
        optimum.rename("optimum"), on=["table", "depth"]
    )
    others["missed"] = (others["loss"] - others["optimum"]) / (
        others["root_loss"] - others["optimum"]
    )
    on_binary = others[others["view"] == "binary"]
    _draw(on_binary, folder / "gaps.svg")
    below = (on_binary["missed"] < -1e-9).sum()
    lines = [
        "All rows of each table, no tuning; CTree stops at its usual level of 0.05, the others at "
        "the depth. The gap is the part of what the optimal tree saves over a single leaf that a "
        "heuristic's tree of the same depth misses: 0% is optimal, 100% no better than a leaf.",
        "",
        "![The gap of each heuristic on each table](gaps.svg)",
        "",
        "## On the same 0/1 columns as the optimum",
        "",
        f"No gap can be negative here, and {below} of {len(on_binary)} are.",
        "",
    ]
    for view, title in (("binary", ""), ("numeric", "## With every threshold")):
        of_view = others[others["view"] == view]
        if title:
            lines += [
                title,
                "",
                "The heuristics choose among all thresholds, the optimum among ten a column; a "
                "negative gap is what the ten thresholds cost.",
                "",
            ]
        lines += [*table(_summary(of_view)), "", *table(_by_table(of_view)), ""]
    return lines


def _summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean, median and largest gap, and the number of optimal trees, by depth and method."""
    found = rows.assign(optimal=rows["missed"].abs() < 1e-9)
    groups = found.groupby(["depth", "method"], sort=False)
    frame = groups.agg(
        tables=("missed", "count"),
        mean=("missed", "mean"),
        median=("missed", "median"),
        most=("missed", "max"),
        optimal=("optimal", "sum"),
    ).reset_index()
    frame = frame.sort_values("depth", kind="stable")
    return _percent(frame, ["mean", "median", "most"])


def _by_table(rows: pd.DataFrame) -> pd.DataFrame:
    cells = rows.pivot_table(
        index="table", columns=["depth", "method"], values="missed", sort=False
    )
    names = [(depth, method) for depth in DEPTHS for method in METHODS if (depth, method) in cells]
    frame = cells[names].reset_index()
    frame.columns = ["table", *(f"{method}, d{depth}" for depth, method in names)]
    return _percent(frame, list(frame.columns[1:]))


def _percent(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    shown = {name: frame[name].map("{:.1%}".format).replace("nan%", "-") for name in columns}
    return frame.assign(**shown)


def _draw(rows: pd.DataFrame, path: Path) -> None:
    depths = sorted(rows["depth"].unique())
    tables = list(dict.fromkeys(rows["table"]))[::-1]
    with figure(path, 1, len(depths), sharey=True, sharex=True, size=(3.4, 4.2)) as axes:
        for ax, depth in zip(axes[0], depths, strict=True):
            for method in HEURISTICS:
                part = rows[(rows["depth"] == depth) & (rows["method"] == method)]
                colour, marker = STYLES[method]
                places = [tables.index(name) for name in part["table"]]
                ax.plot(100 * part["missed"], places, marker, color=colour, ms=5, label=method)
            ax.set_yticks(range(len(tables)), tables)
            ax.set_title(f"depth {depth}")
            ax.set_xlabel("gap in %")
        axes[0][-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
