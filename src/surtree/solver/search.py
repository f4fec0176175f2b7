"""The search over all cuts, and the incumbent that it starts from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from surtree._types import Floats
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import (
    Forest,
    Limits,
    Progress,
    ProgressHook,
    Solution,
)
from surtree.solver.pruning import best_subtrees
from surtree.solver.restriction import (
    Restricted,
    longest,
    quantiles,
    repeats,
    restrict,
)
from surtree.survival.objective import RowSums

# A search of more seconds than this, or than this share of its time limit, starts from a tree by
# local search: that is what an early end has at least.
LONG, LONG_SHARE = 1.0, 0.1
# Seconds for each gain, if a search evaluated every tree; it is for the order of magnitude.
_SECONDS_PER_GAIN = 1e-9
# By how much gains may differ from those of the core, relative to them and to the scale of gains.
_ROUNDING = 1e-11
# Up to this number of cells of the table, a descent takes milliseconds, and is not cut short.
_FEW_CELLS = 5_000_000
# With more thresholds in a column, the search starts from the optimum over some of them: up to this
# number, the kernels are fast.
FEW_THRESHOLDS = 63
# The number of quantiles for that.
FIRST_THRESHOLDS = 10
# Rounds of the local search after it, and its restarts in each round.
LOCAL_ROUNDS, LOCAL_RESTARTS = 10, 10


@dataclass(frozen=True)
class SearchSettings:
    """Limits of a search, and its progress hook.

    Parameters
    ----------
    limits : Limits
        How large a tree may be.
    time_limit, n_jobs, memory_limit, progress : optional
        As the solver takes them.
    """

    limits: Limits
    time_limit: float | None = None
    n_jobs: int | None = None
    memory_limit: int | None = None
    progress: ProgressHook | None = None


def search(problem: Problem, how: SearchSettings) -> Solution:
    """Find the best tree of every size over all cuts.

    Parameters
    ----------
    problem : Problem
        The rows and their cuts.
    how : SearchSettings
        Limits of the trees and of the search.
    """
    clock = Clock(how.time_limit)
    known = _incumbent(problem, how, clock)
    if known is not None and known.status == "interrupted":
        return replace(known, gain_bounds=_no_bounds(known, problem.sums))
    solution = _solve(problem, how, clock.left(), known=known)
    if known is None or solution.status == "optimal":
        return solution
    return _best_of(solution, known)


def _incumbent(problem: Problem, how: SearchSettings, clock: Clock) -> Solution | None:
    """Return good trees to start from, or None if the search needs none.

    In long columns, the optimum over a few quantiles prunes most of the search. If the search may
    end early, local search over all cuts often has a better tree.
    """
    if how.limits.max_depth > 1 and longest(problem.binned) > FEW_THRESHOLDS:
        some = quantiles(problem.binned, repeats(problem.sums.weight), FIRST_THRESHOLDS)
        known = _solve_restricted(restrict(problem.binned, some), problem.sums, how, clock.left())
        left = clock.left()
        if left is None or known.status != "optimal":
            return known
        return _improve(known, problem, how, Clock(left / 4))
    return _first_look(problem, how, clock) if how.limits.max_depth > 1 else None


def _first_look(problem: Problem, how: SearchSettings, clock: Clock) -> Solution | None:
    """Return a tree by local search if the search may be ended early, else None."""
    seconds, left = _seconds(problem, how.limits.max_depth), clock.left()
    may_end_early = left is not None and (how.limits.max_depth > 3 or seconds > LONG_SHARE * left)
    if not may_end_early and seconds < LONG:
        return None
    few_cells = problem.binned.bins.size <= _FEW_CELLS
    found = _by_local_search(problem, how, 1, time_limit=None if few_cells else left)
    if found is None or left is None or seconds < left:
        return found
    return _improve(found, problem, how, Clock(left / 4))


def _seconds(problem: Problem, depth: int) -> float:
    """Return about how many seconds a search takes at least; it is too few for deep trees."""
    n_cuts = problem.binned.cut_column.size
    if n_cuts == 0:
        return 0.0
    # The leaves of all trees with some cuts on a path, in any order.
    log_gains = depth * math.log(2 * n_cuts) - math.lgamma(depth + 1)
    return math.exp(min(log_gains, 700.0)) * _SECONDS_PER_GAIN


def _improve(known: Solution, problem: Problem, how: SearchSettings, clock: Clock) -> Solution:
    """Improve trees by local search, in rounds: it does not call the progress hook itself."""
    for seed in range(LOCAL_ROUNDS):
        found = _by_local_search(problem, how, LOCAL_RESTARTS, seed, clock.left())
        if found is None:
            break
        known = _best_of(known, found)
        loss = problem.sums.constant - float(known.gains[-1])
        if how.progress is not None and how.progress(Progress(0.0, loss, 0.0)):
            return replace(known, status="interrupted")
        if clock.is_over:
            break
    return known


def _solve(
    problem: Problem,
    how: SearchSettings,
    time_limit: float | None,
    *,
    known: Solution | None = None,
    progress: ProgressHook | None = None,
) -> Solution:
    return problem.solve(
        how.limits,
        time_limit=time_limit,
        n_jobs=how.n_jobs,
        memory_limit=how.memory_limit,
        progress=progress or how.progress,
        known_gains=None if known is None else known.gains,
    )


def _solve_restricted(
    restricted: Restricted, sums: RowSums, how: SearchSettings, time_limit: float | None
) -> Solution:
    """Solve for some of the cuts, and return trees with the cut numbers of the whole problem."""

    def show(now: Progress) -> object:
        # The bound is valid only for the restricted problem.
        assert how.progress is not None
        return how.progress(replace(now, fraction=0.0, lower_bound=0.0))

    progress = None if how.progress is None else show
    solution = _solve(Problem(restricted.binned, sums), how, time_limit, progress=progress)
    topologies = tuple(map(restricted.original, solution.topologies))
    return replace(solution, topologies=topologies)


def _by_local_search(
    problem: Problem,
    how: SearchSettings,
    n_restarts: int,
    seed: int = 0,
    time_limit: float | None = None,
) -> Solution | None:
    """Return the best tree of local search, or None if time ends before the first descent."""
    found = problem.local_search(
        how.limits, n_restarts=n_restarts, seed=seed, time_limit=time_limit, n_jobs=how.n_jobs
    )
    if not found.worth.size:
        return None
    forest = Forest.of([found.topology])
    node_sums = problem.sum_nodes(forest, problem.sums.values)
    gains, topologies = best_subtrees(found.topology, problem.sums.objective.gain(node_sums))
    # Not computed by the core: a little less, so that rounding does not prune the optimum.
    gains -= _ROUNDING * (problem.sums.scale + np.abs(gains))
    gains[-1] = found.worth.max()
    return Solution("optimal", gains, gains, topologies)


def _best_of(solution: Solution, known: Solution) -> Solution:
    """Return the solution, with the known tree of each size where that is better."""
    n_sizes = max(solution.gains.size, known.gains.size)
    solution, known = _stretched(solution, n_sizes), _stretched(known, n_sizes)
    better = known.gains > solution.gains
    gains = np.where(better, known.gains, solution.gains)
    return replace(
        solution,
        gains=gains,
        gain_bounds=np.maximum(solution.gain_bounds, gains),
        topologies=tuple(
            (known if better[splits] else solution).topologies[splits] for splits in range(n_sizes)
        ),
    )


def _stretched(solution: Solution, n_sizes: int) -> Solution:
    """Return a solution with at least a number of sizes.

    A solution ends where its cuts separate no more rows; larger sizes have the last tree.
    """
    missing = max(n_sizes - solution.gains.size, 0)
    return replace(
        solution,
        gains=np.pad(solution.gains, (0, missing), mode="edge"),
        gain_bounds=np.pad(solution.gain_bounds, (0, missing), mode="edge"),
        topologies=solution.topologies + solution.topologies[-1:] * missing,
    )


def _no_bounds(solution: Solution, sums: RowSums) -> Floats:
    """Return bounds without proof: no loss is below zero."""
    return np.maximum(solution.gains, sums.constant)
