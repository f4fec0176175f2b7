"""The search over all cuts, and what comes before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from surtree._support.exact import repeats
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.solver._certificate import certify
from surtree.solver._cluster import n_workers, solve_on_workers
from surtree.solver._incumbent import best_of, first_tree, improve, of_tree
from surtree.solver._restriction import longest, quantiles, restrict
from surtree.solver.clock import Clock, Watch
from surtree.solver.core import NearTrees, Problem
from surtree.solver.problem import (
    Conditions,
    Limits,
    ProgressHook,
    Solution,
    TreeTopology,
)
from surtree.survival.row_sums import Sums

# A search of more seconds than this, or than this share of its time limit, starts from a tree by
# local search: that is what an early end has at least.
LONG, LONG_SHARE = 1.0, 0.1
# The share of the time limit for local search where the search may end in time, and where not: it
# takes several times as long by estimate.
SHARE_IF_IN_TIME, SHARE_IF_NOT, SEVERAL = 0.05, 0.7, 3.0
# Without a time limit, as many seconds at most: somebody watches and may end the search.
MOST_WATCHED = 10.0
# Up to this number of cells of the table times the squared depth, the first descent is not cut
# short; up to this number of cells, it has these seconds at least. Up to as many seconds, neither
# are the preparations of a search.
FEW_STEPS, FEW_CELLS, SHORT = 8_000_000, 500_000, 0.05
# With more thresholds in a column, the search starts from the optimum over some of them: up to this
# number, the kernels are fast.
FEW_THRESHOLDS = 63
# The number of quantiles for that, and the shares of the time limit for it and for local search
# over all cuts after it.
FIRST_THRESHOLDS, FIRST_SHARE, IMPROVE_SHARE = 10, 0.3, 0.1


@dataclass(frozen=True)
class SearchSettings:
    """Limits of a search, and its progress hook."""

    limits: Limits  # how large a tree may be
    time_limit: float | None = None  # as the solver takes them
    n_jobs: int | None = None
    memory_limit: int | None = None
    progress: ProgressHook | None = None
    start: TreeTopology | None = None  # a tree to start from: the result is at least as good
    conditions: Conditions | None = None  # what trees must satisfy


def search(problem: Problem, how: SearchSettings) -> Solution:
    """Find the best tree of every size over all cuts."""
    watch = Watch(how.progress, problem.sums.constant)
    clock = Clock(how.time_limit)
    if how.conditions is not None:
        solution = _satisfying(problem, how, how.conditions, clock)
        return certify(problem, solution) if problem.sums.is_uneven else solution
    solution = _solve_from(_incumbent(problem, how, clock, watch), problem, how, clock, watch)
    return certify(problem, solution) if problem.sums.is_uneven else solution


def _satisfying(
    problem: Problem, how: SearchSettings, conditions: Conditions, clock: Clock
) -> Solution:
    """Find the best tree of every size that satisfies conditions: the first one by its loss."""
    known = free = None
    left = clock.left()
    if left is not None and longest(problem.binned) > FEW_THRESHOLDS:
        # All trees may be too many: first those of a few thresholds, and a bound.
        chosen = quantiles(problem.binned, repeats(problem.sums.weight), FIRST_THRESHOLDS)
        some = restrict(problem.binned, chosen)
        part = Clock(left * FIRST_SHARE)
        known = _satisfying(Problem(some.binned, problem.sums), how, conditions, part)
        known = replace(known, topologies=tuple(map(some.original, known.topologies)))
        free = search(problem, replace(how, conditions=None, time_limit=left * FIRST_SHARE))
    near = NearTrees(
        problem,
        how.limits,
        1.0,
        distinct=True,
        conditions=conditions,
        time_limit=clock.left(),
        n_jobs=how.n_jobs,
        memory_limit=how.memory_limit,
    )
    solution = near.best(clock.left())
    if not solution.gains.size:  # over before all trees were searched: a leaf satisfies all
        leaf = float(problem.sums.objective.gain(problem.sums.total))
        one = TreeTopology(*np.full((3, 1), -1, dtype=np.int32))
        bounds = np.array([problem.sums.constant]) if free is None else free.gain_bounds
        solution = replace(
            solution,
            gains=np.full(bounds.size, leaf),
            gain_bounds=np.maximum(bounds, leaf),
            topologies=(one,) * bounds.size,
            free_gains=None if free is None else free.gains,
        )
        return best_of(solution, known)
    ended = near.is_full and solution.status == "optimal"
    depth = how.limits.max_depth if solution.status == "optimal" and not ended else 0
    return replace(
        best_of(solution, known),
        status="memory_limit" if ended else solution.status,
        proven_depth=depth,
        free_gains=near.free_gains,
    )


def _solve_from(
    known: Solution | None, problem: Problem, how: SearchSettings, clock: Clock, watch: Watch
) -> Solution:
    """Search over all cuts, from trees that are known."""
    if known is not None and (watch.stopped or _is_too_late(problem, how, clock)):
        status: Status = "interrupted" if watch.stopped else "time_limit"
        return replace(known, status=status, gain_bounds=_no_bounds(known, problem.sums))
    if known is not None:
        watch.know(float(known.gains[-1]))
    solution = _solve(problem, how, clock, watch, known)
    return solution if solution.status == "optimal" else best_of(solution, known)


def _incumbent(
    problem: Problem, how: SearchSettings, clock: Clock, watch: Watch
) -> Solution | None:
    """Return good trees to start from, or None if the search needs none."""
    known = None
    if how.start is not None:
        known = of_tree(problem, how.limits, how.start)
        watch.know(float(known.gains[-1]))
    if how.limits.max_depth < 2:
        return known
    if longest(problem.binned) > FEW_THRESHOLDS:
        return _among_few(problem, how, clock, watch, known)
    return _first_look(problem, how, clock, watch, known)


def _among_few(
    problem: Problem, how: SearchSettings, clock: Clock, watch: Watch, known: Solution | None
) -> Solution | None:
    """Return the optimum over a few quantiles of each column, improved over all cuts.

    It prunes most of the search over long columns.
    """
    some = restrict(
        problem.binned, quantiles(problem.binned, repeats(problem.sums.weight), FIRST_THRESHOLDS)
    )
    left = clock.left()
    part = Clock(None if left is None else left * FIRST_SHARE)
    few = Problem(some.binned, problem.sums)
    # The bounds are valid only for these cuts, and so is the end.
    inner = Watch(watch.part(), problem.sums.constant)
    first = _first_look(few, how, part, inner, None)
    solution = _solve_from(first, few, how, part, inner)
    known = best_of(
        replace(solution, topologies=tuple(map(some.original, solution.topologies))), known
    )
    watch.know(float(known.gains[-1]))
    left = clock.left()
    if left is None or watch.stopped:
        return known
    return improve(
        problem,
        how.limits,
        known,
        clock=Clock(left * IMPROVE_SHARE),
        watch=watch,
        n_jobs=how.n_jobs,
    )


def _first_look(
    problem: Problem, how: SearchSettings, clock: Clock, watch: Watch, known: Solution | None
) -> Solution | None:
    """Return trees by local search if the search may be ended early.

    Where it will end in time by all appearances, a single descent is enough.
    """
    start = perf_counter()
    (_, seconds), left = _estimate(problem, how), clock.left()
    if left is None:
        if seconds < LONG or not watch.is_on:
            return known
        budget = min(seconds / 10, MOST_WATCHED)
    else:
        if how.limits.max_depth <= 3 and seconds < LONG_SHARE * left:
            return known
        share = SHARE_IF_IN_TIME if seconds < SEVERAL * left else SHARE_IF_NOT
        budget = min(share * left, seconds)
    first = first_tree(
        problem,
        how.limits,
        clock=Clock(None if left is None else _seconds_of_descent(problem, how.limits, left)),
        watch=watch,
        n_jobs=how.n_jobs,
    )
    known = best_of(first, known) if first is not None else known
    may_end_early = left is None or seconds > LONG_SHARE * left
    if known is None or watch.stopped or not may_end_early:
        return known
    budget -= perf_counter() - start
    return improve(problem, how.limits, known, clock=Clock(budget), watch=watch, n_jobs=how.n_jobs)


def _seconds_of_descent(problem: Problem, limits: Limits, left: float) -> float | None:
    """Return the time limit of the first descent, which is what an early end has at least."""
    n_cells = problem.binned.bins.size
    if n_cells > FEW_CELLS:
        return left
    return None if n_cells * limits.max_depth**2 <= FEW_STEPS else max(left, SHORT)


def _solve(
    problem: Problem, how: SearchSettings, clock: Clock, watch: Watch, known: Solution | None
) -> Solution:
    known_gains = None if known is None else known.gains
    n = n_workers(problem, how.limits, how.n_jobs)
    if n > 0:
        return solve_on_workers(
            problem,
            how.limits,
            n,
            memory_limit=how.memory_limit,
            clock=clock,
            watch=watch,
            known_gains=known_gains,
        )
    return problem.solve(
        how.limits,
        time_limit=clock.left(),
        n_jobs=how.n_jobs,
        memory_limit=how.memory_limit,
        progress=watch.whole(),
        known_gains=known_gains,
    )


def _is_too_late(problem: Problem, how: SearchSettings, clock: Clock) -> bool:
    """Tell whether already the preparations of a search take longer than there is time."""
    left = clock.left()
    if left is None:
        return False
    before, _ = _estimate(problem, how)
    return left < before and before > SHORT


def _estimate(problem: Problem, how: SearchSettings) -> tuple[float, float]:
    return problem.estimate(how.limits, n_jobs=how.n_jobs, memory_limit=how.memory_limit)


def _no_bounds(solution: Solution, sums: Sums) -> Floats:
    """Return bounds without proof: no loss is below zero."""
    return np.maximum(solution.gains, sums.constant)
