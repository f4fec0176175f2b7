"""Top-down trees: at every node the cut that helps most now, then pruning."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import NDArray

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.encoder import Encoder, encoder_of
from surtree.estimators.parameters import CutParameters, check_parameters, whole
from surtree.fitting.training import TrainingData, make_problem
from surtree.heuristics._base import HeuristicTree, best_pruning, prunings
from surtree.solver.problem import BinnedRows, Limits, TreeTopology
from surtree.survival.objective import distinct_lines, total_by
from surtree.survival.row_sums import RowSums
from surtree.tree.tree import Tree

Rows = NDArray[np.intp]

# Two gains that differ by less than this part of the events in a node differ by rounding.
_TOLERANCE = 1e-11


@dataclass(frozen=True)
class PrunedTree:
    """The best pruning of a tree for a price of a split, and up to the price of the next one.

    Parameters
    ----------
    alpha : float
        The least price for which it is the best.
    loss : float
        Its loss on the training rows.
    tree : Tree
        The tree.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import GreedyTree
    >>> X, y = load_gbsg2()
    >>> model = GreedyTree(max_depth=2).fit(X, y)
    >>> [(round(pruned.alpha, 1), pruned.tree.n_splits) for pruned in model.path_]
    [(0.0, 3), (5.2, 2), (14.6, 1), (32.1, 0)]
    """

    alpha: float
    loss: float
    tree: Tree


@dataclass(eq=False, repr=False)
class GreedyTree(CutParameters, HeuristicTree):
    """A tree grown from the top, one best cut at a time, and pruned by cost complexity.

    At every node the cut that reduces the loss of `SurTree` most is taken, without a look at what
    comes below it: the relative risk trees of LeBlanc and Crowley, as rpart grows them with
    ``method="exp"``. Fast, and usually not optimal; `audit_tree` tells by how much.

    Parameters
    ----------
    min_samples_split : int, default=2
        A node with fewer rows is not split. Rows of weight zero do not count.
    ccp_alpha : float, default=0.0
        What a split must be worth: of all prunings, the one with the smallest
        ``loss + ccp_alpha * splits`` is chosen, and of those the smallest.
    max_depth, min_samples_leaf, min_events_leaf, shrinkage, leaf_curve : optional
        As in `SurTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`. ``n_thresholds=None`` with ``min_support=0`` is every threshold.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    loss_ : float
        Its loss on the training rows, the penalty of shrinkage included.
    path_ : tuple of PrunedTree
        The best pruning for every price of a split, from the whole tree to a single leaf. Only
        ``tree_`` keeps the at-risk counts that Kaplan-Meier curves need.
    encoder_ : Encoder
        The fitted encoder, with the cuts that the tree could use.

    Examples
    --------
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import GreedyTree
    >>> X, y = load_gbsg2()
    >>> model = GreedyTree(max_depth=2).fit(X, y)
    >>> for pruned in model.path_:
    ...     print(f"{pruned.tree.n_splits} splits from {pruned.alpha:.1f}: loss {pruned.loss:.1f}")
    3 splits from 0.0: loss 425.9
    2 splits from 5.2: loss 431.1
    1 splits from 14.6: loss 445.7
    0 splits from 32.1: loss 477.9
    """

    max_depth: int = 3
    _: KW_ONLY
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_events_leaf: int = 0
    ccp_alpha: float = 0.0
    shrinkage: float = 0.0
    leaf_curve: LeafCurveKind = "baseline"

    path_: tuple[PrunedTree, ...] = field(init=False)
    encoder_: Encoder = field(init=False)

    _checks = HeuristicTree._checks | {"min_samples_split": whole(2)}

    def _grow(self, rows: TrainingData) -> Tree:
        limits = check_parameters(self)
        problem = make_problem(encoder_of(self), rows)
        topology = grow(problem.binned, rows.sums, limits, self.min_samples_split)
        (lazy,) = problem.build([topology])
        whole = lazy.tree
        nested = prunings(whole.left, whole.right, whole.loss)
        chosen = best_pruning(nested, self.ccp_alpha)
        trees = [pruning.tree(whole) for pruning in nested]
        self.path_ = tuple(
            PrunedTree(pruning.alpha, tree.total_loss, tree)
            for pruning, tree in zip(nested, trees, strict=True)
        )
        self.encoder_ = problem.encoder
        return problem.build_with_at_risk(chosen.topology(topology), self.leaf_curve)


def grow(
    binned: BinnedRows, sums: RowSums, limits: Limits, min_samples_split: int = 2
) -> TreeTopology:
    """Grow a tree from the top, at every node with the cut of the largest gain."""
    cuts = _Cuts(binned, sums, limits)
    cut: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def add(rows: Rows, depth: int) -> int:
        node = len(cut)
        for side in (cut, left, right):
            side.append(-1)
        best = cuts.best(rows) if depth and rows.size >= min_samples_split else -1
        if best < 0:
            return node
        holds = cuts.holds(best, rows)
        cut[node] = best
        left[node] = add(rows[~holds], depth - 1)
        right[node] = add(rows[holds], depth - 1)
        return node

    add(np.arange(sums.weight.size), limits.max_depth)
    return TreeTopology(*(np.array(side, dtype=np.int32) for side in (cut, left, right)))


class _Cuts:
    """All cuts of the rows of a node at once, from one table of sums over bins."""

    def __init__(self, binned: BinnedRows, sums: RowSums, limits: Limits) -> None:
        self._encoded = binned
        # The bins of all columns side by side; a column begins where the one before it ends.
        ends = np.cumsum(binned.n_bins, dtype=np.intp)
        begin = (ends - binned.n_bins)[:, None]
        self._n_bins = int(ends[-1]) if ends.size else 0
        self._bin = binned.bins + begin
        column = binned.cut_column
        self._first = binned.cut_first + begin[column, 0]
        self._after = binned.cut_last + begin[column, 0] + 1
        missing = binned.missing_bin[column] + begin[column, 0]
        # The cut "is missing" has the missing bin between its first and its last already.
        self._adds_missing = binned.cut_missing & (missing >= self._after)
        self._missing = np.where(self._adds_missing, missing, 0)
        # For each cut with gaps, the bins that it leaves out between its first and its last.
        bit = np.arange(64, dtype=np.uint64)
        cut, gap = np.nonzero(binned.cut_gaps[:, None] >> bit & np.uint64(1))
        self._gap_cut, self._gap = cut, gap + begin[column[cut], 0]
        self._objective = sums.objective
        self._n_sums = len(sums.values)
        self._least = np.array([limits.least.get(name, 0) for name in sums.counts])[:, None]
        # The sums, how many rows add to each of them, and the counts that limit leaves.
        adds = (sums.values != 0).astype(np.float64)
        self._measures, self._kinds = distinct_lines([*sums.values, *adds, *sums.counts.values()])

    def best(self, rows: Rows) -> int:
        """Return the cut with the largest gain, or -1 where no cut helps."""
        if not self._first.size:
            return -1
        totals = np.array([measure[rows].sum() for measure in self._measures])[self._kinds]
        right = np.stack([self._held(measure, rows) for measure in self._measures])[self._kinds]
        left = totals[:, None] - right
        first_count = 2 * self._n_sums
        counts = np.minimum(left[first_count:], right[first_count:])
        allowed = (counts >= self._least).all(axis=0)
        if not allowed.any():
            return -1
        gains = self._gain(left) + self._gain(right) - self._gain(totals)
        gains = np.where(allowed, gains, -np.inf)
        tolerance = _TOLERANCE * max(
            float(self._objective.exactness().scale(totals[: self._n_sums])), 1.0
        )
        best = float(gains.max())
        return int(np.argmax(gains >= best - tolerance)) if best > tolerance else -1

    def holds(self, cut: int, rows: Rows) -> NDArray[np.bool_]:
        bins = self._bin[self._encoded.cut_column[cut]][rows]
        holds: NDArray[np.bool_] = (self._first[cut] <= bins) & (bins < self._after[cut])
        if self._encoded.cut_gaps[cut]:
            holds &= ~np.isin(bins, self._gap[self._gap_cut == cut])
        return holds | (bins == self._missing[cut]) if self._adds_missing[cut] else holds

    def _gain(self, measures: Floats) -> Floats:
        """Return the gain of leaves with such sums."""
        sums, n_adding = measures[: self._n_sums], measures[self._n_sums : 2 * self._n_sums]
        # A sum to which no row adds is zero, whatever rounding leaves of a difference.
        return self._objective.gain(np.where(n_adding > 0, sums, 0.0))

    def _held(self, measure: Floats, rows: Rows) -> Floats:
        """Return the sum of a measure over the rows for which each cut holds."""
        bins = self._bin[:, rows]
        repeated = np.broadcast_to(measure[rows], bins.shape)
        by_bin = total_by(bins.ravel(), repeated.ravel(), self._n_bins)
        before = np.concatenate(([0.0], np.cumsum(by_bin)))
        held: Floats = before[self._after] - before[self._first]
        held += self._adds_missing * by_bin[self._missing]
        if self._gap.size:
            held -= total_by(self._gap_cut, by_bin[self._gap], held.size)
        return held
