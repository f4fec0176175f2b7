"""The average curve of each row over the trees of a bag."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surtree._support.types import Floats
from surtree.estimators.base import CurveKind
from surtree.tree.curves import leaf_curves
from surtree.tree.tree import Tree


def average_curves(
    trees: Sequence[Tree],
    leaf_of_row: NDArray[np.intp],
    times: Floats,
    kind: CurveKind,
) -> Floats:
    """Return the mean over trees of the curve of each row, of shape (n_rows, n_times).

    After the last row of its own sample, the curve of a tree stays where it was.
    """
    n_rows, n_trees = leaf_of_row.shape
    values, column = [], np.empty((n_rows, n_trees), dtype=np.intp)
    n_leaves = 0
    for number, tree in enumerate(trees):
        column[:, number] = n_leaves + np.searchsorted(tree.leaves, leaf_of_row[:, number])
        step = np.searchsorted(tree.event_times, times, side="right")
        values += [
            np.concatenate(([curve.before], curve.y))[step]
            for curve in (getattr(leaf, kind) for leaf in leaf_curves(tree))
        ]
        n_leaves += tree.n_leaves
    # A row of ones for each row, in the columns of its leaves: one product adds all curves up.
    starts = np.arange(0, n_rows * n_trees + 1, n_trees)
    is_in_leaf = csr_matrix(
        (np.ones(column.size), column.ravel(), starts), shape=(n_rows, n_leaves)
    )
    mean: Floats = (is_in_leaf @ np.stack(values)) / n_trees
    return mean
