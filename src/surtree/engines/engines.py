"""Which engine holds a lazy table, and how its rows are read; no engine is imported before."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from surtree.data.named import is_dataset, is_spark
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import Batch, arrow_tables
from surtree.engines.parquet import exactly, one_schema, require_files, scan_files
from surtree.engines.source import (
    LocalSource,
    Outcome,
    Pass,
    RowsHook,
    Source,
    add_batches,
    merge_outcomes,
)


class SparkSource(Source):
    """A PySpark data frame."""

    def __init__(self, frame: Any) -> None:
        super().__init__("the Spark data frame", tuple(frame.columns))
        self._frame = frame

    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        if step.is_ordered:
            # Spark may order rows otherwise as soon as other columns are selected.
            raise ValueError(
                "the rows of a Spark data frame have no order that predictions could be in: "
                "predict where they are, with X.mapInPandas or the CASE expression of export_sql"
            )
        chosen = self._frame.select(*("`" + name.replace("`", "``") + "`" for name in step.columns))
        sums = chosen.mapInArrow(partial(_add_partition, step), "outcome binary")
        try:
            outcome = _reduce(sums, step)
        except Exception as error:
            raise self.failure(error) from error
        if hook is not None:
            hook(outcome.n_rows)
        return outcome


def _reduce(sums: Any, step: Pass[Any]) -> Outcome[Any]:
    merge = partial(_merge_pickled, step)
    # Spark Connect has no reduction: then partitions come here, one after the other.
    if not hasattr(sums, "_jdf"):
        content = reduce(merge, (bytes(row[0]) for row in sums.toLocalIterator()))
    else:
        content = sums.rdd.map(_content).treeReduce(merge)
    outcome: Outcome[Any] = pickle.loads(content)
    return outcome


def _content(row: Any) -> bytes:
    return bytes(row[0])


def _add_partition(step: Pass[Any], batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    outcome = add_batches(step, map(Batch, arrow_tables(batches)))
    yield pa.record_batch({"outcome": pa.array([pickle.dumps(outcome)], pa.binary())})


def _merge_pickled(step: Pass[Any], one: bytes, other: bytes) -> bytes:
    return pickle.dumps(merge_outcomes(step, [pickle.loads(one), pickle.loads(other)]))


# How many sums are merged at a time: a tree of merges, so that no worker gets them all.
_MERGED_AT_ONCE = 8


class DaskSource(Source):
    """A Dask data frame."""

    def __init__(self, frame: Any) -> None:
        if not all(isinstance(name, str) for name in frame.columns):
            raise ValueError(
                "the Dask data frame has columns whose names are no texts: rename them"
            )
        super().__init__("the Dask data frame", tuple(frame.columns))
        self._frame = frame

    def _run(self, step: Pass[Any], n_threads: int, hook: RowsHook | None) -> Outcome[Any]:
        from dask.delayed import delayed

        shared = delayed(step)
        add, merge = delayed(_add_frame, pure=False), delayed(_merge, pure=False)
        outcomes = [add(shared, part) for part in self._frame[list(step.columns)].to_delayed()]
        while len(outcomes) > 1:
            outcomes = [
                merge(shared, outcomes[first : first + _MERGED_AT_ONCE])
                for first in range(0, len(outcomes), _MERGED_AT_ONCE)
            ]
        try:
            outcome: Outcome[Any] = outcomes[0].compute()
        except Exception as error:
            raise self.failure(error) from error
        if hook is not None:
            hook(outcome.n_rows)
        return outcome


def _add_frame(step: Pass[Any], frame: Any) -> Outcome[Any]:
    return add_batches(step, [Batch(frame)] if len(frame) else [])


def _merge(step: Pass[Any], outcomes: list[Outcome[Any]]) -> Outcome[Any]:
    return merge_outcomes(step, outcomes)


def source_of(X: Any) -> Source:
    """Return a lazy table as a source of batches."""
    if nw.dependencies.is_narwhals_lazyframe(X):
        X = nw.to_native(X)
    if isinstance(X, (str, os.PathLike)):
        return _parquet(X)
    if nw.dependencies.is_polars_lazyframe(X):
        return _polars(X, "the lazy frame")
    if nw.dependencies.is_duckdb_relation(X):
        return _duckdb(X)
    if nw.dependencies.is_dask_dataframe(X):
        return DaskSource(X)
    if is_spark(X):
        return SparkSource(X)
    if is_dataset(X):
        return _dataset(X, "the dataset")
    raise TypeError(f"{type(X).__name__} is no lazy table that can be read in batches")


def _parquet(path: str | os.PathLike[str]) -> Source:
    """Read one Parquet file, those in a directory, or those that a pattern names."""
    given = os.fspath(path)
    files = require_files(given)
    if find_spec("polars") is not None:
        import polars as pl

        if _has_batches(pl):
            return _polars(scan_files(files, given), given)
    if find_spec("pyarrow") is not None:
        from pyarrow import dataset

        try:
            return _dataset(dataset.dataset(files, format="parquet"), given)
        except (OSError, ValueError) as error:
            raise OSError(f"cannot read {given}: {error}") from error
    raise ImportError(
        f"to read {given}, install polars (1.37 or newer) or pyarrow: pip install polars"
    )


def _polars(frame: Any, label: str) -> Source:
    import polars as pl

    if not _has_batches(pl):
        raise ImportError(
            "to read a lazy frame in batches, install polars 1.37 or newer; or collect it first"
        )

    names = _polars_names(frame, label)

    def read(columns: Sequence[str]) -> Iterable[Any]:
        return _whole_batches(
            frame.select(exactly(columns, names)).collect_batches(
                chunk_size=memory_caps.BATCH_ROWS,
                maintain_order=True,
                engine="streaming",
                lazy=True,
            )
        )

    return LocalSource(label, names, read)


def _polars_names(frame: Any, label: str) -> tuple[str, ...]:
    try:
        return tuple(frame.collect_schema().names())
    except Exception as error:
        raise _unreadable(label, error) from error


def _unreadable(label: str, error: Exception) -> Exception:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    kind = OSError if isinstance(error, OSError) else ValueError
    return kind(f"cannot read {label}: {lines[0]}")


def _whole_batches(frames: Iterable[Any]) -> Iterator[Any]:
    """Join the frames of polars until they have enough rows."""
    import polars as pl

    waiting: list[Any] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) >= memory_caps.BATCH_ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def _duckdb(relation: Any) -> Source:
    _require_pyarrow("a DuckDB relation")
    schema = nw.from_native(relation).collect_schema()
    enums = {
        name: tuple(dtype.categories)
        for name, dtype in schema.items()
        if isinstance(dtype, nw.Enum)
    }

    def read(columns: Sequence[str]) -> Iterable[Any]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        chosen = relation.project(quoted)
        # Releases before 1.4 call it otherwise.
        start = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
        return arrow_tables(start(memory_caps.BATCH_ROWS))

    return LocalSource("the DuckDB relation", tuple(schema.names()), read, enums)


def _dataset(given: Any, label: str) -> Source:
    try:
        rows = one_schema(given)
    except Exception as error:  # a file that cannot be read
        raise _unreadable(label, error) from error

    def read(columns: Sequence[str]) -> Iterable[Any]:
        # Little is read ahead, so that memory stays small.
        return arrow_tables(
            rows.to_batches(
                columns=list(columns),
                batch_size=memory_caps.BATCH_ROWS,
                batch_readahead=4,
                fragment_readahead=1,
            )
        )

    return LocalSource(label, tuple(rows.schema.names), read)


def _require_pyarrow(what: str) -> None:
    if find_spec("pyarrow") is None:
        raise ImportError(f"to read {what}, install pyarrow: pip install pyarrow")


def _has_batches(polars: Any) -> bool:
    """Tell whether polars hands over rows in batches, and an error where a query fails.

    Releases before 1.37 end such a query early, and say nothing: a table would lose its rows.
    """
    major, minor = (int(part) for part in polars.__version__.split(".")[:2])
    return (major, minor) >= (1, 37)
