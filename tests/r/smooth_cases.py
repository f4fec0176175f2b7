"""Predictions whose smooth calibration R is asked about: plain, weighted, late, of causes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from surtree.datasets import load_gbsg2

SMOOTH = ("gbsg2", "weights", "entry", "causes", "tied_causes")


def smooth_case(name: str) -> pd.DataFrame:
    """Return entry, time, cause (0 where censored), weight, a predicted risk and the horizon."""
    rng = np.random.default_rng(len(name))
    if name == "gbsg2":
        X, y = load_gbsg2()
        nodes = X["positive_nodes"].to_numpy(float)
        risk = 1 - np.exp(-0.3 * np.exp(0.08 * np.minimum(nodes, 20) + 0.01 * X["age"]) / 2)
        frame = pd.DataFrame({"time": y["time"], "cause": y["event"].astype(int), "risk": risk})
        return frame.assign(entry=0.0, weight=1.0, horizon=1000.0)
    n_rows = 400
    x = rng.normal(size=n_rows)
    first = rng.exponential(1 / np.exp(x + 0.3 * x**2))
    second = rng.exponential(1.5, n_rows) if "causes" in name else np.full(n_rows, np.inf)
    end = rng.exponential(2.0, n_rows)
    time = np.minimum(np.minimum(first, second), end)
    cause = np.where(time == end, 0, np.where(first <= second, 1, 2))
    if name == "tied_causes":
        time = np.ceil(8 * time) / 8
    weight = rng.integers(1, 4, n_rows).astype(float) if name == "weights" else 1.0
    entry = rng.random(n_rows) * 0.8 * time if name == "entry" else 0.0
    risk = 1 - np.exp(-0.6 * np.exp(0.8 * x))
    return pd.DataFrame(
        {
            "entry": entry,
            "time": time,
            "cause": cause,
            "weight": weight,
            "risk": risk,
            "horizon": 0.75,
        }
    )
