"""One category against the rest, or any set: held-out scores on tables of SurvSet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.clock import processor_seconds
from experiments.comparison import signed_rank_tests
from experiments.experiment import Measures
from experiments.page import table
from experiments.scores import risk_concordance, risk_loss
from experiments.tables import SurvivalTable
from surtree import EventStratifiedKFold, SurTree, SurTreeCV
from surtree.data.named import take

CHOICES = ("one", "subsets")
N_FOLDS, DEPTH = 5, 3
# Seconds that pass: for each search while sizes are tuned, and for each tree on all training rows.
TUNING_LIMIT, LIMIT = 5.0, 60.0
# Tables with a factor of four or more levels. Left out: four with 160 columns and more, and three
# with several rows a person.
NOMINAL_TABLES = (
    *("Aids2", "Dialysis", "Framingham", "LeukSurv", "Pbc3", "Unemployment", "Z243", "actg"),
    *("burn", "cancer", "cgd", "colon", "d.oropha.rec", "dataDIVAT1", "dataDIVAT3"),
    *("flchain", "hdfail", "mgus", "micro.censure", "nwtco", "ova"),
    *("pharmacoSmoking", "prostate", "prostateSurvival", "rdata", "scania", "smarto"),
    *("stagec", "support2", "uis", "veteran", "vlbw", "zinc"),
)
# What they are called, and whether more of it is better.
METRICS = {
    "held_out_loss": ("Held-out loss per row, tuned (lower is better)", False),
    "c": ("Harrell's C, tuned", True),
    "training_loss": (f"Training loss, depth {DEPTH}, not tuned (lower is better)", False),
}


@dataclass(frozen=True)
class CategoryCase:
    """One choice of category cuts on one fold of a table."""

    table: str
    fold: int
    choice: str
    depth: int = DEPTH
    tuning_limit: float = TUNING_LIMIT
    limit: float = LIMIT
    seed: int = 0


def cases(quick: bool) -> list[CategoryCase]:
    """Return all cases; the quick ones are a fold of one small table."""
    tables, folds = (("veteran",), 1) if quick else (NOMINAL_TABLES, N_FOLDS)
    return [
        CategoryCase(name, fold, choice, 2 if quick else DEPTH)
        for fold in range(folds)
        for name in tables
        for choice in CHOICES
    ]


@cache
def nominal_table(name: str) -> SurvivalTable:
    """Return one of SurvSet's tables with its factors as texts, and its missing values.

    Parameters
    ----------
    name : str
        What SurvSet calls it.
    """
    from SurvSet.data import SurvLoader

    frame = SurvLoader().load_dataset(ds_name=name)["df"]
    y = np.empty(len(frame), dtype=[("event", bool), ("time", float)])
    y["event"] = frame["event"] > 0.5
    y["time"] = np.maximum(1e-6, frame["time"])
    columns = {
        column: frame[column].astype(object).map(str, na_action="ignore")
        if column.startswith("fac_")
        else frame[column].astype(float)
        for column in frame
        if column.startswith(("num_", "fac_"))
    }
    return SurvivalTable(name, pd.DataFrame(columns).reset_index(drop=True), y)


def measure(case: CategoryCase) -> Measures:
    """Tune on the training part of a fold and score the test part; and fit without tuning."""
    X, y = nominal_table(case.table).X, nominal_table(case.table).y
    folds = list(EventStratifiedKFold(N_FOLDS, random_state=case.seed).split(X, y))
    train, test = folds[case.fold]
    X_train, y_train = take(X, train), y[train]
    start = processor_seconds()
    plain = SurTree(case.depth, category_cuts=case.choice, time_limit=case.limit)
    plain.fit(X_train, y_train)
    seconds = processor_seconds() - start
    tuned = SurTreeCV(
        case.depth,
        cv=EventStratifiedKFold(5, random_state=case.seed),
        refit=False,
        time_limit=case.tuning_limit,
        category_cuts=case.choice,
    ).fit(X_train, y_train)
    model = SurTree(**tuned.best_params_, category_cuts=case.choice, time_limit=case.limit)
    theta = model.fit(X_train, y_train).predict(_seen(model, take(X, test)))
    return {
        "rows": len(y),
        "categories": ", ".join(str(n) for n in _levels(X)),
        "held_out_loss": risk_loss(y_train, y[test], theta),
        "c": risk_concordance(y[test], theta),
        "training_loss": plain.loss_ / len(train),
        "splits": model.tree_.n_splits,
        "search": plain.status_,
        "seconds": seconds,
        "tuning_seconds": processor_seconds() - start - seconds,
        "status": "done",
    }


def _levels(X: pd.DataFrame) -> list[int]:
    """Return how many levels each factor of four or more levels has."""
    found = [X[name].nunique() for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    return [n for n in found if n > 3]


def _seen(model: SurTree, X: pd.DataFrame) -> pd.DataFrame:
    """Return rows with levels that training never had as missing, as the model takes them."""
    known = {cut.column: set(cut.known) for cut in model.tree_.cuts if cut.known is not None}
    names = list(X.columns)
    return X.assign(
        **{names[k]: X[names[k]].where(X[names[k]].isin(levels)) for k, levels in known.items()}
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
    folds = rows.groupby(["table", "fold"])["choice"].transform("nunique")
    rows = rows[folds == rows["choice"].nunique()]
    n_folds = rows.groupby("table")["fold"].nunique()
    differs = rows.pivot_table(index=["table", "fold"], columns="choice", values="training_loss")
    same = (differs["one"] - differs["subsets"]).abs() <= 1e-9 * differs["one"]
    lines = [
        f"{rows['table'].nunique()} tables of SurvSet with a factor of four or more levels, "
        "factors as texts, missing values kept; five folds, "
        f"trees of depth up to {rows['depth'].max()}. Held-out scores are those of trees whose "
        "size and shrinkage were tuned by five-fold cross-validation within the training rows. "
        f"Means over the folds that both choices have: {n_folds.min()} or more of each table. In "
        f"{int(same.sum())} of {len(same)} folds both choices have the same training loss.",
        "",
        *_limits(rows),
    ]
    for metric, (title, more_is_better) in METRICS.items():
        means = rows.pivot_table(index="table", columns="choice", values=metric, sort=False)
        means = means[list(CHOICES)]
        tests = signed_rank_tests(means)
        ahead = means["one"] - means["subsets"]
        ahead = ahead if more_is_better else -ahead
        tests.insert(3, "one is better", [int((ahead > 0).sum())])
        tests.insert(4, "subsets are better", [int((ahead < 0).sum())])
        described = rows.groupby("table", sort=False)[["rows", "categories"]].first()
        frame = described.join(means)
        mean = {"table": "**mean**", "rows": "", "categories": "", **means.mean()}
        frame = pd.concat([frame.reset_index(), pd.DataFrame([mean])], ignore_index=True)
        lines += ["", f"## {title}", "", *table(frame, 4), "", *table(tests, 4)]
    frame = rows.groupby("choice", sort=False).agg(
        splits=("splits", "mean"),
        median=("seconds", "median"),
        largest=("seconds", "max"),
        tuning=("tuning_seconds", "median"),
        largest_tuning=("tuning_seconds", "max"),
    )
    names = {"median": "seconds of a fit", "tuning": "of tuning"}
    return [
        *lines,
        "",
        "## Splits of tuned trees, and processor seconds",
        "",
        *table(frame.reset_index().rename(columns=names), 3),
    ]


def _limits(rows: pd.DataFrame) -> list[str]:
    late = rows[rows["search"] != "optimal"]
    if late.empty:
        return ["Every fit without tuning was proven optimal."]
    counts = late.groupby(["table", "choice"], sort=False).size().rename("folds").reset_index()
    return ["Fits that ended by their time limit, with the best tree so far:", "", *table(counts)]
