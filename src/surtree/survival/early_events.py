"""Left truncation: where all who are at risk have their event before others enter."""

from __future__ import annotations

import warnings

import numpy as np

from surtree._support.stack import user_level
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.survival.baseline import RiskTable, risk_table

# What is lost at a time but for rounding of weights.
_ALL = 1 - 1e-12


def warn_of_early_events(target: Target, weight: Floats) -> None:
    """Warn where all rows at risk have their event at once, before others enter."""
    if target.entry is not None:
        warn_of_early_end(risk_table(target, weight), float(target.entry.max()))


def warn_of_early_end(table: RiskTable, last_entry: float) -> None:
    """Do as `warn_of_early_events`, with the rows at risk and the last time that one enters."""
    reason = early_end(table, last_entry)
    if reason:
        warnings.warn(reason, UserWarning, stacklevel=user_level())


def early_end(table: RiskTable, last_entry: float) -> str:
    """Say when survival of all rows falls to zero before others enter; empty where it does not."""
    ends = (table.deaths >= _ALL * table.at_risk) & (table.times <= last_entry)
    if not ends.any():
        return ""
    last = int(np.flatnonzero(ends)[-1])
    return (
        f"All rows at risk at {table.times[last]:g} have their event then (a weight of "
        f"{table.at_risk[last]:g}), and others enter later: survival of all rows is zero from "
        "these few on, and so are curves and medians. Condition on survival to a time at which "
        "more rows are at risk: keep the rows that end after it, and raise earlier entries to it"
    )
