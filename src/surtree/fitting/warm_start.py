"""A tree to start from: another model's tree, asked with the cuts of this problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.fitting.training import FitProblem
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.tree.tree import Tree

Rows = NDArray[np.intp]


def nearest_topology(tree: Tree, problem: FitProblem) -> TreeTopology:
    """Return a tree with the cut of the same column that divides the rows of a node most alike.

    Where no cut comes close to a question, because its column is not there or has no cuts, the side
    that most of the weight takes stands for the node.
    """
    walk = _Walk(tree, problem)
    walk.add(0, np.arange(problem.binned.bins.shape[1]))
    return TreeTopology(
        *(np.array(each, dtype=np.int32) for each in (walk.cut, walk.left, walk.right))
    )


class _Walk:
    """Builds the tree in preorder."""

    def __init__(self, tree: Tree, problem: FitProblem) -> None:
        self._tree = tree
        self._problem = problem
        self._weight = problem.data.sums.weight
        self._answers: dict[Cut, NDArray[np.bool_]] = {}
        self.cut: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []

    def add(self, node: int, rows: Rows) -> int:
        """Append the tree below a node, for these rows, and return where it is."""
        while self._tree.left[node] >= 0:
            yes = self._answer(self._tree.cuts[self._tree.cut[node]])[rows]
            sides = {False: int(self._tree.left[node]), True: int(self._tree.right[node])}
            nearest = self._nearest(self._tree.cuts[self._tree.cut[node]], rows, yes)
            if nearest is None:
                heavier = self._weight[rows] @ np.where(yes, 1.0, -1.0) > 0
                node = sides[bool(heavier)]
                continue
            cut, is_opposite = nearest
            here = self._append(cut)
            held = _holds(self._problem.binned, cut)[rows]
            self.left[here] = self.add(sides[is_opposite], rows[~held])
            self.right[here] = self.add(sides[not is_opposite], rows[held])
            return here
        return self._append(-1)

    def _append(self, cut: int) -> int:
        for each, value in ((self.cut, cut), (self.left, -1), (self.right, -1)):
            each.append(value)
        return len(self.cut) - 1

    def _column_of(self, cut: Cut) -> int | None:
        table = self._problem.data.table
        if table.named and cut.name in table.names:
            return table.names.index(cut.name)
        # A table without names has x0, x1, ... in rules; any names agree with these.
        agrees = not table.named or cut.name == f"x{cut.column}"
        return cut.column if agrees and cut.column < table.n_columns else None

    def _answer(self, cut: Cut) -> NDArray[np.bool_]:
        """Return how the rows that count answer a question; no, where its column is not there."""
        if cut not in self._answers:
            data = self._problem.data
            index = self._column_of(cut)
            answers = np.zeros(data.table.n_rows, dtype=bool)
            if index is not None:
                answers = cut.holds(data.table.column(index))
            self._answers[cut] = answers[data.present]
        return self._answers[cut]

    def _nearest(self, cut: Cut, rows: Rows, yes: NDArray[np.bool_]) -> tuple[int, bool] | None:
        """Return the cut that agrees with most answers, and whether its answers are opposite."""
        problem, index = self._problem, self._column_of(cut)
        # Questions of a column follow each other.
        cuts = [k for k, asked in enumerate(problem.encoder.cuts_) if asked.column == index]
        if not cuts or yes.all() or not yes.any():
            return None
        agreed = _agreement(problem.binned, np.array(cuts), rows, yes, self._weight)
        total = float(self._weight[rows].sum())
        best = int(np.argmax(np.maximum(agreed, total - agreed)))
        return cuts[best], bool(agreed[best] < total - agreed[best])


def _holds(binned: BinnedRows, cut: int) -> NDArray[np.bool_]:
    row = binned.cut_column[cut]
    return np.asarray(bins_held(binned, np.array([cut]))[:, 0][binned.bins[row]])


def bins_held(binned: BinnedRows, cuts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for which bins of their column cuts hold, as an array (n_bins, n_cuts)."""
    row = binned.cut_column[cuts[0]]
    bins = np.arange(binned.n_bins[row])[:, None]
    held = (bins >= binned.cut_first[cuts]) & (bins <= binned.cut_last[cuts])
    gaps = binned.cut_gaps[cuts]
    if gaps.any():  # such a column has at most 64 bins
        held &= (gaps >> bins.astype(np.uint64) & np.uint64(1)) == 0
    return np.asarray(held | (binned.cut_missing[cuts] & (bins == binned.missing_bin[row])))


def _agreement(
    binned: BinnedRows,
    cuts: NDArray[np.intp],
    rows: Rows,
    yes: NDArray[np.bool_],
    weight: Floats,
) -> Floats:
    """Return the weight of the rows for which each of the cuts of a column gives these answers."""
    row = binned.cut_column[cuts[0]]
    bins, n_bins = binned.bins[row][rows], int(binned.n_bins[row])
    signed = np.bincount(bins, np.where(yes, 1.0, -1.0) * weight[rows], minlength=n_bins)
    # A bin for which a cut holds adds those who say yes, any other those who say no.
    says_no = float(weight[rows][~yes].sum())
    parts = np.array_split(cuts, -(-cuts.size * n_bins // 10_000_000))
    return np.concatenate([signed @ bins_held(binned, part) for part in parts]) + says_no
