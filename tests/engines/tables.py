"""Tables for the tests of lazy tables, and how models are compared."""

import json

import numpy as np
import polars as pl

from surtree.datasets import load_gbsg2

TARGET = {"event": "event", "time": "time"}


def gbsg2():
    """Return a classic table with its target in it."""
    X, y = load_gbsg2(backend="polars")
    event, time = y.dtype.names
    return X.with_columns(pl.Series("event", y[event]), pl.Series("time", y[time]))


def synthetic(n_rows, seed=0):
    """Return continuous columns with more distinct values than are kept, and some of few values."""
    rng = np.random.default_rng(seed)
    x, age = rng.normal(size=n_rows), rng.integers(20, 90, n_rows)
    dose, group = rng.exponential(size=n_rows), rng.integers(0, 4, n_rows)
    rate = np.exp(0.8 * (x > 0.3) + 0.5 * (age > 60) - 0.7 * (group == 2) * (dose > 1))
    time, censoring = rng.exponential(300 / rate), rng.uniform(0, 700, n_rows)
    return pl.DataFrame(
        {
            "x": x,
            "age": age,
            "dose": dose,
            "group": np.array(["a", "b", "c", "d"])[group],
            "event": time <= censoring,
            "time": np.ceil(np.minimum(time, censoring)),
        }
    )


def messy(n_rows=3000, seed=1):
    """Return all kinds of columns, with missing values, fractional weights and entry times."""
    rng = np.random.default_rng(seed)
    texts = np.array([f"city {k}" for k in range(13)] + [" city 1 ", ""])
    number = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows).round(2))
    place = rng.integers(0, 15, n_rows)
    stage = rng.integers(0, 4, n_rows)
    flag = [None if r < 0.05 else r < 0.5 for r in rng.random(n_rows)]
    rate = np.exp(0.9 * (np.nan_to_num(number) > 0) + 0.1 * place + 0.4 * (stage > 1))
    entry = np.where(rng.random(n_rows) < 0.3, 0.0, rng.exponential(0.2, n_rows).round(2))
    time = (entry + rng.exponential(2 / rate) + 0.01).round(2)
    weight = rng.choice([0.0, 0.1, 0.3, 1.0, 2.7], n_rows)
    return pl.DataFrame(
        {
            "number": pl.Series(number).fill_nan(None),
            "place": pl.Series(texts[place]),
            "stage": pl.Series(
                np.array(["I", "II", "III", "IV"])[stage],
                dtype=pl.Enum(["I", "II", "III", "IV", "V"]),
            ),
            "flag": pl.Series(flag, dtype=pl.Boolean),
            "count": pl.Series([None if c == 7 else c for c in rng.poisson(3, n_rows).tolist()]),
            "nothing": pl.Series([None] * n_rows, dtype=pl.String),
            "event": rng.random(n_rows) < 0.7,
            "time": time,
            "entry": entry,
            "weight": weight,
        }
    )


def content(model, directory):
    """Return all that a model saves, but for the digest of its rows, which lazy tables lack."""
    model.save(directory / "model.json")
    saved = json.loads((directory / "model.json").read_text())
    return {name: value for name, value in saved.items() if name not in ("rows", "digest")}
