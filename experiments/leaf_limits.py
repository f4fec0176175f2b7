"""Whether the limits that a page shows for a leaf hold the survival of its persons.

Written down before any row was run. `LeafStability.limits` is the mean of `survival_interval` over
rows of the leaf. Trees of depth two with a shrinkage of 3, designs of `validation_truth` whose true
survival is known, 95% limits from 40 samples, 12 tables of each design and size. At the quartiles
of the event times, of 10,000 new persons: the share whose true survival the limits of their leaf
hold (*person*), that of the riskiest tenth, the share of leaves whose mean true survival they hold
(*leaf*), and both for the confidence bands of the leaf itself (*band*), which take the tree as
given. The limits are for the mean of a leaf: it is to be held in at least 85%, and in more cases
than by the bands. Persons of a leaf differ, so theirs are only told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from experiments.validation_truth import draw
from surtree import SurTree, confidence_band, validate

N_TABLES, N_SAMPLES, N_NEW, LEVEL = 12, 40, 10_000, 0.95
CELLS = (
    ("lognormal", 300),
    ("lognormal", 800),
    ("changing", 300),
    ("noise columns", 300),
    ("heavy censoring", 300),
    ("nothing", 200),
)
FIGURES = ("leaf", "person", "riskiest", "width", "leaf_band", "person_band", "width_band")
_SEED, _RISKIEST = 2_000_000, 0.1


@dataclass(frozen=True)
class LeafLimitsCase:
    """One simulated table."""

    design: str
    rows: int
    number: int
    samples: int = N_SAMPLES


def cases(quick: bool) -> list[LeafLimitsCase]:
    """Return all cases; the quick ones are two tables with few samples."""
    if quick:
        return [LeafLimitsCase("lognormal", 150, number, 20) for number in range(2)]
    return [LeafLimitsCase(*cell, number) for number in range(N_TABLES) for cell in CELLS]


def measure(case: LeafLimitsCase) -> Measures:
    """Keep how often limits hold the truth, and how wide they are."""
    X, y, _ = draw(case.design, case.rows, [case.number, case.rows])
    new, _, survival = draw(case.design, N_NEW, [_SEED + case.number])
    assert survival is not None
    times = np.quantile(y["time"][y["event"]], [0.25, 0.5, 0.75])
    model = SurTree(max_depth=2, shrinkage=3).fit(X, y)
    found = validate(model, X, y, n_bootstraps=case.samples, level=LEVEL, random_state=case.number)
    leaves, true = model.apply(new), survival(times)
    sums = {name: [] for name in FIGURES}
    for one in found.leaves:
        inside = leaves == one.leaf
        here = true[inside]
        high = here[:, 1] <= np.quantile(true[:, 1], _RISKIEST)
        limits = np.array([one.limits_at(time) for time in times]).T
        band = np.array([limit(times) for limit in confidence_band(model, one.leaf, LEVEL)])
        for suffix, (lower, upper) in (("", limits), ("_band", band)):
            held = (lower <= here) & (here <= upper)
            mean = here.mean(axis=0)
            sums[f"leaf{suffix}"].append(((lower <= mean) & (mean <= upper)).mean())
            sums[f"person{suffix}"] += held.mean(axis=1).tolist()
            sums[f"width{suffix}"].append(np.nanmean(upper - lower))
            if not suffix:
                sums["riskiest"] += held[high].mean(axis=1).tolist()
    means = {name: float(np.mean(values)) for name, values in sums.items()}
    return means | {"splits": model.tree_.n_splits, "status": str(Status.DONE)}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    by = rows.groupby(["design", "rows"], sort=False)
    found = by[list(FIGURES)].mean().reset_index()
    found.insert(2, "tables", by.size().to_numpy())
    met = ((found["leaf"] >= 0.85) & (found["leaf"] > found["leaf_band"])).all()
    least, most = found["leaf"].min(), found["leaf"].max()
    return [
        "Limits of the survival of a leaf that a page shows for a validated tree, and its "
        f"confidence band. {LEVEL:.0%} limits from {N_SAMPLES} samples; what was run, and the bar, "
        "were written down before (the docstring of `experiments/leaf_limits.py`).",
        "",
        "The bar, that limits hold the mean survival of a leaf in at least 85%, and more often "
        f"than bands, is {'met' if met else '**missed**'} ({least:.0%} to {most:.0%}).",
        "",
        *table(found, 2),
        "",
        "*leaf*: the mean true survival of the new persons of a leaf is within its limits; "
        "*person*: that of each of them is; *riskiest*: of the tenth with the lowest true "
        "survival; *band*: the same by the confidence band of the leaf, which takes the tree as "
        "given.",
    ]
