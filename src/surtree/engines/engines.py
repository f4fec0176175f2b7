"""Which engine holds a lazy table, and how its rows are read; no engine is imported before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from surtree.data.named import is_dataset, is_spark
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import arrow_tables
from surtree.engines._clusters import DaskSource, SparkSource
from surtree.engines.parquet import exactly, one_schema, require_files, scan_files
from surtree.engines.source import LocalSource, Source


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
