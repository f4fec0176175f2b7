"""Incumbents: good trees to start from, which are what an early end has at least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from surtree._support.exact import SAME_LOSS
from surtree._support.types import Floats
from surtree.solver._column_rounds import ColumnRounds
from surtree.solver.clock import Clock, Watch
from surtree.solver.core import Problem
from surtree.solver.problem import Forest, Limits, Solution, TreeTopology
from surtree.solver.pruning import best_subtrees

# Restarts in each round of local search, and after how many rounds without a better tree it ends.
LOCAL_RESTARTS, MOST_IDLE = 5, 30
# By how much gains may differ from those of the core, relative to them and to the scale of gains.
_ROUNDING = 1e-11


def of_tree(problem: Problem, limits: Limits, start: TreeTopology) -> Solution:
    """Return a tree as far as the limits allow it, its nodes improved, and its best subtrees."""
    optimum = problem.local_search(limits, n_restarts=1, seed=0, start=start)
    return with_subtrees(problem, optimum.topology)


def first_tree(
    problem: Problem, limits: Limits, *, clock: Clock, watch: Watch, n_jobs: int | None = None
) -> Solution | None:
    """Return the tree of a descent from a greedy one, or None if the clock was over at once."""
    optimum = problem.local_search(
        limits,
        n_restarts=1,
        seed=0,
        time_limit=clock.left(),
        n_jobs=n_jobs,
        progress=watch.part(),
    )
    if not optimum.worth.size:
        return None
    known = with_subtrees(problem, optimum.topology)
    watch.know(float(known.gains[-1]))
    return known


def improve(
    problem: Problem,
    limits: Limits,
    known: Solution,
    *,
    clock: Clock,
    watch: Watch,
    n_jobs: int | None = None,
) -> Solution:
    """Improve trees until the clock is over, or nothing better was found for some rounds.

    Three ways take turns, each for about the same time: the optimum over some columns, where there
    are many; local search from the best tree with a node changed; and from random trees.
    """
    # The same tree again is no better one.
    rounding = SAME_LOSS * (problem.sums.scale + abs(float(known.gains[-1])))
    columns = ColumnRounds(problem, limits, rounding, n_jobs)
    ways: dict[Callable[[Solution, int], Solution | None], float] = {}
    if columns.is_useful:
        ways[lambda known, _: columns.run(known, clock, watch)] = 0.0

    def descend(known: Solution, seed: int, *, from_best: bool) -> Solution | None:
        optimum = problem.local_search(
            limits,
            n_restarts=LOCAL_RESTARTS,
            seed=seed,
            start=known.topologies[-1] if from_best else None,
            time_limit=clock.left(),
            n_jobs=n_jobs,
            progress=watch.part(),
        )
        if not optimum.worth.size or optimum.worth.max() <= known.gains[-1] + rounding:
            return None
        return with_subtrees(problem, optimum.topology)

    ways[partial(descend, from_best=True)] = 0.0
    ways[partial(descend, from_best=False)] = 0.0
    idle = seed = 0
    while idle < MOST_IDLE and not clock.is_over and not watch.stopped:
        way = min(ways, key=ways.__getitem__)
        start = perf_counter()
        seed += 1
        better = way(known, seed)
        ways[way] += perf_counter() - start
        idle = idle + 1 if better is None else 0
        if better is not None:
            known = best_of(better, known)
            watch.know(float(known.gains[-1]))
    return known


def with_subtrees(problem: Problem, topology: TreeTopology) -> Solution:
    """Return a tree and its best subtree of every smaller size."""
    sums = problem.sums
    node_sums = problem.sum_nodes(Forest.of([topology]), sums.values)
    gains, topologies = best_subtrees(topology, sums.objective.gain(node_sums))
    # Not computed by the core: a little less, so that rounding does not prune the optimum.
    gains -= _ROUNDING * (sums.scale + np.abs(gains))
    return Solution("optimal", gains, gains, topologies)


def best_of(solution: Solution, known: Solution | None) -> Solution:
    """Return a solution, with the known tree of each size where that is better."""
    if known is None:
        return solution
    n_sizes = max(solution.gains.size, known.gains.size)
    solution, known = _stretched(solution, n_sizes), _stretched(known, n_sizes)
    better = known.gains > solution.gains
    gains = np.where(better, known.gains, solution.gains)
    topologies = (
        (known if better[splits] else solution).topologies[splits] for splits in range(n_sizes)
    )
    return monotone(
        replace(
            solution,
            gains=gains,
            gain_bounds=np.maximum(solution.gain_bounds, gains),
            topologies=tuple(topologies),
        )
    )


def monotone(solution: Solution) -> Solution:
    """Return a solution in which more splits are never worse: the smaller tree counts as larger."""
    gains: list[float] = []
    topologies: list[TreeTopology] = []
    for gain, topology in zip(solution.gains.tolist(), solution.topologies, strict=True):
        is_worse = bool(gains) and gain < gains[-1]
        gains.append(gains[-1] if is_worse else gain)
        topologies.append(topologies[-1] if is_worse else topology)
    return replace(
        solution,
        gains=np.array(gains),
        gain_bounds=np.maximum(solution.gain_bounds, gains),
        topologies=tuple(topologies),
    )


def _stretched(solution: Solution, n_sizes: int) -> Solution:
    """Return a solution with at least a number of sizes.

    A solution ends where its cuts separate no more rows; larger sizes have the last tree.
    """
    missing = max(n_sizes - solution.gains.size, 0)

    def pad(values: Floats) -> Floats:
        return np.pad(values, (0, missing), mode="edge")

    last: Sequence[TreeTopology] = solution.topologies[-1:] * missing
    return replace(
        solution,
        gains=pad(solution.gains),
        gain_bounds=pad(solution.gain_bounds),
        topologies=(*solution.topologies, *last),
    )
