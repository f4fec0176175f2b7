"""Simulated rows that a model is evaluated on: plain ones, late entries, and rows with weights."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.sampled_rows import DRAWN, MERGED, WEIGHTS, Seen, in_steps, is_by_stratum, sample

LATE = "late entry"
PLAIN = ("proportional", "lognormal", "many censored")
SAMPLED = (LATE, *WEIGHTS)
LAST_ENTRY, STEP = 0.7, 0.1
_COLUMNS = ["a", "b"]


def draw(
    design: str, n: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return columns, event times and censoring times."""
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    risk = np.exp(0.7 * (X["a"] > 0) + 0.4 * (X["b"] > 0)).to_numpy()
    if design == "lognormal":
        time = np.exp(rng.normal(size=n) * 0.9) / risk
    else:
        time = rng.exponential(1 / risk)
    return X, time, rng.exponential(0.8 if design == "many censored" else 2.0, size=n)


def draw_sampled(
    design: str, rows: int, rng: np.random.Generator, second: bool = False
) -> tuple[Seen, pd.DataFrame, np.ndarray, np.ndarray]:
    """Return what is seen; of all persons the columns, when the event is, and its cause."""
    X, time, end = draw("proportional", DRAWN * rows, rng)
    columns = X.to_numpy()
    n, stratum, entry = len(X), rng.random(DRAWN * rows) < 0.5, None
    if is_by_stratum(design):
        time = np.where(stratum, time / 2, time)
    other = rng.exponential(2.0, n) if second else np.full(n, np.inf)
    if design == MERGED:
        time, other, end = (in_steps(one, STEP) for one in (time, other, end))
        columns = np.where(columns > 0, 1.0, -1.0)
    if design == LATE:
        entry = np.where(rng.random(n) < 1 / 3, 0.0, rng.uniform(0, LAST_ENTRY, n))
    first = np.minimum(time, other)
    cause = np.where(time <= other, 1, 2)
    event = np.where(first <= end, cause, 0)
    everyone = Seen(columns, event, np.minimum(first, end), None, entry)
    seen = sample(design, rows, everyone, stratum, rng)
    return seen, pd.DataFrame(columns, columns=_COLUMNS), first, cause


def as_frame(seen: Seen) -> pd.DataFrame:
    """Return the columns of rows with their names."""
    return pd.DataFrame(seen.X, columns=_COLUMNS)
