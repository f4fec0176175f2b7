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
import typer
from sklearn.exceptions import ConvergenceWarning

from surtree._support.writing import whole_file
from surtree.cli._columns import WORDS, conform, require_columns, split_names
from surtree.cli._console import UserError, failures, say, show_json, show_source
from surtree.cli._progress import progress_bar
from surtree.cli._search import Found, first_interrupt, unfinished
from surtree.cli._summary import certificate, model_json
from surtree.cuts.unseen import Unseen, find_unseen, unseen_text
from surtree.data.table import read_table
from surtree.engines.at_risk import asked_columns
from surtree.engines.engines import source_of
from surtree.engines.parquet import exactly, parquet_files, scan_files
from surtree.engines.predict import join_unseen
from surtree.engines.source import LocalSource
from surtree.estimators.tree import SurTree
from surtree.tree.rows import find_leaves

_PATTERNS = "*?["


def is_streamed(data: Path, memory_limit: int | None = None) -> bool:
    """Return whether a table is read in passes: a directory, a pattern, or if memory is limited."""
    is_pattern = not data.exists() and any(mark in str(data) for mark in _PATTERNS)
    return memory_limit is not None or data.is_dir() or is_pattern


def refuse_options(given: Mapping[str, Any]) -> None:
    """Raise an error for options that have no effect on a table that is streamed."""
    for name, value in given.items():
        if value not in (None, False):
            raise typer.BadParameter(f"{name} is for a table in memory: this one is streamed")


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
            if not all(Path(file).suffix.lower() in (".parquet", ".pq") for file in files):
                raise UserError(
                    f"{path}: only Parquet files are streamed; others are read as a whole, one "
                    "at a time"
                )
        with failures(OSError, ValueError):
            frame = scan_files(files, str(path))
        with failures(OSError, pl.exceptions.PolarsError, about=f"cannot read {path}: "):
            return cls(path, frame, frame.head(0).collect())

    def source(self, frame: pl.LazyFrame) -> LocalSource:
        """Return a query over the table as batches of rows."""
        source = source_of(frame)
        assert isinstance(source, LocalSource)
        source.label = str(self.path)
        return source


def fit_streamed(
    data: Path,
    target: Mapping[str, str | None],
    *,
    columns: Sequence[str] | None,
    exclude: Sequence[str] | None,
    parameters: Mapping[str, Any],
) -> tuple[Found, str, dict[str, Any]]:
    """Fit a tree on Parquet files; return it, with a line and JSON about the rows."""
    table = StreamedTable.read(data)
    head = table.columns
    event, happened = _event(head, str(target["event"]))
    named = [str(target["time"]), *(str(target[k]) for k in ("entry", "weight") if target[k])]
    if ".." in named[0] and named[0] not in head.columns:
        raise UserError(
            f"--time {named[0]} is for tables in memory: of several files, give a column of numbers"
        )
    require_columns(head, [event, *named])
    asked = split_names(columns or [], head) or head.columns
    left_out = split_names(exclude or [], head)
    require_columns(head, [*asked, *left_out])
    reserved = {event, *named}
    taken = [name for name in asked if name not in reserved | set(left_out)]
    if not taken:
        raise UserError("no column is left for the tree to ask about")
    frame = table.frame.select(
        exactly(taken, head.columns), happened, exactly(dict.fromkeys(named), head.columns)
    )
    start = perf_counter()
    with progress_bar() as bar, first_interrupt() as interrupted, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        hook = bar.searching(interrupted.is_set, parameters.get("time_limit"))
        model = SurTree(**parameters, progress=hook)
        with failures(ValueError, TypeError, OSError, ImportError, about=f"{data}: "):
            model.fit(frame, (event, named[0]), target["weight"], target["entry"])
    tree = model.tree_
    seconds = perf_counter() - start
    line = (
        f"{tree.n_samples[0]:,} rows, {tree.n_events[0]:,} events, {len(taken)} columns, streamed "
        f"and not tuned, {seconds:.1f} s"
    )
    content = {
        "rows": int(tree.n_samples[0]),
        "events": int(tree.n_events[0]),
        "columns": taken,
        "seconds": seconds,
        "streamed": True,
        **model_json(model),
    }
    stopped = unfinished(model)
    return Found(model, stopped=stopped), f"{line}\n\n{tree}\n\n{certificate(model)}", content


def _event(head: pl.DataFrame, asked: str) -> tuple[str, pl.Expr]:
    """Return the event column, and the expression that says whether the event happened."""
    column, _, values = asked.partition("=")
    if asked in head.columns or not values:
        column, values = asked, ""
    require_columns(head, [column])
    dtype, cells = head.schema[column], exactly([column], head.columns)
    if not values:
        if dtype not in (pl.String, pl.Categorical, pl.Enum):
            return column, cells
        words = cells.cast(pl.String).str.strip_chars().str.to_lowercase()
        return column, words.replace_strict(WORDS, default=None, return_dtype=pl.Boolean)
    wanted = [value.strip().lower() for value in values.split(",")]
    if dtype.is_numeric():
        try:
            numbers = [float(value) for value in wanted]
            return column, cells.cast(pl.Float64).is_in(numbers)
        except ValueError:
            raise UserError(f"column {column!r} holds numbers, not {values}") from None
    return column, cells.cast(pl.String).str.strip_chars().str.to_lowercase().is_in(wanted)


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
) -> None:
    """Write predictions batch by batch; a file is written whole, or not at all."""
    if json and output is None:
        raise UserError("the predictions of a table that is streamed go to a file: add --output")
    table = StreamedTable.read(data)
    kept = split_names(keep or [], table.columns)
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
            place = np.searchsorted(model.tree_.leaves, find_leaves(model.tree_, read))
            n_rows += len(frame)
            yield pl.concat([_taken(frame, kept), leaves[place]], how="horizontal")

    schema = {name: table.columns.schema[name] for name in kept} | dict(leaves.schema)
    with failures(OSError, ValueError, TypeError, ImportError, pl.exceptions.PolarsError):
        _write(predictions(), schema, output)
    if unseen:
        say(f"surtree: {unseen_text(unseen)}")
    if json:
        show_json({"rows": n_rows, "output": str(output)})


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
            if output.suffix.lower() in (".parquet", ".pq"):
                rows.sink_parquet(path)
            else:
                rows.sink_csv(path)
        except Exception:
            if failed:
                raise failed[0] from None
            raise
