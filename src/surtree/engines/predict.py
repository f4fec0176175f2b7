"""A fitted tree on rows that are not in memory: their leaves, and their loss."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree.cuts.unseen import Unseen, find_unseen
from surtree.data.table import Table
from surtree.engines._batches import Batch
from surtree.engines._extents import ExtentPass
from surtree.engines.at_risk import asked_columns, table_of
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames
from surtree.engines.source import Source
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(eq=False)
class Routed:
    """The leaves of some rows, in their order, and categories that training never had."""

    leaves: list[NDArray[np.int32]] = field(default_factory=list)
    unseen: Unseen = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RoutePass:
    """The pass that sends rows down a tree."""

    tree: Tree  # the tree
    questions: tuple[str, ...]  # all columns of the training table, as this table calls them
    title = "leaves"
    is_ordered = True

    @property
    def columns(self) -> tuple[str, ...]:
        return asked_columns(self.tree, self.questions) or self.questions[:1]

    def start(self) -> Routed:
        return Routed()

    def add(self, partial: Routed, batch: Batch) -> Routed:
        table = Table(
            self.questions,
            batch.n_rows,
            lambda index: batch.column(self.questions[index]),
            named=True,
        )
        partial.leaves.append(find_leaves(self.tree, table).astype(np.int32))
        partial.unseen = join_unseen(partial.unseen, find_unseen(self.tree.cuts, table))
        return partial

    def merge(self, one: Routed, other: Routed) -> Routed:
        return Routed(one.leaves + other.leaves, join_unseen(one.unseen, other.unseen))


@dataclass(eq=False)
class LossTerms:
    """Numbers that add up to the loss of some rows, and to their weight, without rounding."""

    constants: list[float] = field(default_factory=list)  # the part that no tree changes
    costs: list[float] = field(default_factory=list)  # and the rest
    weight: list[float] = field(default_factory=list)
    unseen: Unseen = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LossPass:
    """The pass that adds up the loss of a tree."""

    tree: Tree  # as in `RoutePass`
    questions: tuple[str, ...]
    names: TargetNames  # the columns of the target
    excess: float = 0.0  # the part of the constants that depends on all rows
    at_root: bool = False  # whether all rows are predicted by the root
    title = "loss"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *asked_columns(self.tree, self.questions))

    def start(self) -> LossTerms:
        return LossTerms()

    def add(self, partial: LossTerms, batch: Batch) -> LossTerms:
        rows, tree, objective = self.names.read(batch), self.tree, self.tree.objective
        table = table_of(rows, self.questions)
        nodes = np.zeros(rows.n, dtype=np.intp) if self.at_root else find_leaves(tree, table)
        values, constants = objective.row_values(rows.target, rows.weight, tree.baseline)
        if objective.has_excess:
            constants = objective.with_excess(values, constants, self.excess)
        cost = objective.variable_loss(values, tree.prediction[..., nodes])
        for terms, numbers in (
            (partial.constants, constants),
            (partial.costs, cost),
            (partial.weight, rows.weight),
        ):
            terms += Terms.of(numbers).parts.sum(axis=1).tolist()
        partial.unseen = join_unseen(partial.unseen, find_unseen(tree.cuts, table))
        return partial

    def merge(self, one: LossTerms, other: LossTerms) -> LossTerms:
        return LossTerms(
            one.constants + other.constants,
            one.costs + other.costs,
            one.weight + other.weight,
            join_unseen(one.unseen, other.unseen),
        )


def join_unseen(one: Unseen, other: Unseen) -> Unseen:
    """Return the unseen categories of the rows of both."""
    return {name: one.get(name, Counter()) + other.get(name, Counter()) for name in one | other}


def question_names(model: Any, source: Source) -> tuple[str, ...]:
    """Return what a table calls the columns of the training table.

    Columns have the names that they had in training, and others may be beside them; where they had
    none, they are in the same order, and there are no others.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return tuple(names)
    if len(source.names) != model.n_features_in_:
        raise ValueError(
            f"{source.label} has {len(source.names)} columns, and the model was fitted on "
            f"{model.n_features_in_} without names: pass as many, in their order"
        )
    return source.names


def route(model: Any, source: Source) -> tuple[NDArray[np.intp], Unseen]:
    """Return the leaf of each row of a table, and categories that training never had."""
    routed: Routed = source.run(RoutePass(model.tree_, question_names(model, source))).partial
    leaves = np.concatenate(routed.leaves) if routed.leaves else np.empty(0, dtype=np.int32)
    return leaves.astype(np.intp), routed.unseen


@dataclass(frozen=True)
class LazyLoss:
    """The loss of a tree on the rows of a table."""

    loss: float
    weight: float  # that of all rows
    unseen: Unseen  # categories that training never had


def lazy_loss(model: Any, source: Source, names: TargetNames, *, at_root: bool = False) -> LazyLoss:
    """Return the loss of a tree, or of its root, on the rows of a table."""
    tree, reader, excess = model.tree_, Reader(source), 0.0
    names = names.of_model(model)
    if tree.objective.has_excess:
        reader.expect(2, may_be_more=False)
        first = partial(ExtentPass, objective=tree.objective, baseline=tree.baseline)
        extents, names = reader.run_first(first, names)
        excess = extents.excess(tree.objective)
    step = partial(LossPass, tree, question_names(model, source), excess=excess, at_root=at_root)
    terms, _ = reader.run_first(step, names)
    loss = math.fsum(terms.constants) + math.fsum(terms.costs)
    return LazyLoss(loss, math.fsum(terms.weight), terms.unseen)
