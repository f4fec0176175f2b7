"""The search over all cuts, and the incumbent that it starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surtree._types import Floats
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import (
    Limits,
    Progress,
    ProgressHook,
    Solution,
    TreeTopology,
)
from surtree.solver.restriction import (
    Restricted,
    longest,
    quantiles,
    repeats,
    restrict,
)
from surtree.survival.objective import RowSums

# Up to this number of rows, a search that may end early starts from a tree by local search.
FIRST_ROWS = 20_000
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
    if _may_end_early(problem, how):
        return _by_local_search(problem, how, n_restarts=1)
    return None


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


def _may_end_early(problem: Problem, how: SearchSettings) -> bool:
    """Return whether the search may end early and local search is fast enough to precede it."""
    return (
        how.limits.max_depth > 3
        and how.time_limit is not None
        and how.time_limit >= 0.5
        and problem.sums.weight.size <= FIRST_ROWS
    )


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
    leaf = TreeTopology(*(np.full(1, -1, dtype=np.int32) for _ in range(3)))
    n_splits = int(np.count_nonzero(found.topology.cut >= 0))
    gains = np.append(np.full(n_splits, -np.inf), found.worth.max())
    topologies = (leaf,) * n_splits + (found.topology,)
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
