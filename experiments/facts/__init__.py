"""Facts of the paper, read from the files beside this one: tables, folds, and scores by fold."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_HERE = Path(__file__).parent


@cache
def paper_tables() -> pd.DataFrame:
    """Return what the paper says of each table, by the name of the table."""
    return pd.read_csv(_HERE / "paper_tables.csv", index_col="table")


@cache
def published_folds() -> pd.DataFrame:
    """Return scores, splits, seconds and loss of the trees that the authors published."""
    return pd.read_csv(_HERE / "published_folds.csv")


def fold_of_rows(table: str, depth: int) -> NDArray[np.int8]:
    """Return the authors' test fold of each row, for the table of one depth."""
    with np.load(_HERE / "folds.npz") as folds:
        return folds[f"{table}_d{depth}"]
