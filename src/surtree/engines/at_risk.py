"""The pass that counts who leaves and who enters the leaves of the chosen tree, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms
from surtree._support.types import Floats
from surtree.data.table import Table
from surtree.engines._batches import Batch
from surtree.engines._tally import group, sums_by
from surtree.engines.rows import CountedRows, TargetNames
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
        _add(partial.leaving, end, target.time, self.times, terms)
        if target.entry is not None:
            _add(partial.entering, of_row, target.entry, self.entries, terms)
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


def _add(
    table: Floats, first: NDArray[np.intp], values: Floats, known: Floats, terms: Floats
) -> None:
    """Add the terms of rows to the cells of a table, its last axis being known values."""
    distinct, index = group(values)
    cell = first * known.size + np.searchsorted(known, distinct)[index]
    table += sums_by(cell, terms, table[0].size).reshape(table.shape)
