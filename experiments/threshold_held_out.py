"""Whether more thresholds help on rows that were held out: fifteen tables, sizes tuned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.clock import processor_seconds
from experiments.comparison import signed_rank_tests
from experiments.experiment import Measures
from experiments.page import table
from experiments.real import N_FOLDS, RealCase, cut_fold, score
from experiments.scores import Partition, held_out_loss
from experiments.tables import REAL_TABLES
from experiments.threshold_choices import CHOICES
from experiments.tuning import inner_folds
from surtree import SurTree, SurTreeCV

DEPTH = 3
# Seconds that pass: for each search while sizes are tuned, and for that of the tree itself.
TUNING_LIMIT, LIMIT = 5.0, 30.0
# What they are called, and whether more of it is better.
METRICS = {
    "c": ("Harrell's C", True),
    "ib": ("Normalised integrated Brier score", True),
    "held_out_loss": ("Held-out loss per row (lower is better)", False),
}


@dataclass(frozen=True)
class HeldOutCase:
    """One choice of thresholds on one fold of a real table."""

    table: str
    fold: int
    choice: str
    depth: int = DEPTH
    tuning_limit: float = TUNING_LIMIT
    limit: float = LIMIT
    seed: int = 0


def cases(quick: bool) -> list[HeldOutCase]:
    """Return all cases; the quick ones are a fold of two small tables."""
    tables, folds = (("divorce", "acath"), 1) if quick else (REAL_TABLES, N_FOLDS)
    depth = 2 if quick else DEPTH
    return [
        HeldOutCase(name, fold, choice, depth)
        for fold in range(folds)
        for name in tables
        for choice in CHOICES
    ]


def measure(case: HeldOutCase) -> Measures:
    """Tune the size on the training part of a fold, and score the tree on the test part."""
    outer = cut_fold(RealCase(case.table, "clean", case.depth, case.fold, "surtree", case.seed))
    options = CHOICES[case.choice]
    start = processor_seconds()
    tuned = SurTreeCV(
        case.depth,
        shrinkage=0.0,
        cv=inner_folds(case.seed),
        refit=False,
        time_limit=case.tuning_limit,
        **options,
    ).fit(outer.X_train, outer.y_train)
    model = SurTree(**tuned.best_params_, time_limit=case.limit, **options)
    model.fit(outer.X_train, outer.y_train)
    seconds = processor_seconds() - start
    leaves = Partition(model.apply(outer.X_train), model.apply(outer.X_test))
    return {
        **score(outer.y_train, outer.y_test, leaves, is_paper=False),
        "held_out_loss": held_out_loss(outer.y_train, outer.y_test, leaves),
        "splits": leaves.splits,
        "tuning": tuned.status_,
        "search": model.status_,
        "seconds": seconds,
        "status": "done",
    }


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    folds = rows.groupby(["table", "fold"])["choice"].transform("nunique")
    rows = rows[folds == rows["choice"].nunique()]
    n_folds = rows.groupby("table")["fold"].nunique()
    lines = [
        f"The five folds of the protocol `clean`, trees of depth up to {rows['depth'].max()}, "
        "sizes tuned by ten-fold cross-validation, cuts with a support of 1% on either side as is "
        "SurTree's default. Means over the folds that have a row for every choice: "
        f"{n_folds.min()} or more of each table. While sizes are tuned, "
        f"a search ends after {rows['tuning_limit'].max():g} seconds, that of the tree itself "
        f"after {rows['limit'].max():g}, on a machine that was busy, with the best tree so far.",
        "",
        *_limits(rows),
    ]
    for metric, (title, more_is_better) in METRICS.items():
        means = rows.pivot_table(index="table", columns="choice", values=metric, sort=False)
        means = means[[choice for choice in CHOICES if choice in means]]
        tests = signed_rank_tests(means)
        pairs = list(zip(tests["one"], tests["other"], strict=True))
        ahead = [means[one] - means[other] for one, other in pairs]
        if not more_is_better:
            ahead = [-difference for difference in ahead]
        tests.insert(3, "one is better", [int((difference > 0).sum()) for difference in ahead])
        tests.insert(4, "the other is better", [int((part < 0).sum()) for part in ahead])
        mean = {"table": "**mean**", **means.mean()}
        frame = pd.concat([means.reset_index(), pd.DataFrame([mean])], ignore_index=True)
        lines += [
            "",
            f"## {title}",
            "",
            *table(frame, 4),
            "",
            "Wilcoxon signed-rank tests over the tables:",
            "",
            *table(tests, 4),
        ]
    return [*lines, "", "## Training loss, splits and seconds", "", *_training(rows)]


def _limits(rows: pd.DataFrame) -> list[str]:
    """Say where a search was not ended."""
    late = rows.assign(
        tuning_ended=rows["tuning"] != "time_limit", search_ended=rows["search"] != "time_limit"
    )
    late = late[~(late["tuning_ended"] & late["search_ended"])]
    if late.empty:
        return ["Every search ended before its limit."]
    counts = late.groupby(["table", "choice"], sort=False).agg(
        tuning=("tuning_ended", lambda ended: int((~ended).sum())),
        tree=("search_ended", lambda ended: int((~ended).sum())),
    )
    names = {"tuning": "folds with a limit met in tuning", "tree": "by the tree itself"}
    return [
        "Where a search did not end before its limit:",
        "",
        *table(counts.reset_index().rename(columns=names)),
    ]


def _training(rows: pd.DataFrame) -> list[str]:
    frame = rows.groupby(["choice"], sort=False).agg(
        loss=("loss", "mean"), splits=("splits", "mean"), seconds=("seconds", "median")
    )
    return table(frame.reset_index(), 2)
