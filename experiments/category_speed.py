"""How long sets of categories take, by their number: what the limit of seven is based on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.clock import processor_seconds
from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import SurTree
from surtree.cuts import candidates

ROWS, NUMERIC, LIMIT = 1000, 5, 120.0


@dataclass(frozen=True)
class SpeedCase:
    """One fit to columns of so many categories, and five of numbers."""

    nominal: int
    depth: int
    categories: int
    limit: float = LIMIT


def cases(quick: bool) -> list[SpeedCase]:
    """Return all cases; the quick one is small."""
    if quick:
        return [SpeedCase(1, 2, 4)]
    return [
        SpeedCase(nominal, depth, categories)
        for nominal in (1, 3)
        for depth in (3, 4)
        for categories in range(3, 11)
    ]


@contextmanager
def _every_subset() -> Iterator[None]:
    """Allow every subset, however many categories there are."""
    most = candidates.MOST_FOR_SUBSETS
    candidates.MOST_FOR_SUBSETS = 20
    try:
        yield
    finally:
        candidates.MOST_FOR_SUBSETS = most


def draw(case: SpeedCase) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table whose risk depends on one number and on all categories.

    Parameters
    ----------
    case : SpeedCase
        How many of which columns there are.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{k}": rng.normal(size=ROWS) for k in range(NUMERIC)})
    risk = 0.5 * X["x0"].to_numpy()
    for k in range(case.nominal):
        code = rng.integers(0, case.categories, ROWS)
        X[f"c{k}"] = [f"level {number}" for number in code]
        risk = risk + 0.7 * rng.normal(size=case.categories)[code]
    time, end = rng.exponential(np.exp(-risk)), rng.exponential(2.0, ROWS)
    y = np.empty(ROWS, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    return X, y


def measure(case: SpeedCase) -> Measures:
    """Fit with one category at a time, with every set, and as surtree does by itself."""
    X, y = draw(case)
    found: Measures = {}
    proven = True
    for name, options in (("one", "one"), ("every set", "subsets"), ("surtree", "subsets")):
        start = processor_seconds()
        model = SurTree(case.depth, category_cuts=options, time_limit=case.limit)
        if name == "every set":
            with _every_subset():
                model.fit(X, y)
        else:
            model.fit(X, y)
        found[f"{name}: seconds"] = processor_seconds() - start
        found[f"{name}: loss"] = model.loss_
        proven = proven and model.status_ == "optimal"
    return {**found, "status": str(Status.DONE if proven else Status.TIME_LIMIT)}


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    lines = [
        f"Synthetic tables of {ROWS} rows, {NUMERIC} columns of numbers (ten quantiles each) and "
        'one or three columns of categories; processor seconds of one fit, one thread. "Every '
        'set" is all `2^(k-1) - 1` sets, "surtree" what `category_cuts="subsets"` does: every set '
        f"up to {candidates.MOST_FOR_SUBSETS} categories, of more one against the rest and "
        "divisions in the order of risk.",
    ]
    shown = ["categories", *(name for name in rows if ":" in str(name)), "status"]
    for (nominal, depth), part in rows.groupby(["nominal", "depth"]):
        title = f"## {nominal} column{'s' if nominal > 1 else ''} of categories, depth {depth}"
        lines += ["", title, "", *table(part[shown], 3)]
    return lines
