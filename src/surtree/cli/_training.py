"""A table with its target and the columns to ask about, as commands that fit read it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import polars as pl

from surtree.cli._command import option
from surtree.cli._console import say
from surtree.cli._options import FileOptions, read_types
from surtree.cli._survival import Survival, read_survival
from surtree.cli._target import TargetColumns
from surtree.data.suspicious_columns import Suspicion, find_suspicions
from surtree.data.table import read_table
from surtree.data.target import Target
from surtree.estimators.tree import SurTree
from surtree.reading.columns import Reading, read_column, require_columns, split_names
from surtree.reading.errors import UserError
from surtree.reading.kinds import Kind, kind_of
from surtree.reading.survey import EXCLUDED, ColumnRead, needs_hint, short_table, survey
from surtree.reading.table import read_file

KEEPING = "--columns or --type COLUMN=categorical keeps a column that is left out"
_MOST_MISSING = 3

_of_columns = partial(option, panel="Columns")


@dataclass(frozen=True)
class Training:
    """What a tree is fitted on."""

    X: pl.DataFrame  # what it may ask about
    survival: Survival  # the target
    frame: pl.DataFrame  # the whole table
    columns: list[ColumnRead]  # what was read
    left_out: dict[str, str]  # why columns are left out


@dataclass(frozen=True)
class Choice:
    """The columns that a tree may ask about."""

    X: pl.DataFrame  # the columns, each read as the user says
    kinds: dict[str, Kind]  # what they and the left out columns hold
    left_out: dict[str, str]  # why others are left out

    @property
    def words(self) -> dict[str, Any]:
        """What a survey says of the columns."""
        return {"kinds": self.kinds, "left_out": self.left_out}


@dataclass(frozen=True)
class Asked:
    """Which columns the user wants to be asked about, and how they are to be read."""

    columns: list[str] | None = _of_columns(
        "Columns that the tree may ask about; by default all but those of the target.",
        metavar="COLUMN,...",
    )
    exclude: list[str] | None = _of_columns("Columns to leave out.", metavar="COLUMN,...")
    types: dict[str, Reading] | None = _of_columns(
        "Read a column as numeric, boolean, categorical or ordered:low,middle,high.",
        "--type",
        reads=read_types,
        many=True,
        metavar="COLUMN=KIND",
    )

    @property
    def as_texts(self) -> list[str]:
        """The columns that are texts, whatever they look like."""
        return [name for name, reading in (self.types or {}).items() if reading.is_text]

    def choose(self, frame: pl.DataFrame, reserved: Collection[str]) -> Choice:
        """Return the columns of a table that a tree may ask about.

        Dates, ids, sentences and empty columns are left out, unless the user names them. A column
        of numbers that a few cells turn into texts is refused: whatever becomes of it, some users
        would not expect it.
        """
        columns, exclude = split_names(self.columns, frame), split_names(self.exclude, frame)
        types = self.types or {}
        require_columns(frame, [*columns, *exclude, *types])
        for name in columns:
            if name in reserved:
                raise UserError(
                    f"column {name!r} is part of the target: a tree cannot ask about it"
                )
        taken = list(dict.fromkeys(columns)) or [
            one for one in frame.columns if one not in reserved
        ]
        taken = [name for name in taken if name not in exclude]
        kinds = {one: types[one].as_kind if one in types else kind_of(frame[one]) for one in taken}
        left_out = {
            name: kind.left_out
            for name, kind in kinds.items()
            if kind.left_out and name not in columns
        }
        for name, kind in kinds.items():
            if kind.nearly:
                raise _nearly_numeric(name, kind)
            _require_finite(frame[name])
        kept = [name for name in taken if name not in left_out]
        if not kept:
            why = "".join(f", {name!r} ({reason})" for name, reason in left_out.items())
            hint = f": left out are{why[1:]}; {KEEPING}" if why else ""
            raise UserError(f"no column is left for the tree to ask about{hint}")
        X = frame.select(
            read_column(frame[name], types[name]) if name in types else frame[name] for name in kept
        )
        return Choice(X, kinds, left_out | dict.fromkeys(exclude, EXCLUDED))


def _require_finite(column: pl.Series) -> None:
    n_infinite = int(column.is_infinite().sum()) if column.dtype.is_float() else 0
    if n_infinite:
        raise UserError(
            f"Column {column.name!r} holds infinity (inf) in {n_infinite} of {len(column)} rows: "
            "replace it by a number, or leave the cell empty"
        )


def _nearly_numeric(name: str, kind: Kind) -> UserError:
    if kind.decimal:
        remedy = f"say --decimal {kind.decimal} to read them"
    else:
        missing = " ".join(f"--missing {quote(text)}" for text in kind.nearly[:_MOST_MISSING])
        more = " and so on" if len(kind.nearly) > _MOST_MISSING else ""
        remedy = f"correct them, or count them as missing ({missing}{more})"
    option = quote(f"{name}=categorical")
    return UserError(
        f"column {name!r}: {kind.odd}: {remedy}; --type {option} keeps the texts, and --exclude "
        f"{quote(name)} leaves the column out"
    )


def read_training(
    data: Path,
    target: TargetColumns,
    asked: Asked,
    form: FileOptions,
    *,
    of_persons: Collection[str] = ("--id", "--group"),
    quiet: bool = False,
) -> Training:
    """Read what a tree may ask about and the target, and say what was read."""
    table = read_file(data, form, as_texts=asked.as_texts)
    table = replace(table, frame=target.complete_rows(table.frame))
    survival = read_survival(table.frame, target)
    choice = asked.choose(table.frame, survival.columns)
    columns = survey(table, roles=target.roles(table.frame), **choice.words)
    if quiet:
        say_oddities(columns)
    else:
        hint = f"\n  ({KEEPING})" if needs_hint(columns) else ""
        say(f"{data}, {len(table.frame)} rows, read as\n{short_table(columns)}{hint}")
    _say_suspicions(table.frame, choice, survival, of_persons)
    return Training(choice.X, survival, table.frame, columns, choice.left_out)


def say_oddities(columns: list[ColumnRead]) -> None:
    """Write a line for each column of which there is something to say."""
    for column in columns:
        notes = [note for note in column.notes if note != f"left out: {EXCLUDED}"]
        if notes:
            hint = f" ({KEEPING})" if needs_hint([column]) else ""
            say(f"column {column.name!r}: {'; '.join(notes)}{hint}")


def _say_suspicions(
    frame: pl.DataFrame, choice: Choice, survival: Survival, options: Collection[str]
) -> None:
    """Write a line for each column that no tree should ask about, with the option to add."""
    is_person = {name for name, kind in choice.kinds.items() if kind.name == "person"}
    X = choice.X.with_columns(frame[name] for name in choice.left_out if name in is_person)
    table = read_table(SurTree(), X, reset=True)
    time = survival.y["time"].astype(np.float64)
    target = Target(survival.event, time, survival.entry, survival.id)
    weight = np.ones(len(time)) if survival.weight is None else survival.weight
    suspicions = find_suspicions(table, target, weight)
    has_starts = survival.entry is not None or any(one.kind == "start" for one in suspicions)
    for one in suspicions:
        advice = _advice(one, "--id" if has_starts else "--group", options)
        if advice:
            say(f"column {one.column!r} {one.reason}: {advice}")


def _advice(one: Suspicion, of_persons: str, options: Collection[str]) -> str:
    """Return which option to add; empty where the reading of columns has said enough."""
    name = quote(one.column)
    if one.kind == "outcome":
        return f"if it is known only afterwards, --exclude {name} leaves it out"
    if one.kind == "start":
        return f"if rows are observed from there on, add --entry {name}"
    if one.kind != "person" or of_persons not in options:
        return ""
    if of_persons == "--id":
        return f"if rows are parts of persons, add --id {name}"
    return f"--group {name} keeps the rows of a person together in folds and samples"
