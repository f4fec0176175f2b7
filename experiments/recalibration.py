"""Recalibration on few events: whether it repairs predictions, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import SurTree, recalibrate
from surtree.data.target import read_target

# Of the new rows: what hazards are multiplied by, what effects are, and what one group is.
DESIGNS = {
    "as before": (1.0, 1.0, 1.0),
    "another level": (1.7, 1.0, 1.0),
    "weaker effects": (1.0, 0.4, 1.0),
    "one group differs": (1.0, 1.0, 2.5),
}
METHODS = {
    "none": None,
    "intercept": {"method": "intercept"},
    "slope": {"method": "slope"},
    "leaves": {"method": "leaves"},
    "leaves, no shrinkage": {"method": "leaves", "shrinkage": 0.0},
}
N_ROWS, N_NEW, N_TABLES, FAR_ROWS, HORIZON = 500, (40, 80, 200, 600), 60, 8_000, 0.7
_EFFECTS = (1.0, 0.6)


@dataclass(frozen=True)
class RecalibrationCase:
    """One model and one table of new rows."""

    design: str
    new_rows: int
    number: int
    far_rows: int = FAR_ROWS


def cases(quick: bool) -> list[RecalibrationCase]:
    """Return all cases; the quick ones are one small table of each design."""
    if quick:
        return [RecalibrationCase(design, 60, 0, 1_000) for design in DESIGNS]
    return [
        RecalibrationCase(design, new_rows, number)
        for number in range(N_TABLES)
        for new_rows in N_NEW
        for design in DESIGNS
    ]


def draw(design: str, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Any, np.ndarray]:
    """Return columns, event and time, and the time of the event if nobody were censored."""
    level, spread, other = DESIGNS[design]
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    one, two = (X["a"] > 0).to_numpy(), (X["b"] > 0).to_numpy()
    risk = level * np.exp(spread * (_EFFECTS[0] * one + _EFFECTS[1] * two))
    time = rng.exponential(1 / (risk * np.where(one & two, other, 1.0)))
    end = rng.exponential(1.5, n)
    return X, (time <= end, np.minimum(time, end)), time


def measure(case: RecalibrationCase) -> Measures:
    """Compare predictions of the old, recalibrated and refitted models in many new rows."""
    rng = np.random.default_rng([51, case.number])
    X, y, _ = draw("as before", N_ROWS, rng)
    model = SurTree(2, min_events_leaf=5, shrinkage=1.0).fit(X, y)
    place = list(DESIGNS).index(case.design)
    rng = np.random.default_rng([52, place, case.new_rows, case.number])
    new_X, new_y, _ = draw(case.design, case.new_rows, rng)
    far_X, far_y, far_time = draw(case.design, case.far_rows, np.random.default_rng([53, place]))
    target = read_target(far_y)
    result: Measures = {"events": int(new_y[0].sum())}
    for name, how in METHODS.items():
        try:
            fitted = model if how is None else recalibrate(model, new_X, new_y, **how)
            result |= _judged(name, fitted, far_X, target, far_time)
        except ValueError:
            result |= {f"{what} {name}": np.nan for what in ("brier", "o/e")}
    try:
        fitted = SurTree(2, min_events_leaf=5, shrinkage=1.0).fit(new_X, new_y)
        result |= _judged("a new tree", fitted, far_X, target, far_time)
    except ValueError:
        result |= {f"{what} a new tree": np.nan for what in ("brier", "o/e")}
    return result | {"status": str(Status.DONE)}


def _judged(name: str, model: SurTree, X: Any, target: Any, time: np.ndarray) -> Measures:
    """Return the Brier score at a time without censoring, and observed over expected events."""
    survival = model.predict_survival_function(X, times=[HORIZON])[:, 0]
    expected = float((model.predict(X) * model.tree_.row_hazard(target)).sum())
    return {
        f"brier {name}": float(np.mean((survival - (time > HORIZON)) ** 2)),
        f"o/e {name}": float(target.event.sum() / expected),
    }


def page(rows: pd.DataFrame, folder: Path) -> Sequence[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: there are no figures.
    """
    names = [*METHODS, "a new tree"]
    by = rows.groupby(["design", "new_rows"], sort=False)
    brier = by[[f"brier {name}" for name in names]].mean()
    above = (brier.sub(brier["brier none"], axis=0) * 1000).drop(columns="brier none")
    ratio = np.log(rows[[f"o/e {name}" for name in names]]).abs()
    ratio = ratio.groupby([rows["design"], rows["new_rows"]], sort=False).mean()
    events = by["events"].mean().round().astype(int)
    n_tables = int(by.size().min())
    off = rows["brier leaves"] - rows["brier none"]
    error = float((1000 * off).groupby([rows["design"], rows["new_rows"]]).std().max())
    lines = [
        "## What was done",
        "",
        f"A tree of depth two with a shrinkage of one event is fitted on {N_ROWS} rows, and "
        f"recalibrated on new rows ({n_tables} tables a line): *as before*; *another level*, all "
        "hazards times 1.7; *weaker effects*, logarithms of hazard ratios times 0.4; *one group "
        "differs*, the hazard of a fourth of the rows times 2.5. The default shrinkage counts the "
        "old value as ten expected events. *A new tree* is fitted on the new rows alone. All are "
        f"judged on {FAR_ROWS:,} other rows like the new ones. Designs, sizes, methods and "
        "measures were fixed before any was run.",
    ]
    for title, values in (
        (
            f"## Brier score at {HORIZON:g}, in thousandths above that of the old model",
            above,
        ),
        ("## How far observed over expected events are from one (mean absolute logarithm)", ratio),
    ):
        shown = values.copy()
        shown.columns = [name.split(" ", 1)[1] for name in shown]
        shown.insert(0, "events", events)
        lines += ["", title, "", *table(shown.reset_index(), 2)]
    if n_tables == 1:
        return lines
    return [
        *lines,
        "",
        f"The Monte Carlo error of a mean of the first table is {error / n_tables**0.5:.2f} or "
        'less, without the columns "slope" and "a new tree", which vary more.',
    ]
