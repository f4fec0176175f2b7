"""SurTree at the sizes that the authors' tuning chose: what is left when tuning is left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.experiment import Measures
from experiments.facts import published_folds
from experiments.page import table
from experiments.real import N_FOLDS, RealCase, cut_fold, score
from experiments.scores import Partition
from experiments.tables import REAL_TABLES
from surtree import SurTree

# Losses that differ by less are equal: STreeD's hazard is not ours where times are very close.
_EQUAL = 0.01


@dataclass(frozen=True)
class SizeCase:
    """One fold of the authors' folds of a table."""

    table: str
    depth: int
    fold: int


def cases(quick: bool) -> list[SizeCase]:
    """Return all folds of both depths; the quick ones are those of one table."""
    tables = ("acath",) if quick else REAL_TABLES
    depths = (3,) if quick else (3, 4)
    return [
        SizeCase(name, depth, fold)
        for depth in depths
        for name in tables
        for fold in range(N_FOLDS)
    ]


def measure(case: SizeCase) -> Measures:
    """Fit the best tree of the published number of splits, and score both on the test part.

    The depth that the authors' tuning chose is not published: it is taken to be the smallest one
    whose best tree has no larger loss than theirs.
    """
    theirs = _published(case)
    outer = cut_fold(RealCase(case.table, "paper", case.depth, case.fold, "surtree"))
    depths = [d for d in range(case.depth + 1) if d <= theirs["splits"] <= 2**d - 1]
    models = [
        SurTree(depth, int(theirs["splits"]), min_support=0.0, category_cuts="one").fit(
            outer.X_train, outer.y_train
        )
        for depth in depths
    ]
    good = [model for model in models if model.loss_ <= theirs["train_loss"] + _EQUAL]
    model = (good or models[-1:])[0]
    leaves = Partition(model.apply(outer.X_train), model.apply(outer.X_test))
    return {
        **score(outer.y_train, outer.y_test, leaves, is_paper=True),
        "splits": int(theirs["splits"]),
        "paper_c": float(theirs["harrell_c"]),
        "paper_ib": float(theirs["normalised_ibs"]),
        "paper_loss": float(theirs["train_loss"]),
        "status": "done",
    }


def _published(case: SizeCase) -> pd.Series:
    rows = published_folds()
    return rows[
        (rows["dataset"] == case.table)
        & (rows["depth"] == case.depth)
        & (rows["fold"] == case.fold)
        & (rows["method"] == "surtree")
    ].iloc[0]


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    rows = rows.assign(
        smaller=rows["loss"] < rows["paper_loss"] - _EQUAL,
        larger=rows["loss"] > rows["paper_loss"] + _EQUAL,
        c_difference=rows["c"] - rows["paper_c"],
        ib_difference=rows["ib"] - rows["paper_ib"],
    )
    frame = (
        rows.groupby(["depth", "table"], sort=False)
        .agg(
            C=("c", "mean"),
            c_difference=("c_difference", "mean"),
            IB=("ib", "mean"),
            ib_difference=("ib_difference", "mean"),
            smaller=("smaller", "sum"),
            larger=("larger", "sum"),
        )
        .reset_index()
    )
    within = (frame[["c_difference", "ib_difference"]].abs() <= 0.01).all(axis=1)
    equal = rows[~rows["smaller"] & ~rows["larger"]]
    return [
        "The authors published the trees that their tuning chose. Here the best tree of the same "
        "number of splits is fitted on the same training rows, so that nothing is left of the "
        "tuning, and scored by the same functions.",
        "",
        f"Of {len(rows)} folds, our loss is theirs in {len(equal)}, smaller in "
        f"{rows['smaller'].sum()} and larger in {rows['larger'].sum()} (by more than {_EQUAL}). "
        f"Where it is theirs, C differs by {equal['c_difference'].abs().max():.4f} at most and IB "
        f"by {equal['ib_difference'].abs().max():.4f}. {within.sum()} of {len(within)} lines are "
        "within 0.01 of the paper in both C and IB.",
        "",
        *table(
            frame.rename(
                columns={
                    "c_difference": "difference of C",
                    "ib_difference": "difference of IB",
                    "smaller": "folds with smaller loss",
                    "larger": "folds with larger loss",
                }
            ),
            4,
        ),
    ]
