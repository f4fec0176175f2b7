"""Simulated tables with a known truth: is the corrected performance right, do intervals cover."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from experiments.experiment import Measures
from experiments.page import table
from experiments.task import Status
from surtree import SurTreeCV, Validation, confidence_band, validate
from surtree.data.target import read_target
from surtree.scores.validation import Repetitions
from surtree.validation.corrections import corrected_values
from surtree.validation.models import predict
from surtree.validation.performance import brier_interval, scores

Truth = Literal["tree", "smooth"]
ROWS = (300, 1000)
N_TABLES = 50
N_BOOTSTRAPS = 60
TEST_ROWS = 50_000
ASKED_ROWS = 1000  # of the test rows: those whose survival gets an interval
LEVEL = 0.9
_TEST_SEED = 1_000_000
# The measures that are compared with the truth, and their places.
COMPARED = {"concordance": 0, "brier": 2, "slope": 3}


@dataclass(frozen=True)
class TruthCase:
    """One simulated table."""

    truth: Truth
    rows: int
    number: int
    n_bootstraps: int = N_BOOTSTRAPS
    test_rows: int = TEST_ROWS
    depth: int = 3


def cases(quick: bool) -> list[TruthCase]:
    """Return all cases; the quick ones are two tables with few samples."""
    if quick:
        return [TruthCase("tree", 200, number, 20, 1000, 1) for number in range(2)]
    return [
        TruthCase(truth, rows, number)
        for number in range(N_TABLES)
        for rows in ROWS
        for truth in ("tree", "smooth")
    ]


def draw(truth: Truth, n: int, seed: list[int]) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw rows with proportional Weibull hazards; return X, y and the log of the hazard ratio."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=[f"x{place}" for place in range(5)])
    X["a"], X["b"] = rng.integers(0, 2, n), rng.integers(0, 3, n)
    if truth == "tree":
        high = np.where(X["a"] == 1, 1.2, 0.4)
        ratio = np.where(X["x0"] > 0.3, high, np.where(X["x1"] > 0, 0.0, -0.9))
    else:
        ratio = (0.6 * X["x0"] + 0.4 * X["x1"] + 0.5 * X["a"] - 0.3 * X["x2"]).to_numpy()
    time = (rng.exponential(size=n) / np.exp(ratio)) ** (1 / _SHAPE)
    end = rng.uniform(0, 3, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= end, np.minimum(time, end)
    return X, y, ratio


_SHAPE = 1.3


def measure(case: TruthCase) -> Measures:
    """Validate a tuned tree on a table, and compare with many more rows."""
    X, y, _ = draw(case.truth, case.rows, [case.number, case.rows])
    far_X, far_y, ratio = draw(case.truth, case.test_rows, [_TEST_SEED, case.number])
    model = SurTreeCV(case.depth)
    times = np.quantile(y["time"][y["event"]], [0.25, 0.5, 0.75])
    found = validate(
        model,
        X,
        y,
        n_bootstraps=case.n_bootstraps,
        horizons=times[1],
        level=LEVEL,
        random_state=case.number,
    )
    assert found.repetitions is not None
    model.fit(X, y)
    far = scores(
        predict(model, far_X),
        read_target(far_y, len(far_y)),
        None,
        times[1:2],
        brier_interval(read_target(y, len(y))),
    )
    truth = np.array([score.value for score in far])
    result = _performance(found, found.repetitions, truth)
    asked, hazard = far_X.head(ASKED_ROWS), np.exp(ratio[:ASKED_ROWS])
    survival = np.exp(-hazard[:, np.newaxis] * times**_SHAPE)
    for name, (lower, upper) in {
        "interval": found.survival_interval(asked, times, LEVEL),
        "leaf": _leaf_bands(model, asked, times),
    }.items():
        result[f"{name}_covers"] = float(((lower <= survival) & (survival <= upper)).mean())
        result[f"{name}_width"] = float((upper - lower).mean())
    return result | {"status": str(Status.DONE)}


def _performance(found: Validation, draws: Repetitions, truth: np.ndarray) -> Measures:
    apparent = np.array([one.apparent for one in found.measures])
    optimism = corrected_values("optimism", apparent, draws)
    result: Measures = {}
    for name, place in COMPARED.items():
        one = found.measures[place]
        result |= {
            f"{name}_true": float(truth[place]),
            f"{name}_apparent": one.apparent,
            f"{name}_632": one.corrected,
            f"{name}_optimism": float(optimism[place]),
            f"{name}_lower": one.lower,
            f"{name}_upper": one.upper,
        }
    return result


def _leaf_bands(
    model: SurTreeCV, X: pd.DataFrame, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits that the leaf of each row has by itself."""
    bands = {
        leaf: [limit(times) for limit in confidence_band(model, leaf, LEVEL)]
        for leaf in model.tree_.leaves.tolist()
    }
    limits = np.array([bands[leaf] for leaf in model.apply(X).tolist()])
    return limits[:, 0], limits[:, 1]


def page(rows: pd.DataFrame, folder: Path) -> list[str]:
    """Return the page.

    Parameters
    ----------
    rows : data frame
        All rows.
    folder : Path
        Not used: the page has no figure.
    """
    one = rows.iloc[0]
    lines = [
        f"Simulated tables with proportional hazards: {rows['number'].nunique()} of each kind, "
        f"`SurTreeCV(max_depth={one['depth']})` tuned anew in each of {one['n_bootstraps']} "
        f"bootstrap samples, the truth from {one['test_rows']:,} more rows. The truth is a tree of "
        "three questions, or smooth: linear in four columns, which no small tree can follow.",
        "",
        "Read it so: `632` (the default) and `optimism` are corrected values less the truth, "
        "`apparent` is what the rows of the fit say. The interval of the calibration slope is too "
        "narrow: every sample has a slope of about one on its own rows, whatever the truth is.",
        "",
    ]
    for name, title in (
        ("concordance", "Harrell's C"),
        ("brier", "Brier score saved"),
        ("slope", "Calibration slope"),
    ):
        known = rows.dropna(subset=[f"{name}_true", f"{name}_632"])
        off = pd.DataFrame({"truth": known["truth"], "rows": known["rows"]})
        off["true"] = known[f"{name}_true"]
        for column in ("apparent", "optimism", "632"):
            off[column] = known[f"{name}_{column}"] - known[f"{name}_true"]
        off["interval covers"] = (known[f"{name}_lower"] <= known[f"{name}_true"]) & (
            known[f"{name}_true"] <= known[f"{name}_upper"]
        )
        mean = off.groupby(["truth", "rows"]).mean()
        mean["spread 632"] = off.groupby(["truth", "rows"])["632"].std()
        mean["spread optimism"] = off.groupby(["truth", "rows"])["optimism"].std()
        lines += [
            f"## {title}",
            "",
            "Its mean, and by how much each estimate is off on average; the standard deviation of "
            f"what it is off; and how often the nominal {LEVEL:.0%} interval holds the truth.",
            "",
            *table(mean.reset_index(), dict.fromkeys(mean.columns, 3)),
            "",
        ]
    columns = ["interval_covers", "interval_width", "leaf_covers", "leaf_width"]
    mean = rows.groupby(["truth", "rows"])[columns].mean().reset_index()
    return [
        *lines,
        "## Survival of a row",
        "",
        f"How often nominal {LEVEL:.0%} limits of the survival of a row, at the quartiles of the "
        "event times, hold the truth, and how wide they are: `Validation.survival_interval`, and "
        "the limits of the row's leaf, which take the tree as given.",
        "",
        *table(mean, dict.fromkeys(columns, 3)),
    ]
