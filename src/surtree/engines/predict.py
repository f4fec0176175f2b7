"""A fitted tree on rows that are not in memory: their leaves, and their loss."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms
from surtree._support.types import Floats
from surtree.cuts.unseen import Unseen, find_unseen
from surtree.data.table import Table
from surtree.data.target import Target
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import Batch
from surtree.engines._merged_rows import DistinctRows, Merging
from surtree.engines._row_values import ExtentPass
from surtree.engines._tally import group, sums_by
from surtree.engines.reader import Reader
from surtree.engines.rows import CountedRows, TargetNames
from surtree.engines.source import Source
from surtree.tree.at_risk import Entering, Leaving
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(eq=False)
class LeafTables:
    """For each leaf and arm, who leaves and who enters at each time."""

    # Rows, and the parts of their weight: of shape (1 + n_parts, n_leaves * n_arms, n_ends,
    # n_times), and (1 + n_parts, n_leaves * n_arms, n_entry_times).
    leaving: Floats
    entering: Floats

    @property
    def n_rows(self) -> Floats:
        """How many rows end in each way, of shape (n_leaves * n_arms, n_ends)."""
        return np.asarray(self.leaving[0].sum(axis=2))


@dataclass(frozen=True, eq=False)
class AtRiskPass:
    """The pass over the columns that a tree asks about."""

    names: TargetNames  # the columns of the target
    questions: tuple[str, ...]  # all columns that a tree may ask about, in the order of the table
    tree: Tree  # the tree
    grid: Grid  # of the weights
    times: Floats  # the distinct times, and the distinct entry times, of all rows
    entries: Floats
    title = "leaves over time"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *asked_columns(self.tree, self.questions))

    @property
    def n_groups(self) -> int:
        """How many leaves and arms there are."""
        return self.tree.n_leaves * self.names.n_arms

    @property
    def n_bytes(self) -> int:
        """How many bytes the tables take."""
        n_times = self.names.known_ends.size * self.times.size + self.entries.size
        return 8 * (1 + self.grid.n_parts) * self.n_groups * n_times

    def start(self) -> LeafTables:
        first = 1 + self.grid.n_parts, self.n_groups
        return LeafTables(
            np.zeros((*first, self.names.known_ends.size, self.times.size)),
            np.zeros((*first, self.entries.size)),
        )

    def add(self, partial: LeafTables, batch: Batch) -> LeafTables:
        rows, names = self.names.read(batch), self.names
        target = rows.target
        leaf = np.searchsorted(
            self.tree.leaves, find_leaves(self.tree, table_of(rows, self.questions))
        )
        of_row = leaf * names.n_arms + names.arms(target)
        terms = np.concatenate([np.ones((1, rows.n)), self.grid.split(rows.weight)])
        ends = names.known_ends
        end = of_row * ends.size + np.searchsorted(ends, names.ends(target))
        _add_to_table(partial.leaving, end, target.time, self.times, terms)
        if target.entry is not None:
            _add_to_table(partial.entering, of_row, target.entry, self.entries, terms)
        return partial

    def merge(self, one: LeafTables, other: LeafTables) -> LeafTables:
        one.leaving += other.leaving
        one.entering += other.entering
        return one

    def leaving(self, tables: LeafTables) -> Leaving:
        """Return who leaves, as rows: one for all that leave an arm of a leaf in the same way."""
        of_group, end, time = np.nonzero(tables.leaving[0])
        parts = tables.leaving[1:, of_group, end, time]
        target = self.names.target_of(self.names.known_ends[end], self.times[time])
        return Leaving(of_group, target, Terms(self.grid, parts))

    def entering(self, tables: LeafTables) -> Entering | None:
        """Return who enters, as rows; None if all rows enter at time zero."""
        if not self.entries.size:
            return None
        of_group, time = np.nonzero(tables.entering[0])
        parts = tables.entering[1:, of_group, time]
        return Entering(of_group, self.entries[time], Terms(self.grid, parts))


def table_of(rows: CountedRows, questions: tuple[str, ...]) -> Table:
    """Return the rows of a batch that count as a table; columns are read when they are asked."""
    return Table(questions, rows.n, lambda index: rows.column(questions[index]), named=True)


def asked_columns(tree: Tree, questions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a tree asks about, by the names that a table has for them."""
    return tuple(questions[index] for index in sorted({cut.column for cut in tree.cuts}))


def _add_to_table(
    table: Floats, first: NDArray[np.intp], values: Floats, known: Floats, terms: Floats
) -> None:
    """Add the terms of rows to the cells of a table, its last axis being known values."""
    distinct, index = group(values)
    cell = first * known.size + np.searchsorted(known, distinct)[index]
    table += sums_by(cell, terms, table[0].size).reshape(table.shape)


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


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct outcomes of rows."""

    leaf: NDArray[np.intp]  # the number of the leaf of each
    target: Target  # event or cause, time and entry time of each
    n_rows: Floats  # how many rows have it, and their weight
    weight: Floats
    is_weighted: bool  # whether rows had weights
    unseen: Unseen  # categories that training never had


@dataclass(frozen=True, eq=False)
class OutcomePass:
    """The pass that sends rows down a tree, and merges those with the same outcome."""

    tree: Tree  # the tree
    questions: tuple[str, ...]  # all columns of the training table, as this table calls them
    names: TargetNames  # the columns of the target
    title = "outcomes"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *asked_columns(self.tree, self.questions))

    def start(self) -> tuple[Merging, Unseen]:
        return Merging(), {}

    def add(self, partial: Any, batch: Batch) -> Any:
        merging, unseen = partial
        rows = self.names.read(batch)
        table = table_of(rows, self.questions)
        leaf = find_leaves(self.tree, table)
        numbers = (
            [rows.target.time]
            if rows.target.entry is None
            else [rows.target.time, rows.target.entry]
        )
        words = [leaf.astype(np.uint64), self.names.ends(rows.target).astype(np.uint64)]
        if self.names.labels:
            words.append(rows.target.arm.astype(np.uint64))
        words += [np.ascontiguousarray(values).view(np.uint64) for values in numbers]
        terms = np.stack([np.ones(rows.n), rows.weight])
        merging.n_rows += rows.n
        merging.add(DistinctRows.of(np.stack(words), terms), memory_caps.MOST_OUTCOMES)
        return merging, join_unseen(unseen, find_unseen(self.tree.cuts, table))

    def merge(self, one: Any, other: Any) -> Any:
        one[0].n_rows += other[0].n_rows
        for part in other[0].parts:
            one[0].add(part, memory_caps.MOST_OUTCOMES)
        return one[0], join_unseen(one[1], other[1])


def find_outcomes(model: Any, source: Source, names: TargetNames) -> Outcomes:
    """Return the distinct outcomes of the rows of a table."""
    step = partial(OutcomePass, model.tree_, question_names(model, source))
    (merging, unseen), names = Reader(source).run_first(step, names.of_model(model))
    if not merging.parts:
        raise ValueError(f"{source.label} has no rows")
    distinct = merging.whole()
    leaf, end, *numbers = distinct.words
    arm = numbers.pop(0).astype(np.intp) if names.labels else None
    time, *entry = (np.ascontiguousarray(values).view(np.float64) for values in numbers)
    target = names.target_of(end.astype(np.intp), time, entry[0] if entry else None)
    if arm is not None:
        target = target.with_arms(arm, names.labels)
    n_rows, weight = distinct.sums
    return Outcomes(leaf.astype(np.intp), target, n_rows, weight, names.weight is not None, unseen)


def quantiles_of_counts(values: Floats, counts: Floats, shares: Sequence[float]) -> Floats:
    """Return quantiles of values that occur several times, as `numpy.quantile` finds them."""
    order = np.argsort(values)
    ends = np.cumsum(counts[order])
    rank = np.asarray(shares) * (ends[-1] - 1)
    lower, upper = (
        values[order][np.searchsorted(ends, side, side="right")]
        for side in (np.floor(rank), np.ceil(rank))
    )
    return np.asarray(lower + (upper - lower) * (rank - np.floor(rank)))
