"""The training data of an estimator: table, target, weights, baseline and row sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import Rows, TargetReader, read_rows
from surtree.data.table import Table
from surtree.data.target import Target, require_events
from surtree.survival.baseline import Baseline
from surtree.survival.early_events import warn_of_early_events
from surtree.survival.objective import RELATIVE_RISK, Objective, RelativeRisk
from surtree.survival.row_sums import RowSums


@dataclass(frozen=True)
class TrainingData:
    """The rows that a tree is fitted on."""

    table: Table  # the user's table, with rows of weight zero
    table_weight: Floats  # the weight of each row of the table
    target: Target  # the survival of the rows that count: those of positive weight
    baseline: Baseline  # the hazard that all rows that count share
    sums: RowSums  # what each row that counts adds to the sums of a leaf

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows of the table count."""
        return self.table_weight > 0

    def reweighted(self, weight: Floats) -> TrainingData:
        """Return the rows that count with other weights; of weight zero, they count no longer."""
        table_weight = np.zeros_like(self.table_weight)
        table_weight[self.present] = weight
        return _add_up(self.table, table_weight, self.target, weight, self.sums.objective)


def read_training_data(
    estimator: Any, given: RowInputs, objective: Objective | None = None
) -> TrainingData:
    """Read and check what `fit` is given; the objective is by default the estimator's."""
    return rows_to_fit(estimator, read_rows(estimator, given, reader_of(estimator)), objective)


def rows_to_fit(estimator: Any, rows: Rows, objective: Objective | None = None) -> TrainingData:
    """Return rows that were read as training data, and warn of events before others enter."""
    objective = objective or objective_of(estimator, rows.target)
    data = training_data(rows.table, rows.target, rows.weight, objective)
    warn_of_early_events(data.target, rows.weight[data.present])
    return data


def reader_of(estimator: Any) -> TargetReader | None:
    """Return how an estimator reads its target; None is one event."""
    return getattr(estimator, "_read_target", None)


def objective_of(estimator: Any, target: Target) -> Objective:
    """Return what a leaf is worth to an estimator; if it does not say, relative risk."""
    if hasattr(estimator, "_objective"):
        objective: Objective = estimator._objective(target)
        return objective
    return RelativeRisk(float(getattr(estimator, "shrinkage", 0.0)))


def training_data(
    table: Table, target: Target, table_weight: Floats, objective: Objective = RELATIVE_RISK
) -> TrainingData:
    """Return rows as training data, given the target of each row of the table."""
    return _add_up(table, table_weight, target, table_weight, objective)


def _add_up(
    table: Table, table_weight: Floats, target: Target, weight: Floats, objective: Objective
) -> TrainingData:
    """Add up what some rows of a table say before any tree."""
    present = weight > 0
    target, weight = target.take(present), weight[present]
    require_events(target)
    baseline = objective.baseline(target, weight)
    sums = objective.row_sums(target, weight, baseline)
    objective.exactness().require(sums)
    return TrainingData(table, table_weight, target, baseline, sums)
