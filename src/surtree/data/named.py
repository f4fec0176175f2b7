"""What a user passes for each row, as arrays or as names of columns of the table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

SHAPES = 'y names two columns, the event and the time: y=("event", "time")'


@dataclass(frozen=True, eq=False)
class RowInputs:
    """What a user passes for each row: a new kind of row input is one more field."""

    X: Any  # the table and the target, in any form that `SurTree.fit` takes
    y: Any
    # How often each row counts, when it came under observation, whose row it is, which rows stay
    # together, and the arm.
    sample_weight: Any = None
    entry: Any = None
    id: Any = None
    groups: Any = None
    treatment: Any = None

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """What was passed for `fit` beside the table and the target; groups are for draws."""
        names = (field.name for field in fields(self)[2:] if field.name != "groups")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def take(self, rows: NDArray[np.intp]) -> RowInputs:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return RowInputs(
            **{name: None if part is None else take(part, rows) for name, part in given.items()}
        )

    def in_memory(self, who: str) -> RowInputs:
        """Return the same as arrays, the named columns taken out of the table.

        Raises an error for a lazy table, and for names where the table has none.
        """
        require_in_memory(self.X, who)
        others = {
            field.name: getattr(self, field.name)
            for field in fields(self)[2:]
            if isinstance(getattr(self, field.name), str)
        }
        y = target_columns(self.y) if names_columns(self.y) else ()
        if not (y or others):
            return self
        if not nw.dependencies.is_into_dataframe(self.X):
            name = (*y, *others.values())[0]
            raise ValueError(
                f"{'y' if y else next(iter(others))} names the column {name!r}, and X has no names "
                "of columns: pass a data frame, or arrays"
            )
        frame = nw.from_native(self.X, eager_only=True)
        require_once((*y, *(others[role] for role in ("sample_weight", "entry") if role in others)))
        require_columns((*y, *others.values()), frame.columns)
        target = self.y
        if y:
            # By position: a library may take a name such as "^d.*$" for a pattern.
            index = [frame.columns.index(name) for name in y]
            target = frame[:, index].to_native() if len(y) > 1 else frame[y[0]].to_numpy()
        arrays = {field: frame[name].to_numpy() for field, name in others.items()}
        # One column may say both whose rows they are and which rows stay together.
        taken = {*y, *others.values()}
        left = [index for index, name in enumerate(frame.columns) if name not in taken]
        rest = frame[:, left].to_native()
        return replace(self, X=rest, y=target, **arrays)


def names_columns(y: Any) -> bool:
    if isinstance(y, Mapping):
        y = tuple(y.values())
    if isinstance(y, str):
        return True
    return isinstance(y, list | tuple) and 0 < len(y) <= 2 and all(isinstance(n, str) for n in y)


def target_columns(y: Any) -> tuple[str, ...]:
    """Return the columns that a target names: the event (or the cause) and the time, or a time."""
    if isinstance(y, Mapping):
        if set(y) not in ({"event", "time"}, {"cause", "time"}):
            raise ValueError(f"y has the keys {', '.join(map(str, y))}: {SHAPES}")
        return y.get("event", y.get("cause")), y["time"]
    return (y,) if isinstance(y, str) else tuple(y)


def require_once(named: tuple[str, ...]) -> None:
    """Raise an error if the target, the entry times and the weights share a column."""
    if len(set(named)) < len(named):
        raise ValueError(f"y, entry and sample_weight name a column twice: {', '.join(named)}")


def require_columns(named: Iterable[str], names: Iterable[str]) -> None:
    names = tuple(names)
    for name in named:
        if name not in names:
            shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise ValueError(f"there is no column {name!r}: the table has {shown}")


def take(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows, given by their positions, as the same kind of object."""
    if nw.dependencies.is_into_dataframe(values):
        return nw.from_native(values, eager_only=True)[rows].to_native()
    return _safe_indexing(values, rows)


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
