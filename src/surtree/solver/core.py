"""The border to the compiled core, for problems: `_support.compiled` has functions of arrays."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surtree import _core
from surtree._support.exact import AT_ONCE
from surtree._support.parallel import require_running
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.solver._wide import COARSE, WIDE_KERNELS, can_be_wide, divide
from surtree.solver.average import PairTables, TreeAverage, TreeDraws, TreePrior
from surtree.solver.problem import (
    BinnedRows,
    Conditions,
    Forest,
    Limits,
    LocalOptimum,
    Progress,
    ProgressHook,
    Rounding,
    Solution,
    Switches,
    TreeTopology,
)
from surtree.survival.objective import Objective
from surtree.survival.row_sums import Sums

# Threads that somebody has left behind would be ended in the middle of a search.
atexit.register(_core.end_searches)

# More threads bring nothing on any machine.
_MOST_THREADS = 1024
# What tables over triples of columns may hold: bins of a column, and numbers in all. Rows are added
# so many at once; up to so many combinations of bins are few.
_MOST_BINS, _MOST_NUMBERS, _BATCH, _FEW_DISTINCT = 64, 2**24, 2**14, 2**12


def default_memory_limit() -> int:
    """Return a quarter of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):  # not known on every system
        return 2**31


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` asks for."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return min(int(n_jobs), _MOST_THREADS)


def _bytes(memory_limit: int | None) -> int:
    return default_memory_limit() if memory_limit is None else min(int(memory_limit), sys.maxsize)


class Problem:
    """Rows by bins and what they add to a leaf: the door to the compiled core."""

    def __init__(self, binned: BinnedRows, sums: Sums, rounding: Rounding | None = None) -> None:
        self.binned = binned
        self.sums = sums
        self.rounding = rounding or Rounding(
            sums.unit, sums.is_uneven, wide=sums.is_uneven and can_be_wide(sums)
        )
        self._core = _core_problem(binned, sums.objective, sums.core, sums.counts, self.rounding)

    def take(self, rows: NDArray[Any]) -> Problem:
        """Return the problem of some rows, given by their positions or by a mask."""
        return Problem(self.binned.take(rows), self.sums.take(rows))

    def solve(
        self,
        limits: Limits,
        *,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        progress: ProgressHook | None = None,
        known_gains: Floats | None = None,
        leads: NDArray[np.bool_] | None = None,
        switches: Switches | None = None,
    ) -> Solution:
        """Find the tree with the largest gain for every number of splits up to the limit.

        The progress hook is called a few times a second; where it returns something true, the
        search ends as "interrupted" with its best tree so far.

        With ``leads``, a bool for each cut, only trees that begin with one of these cuts are looked
        for: bounds and the status are about them alone. A tree that begins with another cut may
        come out too, where it is found by the way.
        """

        def show(now: _core.Progress) -> bool:
            assert progress is not None
            total = self.sums.constant
            loss, lower_bound = total - now.gain, max(0.0, total - now.gain_bound)
            return bool(progress(Progress(now.fraction, loss, lower_bound)))

        require_running()
        solution = self._core.solve(
            **self._limits(limits),
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            memory_limit=_bytes(memory_limit),
            progress=None if progress is None else show,
            stop=require_running,
            known_gains=np.empty(0) if known_gains is None else known_gains,
            leads=np.empty(0, dtype=np.bool_) if leads is None else leads,
            switches=_core_switches(switches),
        )
        return _solution(solution)

    def side_gains(
        self,
        limits: Limits,
        *,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
    ) -> tuple[Status, Floats]:
        """Return what both sides of every cut gain if it is asked first, by their splits.

        The gains are of shape (n_cuts, 2, n), the side where the cut does not hold first, with at
        most 0, 1, ... splits; minus infinity where rows or limits do not allow it.
        """
        require_running()
        sides = self._core.side_gains(
            **self._limits(limits),
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            memory_limit=_bytes(memory_limit),
            stop=require_running,
        )
        return cast(Status, sides.status), sides.gains.reshape(-1, 2, sides.width)

    def plan_text(
        self,
        limits: Limits,
        *,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        wants_progress: bool = False,
        switches: Switches | None = None,
    ) -> str:
        """Return the stages of `solve`, each with about how many seconds it takes on one thread."""
        return self._core.plan_text(
            **self._limits(limits),
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            memory_limit=_bytes(memory_limit),
            wants_progress=wants_progress,
            switches=_core_switches(switches),
        )

    def estimate(
        self, limits: Limits, *, n_jobs: int | None = None, memory_limit: int | None = None
    ) -> tuple[float, float]:
        """Return about the seconds before `solve` looks at the clock, and of all of it."""
        return self._core.estimate(
            **self._limits(limits), n_threads=n_threads(n_jobs), memory_limit=_bytes(memory_limit)
        )

    def local_search(
        self,
        limits: Limits,
        *,
        n_restarts: int,
        seed: int,
        price: float = 0.0,
        start: TreeTopology | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        progress: ProgressHook | None = None,
    ) -> LocalOptimum:
        """Find a tree whose gain no change of a single node improves, the best of several.

        A split must gain more than its price. The tree depends on the seed, not on the threads.
        With a tree to start from, each restart but the first changes one of its nodes; else they
        begin with a greedy tree and with random ones. The progress hook is as in `solve`.
        """

        def show(now: _core.Progress) -> bool:
            assert progress is not None
            loss = self.sums.constant - now.gain if np.isfinite(now.gain) else np.inf
            return bool(progress(Progress(0.0, loss, 0.0)))

        require_running()
        leaf = np.empty(0, dtype=np.int32)
        first = start or TreeTopology(leaf, leaf, leaf)
        # No split gains more than a tree can: a higher price changes nothing, and would overflow.
        sums = self.sums
        most = sums.constant - float(sums.objective.gain(sums.total)) + sums.scale
        best = self._core.local_search(
            **self._limits(limits),
            n_restarts=n_restarts,
            seed=seed,
            price=min(price, most),
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            progress=None if progress is None else show,
            stop=require_running,
            cut=first.cut,
            left=first.left,
            right=first.right,
        )
        return LocalOptimum(_topology(best.tree), best.worth)

    def average(
        self,
        limits: Limits,
        prior: TreePrior,
        *,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        progress: ProgressHook | None = None,
    ) -> TreeAverage:
        """Average over all trees within the limits, of up to three levels."""

        def show(now: _core.Progress) -> bool:
            assert progress is not None
            return bool(progress(Progress(now.fraction, np.inf, 0.0)))

        average = self._core.average(
            **self._prior(limits, prior),
            logarithm=prior.logarithm,
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            progress=None if progress is None else show,
            stop=require_running,
        )
        n_bins = self.binned.n_bins
        shape = PairTables.shape(n_bins, limits.max_depth) if average.mean.size else (0, 0)
        return TreeAverage(
            cast(Status, average.status),
            average.log_evidence,
            average.first,
            average.asked,
            PairTables(n_bins, average.mean.reshape(shape)),
        )

    def draw(
        self,
        limits: Limits,
        prior: TreePrior,
        *,
        n_draws: int,
        seed: int,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> TreeDraws:
        """Draw trees from their posterior, independently of each other."""
        draws = self._core.draw(
            **self._prior(limits, prior),
            n_draws=n_draws,
            seed=seed,
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            stop=require_running,
        )
        trees = tuple(map(_topology, draws.trees))
        return TreeDraws(cast(Status, draws.status), trees, draws.strength)

    def _prior(self, limits: Limits, prior: TreePrior) -> dict[str, Any]:
        require_running()
        limited = self._limits(limits)
        return {
            "max_depth": limited["max_depth"],
            "least": limited["least"],
            "split": np.full(max(limits.max_depth, 1), prior.split),
            "strengths": np.array(prior.strengths, dtype=np.float64),
        }

    def sum_nodes(self, forest: Forest, values: Floats) -> Floats:
        """Return the sum of each kind of value over the rows of each node."""
        return _sum_nodes(self._core, forest, values)

    def sum_terms(self, forest: Forest) -> list[Floats]:
        """Return what `Sums.node_values` adds up to in each node."""
        stack, total = self.sums.node_values, np.zeros(0)
        for rows, lines in stack.batches():
            if lines.shape[1] == self.binned.bins.shape[1]:
                total = self.sum_nodes(forest, lines)
            else:
                sums = _sum_nodes(self._batch(rows), forest, lines)
                total = total + sums if rows.start else sums
        return stack.join(total)

    def _batch(self, rows: slice) -> _core.Problem:
        counts = {name: count[rows] for name, count in self.sums.counts.items()}
        core = self.sums.core[:, rows]
        return _core_problem(
            self.binned.take(rows), self.sums.objective, core, counts, self.rounding
        )

    def in_tables(self, limits: Limits) -> TripleTables | None:
        """Return many rows as tables over triples of columns, where those are enough for trees.

        They find the same trees as `solve` does, in less time and memory. Few distinct rows
        have no tables: of them, the sizes of trees depend on how many there are.
        """
        n_bins = self.binned.n_bins.tolist()
        if (
            self.binned.bins.shape[1] <= AT_ONCE
            or limits.max_depth > 3
            or self.rounding.wide
            or self.rounding.down
            or prod(n_bins) <= _FEW_DISTINCT
            or not fit_in_tables(n_bins, len(self.sums.core), limits)
        ):
            return None
        counts = self.sums.counts
        tables = TripleTables(
            self.binned, self.sums.objective, self.rounding, limits, tuple(counts)
        )
        for start in range(0, self.binned.bins.shape[1], _BATCH):
            require_running()
            rows = slice(start, start + _BATCH)
            some = {name: count[rows] for name, count in counts.items()}
            tables.add(self.binned.bins[:, rows], self.sums.core[:, rows], some)
        return tables

    def find_leaves(self, topology: TreeTopology) -> NDArray[np.int32]:
        """Return the leaf of each row in a tree."""
        return self._core.find_leaves(cut=topology.cut, left=topology.left, right=topology.right)

    def _limits(self, limits: Limits) -> dict[str, Any]:
        counts = self.sums.counts
        # Where each row alone is enough, there is no limit.
        is_met = {name for name, least in limits.least.items() if counts[name].min() >= least}
        return _core_limits(limits, limits.least | dict.fromkeys(is_met, 0.0), counts)


class NearTrees:
    """Trees near the best one, best first: each is looked for when it is asked for."""

    def __init__(
        self,
        problem: Problem,
        limits: Limits,
        within: float,
        *,
        distinct: bool,
        conditions: Conditions | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        require_running()
        wanted = conditions or Conditions()
        most = wanted.max_columns
        unit = problem.rounding.unit
        self._core = _core.NearTrees(
            problem._core,
            **problem._limits(limits),
            within=within,
            distinct=distinct,
            time_limit=0.0 if time_limit is None else time_limit,
            n_threads=n_threads(n_jobs),
            memory_limit=_bytes(memory_limit),
            stop=require_running,
            max_columns=-1 if most is None else min(int(most), len(problem.binned.n_bins)),
            signs=np.empty(0, dtype=np.int32) if wanted.signs is None else wanted.signs,
            units=np.array([unit, unit / COARSE] if problem.rounding.wide else [unit]),
            prior=float(problem.sums.objective.shrinkage),
        )

    def best(self, time_limit: float | None = None) -> Solution:
        """Return the best tree of every size that satisfies the conditions.

        It has no sizes where a limit ended the search before that.
        """
        return _solution(
            self._core.best(0.0 if time_limit is None else time_limit, require_running)
        )

    @property
    def free_gains(self) -> Floats:
        """The gain of the best tree of every size without conditions."""
        return self._core.free_gains()

    def next(
        self, n: int, time_limit: float | None = None
    ) -> tuple[Status, tuple[TreeTopology, ...], Floats]:
        """Return the next trees and their gains: fewer where there are no more, or at a limit."""
        some = self._core.next(n, 0.0 if time_limit is None else time_limit, require_running)
        return cast(Status, some.status), tuple(map(_topology, some.trees)), some.gains

    @property
    def is_full(self) -> bool:
        """Whether memory has ended the search."""
        return self._core.is_full


def fit_in_tables(n_bins: Sequence[int], n_sums: int, limits: Limits) -> bool:
    """Return whether there can be tables of columns with so many bins."""
    n_limits = sum(least > 0 for least in limits.least.values())
    cells = sum(map(prod, combinations(n_bins, min(3, len(n_bins)))))
    most = max(n_bins, default=0)
    return most <= _MOST_BINS and (n_sums + max(n_limits, 2)) * cells <= _MOST_NUMBERS


class TripleTables:
    """Sums over the bins of any three columns, of rows that come in batches.

    They are all that trees of up to three levels need, however many rows there are: up to 5 MiB for
    ten columns of eleven bins. Rows may come in any order and in any partition.
    """

    def __init__(
        self,
        binned: BinnedRows,
        objective: Objective,
        rounding: Rounding,
        limits: Limits,
        counts: Sequence[str],
        memory_limit: int | None = None,
    ) -> None:
        if limits.max_depth > 3:
            raise ValueError(
                f"Tables over three columns are enough for three levels, not for {limits.max_depth}"
            )
        self._binned = replace(binned, bins=np.empty((len(binned.n_bins), 0), dtype=np.uint16))
        self._objective = objective
        self._rounding = rounding
        self._counts = tuple(counts)
        none = {name: np.empty(0) for name in counts}
        no_values = objective.core_values(np.empty((len(objective.sum_names), 0)))
        like = self._batch(self._binned.bins, no_values, none)
        self._core = _core.TripleTables(
            like, **_core_limits(limits, limits.least, counts), memory_limit=_bytes(memory_limit)
        )

    def add(self, bins: NDArray[np.uint16], core: Floats, counts: Mapping[str, Floats]) -> None:
        """Add some rows, by their `Sums.core`. Other threads may run meanwhile."""
        self._core.add(self._batch(bins, core, counts))

    @property
    def sums(self) -> Floats:
        """All sums of the rows so far, as one array.

        Sums of different rows may be added to each other like any arrays: they are exact.
        """
        return self._core.sums()

    def merge(self, sums: Floats) -> None:
        """Add the sums of other rows."""
        self._core.merge(np.ascontiguousarray(sums, dtype=np.float64))

    def solve(self) -> Solution:
        """Find the tree with the largest gain for every number of splits.

        It is the solution of `Problem.solve` for all rows together, to the last bit; of rows that
        are fewer than splits, there may be more sizes.
        """
        return _solution(self._core.solve())

    def _batch(
        self, bins: NDArray[np.uint16], core: Floats, counts: Mapping[str, Floats]
    ) -> _core.Problem:
        chosen = {name: counts[name] for name in self._counts}
        binned = replace(self._binned, bins=np.ascontiguousarray(bins, dtype=np.uint16))
        return _core_problem(binned, self._objective, core, chosen, self._rounding)


def _sum_nodes(core: _core.Problem, forest: Forest, values: Floats) -> Floats:
    sums = core.sum_nodes(
        tree_begin=forest.begin,
        cut=forest.cut,
        left=forest.left,
        right=forest.right,
        values=np.ascontiguousarray(values),
    )
    return sums.reshape(len(values), -1)


def _core_problem(
    binned: BinnedRows,
    objective: Objective,
    core: Floats,
    counts: Mapping[str, Floats],
    rounding: Rounding,
) -> _core.Problem:
    count_rows = np.stack(list(counts.values()))
    sums = np.ascontiguousarray(core)
    kernel, unit = objective.kernel, rounding.unit
    if rounding.wide:
        sums, kernel, unit = divide(sums, unit), WIDE_KERNELS[kernel], unit / COARSE
    if not count_rows.shape[1] == sums.shape[1] == binned.bins.shape[1]:
        raise ValueError("bins, sums and counts of different numbers of rows")
    return _core.Problem(
        **vars(binned),
        objective=kernel,
        parameters=np.array(objective.parameters, dtype=np.float64),
        sums=sums,
        counts=count_rows,
        grid=unit,
        round_down=rounding.down,
    )


def _core_limits(
    limits: Limits, least: Mapping[str, float], counts: Iterable[str]
) -> dict[str, Any]:
    """Return limits as the core takes them, with the least value of each count."""
    most_splits = 2 ** min(limits.max_depth, 30) - 1
    max_splits = most_splits if limits.max_splits is None else limits.max_splits
    return {
        "max_depth": int(limits.max_depth),
        "max_splits": min(int(max_splits), most_splits),
        "least": np.array([least.get(name, 0.0) for name in counts], dtype=np.float64),
    }


def _core_switches(switches: Switches | None) -> _core.Switches:
    core_switches = _core.Switches()
    for name, value in vars(switches or Switches()).items():
        setattr(core_switches, name, value)
    return core_switches


def _solution(solution: _core.Solution) -> Solution:
    return Solution(
        cast(Status, solution.status),
        solution.gains,
        solution.gain_bounds,
        tuple(map(_topology, solution.trees)),
        solution.n_cuts,
        solution.n_evaluated,
        solution.proven_depth,
    )


# Of thousands of sizes, most are not solved where a limit ends a deep search.
_LEAF = TreeTopology(*np.full((3, 1), -1, dtype=np.int32))


def _topology(tree: _core.Tree) -> TreeTopology:
    if len(tree) == 1:
        return _LEAF
    return TreeTopology(tree.cut, tree.left, tree.right)
