"""Which problems to solve, and in which order, to answer one: first trees, all cuts, refinement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import Floats
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import (
    BinnedRows,
    Limits,
    Progress,
    ProgressHook,
    Solution,
    TreeTopology,
)
from surtree.solver.restriction import (
    Chosen,
    Restricted,
    at_thresholds,
    is_ordered,
    longest,
    quantiles,
    restrict,
    thresholds_of,
)
from surtree.survival.objective import RowSums

# Up to so many rows a search that may end early begins with a tree by local search.
FIRST_ROWS = 20_000
# A column with more thresholds is worth a first look at some of them: up to here, kernels are fast.
FEW_THRESHOLDS = 63
# Quantiles for that first look.
FIRST_THRESHOLDS = 10
# What is rounding, relative to the scale of gains, and how often to look closer at most.
REFINEMENT, MAX_REFINEMENTS = 1e-9, 40
# Thresholds of a column in a refinement, beyond those that it began with.
CLOSER_THRESHOLDS = 14


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
    known: Solution | None = None
    if how.limits.max_depth > 1 and longest(problem.binned) > FEW_THRESHOLDS:
        known = _first_look(problem, how, clock)
    elif _may_end_early(problem, how):
        known = _by_local_search(problem, how)
    if known is not None and known.status == "interrupted":
        return replace(known, gain_bounds=_no_bounds(known, problem.sums))
    solution = _solve(problem, how, clock.left(), known=known)
    if known is None or solution.status == "optimal":
        return solution
    return _best_of(solution, known)


def refine(problem: Problem, how: SearchSettings, n_thresholds: int | None) -> Solution:
    """Find good trees over all cuts: solve for quantiles, then again near what was chosen.

    Parameters
    ----------
    problem, how
        As `search` takes them.
    n_thresholds : int or None
        The number of quantiles to begin with.

    Returns
    -------
    Solution
        Its status is "refined": no bound is proven.
    """
    clock = Clock(how.time_limit)
    binned, sums = problem.binned, problem.sums
    base = quantiles(binned, _counts(sums), n_thresholds or FIRST_THRESHOLDS)
    best = _solve_restricted(restrict(binned, base), sums, how, clock.left())
    enough = REFINEMENT * sums.scale
    status, tried = best.status, base
    for _ in range(MAX_REFINEMENTS):
        closer = _closer(binned, base, tried, best)
        if status != "optimal" or not (closer & ~tried).any():
            break  # nothing is left between the best cuts and their neighbours
        found = _solve_restricted(restrict(binned, closer), sums, how, clock.left())
        status, before = found.status, best
        best = _best_of(found, best)
        before = _stretched(before, best.gains.size)
        improved = (best.gains - before.gains).max() > enough
        # Next to another cut, another threshold may be the best.
        tried = closer if improved else tried | closer
    return replace(
        best,
        status="refined" if status == "optimal" else status,
        gain_bounds=_no_bounds(best, sums),
    )


def _first_look(problem: Problem, how: SearchSettings, clock: Clock) -> Solution:
    """Solve for quantiles; if there is an end to the time, refine what they give as well."""
    binned, sums = problem.binned, problem.sums
    some = quantiles(binned, _counts(sums), FIRST_THRESHOLDS)
    known = _solve_restricted(restrict(binned, some), sums, how, clock.left())
    time_left = clock.left()
    if time_left is None or known.status != "optimal":
        return known
    refined = refine(problem, replace(how, time_limit=time_left / 4), FIRST_THRESHOLDS)
    return _best_of(refined, known)


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
    """Solve for some of the cuts, and name the cuts of the trees as they are named among all."""

    def show(now: Progress) -> object:
        # The bound is of another problem.
        assert how.progress is not None
        return how.progress(replace(now, fraction=0.0, lower_bound=0.0))

    progress = None if how.progress is None else show
    solution = _solve(Problem(restricted.binned, sums), how, time_limit, progress=progress)
    topologies = tuple(map(restricted.original, solution.topologies))
    return replace(solution, topologies=topologies)


def _closer(binned: BinnedRows, base: Chosen, tried: Chosen, best: Solution) -> Chosen:
    """Choose the first cuts, those of the best trees, and others next to those of the largest."""
    closer = base.copy()
    for topology in best.topologies:
        closer[topology.cut[topology.cut >= 0]] = True
    largest = best.topologies[-1].cut
    largest = largest[largest >= 0]
    for line in range(len(binned.bins)):
        first = thresholds_of(binned, line)
        grid = _places(binned, line, first, np.flatnonzero(tried))
        if grid.size == first.size or not is_ordered(binned, line):
            continue
        places = _places(binned, line, first, largest)
        kept = _places(binned, line, first, np.flatnonzero(closer))
        first_ones = _places(binned, line, first, np.flatnonzero(base))
        room = first_ones.size + CLOSER_THRESHOLDS - kept.size
        n_near = max(room // max(2 * places.size, 1), 1)
        if places.size == 0:
            continue
        grid = np.concatenate(([-1], grid, [first.size]))
        near = np.concatenate([_around(grid, int(place), n_near) for place in places])
        closer |= at_thresholds(binned, line, first[near])
    return closer


def _places(
    binned: BinnedRows, line: int, first: NDArray[np.int32], cuts: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Return where the thresholds of some cuts stand among all of a column."""
    of_line = binned.cut_first[cuts[binned.cut_column[cuts] == line]]
    return np.unique(np.searchsorted(first, of_line[of_line != binned.missing_bin[line]]))


def _around(grid: NDArray[np.intp], place: int, n: int) -> NDArray[np.intp]:
    """Return up to so many places on either side, before the neighbours in the grid."""
    below = grid[np.searchsorted(grid, place) - 1] + 1
    above = grid[np.searchsorted(grid, place, side="right")] - 1
    sides = [np.linspace(place, end, min(n, abs(int(end) - place)) + 1) for end in (below, above)]
    return np.concatenate(sides).astype(np.intp)


def _may_end_early(problem: Problem, how: SearchSettings) -> bool:
    """Tell whether a greedy tree, improved node by node, is worth its time as a first solution."""
    return (
        how.limits.max_depth > 3
        and how.time_limit is not None
        and how.time_limit >= 0.5
        and problem.sums.weight.size <= FIRST_ROWS
    )


def _by_local_search(problem: Problem, how: SearchSettings) -> Solution:
    found = problem.local_search(how.limits, n_restarts=1, seed=0)
    leaf = TreeTopology(*(np.full(1, -1, dtype=np.int32) for _ in range(3)))
    n_splits = int(np.count_nonzero(found.topology.cut >= 0))
    gains = np.append(np.full(n_splits, -np.inf), found.worth.max())
    topologies = (leaf,) * n_splits + (found.topology,)
    return Solution("optimal", gains, gains, topologies)


def _best_of(solution: Solution, known: Solution) -> Solution:
    """Return the solution, with a tree that is known already wherever that is better."""
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
    """Return a solution with at least so many sizes.

    A solution ends where its cuts tell no more rows apart, and other cuts may tell more: what lies
    beyond has the tree of the last size.
    """
    missing = max(n_sizes - solution.gains.size, 0)
    return replace(
        solution,
        gains=np.pad(solution.gains, (0, missing), mode="edge"),
        gain_bounds=np.pad(solution.gain_bounds, (0, missing), mode="edge"),
        topologies=solution.topologies + solution.topologies[-1:] * missing,
    )


def _no_bounds(solution: Solution, sums: RowSums) -> Floats:
    """No loss is below zero."""
    return np.maximum(solution.gains, sums.constant)


def _counts(sums: RowSums) -> Floats:
    """Where all weights are whole numbers, a row counts as so many rows."""
    whole = bool((sums.weight == np.floor(sums.weight)).all())
    return sums.weight if whole else np.ones(sums.weight.size)
