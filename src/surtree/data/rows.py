"""The one reader of rows: what a user passed to any verb, as typed columns, target and weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length

from surtree._support.package import user_level
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.persons import read_labels
from surtree.data.suspicious_columns import warn_of_suspicious
from surtree.data.table import Table, read_table
from surtree.data.target import Target, read_target, read_weights, require_events
from surtree.data.target_columns import as_rows

TargetReader = Callable[[RowInputs, int], Target]


@dataclass(frozen=True, eq=False)
class TargetRows:
    """Rows whose table may be of any kind that an estimator takes, so it is not read."""

    target: Target  # the survival of all rows
    # How often each row counts: zero for rows of weight zero, and for those that are censored at
    # time zero, which say nothing about survival.
    weight: Floats
    given: RowInputs  # what the user passed, the named columns taken out of the table

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows count."""
        return self.weight > 0


@dataclass(frozen=True, eq=False)
class Rows(TargetRows):
    """The rows that a verb works on, and their table: also rows that do not count."""

    table: Table


def read_rows(estimator: Any, given: RowInputs, read: TargetReader | None = None) -> Rows:
    """Read and check the rows that something is fitted on; the estimator remembers their columns.

    Rows that are censored at time zero are left out with a warning, and columns that look as if
    no tree should ask about them are told. ``read`` reads the target; by default it is one event.
    """
    given = given.in_memory(type(estimator).__name__)
    table = read_table(estimator, given.X, reset=True)
    target, weight = read_target_and_weight(given, table.n_rows, read)
    weight = leave_out_censored_at_zero(target, weight)
    target = target.with_spells(table).narrowed(weight > 0)
    if getattr(estimator, "_warns_of_columns", True):
        warn_of_suspicious(table, target, weight)
    return Rows(target, weight, given, table)


def read_target_rows(given: RowInputs, read: TargetReader | None = None) -> TargetRows:
    """Read the rows that count and no others, whatever their table is."""
    given = replace(given, y=as_rows(given.y))
    check_consistent_length(given.X, given.y)
    n_rows = len(given.y)
    target, weight = read_target_and_weight(given, n_rows, read)
    if given.groups is not None:
        given = replace(given, groups=read_labels("groups", given.groups, n_rows))
    weight = leave_out_censored_at_zero(target, weight)
    present = np.flatnonzero(weight)
    if present.size < weight.size:
        target, weight, given = target.take(present), weight[present], given.take(present)
    require_events(target)
    return TargetRows(target, weight, given)


def warn_of_columns(given: RowInputs, read: TargetReader | None = None) -> None:
    """Warn of columns that look as if no tree should ask about them."""
    table = read_table(BaseEstimator(), given.X, reset=True)
    target, weight = read_target_and_weight(given, table.n_rows, read)
    warn_of_suspicious(table, target, weight)


def read_target_and_weight(
    given: RowInputs, n_rows: int, read: TargetReader | None = None
) -> tuple[Target, Floats]:
    """Read the target and the weights of rows, whatever their table is."""
    weight = read_weights(given.sample_weight, n_rows)
    return (read or read_one_event)(given, n_rows), weight


def require_no_arms(given: RowInputs) -> None:
    """Raise an error where arms are given to a model that knows of none."""
    if given.treatment is not None:
        raise ValueError("This model knows of no arms: leave treatment out, or fit an EffectTree.")


def read_event(given: RowInputs, n_rows: int) -> Target:
    """Read a target of one event, of rows that have no arms."""
    require_no_arms(given)
    return read_one_event(given, n_rows)


def read_one_event(given: RowInputs, n_rows: int) -> Target:
    return read_target(given.y, n_rows, given.entry, given.id)


def leave_out_censored_at_zero(target: Target, weight: Floats) -> Floats:
    """Return the weights with zero where a row is censored at time zero, and warn of such rows."""
    left_out = target.censored_at_zero & (weight > 0)
    n_left_out = int(left_out.sum())
    if not n_left_out:
        return weight
    require_events(target.take(weight > 0))
    warn_left_out(n_left_out, weight.size)
    return np.where(left_out, 0.0, weight)


def warn_left_out(n_left_out: int, n_rows: int) -> None:
    """Warn of rows that are censored at time zero."""
    warnings.warn(
        f"{n_left_out} of {n_rows} rows are censored at time zero: they say nothing about "
        "survival, and are left out",
        UserWarning,
        stacklevel=user_level(),
    )
