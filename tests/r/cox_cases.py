"""Rows of two arms for Cox models: tied times, strata, an offset, weights and entry times."""

from __future__ import annotations

import numpy as np
import pandas as pd

COX = ("plain", "strata", "weights", "entry", "all")


def cox_case(name: str) -> pd.DataFrame:
    """Return time, event, entry, weight, arm, a covariate, an offset and a stratum."""
    rng = np.random.default_rng(len(name))
    n_rows = 200
    x, arm = rng.normal(size=n_rows), rng.integers(0, 2, n_rows)
    time = np.ceil(10 * rng.exponential(1 / np.exp(0.5 * x - 0.7 * arm))) + 2
    late = name in ("entry", "all")
    return pd.DataFrame(
        {
            "time": time,
            "event": (rng.random(n_rows) < 0.7).astype(int),
            "entry": np.floor(rng.random(n_rows) * time * 0.8) if late else np.zeros(n_rows),
            "weight": rng.integers(1, 4, n_rows) if name in ("weights", "all") else 1,
            "arm": arm,
            "x": x,
            "offset": 0.3 * x**2 if name == "all" else 0 * x,
            "stratum": rng.integers(0, 3, n_rows) if name in ("strata", "all") else 0,
        }
    )
