"""Conditions that a tree may have to satisfy, by its topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.fitting.training import FitProblem
from surtree.questions._first import position_of
from surtree.questions._near_search import node_thetas
from surtree.solver.problem import TreeTopology
from surtree.tree.tree import Tree
from surtree.words.numbers import plural

Condition = Callable[[TreeTopology], bool]


def conditions_of(
    problem: FitProblem,
    predicate: Callable[[Tree], object] | None,
    monotone: Mapping[str, int] | None,
    max_columns: int | None,
) -> list[Condition]:
    """Return the conditions, those that take longest last."""
    wanted: list[Condition] = []
    if max_columns is not None:
        wanted.append(_few_columns(problem, max_columns))
    if monotone:
        wanted.append(Monotone(problem, monotone))
    if predicate is not None:
        if not callable(predicate):
            raise TypeError(f"predicate must take a tree and return a bool; got {predicate!r}")
        wanted.append(_asked(problem, predicate))
    if not wanted:
        raise ValueError("say what the tree must satisfy: a predicate, monotone or max_columns")
    return wanted


def condition_text(
    predicate: Callable[[Tree], object] | None,
    monotone: Mapping[str, int] | None,
    max_columns: int | None,
) -> str:
    """Return the conditions in words, as a part of a sentence about a tree."""
    parts = [] if predicate is None else ["satisfies a condition of its user"]
    if max_columns is not None:
        parts.append(f"asks about at most {plural(max_columns, 'column')}")
    for name, sign in (monotone or {}).items():
        parts.append(f"lets the risk only {'rise' if sign > 0 else 'fall'} with {name}")
    return " and ".join(parts)


def _few_columns(problem: FitProblem, max_columns: Any) -> Condition:
    if not isinstance(max_columns, int | np.integer) or max_columns < 0:
        raise ValueError(f"max_columns must be a whole number, 0 or more; got {max_columns!r}")
    column_of = np.array([cut.column for cut in problem.encoder.cuts_], dtype=np.intp)

    def asks_few(topology: TreeTopology) -> bool:
        return len(set(column_of[topology.cut[topology.cut >= 0]].tolist())) <= int(max_columns)

    return asks_few


def _asked(problem: FitProblem, predicate: Callable[[Tree], object]) -> Condition:
    def satisfies(topology: TreeTopology) -> bool:
        (unbuilt,) = problem.build([topology])
        try:
            return bool(predicate(unbuilt.tree))
        except Exception as error:
            raise ValueError(
                f"predicate raised {type(error).__name__} for a tree of {unbuilt.tree.n_splits} "
                f"splits: {error}"
            ) from error

    return satisfies


class Monotone:
    """Whether risk only rises, or only falls, with some columns.

    Leaves are products of sets of values. Two of them are compared where a person of one differs
    from a person of the other in the column alone: where their sets have a value in common in
    every other column.
    """

    def __init__(self, problem: FitProblem, signs: Mapping[str, int]) -> None:
        self._problem = problem
        cuts, table = problem.encoder.cuts_, problem.data.table
        self._column = [cut.column for cut in cuts]
        by_column: dict[int, list[Cut]] = {}
        for cut in cuts:
            by_column.setdefault(cut.column, []).append(cut)
        self._all = {column: _every_value(of) for column, of in by_column.items()}
        self._missing = {column: 1 << (_n_values(of) - 1) for column, of in by_column.items()}
        self._held = [_values_held(cut, by_column[cut.column]) for cut in cuts]
        self._signs: dict[int, int] = {}
        for name, sign in signs.items():
            column = position_of(name, table)
            if sign not in (-1, 1):
                raise ValueError(
                    f"monotone says 1 (risk may only rise) or -1 (only fall) of {name!r}; "
                    f"got {sign!r}"
                )
            for cut in by_column.get(column, ()):
                self._require_order(cut, by_column[column])
            self._signs[column] = int(sign)

    def _require_order(self, cut: Cut, of_column: list[Cut]) -> None:
        n_values = _n_values(of_column) - 1
        held = _values_held(cut, of_column) & ((1 << n_values) - 1)
        ends = [((1 << n_values) - 1) ^ ((1 << k) - 1) for k in range(n_values + 1)]
        if n_values > 2 and held not in ends and (((1 << n_values) - 1) ^ held) not in ends:
            raise ValueError(
                f"the categories of {cut.name!r} have no order, so no tree rises or falls with "
                "them: pass an ordered categorical, or a number"
            )

    def __call__(self, topology: TreeTopology) -> bool:
        ((_, theta),) = node_thetas(self._problem, [topology])
        return self.holds(topology, theta)

    def holds(self, topology: TreeTopology, theta: Floats) -> bool:
        """Tell whether no two leaves are in the wrong order."""
        asked = {self._column[cut] for cut in topology.cut if cut >= 0}
        signs = {column: sign for column, sign in self._signs.items() if column in asked}
        if not signs:
            return True
        leaves = self._leaves(topology, 0, {column: self._all[column] for column in asked})
        tie = 1e-9 * float(np.abs(theta).max())
        for column, sign in signs.items():
            not_missing = ~self._missing[column]
            for low, below in leaves:
                for high, above in leaves:
                    if sign * (theta[high] - theta[low]) >= -tie:
                        continue
                    first, last = below[column] & not_missing, above[column] & not_missing
                    if not first or not last or (first & -first).bit_length() >= last.bit_length():
                        continue
                    if all(below[c] & above[c] for c in asked if c != column):
                        return False
        return True

    def _leaves(
        self, topology: TreeTopology, node: int, region: dict[int, int]
    ) -> list[tuple[int, dict[int, int]]]:
        cut = int(topology.cut[node])
        if cut < 0:
            return [(node, region)]
        column, held = self._column[cut], self._held[cut]
        no, yes = int(topology.left[node]), int(topology.right[node])
        return [
            *self._leaves(topology, no, region | {column: region[column] & ~held}),
            *self._leaves(topology, yes, region | {column: region[column] & held}),
        ]


def _n_values(cuts: list[Cut]) -> int:
    """Return how many values of a column its cuts tell apart, and one for what is missing."""
    listed = any(cut.categories is not None for cut in cuts)
    return 1 + (len(_known(cuts[0])) if listed else 1 + len(_thresholds(cuts)))


def _every_value(cuts: list[Cut]) -> int:
    has_missing = any(cut.missing is not None for cut in cuts)
    return (1 << _n_values(cuts) - (not has_missing)) - 1


def _known(cut: Cut) -> tuple[Any, ...]:
    return (False, True) if cut.known is None else cut.known


def _thresholds(cuts: list[Cut]) -> list[float]:
    return sorted({cut.threshold for cut in cuts if cut.threshold is not None})


def _values_held(cut: Cut, cuts: list[Cut]) -> int:
    """Return a bit for each value for which a cut holds, ascending; missing values last."""
    n_values = _n_values(cuts) - 1
    values, held = (1 << n_values) - 1, 0
    if cut.threshold is not None:
        above = _thresholds(cuts).index(cut.threshold) + 1
        held = values ^ ((1 << above) - 1)
    elif cut.categories is not None:
        listed = sum(1 << k for k, name in enumerate(_known(cut)) if name in cut.categories)
        held = values ^ listed if cut.negated else listed
    else:
        return 1 << n_values
    return held | (1 << n_values) * bool(cut.missing)
