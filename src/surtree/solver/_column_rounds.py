"""Large neighbourhoods: the optimum over some columns, those of the best tree among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.solver._restriction import Restricted, only_columns
from surtree.solver.clock import Clock, Watch
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Solution, TreeTopology
from surtree.survival.row_sums import Sums

Lines = NDArray[np.intp]

# Seconds that the first rounds take by all appearances; after so many rounds without a better tree,
# each may take twice as long.
_FIRST_SECONDS, _PATIENCE = 0.004, 3
# A round that takes so many times as long as it should ends without a result.
_OVERRUN = 40.0
# Columns are ranked by their best cut of so many cells of the table at most.
_MOST_CELLS = 2_000_000
# Columns of more bins are bisected, which takes longer.
_MOST_BINS = 64
# Nodes with fewer rows say nothing about columns.
_FEWEST_ROWS = 10


class ColumnRounds:
    """Solves a problem for some of its columns at a time.

    Columns are ranked by their best cut in any node of the best tree. The first round has the best
    ones, later rounds draw others. Where tables are wide, that finds better trees than local
    search: columns that are worth something only together are seldom found by changing one node.
    """

    def __init__(
        self, problem: Problem, limits: Limits, rounding: float = 0.0, n_jobs: int | None = None
    ) -> None:
        self._problem = problem
        self._limits = limits
        self._rounding = rounding
        self._n_jobs = n_jobs
        self._random = np.random.default_rng(0)
        self._seconds = _FIRST_SECONDS
        _, self._of_all = problem.estimate(limits, n_jobs=n_jobs)
        self._idle = 0
        self._n_rounds = 0
        self._ranked_for: bytes | None = None
        self._rank: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    @property
    def is_useful(self) -> bool:
        """Whether a round has fewer columns than there are, and kernels solve them."""
        binned = self._problem.binned
        if not binned.bins.size or binned.n_bins.max() > _MOST_BINS:
            return False
        return 1 < self._n_columns() < len(binned.bins)

    def run(self, known: Solution, clock: Clock, watch: Watch) -> Solution | None:
        """Return the optimum over some columns, or None if it is no better than what is known."""
        some = only_columns(self._problem.binned, self._choose(known.topologies[-1]))
        left = clock.left()
        most = _OVERRUN * self._seconds
        solution = Problem(some.binned, self._problem.sums).solve(
            self._limits,
            time_limit=most if left is None else min(most, left),
            n_jobs=self._n_jobs,
            progress=watch.part(),
        )
        self._n_rounds += 1
        if solution.gains[-1] > known.gains[-1] + self._rounding:
            self._idle = 0
            return _original(solution, some)
        if solution.status != "optimal":
            self._seconds /= 2
        self._idle += 1
        if self._idle >= _PATIENCE:
            self._idle = 0
            self._seconds *= 2
        return None

    def _n_columns(self) -> int:
        """Return how many columns are solved in the seconds of a round, cuts being alike."""
        every = len(self._problem.binned.bins)
        # Seconds grow with the columns to the power of the depth, or faster where there are few.
        share = (self._seconds / max(self._of_all, 1e-12)) ** (1 / self._limits.max_depth)
        return min(every, max(int(share * every), 1))

    def _choose(self, tree: TreeTopology) -> Lines:
        if tree.cut.tobytes() != self._ranked_for:
            self._ranked_for = tree.cut.tobytes()
            self._rank = _rank_columns(self._problem, tree)
        order = self._rank.astype(np.float64)
        if self._n_rounds > 0:
            order *= np.exp(self._random.normal(size=order.size))
        used = self._problem.binned.cut_column[tree.cut[tree.cut >= 0]]
        best = np.argsort(order, kind="stable")[: self._n_columns()]
        return np.union1d(used, best).astype(np.intp)


def _original(solution: Solution, some: Restricted) -> Solution:
    topologies = tuple(map(some.original, solution.topologies))
    return Solution("optimal", solution.gains, solution.gains, topologies)


def _rank_columns(problem: Problem, tree: TreeTopology) -> NDArray[np.intp]:
    """Return the best rank, from 0, that each column has in any node that the tree asks."""
    binned, sums = problem.binned, problem.sums
    step = -(-binned.bins.size // _MOST_CELLS)
    leaf = problem.find_leaves(tree)[::step]
    rows = np.arange(0, binned.bins.shape[1], step)
    ranks: list[NDArray[np.intp]] = []
    for below in _leaves_below(tree):
        inside = rows[np.isin(leaf, below)]
        if ranks and inside.size < _FEWEST_ROWS:
            continue
        gains = _best_cuts(binned, sums, inside)
        ranks.append(np.argsort(np.argsort(-gains, kind="stable")))
    return np.asarray(np.min(ranks, axis=0))


def _leaves_below(tree: TreeTopology) -> list[list[int]]:
    """Return the leaves below each node that asks, the root first; the root of a leaf too."""
    below: dict[int, list[int]] = {}
    for node in reversed(range(tree.cut.size)):  # children come after their parents
        sides = (int(tree.left[node]), int(tree.right[node]))
        below[node] = [node] if sides[0] < 0 else [leaf for side in sides for leaf in below[side]]
    return [below[node] for node in range(tree.cut.size) if node == 0 or tree.cut[node] >= 0]


def _best_cuts(binned: BinnedRows, sums: Sums, rows: Lines) -> Floats:
    """Return what the best cut of each column between low and high bins gains on some rows."""
    n_lines, n_bins = len(binned.bins), int(binned.n_bins.max())
    cell = binned.bins[:, rows] + n_bins * np.arange(n_lines)[:, None]
    per_bin = [
        np.bincount(cell.ravel(), np.tile(values[rows], n_lines), n_lines * n_bins)
        for values in sums.values
    ]
    low = np.cumsum(np.reshape(per_bin, (-1, n_lines, n_bins)), axis=2)
    # Differences of sums may be a little below zero.
    high = np.maximum(low[:, :, -1:] - low, 0.0)
    gains = sums.objective.gain(low) + sums.objective.gain(high)
    return np.asarray(np.max(gains, axis=1))
