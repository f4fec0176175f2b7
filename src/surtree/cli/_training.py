"""A table with its target, as commands that fit read it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from surtree.cli._columns import EXCLUDED, KEEPING, Choice, Override, choose, split_names
from surtree.cli._console import say
from surtree.cli._files import Format, read_table
from surtree.cli._survey import ColumnRead, needs_hint, short_table, survey
from surtree.cli._survival import Survival, TargetColumns, read_survival
from surtree.cli._suspicions import say_suspicions


@dataclass(frozen=True)
class Training:
    """What a tree is fitted on."""

    X: pl.DataFrame  # what it may ask about
    survival: Survival  # the target
    frame: pl.DataFrame  # the whole table
    columns: list[ColumnRead]  # what was read
    left_out: dict[str, str]  # why columns are left out


@dataclass(frozen=True)
class Asked:
    """Which columns the user wants to be asked about, and how they are to be read."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    types: Sequence[Override] | None = None

    @property
    def as_texts(self) -> list[str]:
        """The columns that are texts, whatever they look like."""
        return [one.column for one in self.types or () if one.reading.is_text]

    def choose(self, frame: pl.DataFrame, survival: Survival) -> Choice:
        """Return the columns of a table that a tree may ask about."""
        return choose(
            frame,
            columns=split_names(self.columns or [], frame),
            exclude=split_names(self.exclude or [], frame),
            reserved=survival.columns,
            types={one.column: one.reading for one in self.types or ()},
        )


def read_training(
    data: Path,
    target: TargetColumns,
    asked: Asked,
    form: Format,
    *,
    of_persons: Collection[str] = ("--id", "--group"),
    quiet: bool = False,
) -> Training:
    """Read what a tree may ask about and the target, and say what was read."""
    table = read_table(data, form, as_texts=asked.as_texts)
    table = replace(table, frame=target.complete_rows(table.frame))
    survival = read_survival(table.frame, target)
    choice = asked.choose(table.frame, survival)
    columns = survey(table, roles=target.roles(table.frame), **choice.words)
    if quiet:
        say_oddities(columns)
    else:
        hint = f"\n  ({KEEPING})" if needs_hint(columns) else ""
        say(f"surtree: {data}, {len(table.frame)} rows, read as\n{short_table(columns)}{hint}")
    say_suspicions(table.frame, choice, survival, of_persons)
    return Training(choice.X, survival, table.frame, columns, choice.left_out)


def say_oddities(columns: list[ColumnRead]) -> None:
    """Write a line for each column of which there is something to say."""
    for column in columns:
        notes = [note for note in column.notes if note != f"left out: {EXCLUDED}"]
        if notes:
            hint = f" ({KEEPING})" if needs_hint([column]) else ""
            say(f"surtree: column {column.name!r}: {'; '.join(notes)}{hint}")
