"""Tables that are read in passes: the model of the rows in memory, or an error if they change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset as ds

from fuzz.checks import is_even, require, shown
from fuzz.tables import Rng, chance, draw_case, pick
from surtree import SurTree
from surtree.engines import _memory_caps as memory_caps
from tests.problems import LEVELS, Case

_CHANGED = ("when it was read before", "rows and has")
_ENGINES = ("polars", "files", "dataset", "duckdb", "dask")


def streams(rng: Rng) -> None:
    """Any engine, batches, threads, quantiles and tables: the file of the model in memory."""
    case, frame, options = _draw(rng)
    if not is_even(case):  # in memory such weights are added up in two parts, with more digits
        return
    engine, n_jobs = pick(rng, _ENGINES), pick(rng, [1, 2, 3])
    y = pick(rng, [("event", "time"), ("time", "event")])
    if chance(rng, 0.5):
        frame = frame.with_columns(pl.col("event").cast(pl.Int8)).sort("time")
    with shown(case, engine=engine, n_jobs=n_jobs, **options), TemporaryDirectory() as directory:
        rows, in_memory = _in_engine(rng, engine, frame, Path(directory))
        expected = _file(in_memory, frame.columns, options, y=y)
        with _small_limits(rng):
            streamed = _file(rows, frame.columns, options, n_jobs, y=y)
        require(streamed == expected, f"{engine}: {streamed}\nin memory: {expected}")


def changing(rng: Rng) -> None:
    """Values, outcomes or rows that change after some pass: an error, unless no pass reads them."""
    case, frame, options = _draw(rng)
    if not is_even(case):
        return
    name = pick(rng, [*frame.columns, "rows", "order"])
    later = _changed(rng, frame, name)
    n_jobs = pick(rng, [1, 2])
    with shown(case, changed=name, n_jobs=n_jobs, **options):
        with _small_limits(rng):
            passes: list[int] = []
            _file(_deferred(frame, frame, 0, passes), frame.columns, options, n_jobs)
            n_before = int(rng.integers(1, len(passes)))
            what = f"{name} after {n_before} of {len(passes)} passes"
            try:
                rows = _deferred(frame, later, n_before, [])
                streamed = _file(rows, frame.columns, options, n_jobs)
            except ValueError as error:
                is_told = any(words in str(error) for words in _CHANGED)
                require(is_told and not _same_rows(frame, later), f"{what}: {error}")
                return
        # Every pass reads the target. A column may change where no pass reads it afterwards.
        is_seen = name in ("event", "time", "weight", "entry", "rows")
        require(not is_seen or _same_rows(frame, later), f"{what}: nobody has noticed")
        models = [_file(table, frame.columns, options) for table in (frame, later)]
        require(streamed in models, f"{what}: {streamed}\nin memory: {models}")


def _draw(rng: Rng) -> tuple[Case, pl.DataFrame, dict[str, Any]]:
    """Draw a problem, as one table with its target, and the options of a fit."""
    case = draw_case(
        rng, int(rng.integers(2, 60)), int(rng.integers(1, 6)), pick(rng, [1, 2, 3, 3])
    )
    target = {"event": case.y["event"], "time": case.y["time"]}
    target |= {} if case.weight is None else {"weight": case.weight}
    target |= {} if case.entry is None else {"entry": case.entry}
    frame = pl.from_pandas(case.X).with_columns(**{k: pl.Series(v) for k, v in target.items()})
    frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String).cast(pl.Enum(LEVELS)))
    options = dict(case.limits)
    if chance(rng, 0.5):
        options["n_thresholds"] = pick(rng, [None, 1, 10, 10])
    return case, frame, options


def _in_engine(rng: Rng, engine: str, frame: pl.DataFrame, directory: Path) -> tuple[Any, Any]:
    """Return a table as an engine has it, and what the engine makes of it in memory."""
    if engine == "polars":
        return frame.lazy(), frame
    parts = frame.iter_slices(int(rng.integers(1, len(frame) + 1)))
    if engine != "files":
        frame = frame.with_columns(pl.col(pl.Enum).cast(pl.String))
        parts = frame.iter_slices(len(frame))
    for number, part in enumerate(parts):
        part.write_parquet(directory / f"{number:03}.parquet")
    if engine == "files":
        return directory, frame
    if engine == "dataset":
        return ds.dataset(directory), frame.to_arrow()
    if engine == "duckdb":
        relation = duckdb.connect().sql(f"select * from '{directory}/*.parquet'")
        return relation, relation.df()
    flags = {name: "boolean" for name, dtype in frame.schema.items() if dtype == pl.Boolean}
    table = frame.to_pandas().astype(flags)
    return dd.from_pandas(table, npartitions=int(rng.integers(1, 6))), table


def _deferred(
    first: pl.DataFrame, later: pl.DataFrame, n_before: int, passes: list[int]
) -> pl.LazyFrame:
    """Return a lazy frame that is another table after some passes, and note each pass."""

    def rows() -> pl.DataFrame:
        passes.append(len(passes))
        return first if len(passes) <= n_before else later

    return pl.defer(rows, schema=first.schema)


def _changed(rng: Rng, frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return a table with other rows, other values of a column, or the rows in another order."""
    n = len(frame)
    if name == "order":
        return frame[rng.permutation(n)]
    if name == "rows":
        rows = rng.integers(0, n, n) if chance(rng, 0.5) else np.arange(n - 1)
        return frame[rows]
    how = pick(rng, ["one", "moved", "shuffled", "one"])
    index = np.arange(n)
    if how == "one":
        index[rng.integers(n)] = rng.integers(n)
    else:
        index = np.roll(index, 1) if how == "moved" else rng.permutation(n)
    values = frame[name][index]
    if values.dtype.is_numeric() and chance(rng, 0.3):
        values = values + (pl.Series(index) == rng.integers(n)).cast(values.dtype)
    elif values.dtype == pl.String and chance(rng, 0.3):
        values = values.set(pl.Series(index == rng.integers(n)), "new")
    elif name not in ("event", "time", "weight", "entry") and chance(rng, 0.3):
        values = pl.select(pl.when(pl.Series(index != 0)).then(values)).to_series()
    return frame.with_columns(values.alias(name))


def _same_rows(frame: pl.DataFrame, later: pl.DataFrame) -> bool:
    """Return whether two tables have the same rows that count, in any order."""
    one, other = (
        table.filter(pl.col("weight") > 0) if "weight" in table.columns else table
        for table in (frame, later)
    )
    if len(frame) != len(later):
        return False
    texts = [sorted(map(repr, table.rows())) for table in (one, other)]
    return texts[0] == texts[1]


@contextmanager
def _small_limits(rng: Rng) -> Iterator[None]:
    """Make batches, and what is kept of columns and rows, as small as the tables are."""
    drawn = {
        "BATCH_ROWS": pick(rng, [1, 3, 10, 2**19]),
        "MOST_VALUES": pick(rng, [4, 30, 100_000]),
        "RANKS_KEPT": pick(rng, [2, 5, 8192]),
        "MOST_MERGED": pick(rng, [1, 5, 500_000]),
    }
    before = {name: getattr(memory_caps, name) for name in drawn}
    try:
        vars(memory_caps).update(drawn)
        yield
    finally:
        vars(memory_caps).update(before)


def _file(
    rows: Any,
    names: list[str],
    options: dict[str, Any],
    n_jobs: int | None = None,
    y: tuple[str, str] = ("event", "time"),
) -> Any:
    """Return what the model of a table saves, but for the threads and the digest of rows."""
    given = {"sample_weight": "weight", "entry": "entry"}
    named = {key: name for key, name in given.items() if name in names}
    model = SurTree(**options, n_jobs=n_jobs).fit(rows, y, **named)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        model.set_params(n_jobs=None).save(path)
        saved = json.loads(path.read_text(encoding="utf-8"))  # where zero has no sign
    # A lazy table keeps no digest of its rows.
    return {name: value for name, value in saved.items() if name not in ("rows", "digest")}
