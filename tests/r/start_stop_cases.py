"""Tables of (start, stop] rows with tied times and risks: late entry, persons in parts, weights."""

from __future__ import annotations

import numpy as np
import pandas as pd

START_STOP = ("plain", "weighted", "late_entry", "late_entry_weighted", "parts", "parts_weighted")


def start_stop_case(name: str) -> pd.DataFrame:
    """Return start, stop, event, a risk and a weight of each row; times and risks have ties."""
    rng = np.random.default_rng(START_STOP.index(name))
    n_rows = 250
    risk = np.round(rng.normal(size=n_rows), 1)
    stop = np.ceil(rng.exponential(12.0 / np.exp(risk)))
    censored = np.ceil(rng.uniform(0, 25, n_rows))
    event, stop, start = stop <= censored, np.minimum(stop, censored), np.zeros(n_rows)
    if name.startswith("late_entry"):
        start = np.floor(rng.uniform(0, 8, n_rows))
        seen = start < stop
        start, stop, event, risk = start[seen], stop[seen], event[seen], risk[seen]
    elif name.startswith("parts"):
        # Those who are still there at the fourth day have another risk from then on.
        split = stop > 4
        start = np.concatenate([start, np.full(split.sum(), 4.0)])
        risk = np.concatenate([risk, risk[split] + np.round(rng.normal(size=split.sum()), 1)])
        event = np.concatenate([event & ~split, event[split]])
        stop = np.concatenate([np.minimum(stop, 4), stop[split]])
    weight = np.ones(stop.size)
    if name.endswith("weighted"):
        weight = rng.choice([0.25, 0.5, 1.0, 3.0], stop.size)
    return pd.DataFrame(
        {"start": start, "stop": stop, "event": event.astype(int), "risk": risk, "weight": weight}
    )
