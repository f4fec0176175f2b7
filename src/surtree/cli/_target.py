"""Where the target is in a table: the options that name its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import polars as pl

from surtree.cli._command import option
from surtree.cli._console import say
from surtree.cli._options import TreeOptions
from surtree.reading.columns import require_columns
from surtree.reading.errors import UserError

ZeroTimes = Literal["keep", "drop", "half"]

_of_rows = partial(option, panel="Rows")


@dataclass(frozen=True)
class TargetColumns:
    """Where the target is in a table, and what becomes of rows that say little."""

    time: str = option(
        "Time of the event or of censoring: a column of numbers; or two columns of dates, with the "
        "days from the one to the other.",
        default="",
        metavar="COLUMN|START..END",
        show_default=False,
    )
    event: str | None = option(
        "Whether the event happened: a column of 0/1, true/false or yes/no; or a column and the "
        "value that is the event, as in status=dead.",
        metavar="COLUMN[=VALUE]",
    )
    cause: str | None = option(
        "Instead of --event, for competing risks: a column of whole numbers, 0 where a row is "
        "censored and else the cause; or a column and the causes that the tree is to tell apart, "
        "as in status=1; or a column of texts and those that are causes, as in event=pcm,death: "
        "rows of any other text are censored.",
        metavar="COLUMN[=CAUSE,...]",
    )
    entry: str | None = option(
        "When a row came under observation (left truncation).", metavar="COLUMN"
    )
    weight: str | None = option("How often a row counts; 0 leaves it out.", metavar="COLUMN")
    id: str | None = option(
        "Whose row it is, where persons have several (start-stop rows, with --entry): rows with "
        "the same value stay together in folds and samples, and leaves count persons.",
        metavar="COLUMN",
    )
    group: str | None = _of_rows(
        "Rows with the same value, such as those of a patient or of a centre, stay together in "
        "folds and samples.",
        metavar="COLUMN",
    )
    treatment: str | None = option(
        "The arm of a trial. The tree is one of treatment effects; a test says whether they differ "
        "at all, and what to expect of them in new data.",
        metavar="COLUMN",
    )
    reference: str | None = option(
        "The arm of --treatment that others are compared with; by default the first in order.",
        metavar="ARM",
    )
    leaf: str | None = option(
        "Instead of a model: the column with the leaf of each row, from any other tool.",
        metavar="COLUMN",
    )
    drop_incomplete: bool = _of_rows(
        "Leave out rows that lack the time, the event or another column of the target.",
        "--drop-incomplete",
        default=False,
    )
    zero_times: ZeroTimes = _of_rows(
        "Rows of time zero: keep events and leave out censored rows, which say nothing; drop all "
        "of them; or read zero as half of the shortest time above it.",
        default="keep",
    )

    def wrong(self, tree: TreeOptions, *, tuned: bool) -> dict[str, bool]:
        """Return what is wrong about the options of an outcome, in words."""
        return {
            "give one of --event and --cause": (self.event is None) == (self.cause is None),
            "--treatment goes without --cause": None not in (self.cause, self.treatment),
            "--reference is an arm of --treatment": (
                self.reference is not None and self.treatment is None
            ),
            "give one --shrinkage: nothing is tuned here": (
                not tuned and tree.has_several_shrinkages
            ),
        }

    def time_columns(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the column of the time, or the two columns of dates that it is between."""
        start, dots, end = self.time.partition("..")
        return (self.time,) if self.time in frame.columns or not dots else (start, end)

    def event_and_values(self, frame: pl.DataFrame) -> tuple[str, list[str]]:
        asked = self.event if self.cause is None else self.cause
        assert asked is not None
        return _split_event(frame, asked)

    def roles(self, frame: pl.DataFrame) -> dict[str, str]:
        event, _ = self.event_and_values(frame)
        times = self.time_columns(frame)
        named: dict[str | None, str] = dict(
            zip(times, ("time",) if len(times) == 1 else ("start", "end"), strict=True)
        )
        named |= {
            event: "event" if self.cause is None else "cause",
            self.entry: "entry",
            self.weight: "weight",
            self.id: "person",
            self.group: "group",
            self.treatment: "arm",
            self.leaf: "leaf",
        }
        return {name: role for name, role in named.items() if name is not None}

    def complete_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that lack none of the columns, or raise an error that counts others."""
        names = list(self.roles(frame))
        require_columns(frame, names)
        for name in names:
            absent = frame[name].null_count()
            if absent and not self.drop_incomplete:
                raise UserError(
                    f"column {name!r} has no value in {absent} of {len(frame)} rows: "
                    "--drop-incomplete leaves such rows out"
                )
        complete = frame.drop_nulls(names)
        if not len(complete):
            raise UserError(f"every row lacks a value of {', '.join(names)}")
        if len(complete) < len(frame):
            say(
                f"{len(frame) - len(complete)} of {len(frame)} rows lack a value of "
                f"{', '.join(names)}, and are left out"
            )
        return complete


def _split_event(frame: pl.DataFrame, event: str) -> tuple[str, list[str]]:
    """Return the column of an event, and the values that are named with it."""
    if event in frame.columns or "=" not in event:
        return event, []
    column, _, values = event.partition("=")
    while column not in frame.columns and "=" in values:
        more, _, values = values.partition("=")
        column = f"{column}={more}"
    return column, values.split(",")
