"""What can be asked about one column, before anyone looks at how useful it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surtree.cut import Cut
from surtree.table import Column
from surtree.thresholds import distinct_values, quantile_thresholds, readable

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Bins = NDArray[np.uint16] | NDArray[np.intp]

# Up to so many thresholds, comparing all values with each takes less than looking each value up.
_FEW = 24


@dataclass(frozen=True, eq=False)
class Questions:
    """The bins of a column, and questions that hold for a range of them.

    Parameters
    ----------
    bins : array of int
        The bin of each row; ``n_bins`` where the value is missing.
    n_bins : int
        How many bins hold values.
    nominal : bool
        Whether each question is about a single bin, and their order means nothing.
    first, last : array of int
        Each question holds for the bins from its first to its last, both included ...
    missing : array of bool
        ... and, where this is True, for missing values. The question "is missing" holds for no
        other bin: its last is before its first.
    cut : callable
        Makes the cut that asks the question at a position.
    """

    bins: Bins
    n_bins: int
    nominal: bool
    first: Places
    last: Places
    missing: NDArray[np.bool_]
    cut: Callable[[int], Cut]

    def held(self, keys: Floats | None = None, weight: Floats | None = None) -> Floats:
        """Count the rows for which each question holds, and sum measures of the rows over them.

        Parameters
        ----------
        keys : array of float of shape (n_keys, n_rows), optional
            Whole numbers, small enough for their sums to be exact.
        weight : array of float of shape (n_rows,), optional
            Any numbers.

        Returns
        -------
        array of shape (n_measures, n_questions)
            The number of rows, the sum of each key, and the weight.
        """
        sums = self._sums(np.empty((0, len(self.bins))) if keys is None else keys, weight)
        before = np.zeros((len(sums), self.n_bins + 2))
        np.cumsum(sums, axis=1, out=before[:, 1:])
        held: Floats = before[:, self.last + 1] - before[:, self.first]
        if self.missing.any():
            held += self.missing * sums[:, -1:]
        return held

    def _sums(self, keys: Floats, weight: Floats | None) -> Floats:
        """Return the number of rows, the sum of each key, and the weight, of each bin."""
        if self.n_bins == 2 and weight is None and self.bins.max() < 2:
            # Nothing is missing; and in two bins every addition would wait for the one before.
            above = self.bins.astype(np.float64)
            sums = np.zeros((1 + len(keys), 3))
            sums[0, 1], sums[1:, 1] = np.count_nonzero(self.bins), np.einsum("kn,n->k", keys, above)
            sums[0, 0], sums[1:, 0] = len(above), keys.sum(axis=1)
            sums[:, 0] -= sums[:, 1]
            return sums
        places = self.bins.astype(np.intp, copy=False)
        measures = [None, *keys] if weight is None else [None, *keys, weight]
        return np.array(
            [np.bincount(places, measure, minlength=self.n_bins + 1) for measure in measures]
        )

    def hold_for(self, row: int) -> NDArray[np.bool_]:
        """Answer each question for one row."""
        place = self.bins[row]
        if place == self.n_bins:
            return self.missing
        return np.asarray((self.first <= place) & (place <= self.last))


def ask(
    index: int,
    column: Column,
    weight: Floats,
    repeats: Floats | None,
    *,
    n_thresholds: int | None,
    max_categories: int,
) -> Questions:
    """Return all questions about a column.

    Parameters
    ----------
    index : int
        The position of the column in the user's table.
    column : Column
        The training rows; at least one has a value.
    weight : array of float
        The weights of the rows, all positive.
    repeats : array of float, optional
        How often each row counts where thresholds are chosen; once when None.
    n_thresholds : int or None
        The most thresholds of a numeric or ordered column; None: all.
    max_categories : int
        The most categories of an unordered column, counting all others together as one.

    Returns
    -------
    Questions
    """
    plain = Cut(column=index, name=column.name)
    if column.kind == "boolean":
        questions = _ask_boolean(plain, column)
    elif column.kind == "numeric":
        questions = _ask_numbers(plain, column, repeats, n_thresholds)
    elif column.ordered:
        questions = _ask_ordered(plain, column, repeats, n_thresholds)
    else:
        questions = _ask_categories(plain, column, weight, max_categories)
    return _with_missing(plain, questions) if column.has_missing else questions


def _ask_boolean(plain: Cut, column: Column) -> Questions:
    bins = np.where(column.missing, 2, column.values).astype(np.uint16)
    return _ask_above(bins, 2, lambda _: replace(plain, categories=(True,)))


def _ask_numbers(
    plain: Cut, column: Column, repeats: Floats | None, n_thresholds: int | None
) -> Questions:
    distinct, counts = _distinct(column, repeats)
    thresholds = quantile_thresholds(distinct, counts, n_thresholds)
    above = np.searchsorted(distinct, thresholds, side="right")
    # Thresholds between the same two values ask the same: the first of them is taken.
    above, places = np.unique(above[above < len(distinct)], return_index=True)
    bins = _bins(column.values, distinct[above])
    if column.has_missing:
        bins[column.missing] = len(above) + 1
    plain = replace(plain, seen=(float(distinct[0]), float(distinct[-1])))

    def cut(question: int) -> Cut:
        lower, upper = distinct[above[question] - 1], distinct[above[question]]
        threshold = readable(float(thresholds[places[question]]), float(lower), float(upper))
        return replace(plain, threshold=threshold)

    return _ask_above(bins, len(above) + 1, cut)


def _ask_ordered(
    plain: Cut, column: Column, repeats: Floats | None, n_thresholds: int | None
) -> Questions:
    distinct, counts = _distinct(column, repeats)
    few = n_thresholds is None or len(distinct) <= n_thresholds + 1
    thresholds = quantile_thresholds(
        distinct.astype(np.float64), counts, None if few else n_thresholds
    )
    # Codes are whole numbers, so all thresholds between two of them are the same.
    below = np.unique(np.floor(thresholds).astype(np.intp))
    bins = np.searchsorted(below, column.values, side="left")
    bins[column.missing] = len(below) + 1

    def cut(question: int) -> Cut:
        return plain.of_categories(column.categories[below[question] + 1 :], column)

    return _ask_above(bins, len(below) + 1, cut)


def _ask_categories(plain: Cut, column: Column, weight: Floats, max_categories: int) -> Questions:
    present_rows = ~column.missing if column.has_missing else slice(None)
    codes, weight = column.values[present_rows], weight[present_rows]
    frequency = np.bincount(codes, weight, minlength=len(column.categories))
    present = np.flatnonzero(frequency)
    own = present
    if len(present) > max_categories:
        most_frequent = present[np.argsort(-frequency[present], kind="stable")]
        own = np.sort(most_frequent[: max_categories - 1])
    categories = tuple(column.categories[code] for code in own)
    places = np.full(len(column.categories), len(own))
    places[own] = np.arange(len(own))
    n_bins = len(own) + (len(own) < len(present))
    bins = places[column.values]
    bins[column.missing] = n_bins

    def cut(question: int) -> Cut:
        if question < len(own):
            return plain.of_categories((categories[question],), column)
        return replace(plain, categories=categories, negated=True)

    every = np.arange(n_bins)
    return Questions(bins, n_bins, True, every, every, np.zeros(n_bins, dtype=bool), cut)


def _distinct(column: Column, repeats: Floats | None) -> tuple[Floats, Floats]:
    if not column.has_missing:
        return distinct_values(column.values, repeats)
    present = ~column.missing
    return distinct_values(column.values[present], None if repeats is None else repeats[present])


def _bins(values: Floats, edges: Floats) -> Bins:
    """Return how many of the edges, which ascend, each value is not below."""
    if len(edges) > _FEW:
        return np.searchsorted(edges, values, side="right")
    bins = np.zeros(len(values), dtype=np.uint8)
    for edge in edges:
        bins += values >= edge
    return bins.astype(np.uint16)


def _ask_above(bins: Bins, n_bins: int, cut: Callable[[int], Cut]) -> Questions:
    """Ask, for every bin but the first, whether a row is in it or above."""
    first = np.arange(1, n_bins)
    last = np.full(n_bins - 1, n_bins - 1)
    return Questions(bins, n_bins, False, first, last, np.zeros(n_bins - 1, dtype=bool), cut)


def _with_missing(plain: Cut, questions: Questions) -> Questions:
    """Ask every question with missing values on either side, and at last whether one is missing."""
    n_bins = questions.n_bins
    held = questions.held()[0]
    # What does not tell values apart would be a riddle for "is missing".
    asked = np.flatnonzero((held > 0) & (held < np.count_nonzero(questions.bins < n_bins)))

    def cut(question: int) -> Cut:
        if question == 2 * len(asked):
            return replace(plain, missing=True)
        return replace(questions.cut(asked[question // 2]), missing=question % 2 == 1)

    return replace(
        questions,
        first=np.append(np.repeat(questions.first[asked], 2), n_bins),
        last=np.append(np.repeat(questions.last[asked], 2), n_bins - 1),
        missing=np.append(np.tile([False, True], len(asked)), True),
        cut=cut,
    )
