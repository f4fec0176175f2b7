"""One problem to fit: training data, its cuts, and the trees that were built on it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.encoder import Encoder
from surtree.data.bootstrap import Counts
from surtree.fitting.training import TrainingData
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings, search
from surtree.survival.follow_up import FollowUp, follow_up
from surtree.survival.objective import Objective
from surtree.survival.treatment import arm_sums
from surtree.tree.build import UnbuiltTree, unbuilt_trees, with_at_risk
from surtree.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Training data, its cuts and its bins: what the solver and the tree builder need."""

    data: TrainingData  # the rows
    encoder: Encoder  # it has the cuts of the columns
    binned: BinnedRows  # the rows of positive weight, by bins
    # Columns that were not read because time was over: nothing is proven of questions about them.
    n_unread: int = 0
    _built: dict[Hashable, UnbuiltTree] = field(default_factory=dict)

    @cached_property
    def core(self) -> Problem:
        """The rows as the compiled core has them: made once for all searches and all trees."""
        return Problem(self.binned, self.data.sums)

    @property
    def follow_up(self) -> FollowUp:
        """The quartiles of follow-up."""
        return follow_up(self.data.target, self.data.table_weight[self.data.present])

    def tell_arms(self, n_arms: int) -> Solution:
        """Search for the question that tells the arms of rows apart best."""
        return Problem(self.binned, arm_sums(self._rows_by_arm(n_arms))).solve(Limits(1, 1))

    def _rows_by_arm(self, n_arms: int) -> Floats:
        """Return how many rows of each arm each row stands for."""
        arm = self.data.target.arm
        return np.asarray((arm == np.arange(n_arms)[:, None]).astype(np.float64))

    def search(self, how: SearchSettings) -> Solution:
        """Search for the best tree of every size."""
        return search(self.core, how)

    def with_objective(self, objective: Objective) -> FitProblem:
        """Return the same rows and cuts, with another gain of a leaf."""
        sums = replace(self.data.sums, objective=objective)
        objective.exactness().require(sums)
        data = replace(self.data, sums=sums)
        return FitProblem(data, self.encoder, self.binned, self.n_unread)

    def take(self, rows: NDArray[np.bool_], repeats: Counts | None = None) -> FitProblem:
        """Return the problem of some of the rows, each once or as often as told, with these cuts.

        Their baseline is their own.
        """
        weight = np.where(rows, self.data.sums.weight, 0.0)
        weight = weight if repeats is None else weight * repeats
        data = self.data.reweighted(weight)
        return FitProblem(data, self.encoder, self.binned.take(weight > 0), self.n_unread)

    def build(self, topologies: Sequence[TreeTopology]) -> list[UnbuiltTree]:
        """Return the tree of each topology, without at-risk counts."""
        # Searches of different depths often find the same tree.
        keys = [topology.key for topology in topologies]
        new = {
            key: topology
            for key, topology in zip(keys, topologies, strict=True)
            if key not in self._built
        }
        trees = unbuilt_trees(list(new.values()), self.core, self.encoder.cuts_, self.data.baseline)
        self._built.update(zip(new, trees, strict=True))
        return [self._built[key] for key in keys]

    def build_with_at_risk(self, topology: TreeTopology, leaf_curve: LeafCurveKind) -> Tree:
        """Return the tree of a topology, with the at-risk counts and curves of its leaves."""
        (unbuilt,) = self.build([topology])
        return with_at_risk(unbuilt.tree, topology, self.core, self.data.target, leaf_curve)


def make_problem(
    encoder: Encoder,
    data: TrainingData,
    leave_out: Collection[int] = (),
    clock: Clock | None = None,
) -> FitProblem:
    """Find the cuts of the training data and bin its rows."""
    binned = encoder.fit_encode(
        data.table, data.table_weight, data.sums, leave_out, clock, data.target.share
    )
    return FitProblem(data, encoder, binned, encoder.n_unread_)
