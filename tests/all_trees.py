"""Every tree within the limits of a small problem, by nothing but their definition.

``EXAMPLES=500 pytest tests/questions/test_near.py tests/questions/test_costs.py
tests/questions/test_conditions.py`` compares 500 problems in each test, not 60.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, settings

from problems import Case
from surtree import CompetingRisksTree, SurTree
from surtree.data.named import RowInputs
from surtree.estimators.parameters import limits_of
from surtree.questions._training import fitted_problem
from surtree.solver.problem import Limits
from surtree.solver.reference import Node
from surtree.survival.row_sums import Sums

MOST_TREES = 20_000
check = settings(
    max_examples=int(os.environ.get("EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class OneTree:
    node: Node
    gain: float
    leaves: frozenset[bytes]  # the rows of each


class AllTrees:
    def __init__(self, holds: np.ndarray, sums: Sums, limits: Limits) -> None:
        self._holds, self._sums, self._limits = holds, sums, limits
        self._cache: dict[tuple[bytes, int, int], list[OneTree]] = {}

    def trees(self) -> list[OneTree]:
        limits = self._limits
        most = 2**limits.max_depth - 1
        most = most if limits.max_splits is None else min(most, limits.max_splits)
        everything = np.ones(len(self._holds), dtype=bool)
        return [
            tree
            for splits in range(most + 1)
            for tree in self._of(everything, limits.max_depth, splits, is_root=True)
        ]

    def _of(self, rows: np.ndarray, depth: int, splits: int, *, is_root: bool) -> list[OneTree]:
        key = rows.tobytes(), depth, splits
        if key not in self._cache:
            self._cache[key] = list(self._make(rows, depth, splits, is_root))
        return self._cache[key]

    def _make(self, rows: np.ndarray, depth: int, splits: int, is_root: bool) -> Iterator[OneTree]:
        if splits == 0:
            if is_root or self._allows(rows):
                gain = float(self._sums.objective.gain(self._sums.values[:, rows].sum(axis=1)))
                yield OneTree(Node(), gain, frozenset([rows.tobytes()]))
            return
        if depth == 0:
            return
        for cut, holds in enumerate(self._holds.T):
            left, right = rows & ~holds, rows & holds
            if not (left.any() and right.any()):
                continue
            for below in range(splits):
                for no in self._of(left, depth - 1, splits - 1 - below, is_root=False):
                    for yes in self._of(right, depth - 1, below, is_root=False):
                        node = Node(cut, no.node, yes.node)
                        yield OneTree(node, no.gain + yes.gain, no.leaves | yes.leaves)

    def _allows(self, rows: np.ndarray) -> bool:
        counts = self._sums.counts
        return all(counts[name][rows].sum() >= least for name, least in self._limits.least.items())


def count_at_most(n_cuts: int, limits: Limits) -> float:
    """Return how many trees there are at most, to leave out problems that take too long."""
    most = 2**limits.max_depth - 1
    most = most if limits.max_splits is None else min(most, limits.max_splits)
    by_splits = np.zeros(most + 1)
    by_splits[0] = 1
    for _ in range(limits.max_depth):
        pairs = n_cuts * np.convolve(by_splits, by_splits)
        by_splits = np.concatenate([[1.0], pairs])[: most + 1]
    return float(by_splits.sum())


def question_at(node: Node, path: str) -> int | None:
    """Return the cut that a tree asks at a path; None if there is no split."""
    for answer in path:
        following = node.right if answer == "y" else node.left
        if following is None:
            return None
        node = following
    return node.cut


def fit_small(case: Case, with_causes: bool) -> tuple[SurTree, tuple]:
    """Fit a case, with fewer levels where brute force would take too long."""
    settings_, depth = dict(case.limits), min(case.limits["max_depth"], 3)
    y = case.y
    if with_causes:
        causes = np.where(y["event"], 1 + np.arange(len(y)) % 2, 0)
        y = np.rec.fromarrays([causes, y["time"]], names="event,time").view(np.ndarray)
    rows = case.X, y, case.weight, case.entry
    while True:
        kind = CompetingRisksTree if with_causes else SurTree
        model = kind(**settings_ | {"max_depth": depth}).fit(*rows)
        limits = limits_of(model, fitted_problem(model, RowInputs(*rows), "")[1].data.target)
        if depth == 0 or count_at_most(len(model.encoder_.cuts_), limits) <= MOST_TREES:
            return model, rows
        depth -= 1


def everything(model: SurTree, rows: tuple | dict, max_splits: int | None):
    """Return the problem of a model, and all trees of at most so many splits."""
    given = RowInputs(**rows) if isinstance(rows, dict) else RowInputs(*rows)
    _, problem = fitted_problem(model, given, "")
    limits = limits_of(model, problem.data.target)
    limits = type(limits)(**vars(limits) | {"max_splits": max_splits})
    table, present = problem.data.table, problem.data.present
    held = [cut.holds(table.column(cut.column))[present] for cut in problem.encoder.cuts_]
    holds = np.array(held).reshape(len(held), int(present.sum())).T
    return problem, AllTrees(holds, problem.data.sums, limits).trees()
