"""Tables with tied times: whole months, all rows censored on one day, and the arrests of Rossi."""

from __future__ import annotations

import numpy as np
import pandas as pd

from surtree.datasets import load_rossi

TIED = ("monthly", "administrative", "rossi")


def tied_case(name: str) -> pd.DataFrame:
    """Return time, event, cause, a risk, and predicted survival at two horizons."""
    if name == "rossi":
        X, y = load_rossi()
        risk = (0.1 * X["prior_convictions"] - 0.05 * X["age"]).to_numpy(float)
        time, event, horizons = y["time"].astype(float), y["event"], (30.0, 51.0)
        cause = np.where(event, 1 + (X["age"].to_numpy() > 22), 0)
        scale = 150.0
    else:
        rng = np.random.default_rng(len(name))
        risk, n_rows = rng.normal(size=300), 300
        ends = np.ceil(rng.exponential(8.0 / np.exp(risk)))
        censored = np.ceil(rng.uniform(0, 20, n_rows))
        if name == "administrative":
            censored = np.minimum(censored, 12.0)
        time, event, horizons = np.minimum(ends, censored), ends <= censored, (4.0, 8.0)
        cause, scale = np.where(event, rng.integers(1, 3, n_rows), 0), 8.0
    survival = np.exp(-np.outer(np.exp(risk), horizons) / scale)
    return pd.DataFrame(
        {
            "time": time,
            "event": event.astype(int),
            "cause": cause,
            "risk": risk,
            "early": survival[:, 0],
            "late": survival[:, 1],
            "first": horizons[0],
            "second": horizons[1],
        }
    )
