"""The training data of an estimator: table, target, weights, baseline and row sums."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._types import Floats
from surtree.data.suspicion import warn_of_suspicious
from surtree.data.table import Table, read_table
from surtree.data.target import Target, read_target, read_weights, require_events
from surtree.survival.baseline import Baseline
from surtree.survival.objective import RELATIVE_RISK, Objective, RelativeRisk
from surtree.survival.row_sums import RowSums


@dataclass(frozen=True)
class TrainingData:
    """The rows that a tree is fitted on.

    Parameters
    ----------
    table : Table
        The user's table, with rows of weight zero.
    table_weight : array of float
        The weight of each row of the table.
    target : Target
        The survival of the rows that count: those of positive weight.
    baseline : Baseline
        The hazard that all rows that count share.
    sums : RowSums
        What each row that counts adds to the sums of a leaf.
    """

    table: Table
    table_weight: Floats
    target: Target
    baseline: Baseline
    sums: RowSums

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows of the table count."""
        return self.table_weight > 0


def read_training_data(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    objective: Objective | None = None,
    id: ArrayLike | None = None,
) -> TrainingData:
    """Read and check what `fit` is given.

    Parameters
    ----------
    estimator : object
        Remembers the number and the names of the columns; it may know the kind of its target.
    X, y, sample_weight, entry, id
        As the estimator's ``fit`` takes them.
    objective : Objective, optional
        What a leaf is worth; by default, to the estimator.
    """
    table = read_table(estimator, X, reset=True)
    weight = read_weights(sample_weight, table.n_rows)
    read: Callable[..., Target] = getattr(estimator, "_read_target", read_target)
    target = read(y, table.n_rows, entry, id).with_spells(table)
    weight = leave_out_censored_at_zero(target, weight, stacklevel=4)
    target = target.narrowed(weight > 0)
    warn_of_suspicious(table, target, weight, stacklevel=4)
    return training_data(table, target, weight, objective or objective_of(estimator, target))


def objective_of(estimator: Any, target: Target) -> Objective:
    """Return what a leaf is worth to an estimator.

    Parameters
    ----------
    estimator : object
        If it does not say, it is relative risk, with the parameter ``shrinkage`` if there is one.
    target : Target
        The rows, of which an objective may need to know the causes.
    """
    if hasattr(estimator, "_objective"):
        objective: Objective = estimator._objective(target)
        return objective
    return RelativeRisk(float(getattr(estimator, "shrinkage", 0.0)))


def leave_out_censored_at_zero(target: Target, weight: Floats, *, stacklevel: int) -> Floats:
    """Return the weights with zero where a row is censored at time zero, and warn of such rows.

    Parameters
    ----------
    target : Target
        All rows.
    weight : array of float
        Their weights.
    stacklevel : int
        Whose line the warning names, as in `warnings.warn`.
    """
    left_out = target.censored_at_zero & (weight > 0)
    n_left_out = int(left_out.sum())
    if not n_left_out:
        return weight
    require_events(target.take(weight > 0))
    warnings.warn(
        f"{n_left_out} of {weight.size} rows are censored at time zero: they say nothing about "
        "survival, and are left out",
        UserWarning,
        stacklevel=stacklevel,
    )
    return np.where(left_out, 0.0, weight)


def training_data(
    table: Table, target: Target, table_weight: Floats, objective: Objective = RELATIVE_RISK
) -> TrainingData:
    """Add up what the rows say before any tree.

    Parameters
    ----------
    table, target, table_weight : Table, Target, array of float
        All rows, including those of weight zero.
    objective : Objective
        What a leaf is worth.
    """
    present = table_weight > 0
    target, weight = target.take(present), table_weight[present]
    require_events(target)
    baseline = objective.baseline(target, weight)
    sums = objective.row_sums(target, weight, baseline)
    objective.require_exact(sums)
    return TrainingData(table, table_weight, target, baseline, sums)
