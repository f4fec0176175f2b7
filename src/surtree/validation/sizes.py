"""Held-out scores of trees of every size, which size to choose, and what else was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import TIE
from surtree._support.status import Status
from surtree._support.types import ArrayValue, Floats
from surtree.words.numbers import figure
from surtree.words.tables import table_html

Rule = Literal["best", "1se"]
RULES: tuple[Rule, ...] = ("best", "1se")


# Why a table has no standard errors.
ONE_FOLD = "std. error: a single fold has none"
# The share of a fold's own score that is taken out of the others': `SizeScores.without_fold`.
_TAKEN_OUT = 0.5


def candidate_sizes(max_depth: int, max_splits: int | None) -> list[tuple[int, int]]:
    """Return all pairs of a depth and a number of splits worth a try, the smallest size first.

    A tree with k splits is at most k deep, and a tree of depth d has at most 2**d - 1 splits: other
    pairs would repeat these.
    """
    pairs = [
        (depth, splits)
        for depth in range(max_depth + 1)
        for splits in range(depth, 2**depth)
        if max_splits is None or splits <= max_splits
    ]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


@dataclass(frozen=True, eq=False)
class SizeScores(ArrayValue):
    """The scores of every size in every fold; ``print`` shows them as a table.

    Parameters
    ----------
    max_depth, max_splits : array of int of shape (n_sizes,)
        The limits of each size: fewer splits first, then less depth.
    held_out : array of float of shape (n_sizes, n_folds)
        The score of the rows that the fold's tree has not seen; higher is better.
    training_loss : array of float of shape (n_sizes, n_folds)
        The loss of the rows that the tree was fitted on, divided by their weight.
    scoring : str
        What the score is. With "loss", it is the loss with its sign turned, divided by the weight.
    rule : {"best", "1se"}
        How the size is chosen.
    shrinkage : float
        The events that the prior of each leaf is worth, for all sizes.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> sizes = SurTreeCV(max_depth=1, cv=3).fit(X, y).sizes_
    >>> print(sizes)
    splits  depth  training loss  held-out loss  std. error
         0      0         0.6939         0.7110      0.0824
         1      1         0.6465         0.6685      0.0742  best, chosen
    """

    max_depth: NDArray[np.int64]
    max_splits: NDArray[np.int64]
    held_out: Floats
    training_loss: Floats
    scoring: str
    rule: Rule
    shrinkage: float = 0.0

    @property
    def mean(self) -> Floats:
        """The mean score of each size over the folds."""
        return np.asarray(self.held_out.mean(axis=1))

    @property
    def standard_error(self) -> Floats:
        """The standard error of each of these means; NaN where there is a single fold."""
        n_folds = self.held_out.shape[1]
        if n_folds == 1:
            return np.full(self.held_out.shape[0], np.nan)
        return np.asarray(self.held_out.std(axis=1, ddof=1) / np.sqrt(n_folds))

    @property
    def best(self) -> int:
        """The position of the size with the highest mean, the smallest one of these."""
        return self._smallest_within(0.0)

    @property
    def one_standard_error(self) -> int:
        """The position of the smallest size whose mean is within one standard error of the best."""
        error = float(self.standard_error[self.best])
        return self._smallest_within(error if isfinite(error) else 0.0)

    @property
    def chosen(self) -> int:
        """The position of the size that the rule picks."""
        return self.best if self.rule == "best" else self.one_standard_error

    @property
    def marks(self) -> list[str]:
        """For each size, whether it is the best and whether it is the chosen one, in words."""
        words = (("best", self.best), ("chosen", self.chosen))
        return [
            ", ".join(word for word, marked in words if marked == size)
            for size in range(self.mean.size)
        ]

    def of_depth(self, depth: int) -> NDArray[np.intp]:
        """Return the positions of the best trees up to a depth with 0, 1, 2, ... splits.

        A tree with fewer splits than its depth allows is a candidate of the lesser depth.
        """
        return np.flatnonzero(self.max_depth == np.minimum(self.max_splits, depth))

    def without_fold(self, fold: int, others: NDArray[np.bool_]) -> SizeScores:
        """Return the scores of other folds, cleared of what the rows of one fold add to them.

        Trees of the other folds were fitted on the rows of this one. Where columns say nothing, the
        others' scores therefore hold its own once more, and it is to be subtracted; where trees
        hardly depend on its rows, it is not. One half of it is the value that simulations chose
        (docs/results/held-out.md).

        Parameters
        ----------
        fold : int
            The position of the fold.
        others : array of bool of shape (n_folds,)
            The folds that count.
        """
        score, scores = self.held_out[:, [fold]], self.held_out[:, others]
        share = _TAKEN_OUT / (scores.shape[1] - _TAKEN_OUT)
        return replace(
            self,
            held_out=scores + share * (scores - score),
            training_loss=self.training_loss[:, others],
        )

    def _smallest_within(self, margin: float) -> int:
        mean = self.mean
        highest = float(mean.max())
        return int(np.argmax(_is_as_good(mean, highest, margin)))

    def __repr__(self) -> str:
        n_sizes, n_folds = self.held_out.shape
        chosen = int(self.max_splits[self.chosen])
        return (
            f"SizeScores(n_sizes={n_sizes}, n_folds={n_folds}, scoring={self.scoring!r}, "
            f"rule={self.rule!r}, chosen_splits={chosen})"
        )

    def __str__(self) -> str:
        heading, *rows = self._cells()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        marks = ["", *self.marks]
        lines = [
            "  ".join([*map(str.rjust, row, widths), mark]).rstrip()
            for row, mark in zip([heading, *rows], marks, strict=True)
        ]
        return "\n".join([*lines, *([ONE_FOLD] if self.held_out.shape[1] == 1 else [])])

    def _repr_html_(self) -> str:
        heading, *rows = self._cells()
        marked = ((*row, mark) for row, mark in zip(rows, self.marks, strict=True))
        return table_html((*heading, ""), marked)

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the heading of the table and the cells of each size, without the marks."""
        loss = self.scoring == "loss"
        heading = (
            "splits",
            "depth",
            "training loss",
            "held-out loss" if loss else f"held-out {self.scoring}",
            "std. error",
        )
        mean = -self.mean if loss else self.mean
        columns = (
            self.max_splits,
            self.max_depth,
            self.training_loss.mean(axis=1),
            mean,
            self.standard_error,
        )
        return [heading, *(tuple(map(_cell, row)) for row in zip(*columns, strict=True))]


@dataclass(frozen=True)
class Tuning:
    """What a cross-validation tried, and how its searches ended; `SizeScores` has its scores.

    Parameters
    ----------
    shrinkages : tuple of float
        The values of shrinkage to choose from, ascending.
    stratified : bool
        Whether folds were stratified by events (`EventStratifiedKFold`), and not given.
    status : Status
        "optimal" where the searches of all folds were completed, else how one of them ended.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> search = SurTreeCV(max_depth=1, cv=3, shrinkage=[1, 3]).fit(*load_gbsg2())
    >>> search.best_estimator_.tuning_
    Tuning(shrinkages=(1.0, 3.0), stratified=True, status='optimal')
    """

    shrinkages: tuple[float, ...]
    stratified: bool
    status: Status


def choose(scores: Sequence[SizeScores]) -> tuple[int, int]:
    """Return the position of the shrinkage with the best mean, and of the size that the rule picks.

    If several are equally good, it is the smallest size and of these the least shrinkage.
    """
    highest = [float(score.mean[score.best]) for score in scores]
    _, index = min(
        (score.best, index)
        for index, score in enumerate(scores)
        if _is_as_good(highest[index], max(highest))
    )
    return index, scores[index].chosen


def _is_as_good(mean: Floats | float, highest: float, margin: float = 0.0) -> NDArray[np.bool_]:
    """Return whether mean scores are within a margin of the highest, but for rounding."""
    return np.asarray(mean >= highest - margin - TIE * abs(highest))


def _cell(value: np.generic) -> str:
    return str(value) if isinstance(value, np.integer) else figure(float(value), 4)
