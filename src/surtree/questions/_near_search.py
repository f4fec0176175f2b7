"""The walk through the trees near the best one, as batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.estimators.parameters import limits_of
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import conditions_of
from surtree.fitting.training import FitProblem
from surtree.solver.clock import Clock
from surtree.solver.core import NearTrees
from surtree.solver.problem import Forest, TreeTopology

# How a list of trees ends: with all of them, or at a limit.
End = Literal["complete", "max_trees", "time_limit", "memory_limit", "interrupted"]
_SOME = 2000  # trees whose nodes are added up at once


class NearSearch:
    """Trees of a model's size near the best one, best first."""

    def __init__(
        self, problem: FitProblem, model: SurTree, within: float, clock: Clock, *, distinct: bool
    ) -> None:
        limits = replace(limits_of(model, problem.data.target), max_splits=model.tree_.n_splits)
        self._problem, self._within, self._clock = problem, within, clock
        conditions = conditions_of(model, problem)
        self._core = NearTrees(
            problem.core,
            limits,
            within,
            distinct=distinct,
            conditions=conditions,
            time_limit=clock.left(),
            n_jobs=model.n_jobs,
            memory_limit=model.memory_limit,
        )
        self.end: End = "complete"
        if conditions is not None:  # the best tree under conditions says what is near
            self._core.best(clock.left())

    def batches(
        self, size: int, most: int | None
    ) -> Iterator[tuple[tuple[TreeTopology, ...], Floats]]:
        """Return the trees and their gains, up to a number of them; then ``end`` says why."""
        n_seen = 0
        while True:
            wanted = size if most is None else min(size, most - n_seen)
            if wanted <= 0:
                # One more says whether there are more.
                status, _, gains = self._core.next(1, self._clock.left())
                self.end = "max_trees" if gains.size else self._ended(status)
                return
            status, topologies, gains = self._core.next(wanted, self._clock.left())
            n_seen += gains.size
            if gains.size:
                yield topologies, gains
            if gains.size < wanted:
                self.end = self._ended(status)
                return

    def _ended(self, status: Status) -> End:
        if status in ("time_limit", "interrupted"):
            return status
        return "memory_limit" if self._core.is_full else "complete"

    def losses(
        self, topologies: Sequence[TreeTopology], gains: Sequence[Floats]
    ) -> tuple[NDArray[np.intp], Floats]:
        """Return the order of the trees by their losses, and these."""
        sums = self._problem.data.sums
        if not topologies:
            return np.empty(0, dtype=np.intp), np.empty(0)
        losses = sums.constant - np.concatenate(gains)
        if not sums.is_uneven:
            return np.arange(losses.size), np.maximum.accumulate(np.maximum(losses, 0.0))
        # The core rounds what light rows add: the rows themselves say which trees are within.
        losses = np.array([tree.loss for tree in self._problem.build(topologies)])
        order = np.argsort(losses, kind="stable")
        leaf = sums.constant - float(sums.objective.gain(sums.total))
        best = losses[order[0]]
        near = losses[order] <= best + self._within * (leaf - best) + 1e-9 * sums.scale
        return order[near], losses[order[near]]


def node_thetas(
    problem: FitProblem, topologies: Sequence[TreeTopology]
) -> Iterator[tuple[TreeTopology, Floats]]:
    """Return trees, each with what its nodes predict."""
    objective = problem.data.sums.objective
    n_sums = len(objective.sum_names)
    for begin in range(0, len(topologies), _SOME):
        some = topologies[begin : begin + _SOME]
        forest = Forest.of(some)
        sums = problem.core.sum_terms(forest)
        theta = objective.theta(np.stack(sums[:n_sums]))
        for topology, (first, last) in zip(some, pairwise(forest.begin), strict=True):
            yield topology, theta[first:last]
