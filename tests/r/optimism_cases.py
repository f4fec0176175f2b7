"""Tables with one column of 0 and 1: its cut is fixed, and only its riskier side is learnt."""

from __future__ import annotations

import numpy as np
import pandas as pd

from surtree.datasets import load_gbsg2

# A strong column, a weak one, and few rows, where a bootstrap sample often learns the wrong side.
CASES = ("strong", "weak", "few rows")


def optimism_case(name: str) -> pd.DataFrame:
    """Return the time, the event and the column of each row.

    Parameters
    ----------
    name : str
        One of `CASES`.
    """
    X, y = load_gbsg2(backend="pandas")
    column = X["positive_nodes"] > 3 if name == "strong" else X["age"] > 52
    # Packages count pairs of equal times differently: there are none.
    time = y["time"] + np.arange(len(y)) / 1000
    table = pd.DataFrame({"time": time, "event": y["event"].astype(int), "x": column.astype(int)})
    return table.iloc[:100] if name == "few rows" else table
