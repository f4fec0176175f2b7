"""What every tree estimator reads before it grows a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree.statistics import Baseline, RowSums, nelson_aalen, row_sums
from surtree.table import Table, read_table
from surtree.target import Target, read_target, read_weights, require_events


@dataclass(frozen=True)
class TrainingRows:
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
    table_weight: NDArray[np.float64]
    target: Target
    baseline: Baseline
    sums: RowSums

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows of the table count."""
        return self.table_weight > 0


def read_training_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
) -> TrainingRows:
    """Read and check what `fit` is given.

    Parameters
    ----------
    estimator : object
        Remembers the number and the names of the columns.
    X, y, sample_weight, entry
        As the estimator's ``fit`` takes them.

    Returns
    -------
    TrainingRows
    """
    table = read_table(estimator, X, reset=True)
    table_weight = read_weights(sample_weight, table.n_rows)
    return training_rows(table, read_target(y, table.n_rows, entry), table_weight)


def training_rows(table: Table, target: Target, table_weight: NDArray[np.float64]) -> TrainingRows:
    """Add up what the rows say before any tree.

    Parameters
    ----------
    table, target, table_weight : Table, Target, array of float
        All rows, with those of weight zero.

    Returns
    -------
    TrainingRows
    """
    present = table_weight > 0
    target, weight = target.take(present), table_weight[present]
    require_events(target)
    baseline = nelson_aalen(target, weight)
    return TrainingRows(table, table_weight, target, baseline, row_sums(target, weight, baseline))
