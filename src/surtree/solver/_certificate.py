"""What is proven of trees where weights are uneven: bounds that know of all rounding."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import SAME_LOSS, TIE
from surtree._support.types import Floats
from surtree.solver._incumbent import monotone
from surtree.solver._wide import COARSE, WIDE_TIE
from surtree.solver.core import Problem
from surtree.solver.problem import Forest, Solution

# What "optimal" promises: no tree has a loss that is smaller by more than this, relative to it.
PROMISE = SAME_LOSS
# What doubles round by.
_EPSILON = 2.0**-52
# The constant of the loss and the baseline are off by as much as a few leaves.
_FEW = 4


def certify(problem: Problem, solution: Solution) -> Solution:
    """Return a solution with the gains of its trees by their rows, and bounds that know rounding.

    The core rounds hazards down, which only raises a gain: what it claims is a bound. A search to
    the end whose bounds are further from the losses than `PROMISE` is "rounded", not "optimal".
    """
    constant = problem.sums.constant
    noise = _noise(problem, solution.gains)
    gains = constant - _losses(problem, solution)
    bounds = np.maximum(solution.gain_bounds, solution.gains) + noise + _lost(problem, gains.size)
    solution = monotone(replace(solution, gains=gains, gain_bounds=bounds))
    gains, bounds = solution.gains, solution.gain_bounds
    losses = constant - gains
    # No loss is negative: one of nothing but noise is the smallest.
    is_proven = (bounds - gains <= PROMISE * losses) | (losses <= noise)
    is_proven[0] = True  # there is one tree without splits
    is_rounded = solution.status == "optimal" and not is_proven.all()
    return replace(
        solution,
        status="rounded" if is_rounded else solution.status,
        gain_bounds=np.where(is_proven, gains, bounds),
        proven_depth=_proven_depth(solution, is_proven),
    )


def _losses(problem: Problem, solution: Solution) -> Floats:
    """Return the loss of each tree, added up from its rows."""
    forest = Forest.of(solution.topologies)
    *sums, constant, _, _, _ = problem.sum_terms(forest)
    losses = np.maximum(constant - problem.sums.objective.gain(sums), 0.0)
    leaves = np.where(forest.left < 0, losses, 0.0)
    return np.array([leaves[slice(*ends)].sum() for ends in pairwise(forest.begin.tolist())])


def _noise(problem: Problem, gains: Floats) -> Floats:
    """Return by how much sums of doubles may be off that are the loss of a tree of each size.

    Each term has a relative error, and the sizes of all gains of a tree together are at most its
    gain and twice its hazard and priors.
    """
    sums = problem.sums
    events, hazard = _pairs(problem)
    n_leaves = np.arange(1, gains.size + 1)
    priors = sums.objective.shrinkage * len(events) * n_leaves
    size = np.abs(gains) + float(events.sum()) + 2 * (float(hazard.sum()) + priors)
    return np.asarray(_EPSILON * (_FEW + n_leaves) * size)


def _lost(problem: Problem, n_sizes: int) -> Floats:
    """Return what else the core may underestimate the best gain of each size by.

    Each leaf may be a tie with a split of it. Events are rounded to the nearest unit: the gain of a
    leaf changes by no more than that times its derivative, ``log(E / H) + 1``, since it is convex.
    """
    rounding = problem.rounding
    events, hazard = _pairs(problem)
    unit = rounding.unit / COARSE if rounding.wide else rounding.unit
    moved = float(np.abs(events - np.rint(events / unit) * unit).sum())
    has_events = events > 0
    risk = np.log(np.divide(events, hazard, out=np.ones_like(events), where=has_events))
    least = float(events[has_events].min())
    steepest = 1.0 + max(float(risk.max()), float(np.log(hazard.sum() / least)), 0.0)
    tie = (WIDE_TIE if rounding.wide else TIE) * float(events.sum())
    return np.asarray(tie * np.arange(1, n_sizes + 1) + moved * steepest)


def _pairs(problem: Problem) -> tuple[Floats, Floats]:
    """Return the events and the hazards that rows add to each channel of the core."""
    core = problem.sums.core
    return core[0::2], core[1::2]


def _proven_depth(solution: Solution, is_proven: NDArray[np.bool_]) -> int:
    """Return the largest depth whose best trees are known, as far as rounding tells."""
    # Of an unfinished search, trees of k splits are known as those of depth k.
    is_whole = solution.status == "optimal"
    depth = solution.proven_depth
    while depth > 0 and not is_proven[: 2**depth if is_whole else depth + 1].all():
        depth -= 1
    return depth
