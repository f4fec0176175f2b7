"""What we compare with: pystreed of the authors, scikit-survival's greedy tree, and OSST.

Each fit returns a function from rows to the number of their leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_NO_LIMIT = 1e6  # seconds

Labels = NDArray[np.intp]
Apply = Callable[[Any], Labels]


def fit_pystreed(
    binary: NDArray[Any],
    y: NDArray[np.void],
    depth: int,
    splits: int | None = None,
    **options: object,
) -> Apply:
    """Fit pystreed to 0/1 columns; with numpy >= 2.4 its events must be Python numbers."""
    from pystreed import STreeDSurvivalAnalysis

    class Fixed(STreeDSurvivalAnalysis):
        def _compute_baseline_cumulative_hazard_function(self, events, times):
            return super()._compute_baseline_cumulative_hazard_function(
                [int(event) for event in events], times
            )

    splits = 2**depth - 1 if splits is None else splits
    # Its own limit is one of time that passes, and what it then returns is not marked.
    limits = {"time_limit": _NO_LIMIT} | options
    model = Fixed(max_depth=depth, max_num_nodes=splits, **limits)
    root = model.fit(np.asarray(binary, dtype=int), y).get_tree()
    return lambda rows: _fall(root, np.asarray(rows), _streed_split)


def fit_osst(
    binary: NDArray[Any], y: NDArray[np.void], depth: int, penalty: float, time_limit: float
) -> Apply:
    """Fit OSST to 0/1 columns; it minimises the integrated Brier score plus a price of leaves.

    Parameters
    ----------
    binary, y : array
        The training rows.
    depth : int
        The largest number of questions that a row is asked.
    penalty : float
        The price of a leaf.
    time_limit : float
        Seconds.
    """
    from osst.model.osst import OSST

    names = [f"cut{index}" for index in range(binary.shape[1])]
    model = OSST(
        {
            "regularization": penalty,
            # It counts the leaf as a level of its own.
            "depth_budget": depth + 1,
            "minimum_captured_points": 1,
            "time_limit": int(np.ceil(time_limit)),
            # Without buckets the score of a leaf takes a sum over all distinct times.
            "bucketize": True,
            "number_of_buckets": 100,
            "look_ahead": True,
            "warm_LB": False,
            "model_limit": 1,
        }
    )
    frame = pd.DataFrame(np.asarray(binary, dtype=int), columns=names)
    model.fit(frame, pd.DataFrame(y["event"].astype(int)), pd.DataFrame(y["time"]))
    if model.timeout:
        raise TimeoutError("OSST ran into its own time limit")
    root = model.tree.source
    return lambda rows: _fall(root, np.asarray(rows), _osst_split)


def fit_sksurv(X: pd.DataFrame, y: NDArray[np.void], depth: int, seed: int = 0) -> Any:
    """Fit scikit-survival's tree to columns of numbers, and return it."""
    from sksurv.tree import SurvivalTree

    return SurvivalTree(max_depth=depth, random_state=seed).fit(X, y)


def sksurv_leaves(model: Any, X: pd.DataFrame, depth: int) -> Labels:
    """Return the node of each row after so many questions of scikit-survival's tree."""
    tree = model.tree_
    node = np.zeros(len(X), dtype=np.intp)
    # Its trees compare values in single precision.
    values = X.to_numpy(dtype=np.float32)
    for _ in range(depth):
        inner = np.flatnonzero(tree.children_left[node] >= 0)
        at = node[inner]
        left = values[inner, tree.feature[at]] <= tree.threshold[at]
        node[inner] = np.where(left, tree.children_left[at], tree.children_right[at])
    return node


def _fall(root: Any, binary: NDArray[Any], read: Callable[[Any], Any]) -> Labels:
    """Return a number for the leaf of each row of 0/1 columns."""
    leaf = np.zeros(len(binary), dtype=np.intp)
    pending = [(root, np.arange(len(binary)), 1)]
    while pending:
        node, rows, number = pending.pop()
        split = read(node)
        if split is None:
            leaf[rows] = number
            continue
        feature, if_zero, if_one = split
        holds = binary[rows, feature] == 1
        pending.append((if_zero, rows[~holds], 2 * number))
        pending.append((if_one, rows[holds], 2 * number + 1))
    return leaf


def _streed_split(node: Any) -> Any:
    if node.is_leaf_node():
        return None
    return node.feature, node.left_child, node.right_child


def _osst_split(node: Any) -> Any:
    if "feature" not in node:
        return None
    sides = (
        (node["false"], node["true"]) if node["reference"] == 1 else (node["true"], node["false"])
    )
    return node["feature"], *sides
