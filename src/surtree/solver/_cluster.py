"""A long search as tasks for the workers of a cluster: each looks at some of the first cuts.

joblib hands the tasks out and brings back what they find. Tasks share no cache, and together do
several times the work of a search in one place; so a search begins in one place, where most end.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.solver._incumbent import best_of
from surtree.solver._restriction import longest
from surtree.solver._wide import tie_of
from surtree.solver.clock import Clock, Watch
from surtree.solver.core import Problem, default_memory_limit
from surtree.solver.problem import (
    BinnedRows,
    Limits,
    Progress,
    Rounding,
    Solution,
    Switches,
    TreeTopology,
)
from surtree.survival.row_sums import Sums

# joblib's backends that stay on this machine. There, threads of the core do better: they share what
# they have solved.
LOCAL_BACKENDS = ("loky", "multiprocessing", "sequential", "threading")
# A search that takes no longer than this by estimate stays here;
# and so does one that ends within these seconds, or this share of its time limit.
LEAST_ESTIMATE, SECONDS_HERE, SHARE_HERE = 10.0, 10.0, 0.1
# Tasks per worker, for load balancing.
TASKS_OF_WORKER = 4
# The kernels solve so many levels below all first cuts at once.
KERNEL_DEPTH = 3
# Up to this number of bytes a problem is a part of its task, which can then begin again anywhere.
# Dask keeps what is larger on its workers, and loses it if the only one that has it dies.
MOST_INLINE = 2**23

Cuts = NDArray[np.bool_]


def n_workers(problem: Problem, limits: Limits, n_jobs: int | None) -> int:
    """Return how many workers of a cluster are to share a search; 0 if it stays here."""
    # A tree of k splits is no deeper than k.
    depth = min(
        limits.max_depth, limits.max_depth if limits.max_splits is None else limits.max_splits
    )
    can_be_divided = depth > KERNEL_DEPTH or (
        depth > 1 and longest(problem.binned) > Switches().bisect
    )
    if n_jobs is not None or not can_be_divided:
        return 0
    from joblib import effective_n_jobs
    from joblib.parallel import BACKENDS, get_active_backend

    local = tuple(BACKENDS[name] for name in LOCAL_BACKENDS if name in BACKENDS)
    if isinstance(get_active_backend()[0], local) or _is_worker():
        return 0
    if problem.estimate(limits)[1] < LEAST_ESTIMATE:
        return 0
    return int(effective_n_jobs(None))


def _is_worker() -> bool:
    """Tell whether this is a task of Dask: others run beside it, and it is not to be divided."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Shared:
    """What all tasks have in common."""

    binned: BinnedRows
    sums: Sums
    rounding: Rounding
    limits: Limits
    memory_limit: int | None


def solve_on_workers(
    problem: Problem,
    limits: Limits,
    n: int,
    *,
    memory_limit: int | None = None,
    clock: Clock,
    watch: Watch,
    known_gains: Floats | None = None,
) -> Solution:
    """Find the best tree of every size as `Problem.solve` does, on workers if it takes long."""
    from joblib.parallel import get_active_backend
    from sklearn.utils.parallel import Parallel, delayed

    left = clock.left()
    start = problem.solve(
        limits,
        time_limit=min(SECONDS_HERE, np.inf if left is None else SHARE_HERE * left),
        memory_limit=memory_limit,
        progress=watch.part(),
        known_gains=known_gains,
    )
    if start.status != "time_limit" or clock.is_over:
        return start
    known_gains = _larger(start.gains, known_gains)
    # A copy without what the sums have cached.
    sums = replace(cast(Any, problem.sums))
    shared = Shared(problem.binned, sums, problem.rounding, limits, memory_limit)
    packed: Any = pickle.dumps(shared)
    if len(packed) > MOST_INLINE:
        packed = np.frombuffer(packed, dtype=np.uint8)
    parts = divide_cuts(problem.binned, n * TASKS_OF_WORKER)
    solved: dict[int, Solution] = {}
    hook = watch.whole()

    def jobs() -> Iterator[Any]:
        # One by one, as workers become free: by then the time may be over, or better trees known.
        for number, part in enumerate(parts):
            if clock.is_over:
                return
            yield delayed(_solve_part)(packed, number, part, clock.left(), known_gains)

    # Not every backend returns results as they come.
    can_stream = getattr(get_active_backend()[0], "supports_return_generator", False)
    run = Parallel(
        batch_size=1,
        pre_dispatch="n_jobs",
        return_as="generator_unordered" if can_stream else "list",
    )
    results = run(jobs())
    for number, one in results:
        solved[number] = one
        known_gains = _larger(one.gains, known_gains)
        loss = problem.sums.constant - float(known_gains[-1])
        if hook is not None and hook(Progress(len(solved) / len(parts), loss, 0.0)):
            break
    if watch.stopped and can_stream:
        with warnings.catch_warnings():
            # joblib says how many tasks are cancelled, which is what was asked for.
            warnings.simplefilter("ignore", UserWarning)
            results.close()
    status: Status = "interrupted" if watch.stopped else "time_limit"
    if not solved:
        return replace(start, status=status)
    joined = join_parts(problem.sums, parts, solved, status)
    if joined.status == "optimal":
        return joined
    joined = best_of(joined, start)
    bounds = np.minimum(joined.gain_bounds, start.gain_bounds)
    return replace(joined, gain_bounds=np.maximum(bounds, joined.gains))


def _larger(gains: Floats, others: Floats | None) -> Floats:
    """Return the larger gain of each size; beyond the last size, more splits gain nothing."""
    if others is None:
        return gains
    size = np.arange(max(gains.size, others.size))
    return np.maximum(*(each[np.minimum(size, each.size - 1)] for each in (gains, others)))


def _solve_part(
    packed: bytes, number: int, leads: Cuts, time_limit: float | None, known_gains: Floats | None
) -> tuple[int, Solution]:
    shared: Shared = pickle.loads(packed)  # what the function above has sent
    memory_limit = shared.memory_limit
    if memory_limit is None:
        memory_limit = default_memory_limit() // (os.cpu_count() or 1)
    solved = Problem(shared.binned, shared.sums, shared.rounding).solve(
        shared.limits,
        time_limit=time_limit,
        memory_limit=memory_limit,
        known_gains=known_gains,
        leads=leads,
    )
    return number, solved


def divide_cuts(binned: BinnedRows, n: int) -> list[Cuts]:
    """Divide all cuts into at most ``n`` parts: whole columns, where there are enough of them."""
    n_cuts = binned.cut_column.size
    ends = np.linspace(0, n_cuts, n + 1)
    begins = np.append(np.unique(binned.cut_column, return_index=True)[1], n_cuts)
    edges = begins[np.searchsorted(begins, ends)] if begins.size > n else ends.round().astype(int)
    edges = np.unique(edges)
    number = np.arange(n_cuts)
    return [(first <= number) & (number < last) for first, last in pairwise(edges)]


def join_parts(
    sums: Sums, parts: Sequence[Cuts], solved: Mapping[int, Solution], unfinished: Status
) -> Solution:
    """Return the solution over all first cuts, from those over some of them.

    Ties are broken as in the core: the fewest splits, then the first cut.
    """
    solutions = list(solved.values())
    gains = np.max([one.gains for one in solutions], axis=0)
    tie = tie_of(sums)
    topologies: list[TreeTopology] = []
    for splits, gain in enumerate(gains):
        if topologies and gain - tie <= gains[splits - 1]:
            topologies.append(topologies[-1])
            continue
        best: dict[tuple[bool, int], TreeTopology] = {}
        for number, one in solved.items():
            topology = one.topologies[splits]
            first = int(topology.cut[0])
            if one.gains[splits] >= gain - tie:
                # A task may return a tree rooted at another task's cut, but not necessarily the
                # best such tree: prefer the owner's.
                is_own = first < 0 or bool(parts[number][first])
                best.setdefault((not is_own, first), topology)
        topologies.append(best[min(best)])
    is_whole = len(solved) == len(parts)
    is_proven = is_whole and all(one.status == "optimal" for one in solutions)
    bounds = np.max([one.gain_bounds for one in solutions], axis=0)
    return Solution(
        "optimal" if is_proven else unfinished,
        gains,
        # No loss is below zero.
        np.maximum(bounds if is_whole else sums.constant, gains),
        tuple(topologies),
        sum(one.n_cuts for one in solutions),
        sum(one.n_evaluated for one in solutions),
        min(one.proven_depth for one in solutions) if is_whole else 0,
    )
