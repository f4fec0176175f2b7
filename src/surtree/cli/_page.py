"""The options of a report: its words, its times, and what columns are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from surtree.cli._console import UserError
from surtree.cli._files import read_table
from surtree.cli._options import Times


@dataclass(frozen=True)
class Page:
    """What a report is told beside the model."""

    title: str  # its heading
    time_unit: str | None = None  # what time is counted in
    horizons: tuple[float, ...] | None = None  # times for which survival is stated
    # What columns are called, and what they are counted in.
    labels: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


DEFAULT_TITLE = "Survival tree"


def read_page(
    title: str | None, time_unit: str | None, horizons: list[Times] | None, labels: Path | None
) -> Page:
    """Return the options of a report as they were given."""
    times = None if horizons is None else tuple(time for one in horizons for time in one.times)
    title = title or DEFAULT_TITLE
    if labels is None:
        return Page(title, time_unit, times)
    table = read_table(labels, as_texts=("column", "label", "unit")).frame
    for name in ("column", "label"):
        if name not in table.columns:
            raise UserError(
                f"{labels} has no column {name!r}: a file of labels has the columns 'column' and "
                "'label', and perhaps 'unit'"
            )
    if table["column"].null_count() or table["column"].is_duplicated().any():
        raise UserError(f"{labels} names a column twice, or not at all")
    return Page(title, time_unit, times, _words(table, "label"), _words(table, "unit"))


def _words(table: pl.DataFrame, name: str) -> dict[str, str]:
    """Return the texts of a column by the names that they stand beside; empty ones are left out."""
    if name not in table.columns:
        return {}
    pairs = zip(table["column"].cast(pl.String), table[name].cast(pl.String), strict=True)
    return {column: text for column, text in pairs if text}
