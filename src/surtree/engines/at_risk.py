"""The pass that counts who is at risk in the leaves of the chosen tree, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid
from surtree._support.types import Floats
from surtree.data.table import Table
from surtree.engines.batches import Batch
from surtree.engines.rows import CountedRows, TargetNames
from surtree.engines.summary import Summary, from_each_on
from surtree.engines.tally import group
from surtree.survival.baseline import Baseline
from surtree.survival.time_axis import round_times
from surtree.tree.at_risk import CENSORED_PLACES, AtRiskCounts, at_risk_counts
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(eq=False)
class LeafTables:
    """For each leaf, who leaves and who enters at each time."""

    # At each distinct time of all rows: rows, rows with an event, and the parts of the weight of
    # both.
    leaving: Floats
    entering: Floats  # at each distinct entry time: rows, and the parts of their weight


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
        """The columns that are read."""
        asked = sorted({cut.column for cut in self.tree.cuts})
        return (*self.names.columns, *(self.questions[place] for place in asked))

    def start(self) -> LeafTables:
        """Return the tables of no rows."""
        n_parts, n_leaves = self.grid.n_parts, self.tree.n_leaves
        return LeafTables(
            np.zeros((2 + 2 * n_parts, n_leaves, self.times.size)),
            np.zeros((1 + n_parts, n_leaves, self.entries.size)),
        )

    def add(self, partial: LeafTables, batch: Batch) -> LeafTables:
        """Add the rows of a batch."""
        rows = self.names.read(batch)
        leaves = find_leaves(self.tree, table_of(rows, self.questions))
        leaf = np.searchsorted(self.tree.leaves, leaves)
        event = rows.target.event.astype(np.float64)
        parts = self.grid.split(rows.weight)
        _add(partial.leaving, leaf, rows.target.time, self.times, [event, *parts, *(parts * event)])
        if rows.target.entry is not None:
            _add(partial.entering, leaf, rows.target.entry, self.entries, list(parts))
        return partial

    def merge(self, one: LeafTables, other: LeafTables) -> LeafTables:
        """Return the tables of the rows of both."""
        one.leaving += other.leaving
        one.entering += other.entering
        return one


def table_of(rows: CountedRows, questions: tuple[str, ...]) -> Table:
    """Return the rows of a batch that count as a table; columns are read when they are asked."""
    return Table(questions, rows.n, lambda index: rows.column(questions[index]), named=True)


def _add(
    table: Floats, leaf: NDArray[np.intp], values: Floats, known: Floats, lines: list[Floats]
) -> None:
    """Add lines to the cells of a table, after the number of rows in each."""
    distinct, place = group(values)
    cell = leaf * known.size + np.searchsorted(known, distinct)[place]
    n_cells = table[0].size
    for number, line in enumerate([None, *lines]):
        table[number] += np.bincount(cell, line, minlength=n_cells).reshape(table[0].shape)


def counts_of_leaves(
    tables: LeafTables, summary: Summary, grid: Grid, baseline: Baseline
) -> tuple[AtRiskCounts, ...]:
    """Return the at-risk counts of leaves, as `leaf_at_risk` finds them in rows."""
    return at_risk_counts(_fields(tables, summary, grid, baseline))


def _fields(
    tables: LeafTables, summary: Summary, grid: Grid, baseline: Baseline
) -> Iterator[dict[str, Any]]:
    times, entries, n_parts = summary.times.keys, summary.entries.keys, grid.n_parts
    last, first = (np.searchsorted(baseline.times, keys, side="right") for keys in (times, entries))
    n_events = baseline.times.size
    rounded = round_times(float(baseline.times[-1]))
    until = np.searchsorted(rounded, times, side="right") - 1
    since = np.searchsorted(rounded, entries, side="right") - 1
    scale = CENSORED_PLACES / float(times[-1])
    mark = np.minimum((times * scale).astype(np.intp), CENSORED_PLACES - 1)
    for leaf in range(tables.leaving.shape[1]):
        n_ends, n_died, *lines = tables.leaving[:, leaf]
        left, died = np.array(lines[:n_parts]), np.array(lines[n_parts:])
        n_starts, *begun = tables.entering[:, leaf]
        leaving = _by(last, left, n_events + 1)
        moved = _by(last, n_ends[None], n_events + 1)[0, :-1] > 0
        at_risk = from_each_on(leaving)[:, 1:]
        at_round = from_each_on(_by(until, left, rounded.size))
        if entries.size:
            entering = np.array(begun)
            moved |= _by(first, n_starts[None], n_events + 1)[0, :-1] > 0
            at_risk = at_risk - from_each_on(_by(first, entering, n_events + 1))[:, 1:]
            waiting = from_each_on(_by(since, entering, rounded.size))
            # Rows with entry zero are at risk from the start.
            waiting[:, 0] = entering[:, entries > 0].sum(axis=1)
            at_round = at_round - waiting
        else:
            moved[0] = True
        deaths = grid.join(_by(last, died, n_events + 1)[:, 1:])
        step = np.flatnonzero(moved | (deaths > 0))
        censored = np.flatnonzero(n_ends > n_died)
        earliest = np.unique(mark[censored], return_index=True)[1]
        yield {
            "step": step,
            "at_risk": grid.join(at_risk)[step],
            "deaths": deaths[step],
            "round_at_risk": grid.join(at_round),
            "censored": times[censored[earliest]],
            "last_time": float(times[np.flatnonzero(n_ends)[-1]]),
        }


def _by(place: NDArray[np.intp], parts: Floats, n_places: int) -> Floats:
    """Return the sums of parts at each place."""
    return np.array([np.bincount(place, line, minlength=n_places) for line in parts])
