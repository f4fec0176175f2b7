"""Rows of a table sent down a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

from surtree.cuts.cut import Cut
from surtree.cuts.unseen import warn_of_unseen
from surtree.data.named import require_in_memory
from surtree.data.table import Table, read_table

if TYPE_CHECKING:
    from surtree.tree.tree import Tree


def read_rows(tree: Tree, X: Any) -> Table:
    """Read a user's table and check the columns that the tree asks about.

    A tree knows the positions and names of these columns, and nothing about the others.
    """
    require_in_memory(X, "a tree without its model")
    table = read_table(BaseEstimator(), X, reset=True)
    check_columns(tree, table)
    warn_of_unseen(tree.cuts, table)
    return table


def check_columns(tree: Tree, table: Table) -> None:
    """Raise an error unless the columns that a tree asks about are where they were in training."""
    for cut in tree.cuts:
        if cut.column >= table.n_columns:
            raise ValueError(
                f"X has {table.n_columns} columns, but the tree asks about column {cut.column} "
                f"(counted from 0), {cut.name!r}: pass all columns of the training table, in "
                "their order."
            )
        # A training table without names has x0, x1, ... in rules; any names agree with these.
        given = table.names[cut.column]
        if table.named and given != cut.name and cut.name != f"x{cut.column}":
            raise ValueError(
                f"Column {cut.column} of X (counted from 0) is {given!r}, but the tree was "
                f"fitted with {cut.name!r} there: pass the columns of the training table, in "
                "their order."
            )


def find_leaves(
    tree: Tree, table: Table, answers: dict[Cut, NDArray[np.bool_]] | None = None
) -> NDArray[np.intp]:
    """Return the leaf that each row of a table falls in.

    Where several trees ask much the same, ``answers`` keeps those of all rows.
    """

    def answer(node: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        if answers is None:
            return goes_right(tree, node, table, rows)
        question = tree.question(node)
        if question not in answers:
            answers[question] = goes_right(tree, node, table, slice(None))
        return answers[question][rows]

    return route_rows(tree, table.n_rows, answer)


def route_rows(
    tree: Tree,
    n_rows: int,
    answer: Callable[[int, NDArray[np.intp]], NDArray[np.bool_]],
) -> NDArray[np.intp]:
    """Return the leaf of each row; each node asks its question only of the rows that reach it."""
    leaf = np.zeros(n_rows, dtype=np.intp)
    pending = [(0, np.arange(n_rows))]
    while pending:
        node, rows = pending.pop()
        if tree.left[node] < 0:
            leaf[rows] = node
            continue
        right = answer(node, rows)
        pending.append((int(tree.left[node]), rows[~right]))
        pending.append((int(tree.right[node]), rows[right]))
    return leaf


def goes_right(
    tree: Tree, node: int, table: Table, rows: NDArray[np.intp] | NDArray[np.bool_] | slice
) -> NDArray[np.bool_]:
    cut = tree.question(node)
    column = table.column(cut.column)
    return cut.holds(replace(column, values=column.values[rows]))


def path_matrix(tree: Tree, leaf_of_row: NDArray[np.intp]) -> csr_matrix:
    """Return the nodes that each row visits, as a sparse matrix of ones."""
    paths = tree.paths()
    length = np.array([len(path) for path in paths])
    padded = np.zeros((tree.n_nodes, length.max()), dtype=np.int32)
    for node, path in enumerate(paths):
        padded[node, : len(path)] = path
    visited = np.arange(length.max()) < length[leaf_of_row][:, None]
    nodes = padded[leaf_of_row][visited]
    first = np.concatenate(([0], np.cumsum(length[leaf_of_row])))
    shape = (leaf_of_row.size, tree.n_nodes)
    return csr_matrix((np.ones(nodes.size, dtype=np.int64), nodes, first), shape=shape)
