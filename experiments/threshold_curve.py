"""Training and held-out loss against the number of thresholds, on three real tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.figures import figure
from experiments.page import table
from experiments.real import N_FOLDS, RealCase, cut_fold
from experiments.scores import Partition, concordance, held_out_loss, training_loss
from experiments.task import Status
from experiments.threshold_choices import search

TABLES = ("acath", "nwtco", "rott2")
DEPTH = 3
EVERY = "every"
NUMBERS = ("2", "3", "5", "10", "20", "50", "100", EVERY)
LIMIT = 60.0


@dataclass(frozen=True)
class CurveCase:
    """So many thresholds on the training part of one fold of a real table."""

    table: str
    thresholds: str
    fold: int
    depth: int = DEPTH
    limit: float = LIMIT
    seed: int = 0


def cases(quick: bool) -> list[CurveCase]:
    """Return all cases; the quick ones are one table with few thresholds."""
    if quick:
        return [CurveCase("acath", number, 0, 2) for number in ("3", "10", EVERY)]
    return [
        CurveCase(name, number, fold)
        for fold in range(N_FOLDS)
        for name in TABLES
        for number in NUMBERS
    ]


def measure(case: CurveCase) -> Measures:
    """Fit a tree of the full depth to the training part, and return its loss on both parts."""
    outer = cut_fold(RealCase(case.table, "clean", case.depth, case.fold, "surtree", case.seed))
    found = search(
        outer.X_train,
        outer.y_train,
        case.depth,
        n_thresholds=None if case.thresholds == EVERY else int(case.thresholds),
        category_cuts="one",
        time_limit=case.limit,
    )
    model = found.model
    leaves = Partition(model.apply(outer.X_train), model.apply(outer.X_test))
    return {
        "training_loss": training_loss(outer.y_train, leaves.train) / len(outer.y_train),
        "held_out_loss": held_out_loss(outer.y_train, outer.y_test, leaves),
        "c": concordance(outer.y_train, outer.y_test, leaves),
        "gap": model.gap_,
        "evaluated": found.evaluated,
        "wall": found.wall,
        "seconds": found.seconds,
        "status": str(Status.DONE if model.status_ == "optimal" else Status.TIME_LIMIT),
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
    rows = rows.assign(thresholds=rows["thresholds"].astype(str))
    means = rows.groupby(["table", "thresholds"], sort=False).agg(
        training=("training_loss", "mean"),
        held_out=("held_out_loss", "mean"),
        c=("c", "mean"),
        seconds=("seconds", "mean"),
        folds=("status", "count"),
        proven=("status", lambda status: int((status == Status.DONE).sum())),
    )
    _draw(means, folder / "thresholds-curve.svg")
    means.insert(2, "held out, minus ten", _minus_ten(rows).reindex(means.index))
    frame = means.reset_index().rename(
        columns={"training": "training loss", "held_out": "held-out loss", "c": "C"}
    )
    return [
        f"Trees of depth {rows['depth'].max()} as they come, their size not tuned, on the folds of "
        "the protocol `clean`: means over folds of the loss per row. Cuts with a support of 1% on "
        f"either side; a search ends after {rows['limit'].max():g} seconds. Beside the held-out "
        "loss is how much more it is than with ten thresholds, fold by fold, with the standard "
        "error of this difference.",
        "",
        "![Training and held-out loss against the number of thresholds](thresholds-curve.svg)",
        "",
        *table(frame, {"training loss": 4, "held-out loss": 4, "C": 4, "seconds": 2}),
    ]


def _minus_ten(rows: pd.DataFrame) -> pd.Series:
    """Return by how much the held-out loss exceeds that of ten thresholds, in words."""
    losses = rows.pivot_table(
        index=["table", "thresholds"], columns="fold", values="held_out_loss", sort=False
    )
    ten = losses.xs("10", level="thresholds")
    difference = losses - ten.reindex(losses.index.get_level_values("table")).to_numpy()
    n_folds = difference.count(axis=1)
    error = difference.std(axis=1) / np.sqrt(n_folds)
    texts = [
        f"{mean:+.4f}" + ("" if n == 1 else f" ± {width:.4f}")
        for mean, width, n in zip(difference.mean(axis=1), error, n_folds, strict=True)
    ]
    return pd.Series(texts, losses.index)


def _draw(means: pd.DataFrame, path: Path) -> None:
    names = list(dict.fromkeys(means.index.get_level_values("table")))
    with figure(path, 1, len(names), size=(3.7, 3.0)) as axes:
        for ax, name in zip(axes[0], names, strict=True):
            part = means.loc[name]
            places = np.arange(len(part))
            ax.plot(places, part["training"], color="#0072B2", marker="o", ms=4, label="training")
            ax.plot(places, part["held_out"], color="#D55E00", marker="s", ms=4, label="held out")
            ax.set_xticks(places, part.index)
            ax.set_title(name)
            ax.set_xlabel("thresholds of a column")
        axes[0][0].set_ylabel("loss per row")
        axes[0][0].legend(fontsize=8)
