"""Tables that are streamed: several Parquet files, read in passes and never as a whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from sklearn.exceptions import ConvergenceWarning

from surtree._support.writing import whole_file
from surtree.cli._command import Given, refuse
from surtree.cli._console import Result, say, show_source
from surtree.cli._models import conform
from surtree.cli._progress import progress_bar
from surtree.cli._search import Fitted, first_interrupt, unfinished
from surtree.cli._summary import certificate, model_json
from surtree.cli._survival import event_by_value
from surtree.cli._target import TargetColumns
from surtree.cli._training import Asked
from surtree.cuts.unseen import Unseen, find_unseen, unseen_text
from surtree.data.table import read_table
from surtree.engines.engines import source_of
from surtree.engines.parquet import exactly, parquet_files, scan_files
from surtree.engines.predict import asked_columns, join_unseen
from surtree.engines.source import LocalSource
from surtree.estimators.tree import SurTree
from surtree.reading.columns import require_columns, split_names
from surtree.reading.errors import UserError, failures
from surtree.reading.table import PARQUET
from surtree.tree.rows import find_leaves

_PATTERNS = "*?["


def is_streamed(data: Path, memory_limit: int | None = None) -> bool:
    """Return whether a table is read in passes: a directory, a pattern, or if memory is limited."""
    is_pattern = not data.exists() and any(mark in str(data) for mark in _PATTERNS)
    return memory_limit is not None or data.is_dir() or is_pattern


def refuse_options(given: Given, *names: str) -> None:
    """Refuse options that have no effect on a table that is streamed."""
    idle = [given[name] for name in names if name in given]
    refuse({f"{name} is for a table in memory: this one is streamed": True for name in idle})


@dataclass(frozen=True)
class StreamedTable:
    """Parquet files as one table."""

    path: Path  # what the user calls them
    frame: pl.LazyFrame  # the table
    columns: pl.DataFrame  # its columns, without rows

    @classmethod
    def read(cls, path: Path) -> StreamedTable:
        """Find the files, and read which columns they have."""
        with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
            files = parquet_files(str(path))
            if not files:
                raise UserError(f"there is no Parquet file {path}")
            if not all(Path(file).suffix.lower() in PARQUET for file in files):
                raise UserError(
                    f"{path}: only Parquet files are streamed; others are read as a whole, one "
                    "at a time"
                )
        with failures(OSError, ValueError):
            frame = scan_files(files, str(path))
        with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
            return cls(path, frame, frame.head(0).collect())

    def happened(self, column: str, wanted: list[str]) -> pl.Expr:
        """Return the column of the event as truth values, by the rule of tables in memory."""
        cells, dtype = exactly([column], self.columns.columns), self.columns.schema[column]
        if dtype.is_float():
            cells = cells.fill_nan(None)
        elif dtype != pl.Boolean and not dtype.is_numeric():
            cells = cells.cast(pl.String)
        with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {self.path}: "):
            values = self.frame.select(cells.drop_nulls().unique().sort()).collect()[column]
        happened = event_by_value(column, values.to_list(), wanted)
        # A missing value stays one, which the fit refuses.
        truth: pl.Expr = cells.replace_strict(
            values, list(happened.values()), default=None, return_dtype=pl.Boolean
        )
        return truth

    def source(self, frame: pl.LazyFrame) -> LocalSource:
        """Return a query over the table as batches of rows."""
        source = source_of(frame)
        assert isinstance(source, LocalSource)
        source.label = str(self.path)
        return source


def fit_streamed(
    data: Path, target: TargetColumns, asked: Asked, parameters: Mapping[str, Any]
) -> Fitted:
    """Fit a tree on Parquet files."""
    table = StreamedTable.read(data)
    head = table.columns
    if len(target.time_columns(head)) > 1:
        raise UserError(
            f"--time {target.time} is for tables in memory: of several files, give a column of "
            "numbers"
        )
    event, wanted = target.event_and_values(head)
    named = [name for name in (target.time, target.entry, target.weight) if name is not None]
    columns = split_names(asked.columns, head) or head.columns
    left_out = split_names(asked.exclude, head)
    require_columns(head, [event, *named, *columns, *left_out])
    reserved = {event, *named, *left_out}
    taken = [name for name in columns if name not in reserved]
    if not taken:
        raise UserError("no column is left for the tree to ask about")
    frame = table.frame.select(
        exactly(taken, head.columns),
        table.happened(event, wanted),
        exactly(dict.fromkeys(named), head.columns),
    )
    start = perf_counter()
    with progress_bar() as bar, first_interrupt() as interrupted, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        hook = bar.searching(interrupted.is_set, parameters.get("time_limit"))
        model = SurTree(**parameters, progress=hook)
        with failures(ValueError, TypeError, OSError, ImportError, about=f"{data}: "):
            model.fit(frame, (event, target.time), target.weight, target.entry)
    tree = model.tree_
    seconds = perf_counter() - start
    size = (
        f"{tree.n_samples[0]:,} rows, {tree.n_events[0]:,} events, {len(taken)} columns, streamed "
        f"and not tuned, {seconds:.1f} s"
    )
    content = {
        "rows": tree.n_samples[0],
        "events": tree.n_events[0],
        "columns": taken,
        "seconds": seconds,
        "streamed": True,
        **model_json(model),
    }
    text = f"{size}\n\n{tree}\n\n{certificate(model)}"
    return Fitted(model, stopped=unfinished(model), text=text, content=content)


def _taken(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return some columns of a frame, whatever their names look like."""
    return frame[:, [frame.columns.index(name) for name in names]]


def predict_streamed(
    model: SurTree,
    data: Path,
    of_leaf: Mapping[str, pl.Series],
    keep: Sequence[str] | None,
    output: Path | None,
    *,
    json: bool,
) -> Result | None:
    """Write predictions batch by batch; a file is written whole, or not at all."""
    if json and output is None:
        raise UserError("the predictions of a table that is streamed go to a file: add --output")
    table = StreamedTable.read(data)
    kept = split_names(keep, table.columns)
    require_columns(table.columns, kept)
    for name in of_leaf.keys() & set(kept):
        raise UserError(f"column {name!r} cannot be kept: a prediction has the same name")
    names = getattr(model, "feature_names_in_", None)
    questions = tuple(table.columns.columns if names is None else names)
    conform(table.columns, model)  # says which columns are absent
    asked = asked_columns(model.tree_, questions) if names is not None else questions
    wanted = dict.fromkeys([*asked, *kept]) or {table.columns.columns[0]: None}
    source = table.source(table.frame.select(exactly(wanted, table.columns.columns)))
    leaves = pl.DataFrame(dict(of_leaf))
    unseen: Unseen = {}
    n_rows = 0

    def predictions() -> Iterator[pl.DataFrame]:
        nonlocal unseen, n_rows
        for frame in source.frames(tuple(wanted)):
            rows = conform(frame, model)
            read = read_table(model, rows if names is not None else rows.to_numpy(), reset=False)
            unseen = join_unseen(unseen, find_unseen(model.tree_.cuts, read))
            index = np.searchsorted(model.tree_.leaves, find_leaves(model.tree_, read))
            n_rows += len(frame)
            yield pl.concat([_taken(frame, kept), leaves[index]], how="horizontal")

    schema = {name: table.columns.schema[name] for name in kept} | dict(leaves.schema)
    with failures(OSError, ValueError, TypeError, ImportError, pl.exceptions.PolarsError):
        _write(predictions(), schema, output)
    if unseen:
        say(unseen_text(unseen))
    return Result("", {"rows": n_rows, "output": str(output)}) if json else None


def _write(
    frames: Iterator[pl.DataFrame], schema: Mapping[str, pl.DataType], output: Path | None
) -> None:
    if output is None:
        for number, frame in enumerate(frames):
            show_source(frame.write_csv(include_header=number == 0))
        return
    # Older releases of polars, which read and write tables as a whole, do not have it.
    from polars.io.plugins import register_io_source

    failed: list[Exception] = []

    def read(columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Iterator[pl.DataFrame]:
        try:
            yield from frames
        except Exception as error:  # polars would tell of it in its own words
            failed.append(error)
            raise

    rows = register_io_source(read, schema=dict(schema))
    with whole_file(output) as path:
        try:
            if output.suffix.lower() in PARQUET:
                rows.sink_parquet(path)
            else:
                rows.sink_csv(path)
        except Exception:
            if failed:
                raise failed[0] from None
            raise
