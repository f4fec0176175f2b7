"""The border to the compiled core: bins, sums and limits in; the optimal tree of every size out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree import _core
from surtree.encoding import Encoded
from surtree.statistics import RowSums, gain

# No table has more rows: larger limits mean the same, and the core counts up to here.
_MOST_ROWS = 2**31 - 1
# More threads bring nothing on any machine.
_MOST_THREADS = 1024


@dataclass(frozen=True)
class Limits:
    """How large a tree may be, and how small its leaves (counted in rows)."""

    max_depth: int
    max_splits: int | None = None
    min_samples_leaf: int = 1
    min_events_leaf: int = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                object.__setattr__(self, name, min(int(value), _MOST_ROWS))


@dataclass(frozen=True)
class Structure:
    """One tree as flat arrays in preorder; a leaf has -1. Rows for which a cut holds go right."""

    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


@dataclass(frozen=True)
class Solution:
    """For each k: the best tree of at most k splits, its gain, and a proven bound of that gain."""

    status: str
    gains: NDArray[np.float64]
    gain_bounds: NDArray[np.float64]
    structures: tuple[Structure, ...]
    n_cuts: int = 0
    n_evaluated: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a search is: done from 0 to 1, and loss and bound of the largest size asked for."""

    fraction: float
    loss: float
    lower_bound: float


@dataclass(frozen=True)
class Switches:
    """What makes the search fast, to be left out one at a time: answers stay the same.

    ``stop_after`` ends a search as "interrupted" after so many tasks of the root (sides or columns
    that are swept, cuts that are bisected), for tests of unfinished searches; -1 is never.
    """

    kernel_depth: int = 3
    memo: bool = True
    merge: bool = True
    regroup: bool = True
    bounds: bool = True
    sweep: bool = True
    share: bool = True
    bisect: int = 100
    stop_after: int = -1


ProgressHook = Callable[[Progress], object]


def default_memory_limit() -> int:
    """Return a quarter of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):  # not known on every system
        return 2**31


@dataclass(frozen=True)
class Structures:
    """The nodes of some trees, one after the other; those of tree k begin at ``begin[k]``."""

    begin: NDArray[np.int32]
    cut: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def of(cls, structures: Sequence[Structure]) -> Structures:
        """Put trees one after the other."""
        sizes = [0, *(structure.cut.size for structure in structures)]
        return cls(
            np.cumsum(sizes, dtype=np.int32),
            *(
                np.concatenate([getattr(structure, name) for structure in structures])
                for name in ("cut", "left", "right")
            ),
        )


def sum_nodes(
    encoded: Encoded, structures: Structures, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum of each kind of value over the rows of each node.

    Parameters
    ----------
    encoded : Encoded
        The rows.
    structures : Structures
        The trees that they fall down.
    values : array of shape (n_values, n_rows)
        What to add up.
    """
    sums = _problem(encoded).sum_nodes(
        tree_begin=structures.begin,
        cut=structures.cut,
        left=structures.left,
        right=structures.right,
        values=np.ascontiguousarray(values),
    )
    return sums.reshape(len(values), -1)


def find_leaves(encoded: Encoded, structure: Structure) -> NDArray[np.int32]:
    """Return the leaf of each row in a tree."""
    return _problem(encoded).find_leaves(
        cut=structure.cut, left=structure.left, right=structure.right
    )


def _problem(
    encoded: Encoded, sums: RowSums | None = None, limits: Limits | None = None
) -> _core.Problem:
    n_rows = encoded.bins.shape[1]
    counts = np.empty((0, n_rows))
    if sums is not None and limits is not None:
        counts = np.array(
            [
                count
                for count, least in (
                    (np.ones(n_rows), limits.min_samples_leaf if limits.min_samples_leaf > 1 else 0),
                    (sums.n_events.astype(np.float64), limits.min_events_leaf),
                )
                if least > 0
            ]
        ).reshape(-1, n_rows)
    return _core.Problem(
        **vars(encoded),
        objective="relative_risk",
        parameters=np.empty(0),
        sums=np.zeros((2, n_rows)) if sums is None else np.stack([sums.events, sums.hazard]),
        counts=counts,
        round_down=sums is not None and sums.is_uneven,
    )


def _least(limits: Limits) -> NDArray[np.float64]:
    least = [
        limits.min_samples_leaf if limits.min_samples_leaf > 1 else 0,
        limits.min_events_leaf,
    ]
    return np.array([float(value) for value in least if value > 0])


def _limits(limits: Limits) -> dict[str, Any]:
    most_splits = 2 ** min(limits.max_depth, 30) - 1
    max_splits = most_splits if limits.max_splits is None else min(limits.max_splits, most_splits)
    return {
        "max_depth": limits.max_depth,
        "max_splits": max_splits,
        "least": _least(limits),
    }


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` asks for."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return min(int(n_jobs), _MOST_THREADS)


def _bytes(memory_limit: int | None) -> int:
    return default_memory_limit() if memory_limit is None else min(int(memory_limit), sys.maxsize)


def solve(
    encoded: Encoded,
    sums: RowSums,
    limits: Limits,
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
    progress: ProgressHook | None = None,
    known_gains: NDArray[np.float64] | None = None,
    switches: Switches | None = None,
) -> Solution:
    """Find the tree with the largest gain for every number of splits up to the limit.

    The progress hook is called a few times a second; where it returns something true, the search
    ends as "interrupted" with its best tree so far.
    """

    def show(now: _core.Progress) -> bool:
        assert progress is not None
        total = sums.negative_log_hazard
        return bool(
            progress(Progress(now.fraction, total - now.gain, max(0.0, total - now.gain_bound)))
        )

    core_switches = _core.Switches()
    for name, value in vars(switches or Switches()).items():
        setattr(core_switches, name, value)
    solution = _problem(encoded, sums, limits).solve(
        **_limits(limits),
        time_limit=0.0 if time_limit is None else time_limit,
        n_threads=n_threads(n_jobs),
        memory_limit=_bytes(memory_limit),
        progress=None if progress is None else show,
        known_gains=np.empty(0) if known_gains is None else known_gains,
        switches=core_switches,
    )
    return Solution(
        solution.status,
        solution.gains,
        solution.gain_bounds,
        tuple(Structure(tree.cut, tree.left, tree.right) for tree in solution.trees),
        solution.n_cuts,
        solution.n_evaluated,
    )


@dataclass(frozen=True)
class LocalOptimum:
    """The best tree of all restarts, and for each restart its gain less the price of its splits."""

    structure: Structure
    worth: NDArray[np.float64]


def local_search(
    encoded: Encoded,
    sums: RowSums,
    limits: Limits,
    *,
    n_restarts: int,
    seed: int,
    price: float = 0.0,
    n_jobs: int | None = None,
) -> LocalOptimum:
    """Find a tree whose gain no change of a single node improves, the best of several.

    A split must gain more than its price. The tree depends on the seed, not on the threads.
    """
    # No split gains more than a tree can: a higher price changes nothing, and would overflow.
    events, hazard = float(sums.events.sum()), float(sums.hazard.sum())
    most = sums.negative_log_hazard - float(gain(events, hazard)) + events
    best = _problem(encoded, sums, limits).local_search(
        **_limits(limits),
        n_restarts=n_restarts,
        seed=seed,
        price=min(price, most),
        time_limit=0.0,
        n_threads=n_threads(n_jobs),
    )
    return LocalOptimum(Structure(best.tree.cut, best.tree.left, best.tree.right), best.worth)
