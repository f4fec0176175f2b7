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
from surtree.engines.at_risk import table_of
from surtree.engines.batches import Batch
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
        """The columns that are read; one at least, for the rows to be counted."""
        return asked_columns(self.tree, self.questions) or self.questions[:1]

    def start(self) -> Routed:
        """Return no rows."""
        return Routed()

    def add(self, partial: Routed, batch: Batch) -> Routed:
        """Add the rows of a batch."""
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
        """Return the rows of both, in this order."""
        return Routed(one.leaves + other.leaves, join_unseen(one.unseen, other.unseen))


@dataclass(frozen=True, eq=False)
class LossPass:
    """The pass that adds up the loss of a tree."""

    tree: Tree  # as in `RoutePass`
    questions: tuple[str, ...]
    names: TargetNames  # the columns of the target
    title = "loss"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*self.names.columns, *asked_columns(self.tree, self.questions))

    def start(self) -> tuple[list[float], list[float], Unseen]:
        """Return the terms of no rows."""
        return [], [], {}

    def add(self, partial: Any, batch: Batch) -> Any:
        """Add the rows of a batch: what it adds up to, without rounding, in a few numbers."""
        constants, costs, unseen = partial
        rows = self.names.read(batch)
        table = table_of(rows, self.questions)
        leaves = find_leaves(self.tree, table)
        sums = self.tree.objective.row_sums(rows.target, rows.weight, self.tree.baseline)
        cost = sums.objective.variable_loss(sums.values, self.tree.prediction[..., leaves])
        for terms, values in ((constants, sums.constants), (costs, cost)):
            terms += Terms.of(values).parts.sum(axis=1).tolist()
        return constants, costs, join_unseen(unseen, find_unseen(self.tree.cuts, table))

    def merge(self, one: Any, other: Any) -> Any:
        """Return the terms of both."""
        return one[0] + other[0], one[1] + other[1], join_unseen(one[2], other[2])


def asked_columns(tree: Tree, questions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a tree asks about, by the names that a table has for them."""
    return tuple(questions[place] for place in sorted({cut.column for cut in tree.cuts}))


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
    found: Routed = source.run(RoutePass(model.tree_, question_names(model, source))).partial
    leaves = np.concatenate(found.leaves) if found.leaves else np.empty(0, dtype=np.int32)
    return leaves.astype(np.intp), found.unseen


def lazy_loss(model: Any, source: Source, names: TargetNames) -> tuple[float, Unseen]:
    """Return the loss of a tree on the rows of a table, and categories that training never had."""
    step = partial(LossPass, model.tree_, question_names(model, source))
    (constants, costs, unseen), _ = Reader(source).run_first(step, names)
    return math.fsum(constants) + math.fsum(costs), unseen
