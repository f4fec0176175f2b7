"""The tables of the benchmarks: the paper's synthetic ones, and SurvSet's where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surtree.datasets import make_survival_tree_data

PAPER = (
    *("Aids2", "Dialysis", "Framingham", "UnempDur", "acath", "csl", "dataDIVAT1", "dataDIVAT3"),
    *("divorce", "flchain", "hdfail", "nwtco", "oldmort", "prostateSurvival", "rott2"),
)


def synthetic(factor: int, seeds: int) -> Iterator[tuple[str, object, np.ndarray]]:
    for seed in range(seeds):
        X, y, _ = make_survival_tree_data(5000, censoring=0.5, factor=factor, random_state=seed)
        yield f"synthetic f={factor} #{seed}", X, y


def survset(names: list[str] | None = None) -> Iterator[tuple[str, object, np.ndarray]]:
    """Yield the paper's real tables, prepared as its authors did."""
    import io

    import pandas as pd
    from SurvSet.data import SurvLoader

    loader = SurvLoader()
    for name in names or PAPER:
        frame = loader.load_dataset(ds_name=name)["df"].dropna().reset_index(drop=True)
        time = frame["time2"] - frame["time"] if "time2" in frame else frame["time"]
        y = np.empty(len(frame), dtype=[("event", bool), ("time", float)])
        y["event"] = frame["event"] > 0.5
        y["time"] = np.maximum(1e-6, time)
        X = frame[[c for c in frame.columns if c.startswith(("num_", "fac_"))]]
        # The authors read their tables from text, so categories written as numbers became numbers.
        X = pd.read_csv(io.StringIO(X.to_csv(index=False)), keep_default_na=False)
        yield name, X, y
