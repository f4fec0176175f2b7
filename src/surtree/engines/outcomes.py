"""Observed outcomes in each leaf: rows with the same leaf and the same outcome, merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.cuts.unseen import Unseen, find_unseen
from surtree.data.target import Target
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import Batch
from surtree.engines._merged_rows import DistinctRows, Merging
from surtree.engines.at_risk import asked_columns, table_of
from surtree.engines.predict import join_unseen, question_names
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames
from surtree.engines.source import Source
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


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
