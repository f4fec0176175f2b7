"""What we compare with: the authors' pystreed, and scikit-survival's greedy tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree.statistics import gain, nelson_aalen, row_sums, total_by
from surtree.target import read_target


def loss_of_leaves(y: NDArray, leaf: NDArray) -> float:
    """Return the loss of a partition of the training rows; all are judged by this function."""
    target = read_target(y, len(y))
    weight = np.ones(len(y))
    sums = row_sums(target, weight, nelson_aalen(target, weight))
    _, part = np.unique(leaf, return_inverse=True)
    n = part.max() + 1
    events, hazard = total_by(part, sums.events, n), total_by(part, sums.hazard, n)
    return sums.negative_log_hazard - float(gain(events, hazard).sum())


def fit_pystreed(binary: NDArray, y: NDArray, depth: int, splits: int | None = None):
    """Fit pystreed; with numpy >= 2.4 its events must be Python numbers."""
    from pystreed import STreeDSurvivalAnalysis

    class Fixed(STreeDSurvivalAnalysis):
        def _compute_baseline_cumulative_hazard_function(self, events, times):
            return super()._compute_baseline_cumulative_hazard_function(
                [int(event) for event in events], times
            )

    splits = 2**depth - 1 if splits is None else splits
    return Fixed(max_depth=depth, max_num_nodes=splits).fit(binary, y)


def leaves_of_pystreed(model, binary: NDArray) -> NDArray:
    """Return the leaf of each row."""
    leaf = np.zeros(len(binary), dtype=int)
    pending = [(model.get_tree(), np.arange(len(binary)), 1)]
    while pending:
        node, rows, number = pending.pop()
        if node.is_leaf_node():
            leaf[rows] = number
            continue
        right = binary[rows, node.feature] == 1
        pending.append((node.left_child, rows[~right], 2 * number))
        pending.append((node.right_child, rows[right], 2 * number + 1))
    return leaf


def numeric(X):
    """Return a frame with its text columns one-hot encoded, as scikit-survival wants it."""
    import pandas as pd

    return pd.get_dummies(X, drop_first=True).astype(float)


def fit_greedy(X, y: NDArray, depth: int):
    """Fit scikit-survival's tree to a frame from `numeric`."""
    from sksurv.tree import SurvivalTree

    return SurvivalTree(max_depth=depth).fit(X, y)
