"""The tables: the paper's synthetic ones, and SurvSet's, each as the methods want to see it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surtree import Encoder
from surtree.datasets import make_survival_tree_data

REAL_TABLES = (
    *("Aids2", "Dialysis", "Framingham", "UnempDur", "acath", "csl", "dataDIVAT1", "dataDIVAT3"),
    *("divorce", "flchain", "hdfail", "nwtco", "oldmort", "prostateSurvival", "rott2"),
)


@dataclass(frozen=True, eq=False)
class SurvivalTable:
    """Rows with their survival.

    Parameters
    ----------
    name : str
        What the paper calls it.
    X : data frame
        The columns as they come: numbers and categories.
    y : structured array
        Event and time.
    """

    name: str
    X: pd.DataFrame
    y: NDArray[np.void]


@cache
def real_table(name: str) -> SurvivalTable:
    """Return one of SurvSet's tables, prepared as the paper's authors did.

    Rows with a missing value are left out; where rows have a start and an end, their time is the
    difference; no time is below a millionth.
    """
    from SurvSet.data import SurvLoader

    frame = SurvLoader().load_dataset(ds_name=name)["df"].dropna().reset_index(drop=True)
    time = frame["time2"] - frame["time"] if "time2" in frame else frame["time"]
    y = np.empty(len(frame), dtype=[("event", bool), ("time", float)])
    y["event"] = frame["event"] > 0.5
    y["time"] = np.maximum(1e-6, time)
    X = frame[[column for column in frame if column.startswith(("num_", "fac_"))]]
    # The authors read their tables from text, so categories written as numbers became numbers.
    X = pd.read_csv(io.StringIO(X.to_csv(index=False)), keep_default_na=False)
    return SurvivalTable(name, X, y)


@cache
def synthetic_table(
    number: int, *, rows: int = 5000, censoring: float = 0.5, factor: int = 1
) -> SurvivalTable:
    """Return one of the paper's synthetic tables, by its number, which is its seed."""
    X, y, _ = make_survival_tree_data(
        rows, censoring=censoring, factor=factor, random_state=number, backend="pandas"
    )
    return SurvivalTable(f"synthetic f={factor} #{number}", X, y)


def synthetic_tables(factor: int, count: int) -> Iterator[SurvivalTable]:
    """Yield the tables of the paper's run-time figure: 5,000 rows, half of them censored."""
    return (synthetic_table(number, factor=factor) for number in range(count))


class Numbers:
    """Turns categories into indicator columns, and leaves numbers as they are.

    The paper's "numeric data", which CTree and OST were run on. Which categories have a column
    is decided by `surtree.Encoder`, from the rows that it is fitted on.
    """

    def fit(self, X: pd.DataFrame) -> Numbers:
        """Choose the indicator columns.

        Parameters
        ----------
        X : data frame
            The rows to choose from.
        """
        self._encoder = Encoder().fit(X)
        self._is_number = {name: pd.api.types.is_numeric_dtype(X[name]) for name in X}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with numbers only.

        Parameters
        ----------
        X : data frame
            The same columns.
        """
        answers = self._encoder.transform(X)
        columns = {name: X[name] for name, is_number in self._is_number.items() if is_number}
        for position, cut in enumerate(self._encoder.cuts_):
            if not self._is_number[cut.name]:
                columns[cut.rule] = answers[:, position]
        return pd.DataFrame(columns).astype(float)


def numeric(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its categories as indicator columns, chosen by all of its rows."""
    return Numbers().fit(X).transform(X)


def binary(X: pd.DataFrame) -> NDArray[np.uint8]:
    """Return a table as the paper binarises it, a 0/1 column for each cut."""
    return Encoder().fit(X).transform(X)
