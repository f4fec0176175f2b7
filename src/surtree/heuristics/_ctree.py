"""Conditional inference trees: a column is split when a permutation test says that it matters."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind, require_not_negative
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import bin_answers
from surtree.cuts.thresholds import midpoint, readable
from surtree.data.table import Column
from surtree.estimators.parameters import SHARE, between, or_none, whole
from surtree.fitting.training import TrainingData
from surtree.heuristics._base import HeuristicTree
from surtree.heuristics._permutation import (
    Scores,
    Test,
    adjusted,
    best_subset,
    best_threshold,
    group_test,
    linear_test,
)
from surtree.solver.core import Problem
from surtree.solver.problem import TreeTopology
from surtree.tree.build import build_tree
from surtree.tree.tree import Tree

Rows = NDArray[np.intp]

# When no cut of the most significant column leaves enough rows on both sides, one more is tried.
_COLUMNS_TRIED = 2


@dataclass(frozen=True)
class NodeTests:
    """The tests that decided whether and where a node was split.

    Parameters
    ----------
    statistic : array of float
        For each of the user's columns, the statistic of its test; NaN where it could not be
        tested, because the column does not vary among the rows of the node.
    p_value : array of float
        The p-value of each column, adjusted for the number of columns that were tested.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> tests = ConditionalInferenceTree(max_depth=1).fit(X, y).tests_[0]
    >>> X.columns[tests.p_value.argmin()]
    'positive_nodes'
    """

    statistic: Floats
    p_value: Floats


@dataclass(eq=False, repr=False)
class ConditionalInferenceTree(HeuristicTree):
    """A conditional inference tree (CTree) for censored times, by Hothorn, Hornik and Zeileis.

    A node is split when some column is associated with survival: each column has a permutation
    test of log-rank scores, with its asymptotic distribution, and the p-values are adjusted for
    the number of columns. The column with the smallest p-value is cut where the two sides differ
    most. It works on the columns themselves: all thresholds, and all ways to divide the
    categories in two.

    Parameters
    ----------
    max_depth : int or None, default=None
        The largest number of questions that a row is asked. None is no limit.
    alpha : float, default=0.05
        The largest adjusted p-value for which a node is split.
    min_split : float, default=20
        A node with less weight is not split. Without weights, this is a number of rows.
    min_bucket : float, default=7
        The smallest weight on either side of a cut, missing values not counted ...
    min_share : float, default=0.01
        ... and the smallest share of the weight of the node.
    leaf_curve : optional
        As in `SurTree`. Without shrinkage, "shrunk" is "kaplan-meier".

    Attributes
    ----------
    tree_ : Tree
        The tree.
    loss_ : float
        The loss of `SurTree` on the training rows, which this tree does not minimise.
    tests_ : tuple of NodeTests or None
        The tests of each node of the tree; None where a node was too small or too deep to test.

    Notes
    -----
    The trees and p-values are those of ``partykit::ctree`` in R with its defaults, apart from
    three decisions. Rows whose value is missing do not take part in the test and the cut of their
    column, and then follow the heavier side, as does a category that the node has not seen
    (partykit has ``majority = TRUE`` for this, and otherwise draws the side at random). Weights
    count as repeated rows in the log-rank scores too. A threshold lies between two values of the
    column, not on the lower one.

    A column with more than 16 categories in a node is divided between categories in the order of
    their mean scores; that is the best division, except where ``min_bucket`` rules it out.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> model = ConditionalInferenceTree().fit(X, y)
    >>> print(model.tree_)
                                         leaf    n  events  theta  median (baseline)
    all rows
    ├─ positive_nodes <= 3.5
    │  ├─ hormone_therapy is no             A  248      88  0.751               2372
    │  └─ hormone_therapy is yes            B  128      31  0.441             > 2456
    └─ positive_nodes > 3.5
       ├─ progesterone_receptor <= 20.5     C  144     103    2.6                662
       └─ progesterone_receptor > 20.5      D  166      77   1.07               1684
    >>> model.tests_[0].p_value.min().round(15)
    np.float64(5.36e-13)
    """

    max_depth: int | None = None
    _: KW_ONLY
    alpha: float = 0.05
    min_split: float = 20
    min_bucket: float = 7
    min_share: float = 0.01
    leaf_curve: LeafCurveKind = "baseline"

    tests_: tuple[NodeTests | None, ...] = field(init=False)

    _checks = HeuristicTree._checks | {
        "max_depth": or_none(whole(0)),
        "alpha": SHARE,
        "min_split": require_not_negative,
        "min_bucket": require_not_negative,
        "min_share": between("from 0 to 0.5", lambda value: 0 <= value <= 0.5),
    }

    def _grow(self, rows: TrainingData) -> Tree:
        growth = _Growth(self, rows)
        growth.add(np.arange(rows.sums.weight.size), 0)
        binned = bin_answers(growth.answers, rows.sums.weight.size)
        self.tests_ = tuple(growth.tests)
        return build_tree(
            growth.topology(),
            Problem(binned, rows.sums),
            tuple(growth.cuts),
            rows.baseline,
            rows.target,
            self.leaf_curve,
        )


class _Growth:
    """A tree while it grows: nodes in preorder, cuts and the answers of all rows to them."""

    def __init__(self, model: ConditionalInferenceTree, rows: TrainingData) -> None:
        present = rows.present
        table = rows.table
        columns = (table.column(index) for index in range(table.n_columns))
        self._columns = [replace(column, values=column.values[present]) for column in columns]
        self._weight = rows.sums.weight
        # Log-rank scores are martingale residuals; unlike the loss, they need no least hazard.
        exposure = rows.baseline.at(rows.target.time)
        if rows.target.entry is not None:
            exposure = exposure - rows.baseline.at(rows.target.entry)
        self._score = rows.target.event - exposure
        self._model = model
        self.cuts: list[Cut] = []
        self.answers: list[NDArray[np.bool_]] = []
        self.tests: list[NodeTests | None] = []
        self._nodes: list[list[int]] = []

    def topology(self) -> TreeTopology:
        """Return the questions of the nodes so far."""
        cut, left, right = np.array(self._nodes, dtype=np.int32).T.copy()
        return TreeTopology(cut, left, right)

    def add(self, rows: Rows, depth: int) -> int:
        """Add a node for some of the rows, and all nodes below it."""
        node = len(self._nodes)
        self._nodes.append([-1, -1, -1])
        self.tests.append(None)
        cut = self._cut(node, rows, depth)
        if cut is None:
            return node
        answer = cut.holds(self._columns[cut.column])
        self._nodes[node][0] = len(self.cuts)
        self.cuts.append(cut)
        self.answers.append(answer)
        holds = answer[rows]
        self._nodes[node][1] = self.add(rows[~holds], depth + 1)
        self._nodes[node][2] = self.add(rows[holds], depth + 1)
        return node

    def _cut(self, node: int, rows: Rows, depth: int) -> Cut | None:
        """Test the columns, and return the cut of the node where one is significant."""
        model = self._model
        weight = float(self._weight[rows].sum())
        too_deep = model.max_depth is not None and depth >= model.max_depth
        if too_deep or weight < model.min_split:
            return None
        tests = [self._test(column, rows) for column in self._columns]
        p_values = adjusted([test.p_value for test in tests])
        self.tests[node] = NodeTests(np.array([test.statistic for test in tests]), p_values)
        bucket = max(model.min_bucket, math.ceil(weight * model.min_share))
        significant = np.flatnonzero(p_values < model.alpha)
        by_evidence = sorted(significant, key=lambda index: tests[index].evidence)
        for index in by_evidence[:_COLUMNS_TRIED]:
            cut = self._cut_column(int(index), rows, bucket)
            if cut is not None:
                return cut
        return None

    def _scores(self, column: Column, rows: Rows) -> tuple[Rows, Scores]:
        known = rows[~column.missing[rows]]
        return known, Scores(self._score[known], self._weight[known])

    def _test(self, column: Column, rows: Rows) -> Test:
        known, scores = self._scores(column, rows)
        values = column.values[known]
        if column.kind == "categorical" and not column.ordered:
            return group_test(scores, values)
        return linear_test(scores, values.astype(np.float64))

    def _cut_column(self, index: int, rows: Rows, bucket: float) -> Cut | None:
        """Return the best cut of a column, None where it leaves too few rows on a side."""
        column = self._columns[index]
        known, scores = self._scores(column, rows)
        values = column.values[known]
        plain = Cut(column=index, name=column.name, known=column.known)
        if column.kind == "categorical" and not column.ordered:
            cut = _categories_cut(plain, column, best_subset(scores, values, bucket))
        else:
            gap = best_threshold(scores, values.astype(np.float64), bucket)
            cut = None if gap is None else _threshold_cut(plain, column, *gap)
        if cut is None or not column.missing.any():
            return cut
        right = cut.holds(replace(column, values=values))
        heavier = float(scores.weight[right].sum()) > float(scores.weight[~right].sum())
        return replace(cut, missing=heavier)


def _threshold_cut(plain: Cut, column: Column, lower: float, upper: float) -> Cut:
    if column.kind == "boolean":
        return replace(plain, categories=(True,))
    if column.ordered:
        return replace(plain, categories=column.categories[int(lower) + 1 :])
    return replace(plain, threshold=readable(float(midpoint(lower, upper)), lower, upper))


def _categories_cut(plain: Cut, column: Column, codes: NDArray[np.intp] | None) -> Cut | None:
    if codes is None:
        return None
    return replace(plain, categories=tuple(column.categories[code] for code in codes))
