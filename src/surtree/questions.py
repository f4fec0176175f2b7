"""What can be asked about one column, before anyone looks at how useful it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree import _core
from surtree.cut import Cut
from surtree.table import Column
from surtree.thresholds import distinct_values, first_of_each, quantile_thresholds, readable

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Bins = NDArray[np.uint16] | NDArray[np.intp]

# Up to so many thresholds, comparing all values with each takes less than looking each value up.
_FEW = 24


@dataclass(frozen=True, eq=False)
class Held:
    """The rows for which each question holds.

    Parameters
    ----------
    n_rows : array of int
        How many there are.
    key : array of uint64 of shape (2, n_questions)
        A name of the set of rows: the sum of random numbers, one for each row.
    weight : array of float
        What they weigh.
    """

    n_rows: NDArray[np.int64]
    key: NDArray[np.uint64]
    weight: Floats


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

    def held(self, weight: Floats | None = None) -> Held:
        """Say for which rows each question holds: how many, by which key, and of which weight.

        Parameters
        ----------
        weight : array of float of shape (n_rows,), optional
            The weight of each row, one if None.
        """
        n, low, high, weighed = _core.sum_bins(self.bins, self.n_bins + 1, weight)
        counts = self._over_bins(np.array((n.view(np.uint64), low, high)))
        n_rows = counts[0].view(np.int64)
        return Held(
            n_rows,
            counts[1:],
            n_rows.astype(np.float64) if weight is None else self._over_bins(weighed[None])[0],
        )

    def _over_bins(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Add up, for each question, what is known of each bin, a line for each kind of sum."""
        before = np.zeros((len(sums), sums.shape[1] + 1), dtype=sums.dtype)
        np.cumsum(sums, axis=1, out=before[:, 1:])
        held = before[:, self.last + 1] - before[:, self.first]
        return held + self.missing * sums[:, -1:] if self.missing.any() else held

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
    plain = Cut(column=index, name=column.name, known=column.known)
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
    if len(distinct) == 2 and thresholds[0] < distinct[1]:  # as in a column of 0 and 1
        above, places = np.array([1]), np.array([0])
    else:
        above = np.searchsorted(distinct, thresholds, side="right")
        # Thresholds between the same two values ask the same: the first of them is taken.
        above = above[above < len(distinct)]
        places = first_of_each(above) if above.size else above
        above = above[places]
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
        return replace(plain, categories=column.categories[below[question] + 1 :])

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
    if column.has_missing:
        bins[column.missing] = n_bins

    def cut(question: int) -> Cut:
        if question < len(own):
            return replace(plain, categories=(categories[question],))
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
    held = questions.held().n_rows
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
