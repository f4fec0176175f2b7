"""Real survival tables as data frames, the same for R and for the tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sksurv import datasets as sksurv

from surtree import Tree, datasets


def _sksurv(load: Callable[[], tuple[pd.DataFrame, np.ndarray]], *drop: str):
    X, y = load()
    event, time = y.dtype.names
    # R has no way to tell 1 from 1.0, nor a column "a.b" from "a_b": names are kept plain.
    X = X.drop(columns=list(drop)).rename(columns=lambda name: name.replace(".", "_"))
    target = np.array(
        list(zip(y[event], np.maximum(y[time], 0.5), strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    return _plain(X), target


def _plain(X: pd.DataFrame) -> pd.DataFrame:
    texts = X.select_dtypes(exclude=["number", "bool"]).columns
    kept = {}
    for name in texts:
        column = X[name]
        ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered
        kept[name] = column if ordered else column.astype(object).where(column.notna(), None)
    return X.assign(**kept).reset_index(drop=True)


def _ours(load):
    X, y = load(backend="pandas")
    return _plain(X), y


TABLES = {
    "gbsg2": lambda: _ours(datasets.load_gbsg2),
    "lung": lambda: _ours(datasets.load_lung),
    "regimes": lambda: _ours(datasets.load_regimes),
    "rossi": lambda: _ours(datasets.load_rossi),
    "aids": lambda: _sksurv(sksurv.load_aids),
    "breast_cancer": lambda: _sksurv(sksurv.load_breast_cancer),
    "cgvhd": lambda: _sksurv(sksurv.load_cgvhd),
    # The chapter is the cause of death, known only of the dead.
    "flchain": lambda: _sksurv(sksurv.load_flchain, "chapter"),
    "veterans": lambda: _sksurv(sksurv.load_veterans_lung_cancer),
    "whas500": lambda: _sksurv(sksurv.load_whas500),
}


def numbers(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table of numbers: codes of ordered categories, an indicator for each other one."""
    columns = {}
    for name in X:
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = column.cat.codes.astype(float)
        elif column.dtype == object:
            categories = sorted(column.unique())
            for category in categories[1:] if len(categories) == 2 else categories:
                columns[f"{name}_{categories.index(category)}"] = (column == category) * 1.0
        else:
            columns[name] = column.astype(float)
    return pd.DataFrame(columns)


def signature(rows: np.ndarray) -> list[int]:
    """Return numbers that tell sets of rows apart: size, sum and sum of squares of indices."""
    rows = rows.astype(np.int64)
    return [int(rows.size), int(rows.sum()), int((rows**2).sum())]


def our_nodes(tree: Tree, visits: csr_matrix) -> dict[tuple[int, ...], int]:
    """Return our nodes under the signatures of their rows, given ``decision_path``."""
    return {tuple(signature(visits[:, node].nonzero()[0])): node for node in range(tree.n_nodes)}


def by_rows(nodes: list[dict]) -> dict[tuple[int, ...], dict]:
    """Return the nodes of R under the signatures of their rows."""
    return {tuple(node["rows"]): node for node in nodes}
