"""Lazy tables: which there are, and the sentence for verbs that need their rows in memory."""

from __future__ import annotations

import os
from typing import Any

import narwhals as nw


def is_lazy(X: Any) -> bool:
    """Return whether something is a table whose rows are not in memory.

    Lazy are DuckDB relations, lazy frames of polars and narwhals, pyarrow datasets, data frames of
    Dask and PySpark, and paths to Parquet files.
    """
    if isinstance(X, (str, os.PathLike)):
        return True
    return (
        nw.dependencies.is_narwhals_lazyframe(X)
        or nw.dependencies.is_polars_lazyframe(X)
        or nw.dependencies.is_duckdb_relation(X)
        or nw.dependencies.is_dask_dataframe(X)
        or is_spark(X)
        or is_dataset(X)
    )


def is_spark(X: Any) -> bool:
    """Return whether something is a data frame of PySpark."""
    return nw.dependencies.is_pyspark_dataframe(X) or nw.dependencies.is_pyspark_connect_dataframe(
        X
    )


def is_dataset(X: Any) -> bool:
    """Return whether something is a dataset of pyarrow, which is not imported for it."""
    return any(
        kind.__module__ == "pyarrow._dataset" and kind.__name__ == "Dataset"
        for kind in type(X).__mro__
    )


def require_in_memory(X: Any, who: str) -> None:
    """Raise an error if a table is lazy: `who` needs its rows in memory."""
    if not is_lazy(X):
        return
    if isinstance(X, (str, os.PathLike)):
        held, collected = f"the path {os.fspath(X)!r}", f"pandas.read_parquet({os.fspath(X)!r})"
    else:
        held, collected = f"a lazy table ({type(X).__name__})", _collected(X)
    raise ValueError(
        f"X is {held}, and {who} needs its rows in memory: collect them first, as with "
        f"{collected}, or a sample of them. SurTree().fit reads lazy tables in passes."
    )


def _collected(X: Any) -> str:
    """Return the call that brings the rows of a lazy table into memory."""
    if nw.dependencies.is_duckdb_relation(X):
        return "X.df()"
    if nw.dependencies.is_dask_dataframe(X):
        return "X.compute()"
    if is_spark(X):
        return "X.toPandas()"
    return "X.to_table()" if is_dataset(X) else "X.collect()"
