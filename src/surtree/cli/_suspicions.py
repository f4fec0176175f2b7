"""Notes about columns that no tree should ask about, with the option to add."""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote

import numpy as np
import polars as pl

from surtree.cli._columns import Choice
from surtree.cli._console import say
from surtree.cli._survival import Survival
from surtree.data.suspicious_columns import Suspicion, find_suspicions
from surtree.data.table import read_table
from surtree.data.target import Target
from surtree.estimators.tree import SurTree


def say_suspicions(
    frame: pl.DataFrame, choice: Choice, survival: Survival, options: Collection[str]
) -> None:
    """Write a line for each suspicious column that is not simply left out."""
    persons = [name for name in choice.left_out if _is_person(choice, name)]
    table = read_table(SurTree(), choice.X.with_columns(frame[one] for one in persons), reset=True)
    event, time = survival.event, survival.y["time"].astype(np.float64)
    target = Target(event, time, survival.entry, survival.id)
    weight = np.ones(len(time)) if survival.weight is None else survival.weight
    suspicions = find_suspicions(table, target, weight)
    has_starts = survival.entry is not None or any(one.kind == "start" for one in suspicions)
    for one in suspicions:
        advice = _advice(one, "--id" if has_starts else "--group", options)
        if advice:
            say(f"surtree: column {one.column!r} {one.reason}: {advice}")


def _is_person(choice: Choice, name: str) -> bool:
    return name in choice.kinds and choice.kinds[name].name == "person"


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
