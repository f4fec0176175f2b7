"""What is seen of persons: those who enter late, samples with weights, and merged rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The chance to be sampled of those who are not always sampled.
CHANCE = 0.25
# Of so many persons per row that is wanted, enough are seen in every design.
DRAWN = 6
MERGED = "frequency weights"
BY_STRATUM = "sampling weights"
MEAN_ONE = "sampling weights, mean one"
BY_EVENT = "case-cohort weights"
WEIGHTS = {
    MERGED: "times in steps and columns of 0 and 1, persons with equal rows merged into one row",
    BY_STRATUM: "half of all persons have twice the hazard and are always sampled, the others with "
    f"chance {CHANCE:g}; weights are one over the chance",
    MEAN_ONE: "the same weights over their mean",
    BY_EVENT: f"all events are sampled, and others with chance {CHANCE:g}",
}


class Seen(NamedTuple):
    """Rows of a table: columns, event (or cause), time; weights and entry times where it has them.

    Rows of a sample have the first persons that were seen.
    """

    X: Floats
    event: NDArray[np.intp]
    time: Floats
    weight: Floats | None = None
    entry: Floats | None = None

    @property
    def inputs(self) -> dict[str, Floats | None]:
        """The arguments of ``fit`` and of `evaluate`."""
        return {"sample_weight": self.weight, "entry": self.entry}


def is_by_stratum(design: str) -> bool:
    """Tell whether the chance to be sampled depends on who has twice the hazard."""
    return design in (BY_STRATUM, MEAN_ONE)


def in_steps(time: Floats, step: float) -> Floats:
    """Return times rounded up to whole steps."""
    return np.asarray(np.ceil(time / step) * step)


def sample(
    design: str, rows: int, everyone: Seen, stratum: NDArray[np.bool_], rng: np.random.Generator
) -> Seen:
    """Return what is seen of everyone in a table of so many rows, or of persons where merged."""
    chance = np.ones(len(everyone.time))
    if is_by_stratum(design):
        chance[~stratum] = CHANCE
    elif design == BY_EVENT:
        chance[everyone.event == 0] = CHANCE
    there = rng.random(chance.size) < chance
    if everyone.entry is not None:
        there &= everyone.entry < everyone.time
    own = np.flatnonzero(there)[:rows]
    if own.size < rows:
        raise ValueError(f"{rows} rows are wanted, and {own.size} are seen.")
    seen = Seen(*(None if part is None else part[own] for part in everyone))
    if design == MERGED:
        return _merged(seen)
    weight = 1 / chance[own]
    if design == MEAN_ONE:
        weight /= weight.mean()
    return seen._replace(weight=weight) if design in WEIGHTS else seen


def _merged(seen: Seen) -> Seen:
    table, count = np.unique(
        np.column_stack([seen.X, seen.event, seen.time]), axis=0, return_counts=True
    )
    return Seen(table[:, :-2], table[:, -2].astype(np.intp), table[:, -1], count.astype(float))
