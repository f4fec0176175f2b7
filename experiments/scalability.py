"""The paper's run-time figure: seconds of one fit against the depth, all methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments.comparison import geometric_mean
from experiments.experiment import Measures
from experiments.figures import STYLES, figure
from experiments.methods import METHODS, attempt
from experiments.page import table
from experiments.scores import training_loss
from experiments.tables import binary, numeric, synthetic_table
from experiments.task import Status, Task

# Processor seconds for one fit; the paper allows 600 s.
LIMIT = 60.0
# Beyond these, the exact methods take longer than the limit.
DEPTHS = {1: range(1, 6), 2: range(1, 6)}
N_TABLES = 5


@dataclass(frozen=True)
class ScalabilityCase:
    """One fit of one method; ``factor`` is how often the six columns are repeated."""

    factor: int
    number: int
    depth: int
    method: str
    rows: int = 5000


def cases(quick: bool) -> list[ScalabilityCase]:
    """Return all fits; the quick ones are those of one small table."""
    if quick:
        return [
            ScalabilityCase(1, 0, depth, method, rows=300)
            for depth in (2, 3)
            for method in ("surtree", "pystreed", "greedy", "ctree")
        ]
    return [
        ScalabilityCase(factor, number, depth, method)
        for factor, depths in DEPTHS.items()
        for number in range(N_TABLES)
        for depth in depths
        for method in METHODS
    ]


def pilot_of(case: ScalabilityCase) -> ScalabilityCase | None:
    """Return the first table; for this one, the depth before."""
    if case.number > 0:
        return replace(case, number=0)
    return replace(case, depth=case.depth - 1) if case.depth > 2 else None


def measure(case: ScalabilityCase) -> Measures:
    """Fit a method to a table, as the paper feeds it: 0/1 columns, or numbers."""
    loaded = synthetic_table(case.number, rows=case.rows, factor=case.factor)
    X = binary(loaded.X) if METHODS[case.method].view == "binary" else numeric(loaded.X)
    # A tree needs no rows to be timed on but those that it is fitted on.
    task = Task(X, loaded.y, X[:1], case.depth, min_support=0.0, limit=LIMIT)
    tried = attempt(case.method, "fit", task)
    loss = np.nan if tried.leaves is None else training_loss(loaded.y, tried.leaves.train)
    return {
        "cuts": binary(loaded.X).shape[1],
        "loss": loss,
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
    _draw(rows, folder / "scalability.svg")
    median = rows.groupby(["factor", "depth", "method"])["seconds"].median().unstack()
    is_late = rows["status"].isin((Status.TIME_LIMIT, Status.NOT_TRIED))
    late = rows[is_late].groupby(["factor", "depth", "method"]).size()
    methods = [method for method in METHODS if method in median]
    frame = median[methods].map("{:.3f}".format).replace("nan", "-")
    for factor, depth, method in late.index:
        frame.loc[(factor, depth), method] = f"> {LIMIT:g}"
    both = rows[rows["status"] == Status.DONE].pivot_table(
        index=["factor", "number", "depth"], columns="method", values="seconds"
    )
    lines = [
        f"Median processor seconds of one fit to {rows['rows'].max():,} rows, half of them "
        f"censored, {N_TABLES} tables with one block of columns (f=1) and {N_TABLES} with two "
        "(f=2). SurTree, pystreed and OSST are given 0/1 columns, the others numbers and "
        "indicators, with every threshold; local search begins 100 times.",
        "",
        "![Seconds of one fit against the depth](scalability.svg)",
        "",
        *table(frame.reset_index()),
        "",
        "How many times as long as ours the others take, geometric mean of the fits that both end:",
        "",
    ]
    ratios = [
        {
            "method": method,
            "fits": int((both[method] / both["surtree"]).notna().sum()),
            "times as long": geometric_mean(both[method] / both["surtree"]),
        }
        for method in methods
        if method != "surtree" and method in both
    ]
    return [*lines, *table(pd.DataFrame(ratios), 1)]


def _draw(rows: pd.DataFrame, path: Path) -> None:
    factors = sorted(rows["factor"].unique())
    with figure(path, 1, len(factors), sharey=True, size=(4.2, 3.4)) as axes:
        for ax, factor in zip(axes[0], factors, strict=True):
            _draw_factor(ax, rows[rows["factor"] == factor])
            ax.set_title(f"f = {factor}")
            ax.set_xlabel("largest depth")
        axes[0][0].set_ylabel("seconds")
        axes[0][-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_factor(ax: Axes, rows: pd.DataFrame) -> None:
    for method in METHODS:
        part = rows[(rows["method"] == method) & (rows["status"] == Status.DONE)]
        if part.empty:
            continue
        colour, marker = STYLES[method]
        median = part.groupby("depth")["seconds"].median()
        ax.plot(median.index, median, color=colour, marker=marker, ms=4, label=method)
    ax.set_yscale("log")
    ax.set_xticks(sorted(rows["depth"].unique()))
