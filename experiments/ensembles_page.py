"""The page of the ensembles: how far one tree is from many, and from those of others."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.comparison import signed_rank_tests
from experiments.ensembles import DEPTH, METHODS, MOST_ROWS, OURS
from experiments.page import p_text, table
from experiments.task import Status

METRICS = {
    "loss": ("Held-out loss per row (lower is better)", False),
    "c": ("Harrell's C", True),
    "ib": ("Normalised integrated Brier score", True),
}
# On how many tables the bag should be ahead of the tuned tree in loss.
ENOUGH = 13
# What the bag and the average are compared with.
_RIVALS = ("tuned tree", "bag", "random survival forest", "gradient boosting")


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
    rows = rows[rows["status"] == Status.DONE]
    lines = [
        "## What it shows",
        "",
        *_verdicts(rows),
        "",
        "## What was done",
        "",
        *_about(rows),
        "",
    ]
    if not failed.empty:
        counts = failed.groupby(["table", "method", "message"]).size().reset_index(name="folds")
        lines += ["Runs that failed:", "", *table(counts), ""]
    for metric, (title, _) in METRICS.items():
        lines += [f"## {title}", "", "Means over folds.", "", *_by_table(rows, metric, 4), ""]
    lines += ["## Seconds of a fit", "", "Medians over folds.", ""]
    return [*lines, *_by_table(rows, "seconds", 2, "median")]


def compare(rows: pd.DataFrame, metric: str, one: str, other: str) -> dict[str, object]:
    """Return on how many tables one method is better than another, and a signed-rank test.

    Parameters
    ----------
    rows : data frame
        Those that did not fail.
    metric : str
        One of `METRICS`.
    one, other : str
        The methods.
    """
    means = rows.groupby(["table", "method"])[metric].mean().unstack()[[one, other]].dropna()
    sign = 1 if METRICS[metric][1] else -1
    ahead = sign * (means[one] - means[other])
    (test,) = signed_rank_tests(means).to_dict("records")
    return {
        "tables": len(means),
        "better": int((ahead > 0).sum()),
        "mean difference": test["mean difference"],
        "p-value": test["p-value"],
    }


def _verdicts(rows: pd.DataFrame) -> list[str]:
    bar = compare(rows, "loss", "bag", "tuned tree")
    is_met = bar["better"] >= min(ENOUGH, bar["tables"])
    lines = [
        f"- {'met' if is_met else '**missed**'}: the bag is ahead of the tuned tree in held-out "
        f"loss on at least {ENOUGH} tables: {_in_words(bar)}."
    ]
    for one, other in _pairs(rows):
        for metric, (title, _) in METRICS.items():
            if rows.loc[rows["method"] == other, metric].notna().any() and (
                metric != "loss" or one != "bag"
            ):
                found = compare(rows, metric, one, other)
                lines.append(f"- {one} against {other}, {title}: {_in_words(found)}.")
    seconds = rows.groupby("method")["seconds"].sum() / rows["fold"].nunique()
    said = ", ".join(f"{name} {seconds[name]:.0f} s" for name in METHODS if name in seconds)
    return [*lines, f"- All tables fitted once: {said}."]


def _pairs(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what is compared, of the methods that there are."""
    pairs = [(one, other) for one in ("bag", "average") for other in _RIVALS if other != one]
    there = set(rows["method"])
    return [pair for pair in [*pairs, ("taught tree", "tuned tree")] if there.issuperset(pair)]


def _in_words(found: dict[str, object]) -> str:
    return (
        f"better on {found['better']} of {found['tables']}, mean difference "
        f"{found['mean difference']:+.4f}, {p_text(found['p-value'])}"
    )


def _about(rows: pd.DataFrame) -> list[str]:
    others = rows[~rows["method"].isin(OURS)]
    capped = others.loc[others["rows"] == MOST_ROWS, "table"].unique()
    return [
        f"- Folds of seed {rows['seed'].max()}, stratified by event. The defaults of the bag "
        "(depth 4, shrinkage 1) were chosen on other folds of the same tables.",
        "- `tuned tree`: `SurTreeCV(max_depth=4)`, which chooses depth up to 4, splits and "
        "shrinkage by ten "
        f"folds. `bag`: {rows['trees'].max()} optimal trees of bootstrap samples, which surtree "
        "had until the average was ahead of it. Both see columns as they are, and "
        "cut them at ten quantiles. Added later, as they come: `average`, which is "
        f"`SurTreeBayes()`; `taught tree`, `TaughtTree({DEPTH})`; `score card`, `PointsTable()`. "
        "The folds are some of those that the number of stages was looked at on.",
        f"- Of scikit-survival, each with {rows['trees'].max()} trees: `RandomSurvivalForest` with "
        "leaves of at least 15 rows, as in its user guide; `GradientBoostingSurvivalAnalysis` as "
        "it comes. They see numbers and indicator columns of categories, and are not tuned.",
        f"- The two have at most {MOST_ROWS:,} training rows, drawn at random, which matters for "
        f"{', '.join(capped) if len(capped) else 'no table'}. Their time would be that of the "
        "square of the rows. Test rows are all there.",
        "- The loss needs risks relative to a baseline, so that only ours have it. Curves are each "
        "method's own; of the bag, the mean of the curves of its trees. Tests are two-sided "
        "Wilcoxon signed-rank tests over tables, of means over folds.",
    ]


def _by_table(rows: pd.DataFrame, metric: str, digits: int, how: str = "mean") -> list[str]:
    cells = rows.groupby(["table", "method"])[metric].agg(how).unstack()
    cells = cells[[name for name in METHODS if name in cells and cells[name].notna().any()]]
    summary = cells.mean().rename("mean").to_frame().T
    shown = pd.concat([cells, summary]).rename_axis("table").reset_index()
    return table(shown, digits)
