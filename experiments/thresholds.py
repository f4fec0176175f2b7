"""What the choice of thresholds costs: the optimum over all of them beside every other tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.figures import STYLES, figure
from experiments.methods import attempt
from experiments.page import table
from experiments.scores import training_loss
from experiments.tables import REAL_TABLES, numeric, real_table
from experiments.task import Status, Task
from experiments.threshold_choices import CHOICES, search

DEPTHS = (2, 3, 4)
# Seconds that pass: for a search on two threads, and of the processor for a package of others.
LIMIT = 120.0
THREADS = 2
HEURISTICS = ("local search", "greedy", "ctree", "scikit-survival")
METHODS = (*reversed(CHOICES), *HEURISTICS)
# Losses are summed in another order by each method.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class ThresholdCase:
    """One method, without tuning, on all rows of one real table."""

    table: str
    depth: int
    method: str
    limit: float = LIMIT


def cases(quick: bool) -> list[ThresholdCase]:
    """Return all cases; the quick ones are two small tables at depth two."""
    tables, depths = (("divorce", "acath"), (2,)) if quick else (REAL_TABLES, DEPTHS)
    return [
        ThresholdCase(name, depth, method)
        for depth in depths
        for name in tables
        for method in METHODS
    ]


def measure(case: ThresholdCase) -> Measures:
    """Fit a tree to all rows, and add up its loss from its leaves."""
    loaded = real_table(case.table)
    root = training_loss(loaded.y, np.zeros(len(loaded.y), dtype=np.intp))
    measured = _heuristic(case) if case.method in HEURISTICS else _optimum(case)
    return {"rows": len(loaded.y), "root_loss": root, **measured}


def _optimum(case: ThresholdCase) -> Measures:
    loaded = real_table(case.table)
    found = search(
        loaded.X,
        loaded.y,
        case.depth,
        min_support=0.0,
        n_jobs=THREADS,
        time_limit=case.limit,
        **CHOICES[case.method],
    )
    model = found.model
    return {
        "loss": training_loss(loaded.y, model.apply(loaded.X)),
        "splits": model.tree_.n_splits,
        "proven": model.status_ == "optimal",
        "gap": model.gap_,
        "cuts": model.n_cuts_,
        "evaluated": found.evaluated,
        "wall": found.wall,
        "seconds": found.seconds,
        "status": str(Status.DONE if model.status_ == "optimal" else Status.TIME_LIMIT),
        "message": "",
    }


def _heuristic(case: ThresholdCase) -> Measures:
    loaded = real_table(case.table)
    # Each indicator of a category is a question that SurTree may ask as well.
    X = numeric(loaded.X)
    tried = attempt(case.method, "fit", Task(X, loaded.y, X[:1], case.depth, limit=case.limit))
    loss, splits = np.nan, ""
    if tried.leaves is not None:
        loss, splits = training_loss(loaded.y, tried.leaves.train), tried.leaves.splits
    return {
        "loss": loss,
        "splits": splits,
        "proven": False,
        "gap": np.nan,
        "cuts": 0,
        "evaluated": np.nan,
        "wall": np.nan,
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
    _draw(rows, folder / "thresholds.svg")
    lines = [
        "All rows of each table, raw columns, no tuning. Every loss is added up from the leaves by "
        "the same function. SurTree looks at every threshold, or at ten quantiles a column; none "
        "is left out for its support. The others choose among every threshold too, with "
        "categories as indicator columns; CTree stops at its usual level of 0.05, local search "
        f"begins 100 times. SurTree has {THREADS} threads and "
        f"{rows['limit'].max():g} seconds that pass, on a machine that was busy: `wall` are those "
        "seconds, `seconds` those that the threads together kept a processor busy. `evaluated` is "
        "the share of cuts, over all subproblems, that was evaluated at all; a dash is a table "
        "whose columns have so few values that all cuts are swept.",
        "",
        "![What each method misses of what the optimum over every threshold saves](thresholds.svg)",
    ]
    for depth, at_depth in rows.groupby("depth"):
        lines += ["", f"## Depth {depth}", "", *_depth(at_depth)]
    return lines


def _losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the loss by table and method, of one depth."""
    losses = rows.pivot_table(index="table", columns="method", values="loss", sort=False)
    return losses[[method for method in METHODS if method in losses]]


def _missed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what each method misses of what the search over every threshold saves, of one depth.

    Parameters
    ----------
    rows : data frame
        The rows of the depth.
    """
    best = rows[rows["method"] == "every threshold"].set_index("table")
    losses = _losses(rows).drop(columns="every threshold").reindex(best.index)
    return losses.sub(best["loss"], axis=0).div(best["root_loss"] - best["loss"], axis=0)


def _depth(rows: pd.DataFrame) -> list[str]:
    losses, missed = _losses(rows), _missed(rows)
    best = rows[rows["method"] == "every threshold"].set_index("table")
    proven = best.index[best["proven"]]
    optimum = best["loss"]
    smaller = losses.loc[proven].lt(optimum[proven] * (1 - _ROUNDING), axis=0).sum().sum()
    search = pd.DataFrame(
        {
            "table": best.index,
            "every threshold": optimum.to_numpy(),
            "proven": np.where(best["proven"], "yes", "no"),
            "gap": _percents(best["gap"], 2),
            "wall": best["wall"].to_numpy(),
            "seconds": best["seconds"].to_numpy(),
            "evaluated": _percents(best["evaluated"], 2),
        }
    )
    shown = missed.apply(_percents).reset_index()
    middle = missed.median().map("{:.1%}".format)
    most = missed.max().map("{:.1%}".format)
    summary = [{"table": "**median**", **middle}, {"table": "**largest**", **most}]
    return [
        f"{len(proven)} of {len(best)} tables are proven. Of the {losses.shape[1] - 1} other trees "
        f"of each of these, {smaller} have a smaller loss.",
        "",
        *table(search, {"every threshold": 3, "wall": 2, "seconds": 2}),
        "",
        "The losses of all methods:",
        "",
        *table(losses.reset_index()),
        "",
        "What they miss of that which the first column saves over a single leaf:",
        "",
        *table(pd.concat([shown, pd.DataFrame(summary)], ignore_index=True)),
    ]


def _draw(rows: pd.DataFrame, path: Path) -> None:
    depths = sorted(rows["depth"].unique())
    # The axes share the tables, whichever of them a depth has.
    tables = list(dict.fromkeys(rows["table"]))[::-1]
    styles = STYLES | {"ten quantiles": STYLES["surtree"]}
    with figure(path, 1, len(depths), sharey=True, sharex=True, size=(3.4, 4.2)) as axes:
        for ax, depth in zip(axes[0], depths, strict=True):
            missed = 100 * _missed(rows[rows["depth"] == depth]).reindex(tables)
            for method, (colour, marker) in styles.items():
                if method in missed:
                    values = missed[method].to_numpy()
                    ax.plot(values, range(len(tables)), marker, color=colour, ms=5, label=method)
            ax.set_yticks(range(len(tables)), tables)
            ax.set_title(f"depth {depth}")
            ax.set_xlabel("missed, in %")
        axes[0][-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _percents(values: pd.Series, digits: int = 1) -> list[str]:
    return ["-" if value != value else f"{value:.{digits}%}" for value in values]
