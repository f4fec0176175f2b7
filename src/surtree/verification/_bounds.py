"""Partial certificates: what the program can confirm where all trees are too many.

A tree with k splits has at most k levels, so the optimum of few splits is that of few levels. The
others have lower bounds by gapped cuts: questions about neighbouring thresholds are one group, and
the rows that they send to different sides go nowhere. No row has a negative loss, so what is left
costs no more than in any tree: L*(A and B) >= L*(A) + L*(B). The last level has smaller groups.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.verification.program import Objective, Search

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Done = Callable[[float], object]

# Work of a core in a second: additions of matrix products, and losses of pairs of questions.
_ADDITIONS, _LOSSES = 1e10, 1e8
# Answers, tables of pairs and results may take so many bytes.
MOST_BYTES = 1.5e9
# At the last level, groups are smaller by this factor.
LAST = 4
# The share of the time for all trees; the rest is for bounds.
EXACT = 0.7


@dataclass(frozen=True)
class Effort:
    """What a search takes at most: the seconds of one core, and bytes."""

    seconds: float
    bytes: float

    def fits(self, seconds: float) -> bool:
        return self.seconds <= seconds and self.bytes <= MOST_BYTES

    def __str__(self) -> str:
        units = {"years": 31_557_600, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
        unit = next((unit for unit, size in units.items() if self.seconds >= 2 * size), "seconds")
        size = max(self.seconds / units[unit], 1.0)
        return f"about {size:,.0f} {unit} of one core and {max(self.bytes / 1e9, 0.1):,.1f} GB"


def effort(
    n_rows: int, n_cuts: int, n_sums: int, depth: int, n_groups: int | None = None
) -> Effort:
    """Return what the best trees of a depth take at most."""
    groups = n_groups or n_cuts if depth > 1 else 1
    pairs = groups * n_cuts
    sets = math.comb(groups, max(depth - 2, 0))
    solved = sets * 2 ** max(depth - 2, 0)
    products = sets * n_rows * pairs * n_sums * (1 if n_groups is None else 4)
    tables = 8 * n_sums * (8 * pairs + 2 * groups * n_rows) + 8 * n_cuts * n_rows
    return Effort(
        products / _ADDITIONS + 4 * solved * pairs * n_sums / _LOSSES,
        tables + solved * (n_rows / 8 + 300),
    )


class TimedSearch(Search):
    """The search of the program, with an end; it tells how many first questions are done."""

    def __init__(self, claim: Any, rows: Any, objective: Objective, end: float, done: Done) -> None:
        super().__init__(claim, rows, objective)
        self.end, self.done = end, done

    def best(self, rows: Any, depth: int) -> Any:
        """Return what the program does, or raise a TimeoutError."""
        if monotonic() > self.end:
            raise TimeoutError
        return super().best(rows, depth) if depth > 1 else self.one_level(rows)[: 2**depth]

    def one_level(self, rows: Any) -> Floats:
        """Return the least loss without a split and with one: there is no table of pairs."""
        values = self.values[:, rows]
        total, yes = values.sum(axis=1)[:, None], values @ self.yes[rows]
        leaf = self.cost(total)[0]
        return np.array([leaf, min(leaf, (self.cost(yes) + self.cost(total - yes)).min())])

    def root(self, depth: int) -> Floats:
        """Return the least loss of all rows, by the number of splits."""
        rights, lefts = self.first_sides()
        if depth > 2:  # each first question on its own, so that its end can be told
            for number, (right, left) in enumerate(zip(rights, lefts, strict=True)):
                self.best(right, depth - 1)
                self.best(left, depth - 1)
                self.done((number + 1) / len(rights))
        return np.asarray(self.best(np.ones(self.values.shape[1], dtype=bool), depth))

    def first_sides(self) -> tuple[Masks, Masks]:
        """Return the rows on the right and on the left of each question, a question a row."""
        return self.yes.T, ~self.yes.T


class GappedSearch(TimedSearch):
    """Lower bounds of the losses of a search, without the limits on leaves."""

    def __init__(self, search: TimedSearch, cuts: list[Any], size: int) -> None:
        self.__dict__.update(search.__dict__)
        self.memo = {}
        self.objective = copy.copy(search.objective)
        self.objective.limits = []  # fewer limits allow more trees
        self.right, self.left = self._sides(_groups(cuts, self.yes, size))
        self.last = [
            sides.astype(float) for sides in self._sides(_groups(cuts, self.yes, LAST * size))
        ]

    def _sides(self, groups: list[list[int]]) -> tuple[Masks, Masks]:
        """Return the rows that all questions of a group send right, and those they send left."""
        right = np.array([self.yes[:, group].all(axis=1) for group in groups])
        return right, np.array([~self.yes[:, group].any(axis=1) for group in groups])

    def first_sides(self) -> tuple[Masks, Masks]:
        """Return the rows that all questions of a group send right, and those they send left."""
        return self.right, self.left

    def recur(self, rows: Any, depth: int) -> Floats:
        """Return the bounds of the program's recurrence over groups."""
        losses = np.full(2**depth, self.cost(self.values[:, rows].sum(axis=1)))
        for right, left in zip(self.right, self.left, strict=True):
            if (rows <= right).all() or (rows <= left).all():
                continue  # no question of the group divides the rows
            on_right, on_left = (
                self.best(rows & right, depth - 1),
                self.best(rows & left, depth - 1),
            )
            for i, loss in enumerate(on_right):
                here = losses[i + 1 : i + 1 + len(on_left)]
                np.minimum(here, loss + on_left, out=here)
        # Two splits have two levels, of which the last has smaller groups.
        losses[:3] = np.maximum(losses[:3], self.best(rows, 2)[:3])
        return losses

    def pairs(self, rows: Any) -> Floats:
        """Return the bounds of two levels: groups first, then smaller ones."""
        values, last = self.values[:, rows], [sides[:, rows].T for sides in self.last]
        leaf, split = [], []
        for side in (self.right[:, rows], self.left[:, rows]):
            weighted = values[:, None] * side
            leaf.append(self.cost(weighted.sum(axis=-1)))
            split.append(sum(self.cost(weighted @ sides) for sides in last).min(axis=-1))
        two, three = np.minimum(split[0] + leaf[1], split[1] + leaf[0]), split[0] + split[1]
        one = sum(self.cost(values @ sides) for sides in last)
        alone = self.cost(values.sum(axis=1))
        return np.array([alone, one.min(), two.min(), three.min()])


def _groups(cuts: list[Any], yes: Masks, size: int) -> list[list[int]]:
    """Return groups of questions: thresholds of a column whose rows are about as many."""
    groups: dict[Any, list[int]] = {}
    share = yes.mean(axis=0)
    for number, cut in enumerate(cuts):
        key: Any = number
        if cut["threshold"] is not None:
            key = cut["column"], cut["missing"], min(int(size * share[number]), size - 1)
        groups.setdefault(key, []).append(number)
    return list(groups.values())


@dataclass(frozen=True)
class Proof:
    """What was proven of the least loss with 0, 1, 2, ... splits."""

    lower: Floats  # no tree is below the one; some tree is not above the other
    upper: Floats
    depth: int  # the levels that all trees were tried of, and those of the claim
    asked_depth: int
    effort: Effort  # what all trees of the claim would take

    @property
    def known(self) -> Floats:
        """The least loss where it is known, NaN elsewhere."""
        splits = np.arange(self.lower.size)
        is_known = (splits <= self.depth) | (self.depth == self.asked_depth)
        return np.where(is_known, self.upper, np.nan)


def _limits(claim: Any) -> tuple[int, int]:
    """Return the levels of trees, and how many sizes there are."""
    depth, splits = claim["parameters"]["max_depth"], claim["parameters"]["max_splits"]
    return (depth, 2**depth) if splits is None else (min(depth, splits), min(2**depth, splits + 1))


def _sizes(claim: Any, rows: Any, objective: Objective) -> tuple[int, int, int]:
    """Return the numbers of distinct rows, of questions and of sums."""
    n_rows = np.unique([*rows["codes"].values()], axis=1).shape[1]
    return n_rows, len(claim["cuts"]), len(objective.values) + 1 + len(objective.limits)


def effort_of(claim: Any, rows: Any, objective: Objective) -> Effort:
    """Return what all trees of a claim take at most."""
    return effort(*_sizes(claim, rows, objective), _limits(claim)[0])


def prove(
    claim: Any, rows: Any, objective: Objective, seconds: float, done: Done = lambda share: None
) -> Proof:
    """Try all trees of the claim, or as many as time and memory allow; bound the rest."""
    end = monotonic() + seconds
    asked_depth, n_sizes = _limits(claim)
    n_rows, n_cuts, n_sums = _sizes(claim, rows, objective)
    whole = effort(n_rows, n_cuts, n_sums, asked_depth)
    lower, upper, depth = np.zeros(n_sizes), np.full(n_sizes, np.inf), -1
    # Trees of more and more levels; a part of the time is left for bounds of the others.
    search = TimedSearch(claim, rows, objective, monotonic() + EXACT * seconds, done)
    for levels in range(asked_depth + 1):
        if not effort(n_rows, n_cuts, n_sums, levels).fits(EXACT * seconds):
            break
        try:
            best = search.root(levels)
        except TimeoutError:
            break
        depth, upper = levels, best[np.minimum(np.arange(n_sizes), best.size - 1)]
    search.end = end
    known = np.arange(n_sizes) <= depth if depth < asked_depth else np.ones(n_sizes, dtype=bool)
    lower[known] = upper[known]
    if not known.all() and not objective.is_contrast:
        bounds = _gapped(search, claim["cuts"], asked_depth, n_sums)
        lower = np.maximum(lower, bounds[np.minimum(np.arange(n_sizes), bounds.size - 1)])
    return Proof(np.minimum(lower, upper), upper, depth, asked_depth, whole)


def _gapped(search: TimedSearch, cuts: list[Any], depth: int, n_sums: int) -> Floats:
    """Return the best bounds that there is time for, with ever smaller groups."""
    bounds, n_rows = np.zeros(1), search.values.shape[1]
    chains = Counter((cut["column"], cut["missing"]) for cut in cuts)
    for size in (2**power for power in range(1, 12)):
        n_groups, n_last = (
            sum(min(most, count) for count in chains.values()) for most in (size, LAST * size)
        )
        if not effort(n_rows, n_last, n_sums, depth, n_groups).fits(search.end - monotonic()):
            break
        try:
            finer = GappedSearch(search, cuts, size).root(depth)
        except TimeoutError:
            break
        bounds = np.maximum(finer, bounds)
        if n_groups == len(cuts):
            break
    return bounds
