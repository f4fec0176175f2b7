"""A tree that has given leaves: leaf labels of any tool as questions that can be asked.

If the leaves are those of some tree of questions about one column each, then any question that
keeps the rows of every leaf together can be asked first: below it, on either side, the leaves are
again those of a tree. So the rebuilding never has to take a question back. It takes the one
with the largest gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.cuts.thresholds import midpoint, readable
from surtree.data.table import Column
from surtree.fitting.training import TrainingData
from surtree.survival.objective import Objective

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """The nodes of a tree in preorder: -1 for a leaf; the question of each split in turn."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    cuts: tuple[Cut, ...]


def rebuild(label: NDArray[np.intp], rows: TrainingData) -> Rebuilt | None:
    """Return a tree whose leaves have the given labels, or None if there is none."""
    present = np.flatnonzero(rows.present)
    columns = [rows.table.column(index) for index in range(rows.table.n_columns)]
    left: list[int] = []
    right: list[int] = []
    cuts: list[Cut] = []

    def add(here: Rows) -> int | None:
        node = len(left)
        left.append(-1)
        right.append(-1)
        if (label[here] == label[here[0]]).all():
            return node
        part = _Part(label[here], rows.sums.values[:, here], rows.sums.objective)
        questions = [
            question
            for index, column in enumerate(columns)
            for question in _questions(index, column, column.values[present[here]], part)
        ]
        if not questions:
            return None
        _, cut = max(questions, key=lambda question: question[0])
        cuts.append(cut)
        holds = cut.holds(columns[cut.column])[present[here]]
        for side, going in ((left, here[~holds]), (right, here[holds])):
            child = add(going)
            if child is None:
                return None
            side[node] = child
        return node

    if add(np.arange(label.size)) is None:
        return None
    return Rebuilt(np.array(left, dtype=np.int32), np.array(right, dtype=np.int32), tuple(cuts))


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of a node: their labels and what they add to a leaf."""

    label: NDArray[np.intp]
    values: Floats
    objective: Objective

    def gain(self, sums: Floats) -> Floats:
        """Return the gain of a side with such sums and of the other one."""
        total = self.values.sum(axis=1).reshape(-1, *[1] * (sums.ndim - 1))
        # Differences of sums may be rounded below zero.
        return self.objective.gain(sums) + self.objective.gain(np.maximum(total - sums, 0.0))


def _questions(
    index: int, column: Column, values: NDArray[np.float64], part: _Part
) -> Iterator[tuple[float, Cut]]:
    """Yield questions about a column that keep all rows of a label together, and their gains."""
    plain = Cut(column=index, name=column.name, known=column.known)
    gone = values < 0 if column.kind == "categorical" else np.isnan(values)
    if column.kind == "categorical" and not column.ordered:
        yield from _of_categories(plain, column, np.where(gone, -1, values).astype(np.intp), part)
        return
    for missing in (False, True) if gone.any() else (None,):
        # Missing values are below all others, or above.
        ranked = np.where(gone, np.inf if missing else -np.inf, values)
        order = np.argsort(ranked, kind="stable")
        ranked, label = ranked[order], part.label[order]
        last = np.zeros(int(label.max()) + 1, dtype=np.intp)
        last[label] = np.arange(label.size)
        # After a position, no label is on both sides if none before it comes again.
        after = np.flatnonzero(
            (np.maximum.accumulate(last[label])[:-1] == np.arange(label.size - 1))
            & (ranked[1:] > ranked[:-1])
        )
        if not after.size:
            continue
        gains = part.gain(np.cumsum(part.values[:, order], axis=1)[:, after])
        best = int(np.argmax(gains))
        yield (
            float(gains[best]),
            _between(plain, column, ranked[after[best]], ranked[after[best] + 1], missing),
        )


def _between(plain: Cut, column: Column, low: float, high: float, missing: bool | None) -> Cut:
    """Return the question that divides two neighbouring values; one of them may be missing."""
    if np.isinf(low) or np.isinf(high):
        return replace(plain, missing=True)
    plain = replace(plain, missing=bool(missing) if column.has_missing else None)
    if column.kind == "boolean":
        return replace(plain, categories=(True,))
    if column.kind == "categorical":
        return replace(plain, categories=column.categories[int(low) + 1 :])
    threshold = readable(float(midpoint(low, high)), float(low), float(high))
    return replace(plain, threshold=threshold, seen=None)


def _of_categories(
    plain: Cut, column: Column, code: NDArray[np.intp], part: _Part
) -> Iterator[tuple[float, Cut]]:
    """Yield one group of categories against the rest, a group being what labels keep together.

    Missing values, with the code -1, count as a category here.
    """
    n_codes = len(column.categories) + 1
    shape = (n_codes + int(part.label.max()) + 1,) * 2
    # Early versions of SciPy take indices of 32 bits only, and say so on standard error alone.
    ends = (code + 1).astype(np.int32), (n_codes + part.label).astype(np.int32)
    links = coo_array((np.ones(code.size), ends), shape=shape)
    _, group = connected_components(links, directed=False)
    row_group = group[code + 1]
    groups = np.unique(row_group)
    if groups.size < 2:
        return
    for number in groups:
        here = row_group == number
        held = np.unique(code[here])
        names = tuple(column.categories[k] for k in held if k >= 0)
        if names and len(names) < len(plain.known or ()):
            side = bool(held[0] < 0) if column.has_missing else None
            cut = replace(plain, categories=names, missing=side)
        else:
            cut = replace(plain, missing=True)
        yield float(part.gain(part.values[:, here].sum(axis=1))), cut
