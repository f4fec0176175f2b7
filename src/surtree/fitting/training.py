"""The training data of an estimator: table, target, weights, baseline and row sums."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.encoder import Encoder
from surtree.data.named import RowInputs
from surtree.data.persons import Counts
from surtree.data.rows import Rows, TargetReader, read_rows
from surtree.data.table import Table
from surtree.data.target import Target, require_events
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings, search
from surtree.survival.baseline import Baseline
from surtree.survival.follow_up import FollowUp, follow_up, warn_of_early_events
from surtree.survival.objective import RELATIVE_RISK, Objective, RelativeRisk
from surtree.survival.row_sums import RowSums
from surtree.survival.treatment import arm_sums
from surtree.tree.build import UnbuiltTree, unbuilt_trees, with_at_risk
from surtree.tree.tree import Tree


@dataclass(frozen=True)
class TrainingData:
    """The rows that a tree is fitted on."""

    table: Table  # the user's table, with rows of weight zero
    table_weight: Floats  # the weight of each row of the table
    target: Target  # the survival of the rows that count: those of positive weight
    baseline: Baseline  # the hazard that all rows that count share
    sums: RowSums  # what each row that counts adds to the sums of a leaf

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows of the table count."""
        return self.table_weight > 0

    def reweighted(self, weight: Floats) -> TrainingData:
        """Return the rows that count with other weights; of weight zero, they count no longer."""
        table_weight = np.zeros_like(self.table_weight)
        table_weight[self.present] = weight
        return _add_up(self.table, table_weight, self.target, weight, self.sums.objective)


def read_training_data(
    estimator: Any, given: RowInputs, objective: Objective | None = None
) -> TrainingData:
    """Read and check what `fit` is given; the objective is by default the estimator's."""
    return rows_to_fit(estimator, read_rows(estimator, given, reader_of(estimator)), objective)


def rows_to_fit(estimator: Any, rows: Rows, objective: Objective | None = None) -> TrainingData:
    """Return rows that were read as training data, and warn of events before others enter."""
    objective = objective or objective_of(estimator, rows.target)
    data = training_data(rows.table, rows.target, rows.weight, objective)
    warn_of_early_events(data.target, rows.weight[data.present])
    return data


def reader_of(estimator: Any) -> TargetReader | None:
    """Return how an estimator reads its target; None is one event."""
    return getattr(estimator, "_read_target", None)


def objective_of(estimator: Any, target: Target) -> Objective:
    """Return what a leaf is worth to an estimator; if it does not say, relative risk."""
    if hasattr(estimator, "_objective"):
        objective: Objective = estimator._objective(target)
        return objective
    return RelativeRisk(float(getattr(estimator, "shrinkage", 0.0)))


def training_data(
    table: Table, target: Target, table_weight: Floats, objective: Objective = RELATIVE_RISK
) -> TrainingData:
    return _add_up(table, table_weight, target, table_weight, objective)


def _add_up(
    table: Table, table_weight: Floats, target: Target, weight: Floats, objective: Objective
) -> TrainingData:
    """Add up what some rows of a table say before any tree."""
    present = weight > 0
    if not present.all():
        target, weight = target.take(present), weight[present]
    require_events(target)
    baseline = objective.baseline(target, weight)
    sums = objective.row_sums(target, weight, baseline)
    objective.exactness().require(sums)
    return TrainingData(table, table_weight, target, baseline, sums)


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
        return follow_up(self.data.target, self.data.table_weight[self.data.present])

    def tell_arms(self, n_arms: int) -> Solution:
        """Search for the question that tells the arms of rows apart best."""
        return Problem(self.binned, arm_sums(self._rows_by_arm(n_arms))).solve(Limits(1, 1))

    def _rows_by_arm(self, n_arms: int) -> Floats:
        arm = self.data.target.arm
        return np.asarray((arm == np.arange(n_arms)[:, None]).astype(np.float64))

    def search(self, how: SearchSettings) -> Solution:
        """Search for the best tree of every size."""
        watched = how.progress is not None or how.time_limit is not None
        tables = None if watched else self.core.in_tables(how.limits)
        return search(self.core, how) if tables is None else tables.solve()

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
