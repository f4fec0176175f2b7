"""A table with its target, as commands that fit read it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import polars as pl

from surtree.cli._columns import Override, choose, require_columns, split_names
from surtree.cli._files import read_frame
from surtree.cli._survival import Survival, read_survival


def read_training(
    data: Path,
    target: dict[str, str | None],
    *,
    columns: list[str] | None,
    exclude: list[str] | None,
    types: Sequence[Override] | None,
    separator: str | None,
    missing: list[str] | None,
    others: Collection[str] = (),
) -> tuple[pl.DataFrame, Survival, pl.DataFrame]:
    """Read what a tree may ask about, the target, and the whole table.

    Parameters
    ----------
    data : Path
        The table.
    target : dict
        The options ``time``, ``event``, ``entry``, ``weight`` and, maybe, ``id``.
    columns, exclude, types, separator, missing
        The options of these names.
    others : collection of str
        Columns that are needed for something else, and are not asked about.
    """
    readings = {override.column: override.reading for override in types or []}
    frame = read_frame(
        data,
        separator=separator,
        missing=missing,
        texts=[name for name, reading in readings.items() if reading.is_text],
    )
    survival = read_survival(frame, **target)  # type: ignore[arg-type]
    require_columns(frame, list(others))
    X = choose(
        frame,
        columns=split_names(columns or [], frame),
        exclude=split_names(exclude or [], frame),
        reserved={*survival.columns, *others},
        types=readings,
    )
    return X, survival, frame
