"""The average over all trees: what it is given, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import ArrayValue, Floats
from surtree.solver.problem import TreeTopology

# Tables over the bins of three columns are as far as it goes.
MAX_DEPTH = 3


@dataclass(frozen=True)
class TreePrior:
    """How likely trees are before any row is seen."""

    # The probability that a node which can be split is split. Each column that divides its rows is
    # as likely as another, and so is each way in which the column divides them.
    split: float = 0.5
    # The events that the prior of a leaf may be worth, each as likely: theta is Gamma distributed
    # with mean one and this shape.
    strengths: tuple[float, ...] = (1.0, 3.0, 9.0, 27.0)
    # Whether to average the logarithms of the means of leaves, and not these means.
    logarithm: bool = False


@dataclass(frozen=True, eq=False)
class PairTables(ArrayValue):
    """A function of the bins of a row: a sum of tables over pairs of columns.

    A row picks the constant, a cell for its bin in each column, and a cell for its bins in each
    pair of columns, which trees of one level do without. Trees of three levels have one more such
    table for each bin of each column, which counts for the rows in that bin.
    """

    n_bins: NDArray[np.int32]  # the bins of each column
    values: Floats  # the tables

    @staticmethod
    def shape(n_bins: NDArray[np.int32], max_depth: int) -> tuple[int, int]:
        """Return the number of tables of trees of a depth, and of the cells of each."""
        total = int(n_bins.sum())
        pairs = (total**2 - int((n_bins.astype(np.int64) ** 2).sum())) // 2
        return 1 + total * (max_depth == MAX_DEPTH), 1 + total + pairs * (max_depth > 1)

    def at(self, bins: NDArray[np.uint16]) -> Floats:
        """Return the value of each row, given its bins: an array of shape (n_columns, n_rows)."""
        first = np.cumsum(self.n_bins) - self.n_bins
        index = bins.astype(np.intp) + first[:, None]
        total = self._sum(np.zeros(bins.shape[1], dtype=np.intp), index, bins)
        if len(self.values) > 1:
            for rows in index:
                total += self._sum(1 + rows, index, bins)
        return total

    def _sum(
        self, table: NDArray[np.intp], index: NDArray[np.intp], bins: NDArray[np.uint16]
    ) -> Floats:
        """Return the sum of the cells that each row picks from the table given for it."""
        total: Floats = self.values[table, 0]
        for cell in index:
            total = total + self.values[table, 1 + cell]
        first = 1 + int(self.n_bins.sum())
        if self.values.shape[1] == first:
            return total
        for one, other in combinations(range(len(self.n_bins)), 2):
            n_other = int(self.n_bins[other])
            total += self.values[table, first + bins[one].astype(np.intp) * n_other + bins[other]]
            first += int(self.n_bins[one]) * n_other
        return total


@dataclass(frozen=True, eq=False)
class TreeAverage:
    """What all trees together say, each by its posterior probability."""

    # Where it is not "optimal", the average was ended early and there is nothing else.
    status: Status
    # The logarithm of the evidence of all trees, for each strength of the prior of a leaf.
    log_evidence: Floats
    first: Floats  # the probability that a tree begins with each cut
    asked: Floats  # the probability that a tree asks about each column
    mean: PairTables  # the posterior mean of theta


@dataclass(frozen=True, eq=False)
class TreeDraws:
    """Independent draws from the posterior of trees, and which strength each has."""

    status: Status
    topologies: tuple[TreeTopology, ...]
    strength: NDArray[np.int32]
