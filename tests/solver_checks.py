"""What every objective must pass: engines, bounds and heuristics against the reference solver.

A draw is a function of a seed that returns rows by bins, what each cut holds, row sums and limits.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from surtree.heuristics._greedy import grow
from surtree.solver import reference
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Switches, TreeTopology
from surtree.survival.row_sums import RowSums

Draw = Callable[[int], tuple[BinnedRows, np.ndarray, RowSums, Limits]]

ENGINES = {
    "sweep": Switches(),
    "one level": Switches(kernel_depth=1),
    "two levels": Switches(kernel_depth=2),
    "unfilled": Switches(fill=False),
    "screened": Switches(screen=2),
    "unshared": Switches(share=False, merge=False, bounds=False),
    "bisection": Switches(bisect=0),
}


def draw_limits(rng: np.random.Generator) -> Limits:
    """Draw limits on trees, in half of all cases on leaves too."""
    limits = Limits(int(rng.integers(1, 4)))
    if rng.random() < 0.5:
        return limits
    return replace(
        limits,
        max_splits=int(rng.integers(1, 8)),
        min_samples_leaf=int(rng.integers(1, 4)),
        min_events_leaf=int(rng.integers(0, 3)),
    )


@cache
def _reference_gains(draw: Draw, seed: int, limits: Limits) -> np.ndarray:
    _, holds, sums, _ = draw(seed)
    return reference.solve(holds, sums, limits).gains


def expected_gains(draw: Draw, seed: int, limits: Limits, n_sizes: int) -> np.ndarray:
    """Return the best gain with at most 0, 1, 2, ... splits."""
    gains = _reference_gains(draw, seed, limits)
    return gains[np.minimum(np.arange(n_sizes), gains.size - 1)]


def gain_of(topology: TreeTopology, problem: Problem) -> float:
    """Return the gain of a tree, added up from its rows."""
    leaf = problem.find_leaves(topology)
    return problem.sums.constant - problem.sums.partition_loss(leaf.astype(np.intp))


def require_optimum(draw: Draw, engine: str, n_seeds: int) -> None:
    """Require that an engine finds the optimum of every size, and trees that have it."""
    for seed in range(n_seeds):
        binned, _, sums, limits = draw(seed)
        problem = Problem(binned, sums)
        found = problem.solve(limits, switches=ENGINES[engine])
        assert found.status == "optimal"
        best = expected_gains(draw, seed, limits, found.gains.size)
        np.testing.assert_allclose(found.gains, best, rtol=1e-10, atol=1e-10, err_msg=str(seed))
        for topology, gain in zip(found.topologies, found.gains, strict=True):
            assert gain_of(topology, problem) == pytest.approx(gain, rel=1e-10, abs=1e-10), seed


def require_bounds(draw: Draw, n_seeds: int) -> None:
    """Require that gains and bounds of unfinished searches enclose the optimum."""
    for seed in range(n_seeds):
        binned, _, sums, limits = draw(seed)
        for switches in (Switches(kernel_depth=1), Switches(kernel_depth=2), Switches(bisect=0)):
            for last in range(6):
                found = Problem(binned, sums).solve(
                    limits, switches=replace(switches, stop_after=last)
                )
                best = expected_gains(draw, seed, limits, found.gains.size)
                assert (found.gains <= best + 1e-9).all(), seed
                assert (found.gain_bounds >= best - 1e-9).all(), seed


def require_heuristics(draw: Draw, n_seeds: int) -> None:
    """Require that heuristics keep the limits, and that local search is as a rule as good."""
    n_as_good = 0
    for seed in range(n_seeds):
        binned, _, sums, limits = draw(seed)
        problem = Problem(binned, sums)
        best = expected_gains(draw, seed, limits, 8)[-1]
        free = replace(limits, max_splits=None)  # greedy trees know no such limit
        local = problem.local_search(limits, n_restarts=5, seed=seed).topology
        greedy = grow(binned, sums, free)
        for topology, most in ((local, best), (greedy, expected_gains(draw, seed, free, 8)[-1])):
            gain = gain_of(topology, problem)
            assert gain <= most + 1e-9
            leaf = problem.find_leaves(topology)
            for name, least in limits.least.items():
                counts = np.bincount(leaf, sums.counts[name])[topology.left < 0]
                assert counts.size == 1 or counts.min() >= least
        n_as_good += gain_of(local, problem) > best - 1e-9
    assert n_as_good > 0.8 * n_seeds


def require_best_stump(draw: Draw, n_seeds: int) -> None:
    """Require that greedy growth to depth one finds the best tree of one split."""
    for seed in range(n_seeds):
        binned, _, sums, limits = draw(seed)
        limits = replace(limits, max_depth=1, max_splits=None)
        gain = gain_of(grow(binned, sums, limits), Problem(binned, sums))
        assert gain == pytest.approx(expected_gains(draw, seed, limits, 2)[-1], rel=1e-9, abs=1e-9)


EXACT = Switches(screen=0)
SCREENED = Switches(screen=2)


def draw_columns(rng: np.random.Generator, n: int, n_columns: int) -> BinnedRows:
    """Draw columns of a few kinds: ordered ones, nominal ones, with missing values, constant."""
    kinds = [(int(rng.integers(2, 7)), *(rng.random(2) < 0.3)) for _ in range(rng.integers(1, 4))]
    lines, n_bins, missing_bin, cuts = [], [], [], []
    for line in range(n_columns):
        q, missing, nominal = kinds[rng.integers(len(kinds))]
        missing_bin.append(q if missing else -1)
        n_bins.append(q + missing)
        for first in range(0 if nominal else 1, q):
            last = first if nominal else q - 1
            cuts.append((line, first, last, False))
            if missing:
                cuts.append((line, first, last, True))
        if missing:
            cuts.append((line, q, q, True))
        fate = rng.random()
        if fate < 0.15 and lines and max(lines[-1]) < q + missing:
            lines.append(lines[-1])  # the column before, again
        elif fate < 0.2:
            lines.append(np.full(n, rng.integers(0, q)))
        else:
            lines.append(rng.integers(0, q + missing, n))
    column, first, last, held = zip(*cuts, strict=True)
    return BinnedRows(
        np.array(lines, dtype=np.uint16),
        *(np.array(each, dtype=np.int32) for each in (n_bins, missing_bin, column, first, last)),
        np.array(held),
        np.zeros(len(cuts), dtype=np.uint64),
    )
