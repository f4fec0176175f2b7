"""Rows of the small cohorts compared: means of cells, and method against method over tables."""

from __future__ import annotations

import pandas as pd

from experiments.cohort_methods import COHORT_METHODS
from experiments.comparison import signed_rank_tests
from experiments.forecast import CURVES, brier_column
from surtree import SurTree

# What they are called, and whether more of it is better.
METRICS = {
    "c": ("Harrell's C", True),
    "ib": ("Normalised integrated Brier score", True),
    "loss": ("Held-out loss per row (lower is better)", False),
}
WITH, WITHOUT, PEER = "surtree", "no shrinkage", "scikit-survival"
# Our tree with the curves of that peer, so that trees are compared and not curves.
SAME_CURVES = "surtree, Kaplan-Meier leaves"
# Groups of kinds of tables that are tested.
GROUPS = {"real": ("real",), "synthetic": ("synthetic",), "both": ("real", "synthetic")}
# The curves of a method that are not the default of this package's trees.
_OWN_CURVE = {PEER: "kaplan-meier"}
_DRAW = ["kind", "table", "rows", "draw", "depth"]


def prepare(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the Brier score of a method's own curves, of draws that count.

    A draw counts where it was run with and without shrinkage.

    Parameters
    ----------
    rows : data frame
        Those that did not fail.
    """
    own = rows[brier_column(SurTree().leaf_curve)]
    for method, kind in _OWN_CURVE.items():
        own = own.where(rows["method"] != method, rows[brier_column(kind)])
    is_ours = rows["method"].isin((WITH, WITHOUT)).astype(int)
    n_ours = is_ours.groupby([rows[name] for name in _DRAW]).transform("sum")
    return rows.assign(ib=own)[n_ours == 2]


def methods_of(rows: pd.DataFrame) -> list[str]:
    """Return the methods that rows have, in their usual order."""
    return [method for method in COHORT_METHODS if method in set(rows["method"])]


def groups_of(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each group whose kinds of tables all have some."""
    there = set(rows["kind"])
    return {
        name: rows[rows["kind"].isin(kinds)]
        for name, kinds in GROUPS.items()
        if there.issuperset(kinds)
    }


def cells(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean of a metric in each cell, by method; the index names the cells.

    A cell is a kind of table, of synthetic ones with a share of censored rows, and a size.

    Parameters
    ----------
    rows : data frame
        Those of small cohorts.
    metric : str
        The column.
    """
    censoring = rows["table"].where(rows["kind"] == "synthetic", "").rename("censoring")
    means = rows.groupby(["kind", censoring, "rows", "method"])[metric].mean().unstack()
    means.index = pd.Index(
        [f"{f'{kind} {share}'.strip()}, {n:,} rows" for kind, share, n in means.index], name="cell"
    )
    return means


def compare(rows: pd.DataFrame, metric: str, one: str, other: str) -> dict[str, object]:
    """Return how often one method is better than another over tables, and a signed-rank test.

    A real table is one, whatever was drawn from it; so is each tree that synthetic rows come from.
    Draws that only one of the methods has do not count.

    Parameters
    ----------
    rows : data frame
        Those of some sizes and kinds.
    metric : str
        One of METRICS.
    one, other : str
        The methods.
    """
    both = rows[rows["method"].isin((one, other))]
    both = both[both.groupby(_DRAW)["method"].transform("nunique") == 2]
    tree = both["draw"].where(both["kind"] == "synthetic", -1)
    means = both.groupby(["kind", "table", tree, "method"])[metric].mean().unstack()
    means = means.reindex(columns=[one, other])
    sign = 1 if METRICS[metric][1] else -1
    ahead = (sign * (means[one] - means[other])).round(6)
    (test,) = signed_rank_tests(means).to_dict("records")
    return {
        "tables": len(means),
        "better": int((ahead > 0).sum()),
        "equal": int((ahead == 0).sum()),
        "worse": int((ahead < 0).sum()),
        "mean difference": test["mean difference"],
        "p-value": test["p-value"],
    }


def with_same_curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which our tree has scikit-survival's kind of curve, under a name of its own.

    Parameters
    ----------
    rows : data frame
        Those of any methods.
    """
    ours = rows[rows["method"] == WITH]
    return ours.assign(method=SAME_CURVES, ib=ours[brier_column(_OWN_CURVE[PEER])])


def by_curve(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the Brier scores of trees with and without shrinkage, each curve as a method.

    Parameters
    ----------
    rows : data frame
        Those of any methods.
    """
    parts = [
        rows[rows["method"] == method].assign(
            method=f"{name}, {kind}", ib=lambda part, kind=kind: part[brier_column(kind)]
        )
        for kind in CURVES
        for method, name in ((WITH, "with"), (WITHOUT, "without"))
    ]
    found = pd.concat(parts)
    return found[found["ib"].notna()]
