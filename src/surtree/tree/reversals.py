"""Columns whose effect turns round inside a tree: more means higher risk here, and lower there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.table import Table
from surtree.tree.rows import goes_right, read_rows, route_rows
from surtree.words.numbers import number
from surtree.words.quoting import printable

if TYPE_CHECKING:
    from surtree.tree.tree import Tree

Mask = NDArray[np.bool_]
# Risks that differ by less, relative to each other, are the same but for rounding.
_SAME_RISK = 1e-9
DIRECTIONS = ("lower", "higher")


@dataclass(frozen=True)
class Reversal:
    """A numeric column that raises the risk of some values of the others, and lowers it for others.

    Parameters
    ----------
    column : int
        The position of the column in the user's table.
    name : str
        What it is called.
    higher : bool
        What more of it means where the effect is the rarer one: a higher risk, or a lower one.
    leaves : tuple of two int
        The leaves between which it has that effect, the one of smaller values first; of several
        such pairs, the one with the most rows in its smaller leaf.
    risks : tuple of two floats
        What the tree predicts in these leaves.
    conditions : tuple of str
        What holds for the other columns where both leaves can be reached.
    n_rows, n_all : int, optional
        For how many of the rows that were passed some larger value of the column has the rarer
        effect, and how many rows there were.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> tree = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y).tree_
    >>> (turn,) = tree.reversals(X)
    >>> turn.name, turn.n_rows, turn.conditions
    ('positive_nodes', 129, ('progesterone_receptor <= 83', 'progesterone_receptor > 26'))
    """

    column: int
    name: str
    higher: bool
    leaves: tuple[int, int]
    risks: tuple[float, float]
    conditions: tuple[str, ...]
    n_rows: int | None = None
    n_all: int | None = None

    def __str__(self) -> str:
        usual, rare = DIRECTIONS[not self.higher], DIRECTIONS[self.higher]
        here = "" if self.n_rows is None else f" for {self.n_rows} of {self.n_all} rows"
        where = f" where {' and '.join(self.conditions)}" if self.conditions else ""
        risks = ", then ".join(number(risk, 3) for risk in self.risks)
        return (
            f"More {self.name} mostly means {usual} risk, but {rare} risk{here}{where} ({risks})."
        )


def find_reversals(tree: Tree, X: Any = None) -> tuple[Reversal, ...]:
    risk = tree.outcome.ordered_risk
    if risk is None or tree.n_leaves < 3:
        return ()
    boxes, moves = _Boxes(tree), _moves(risk[tree.leaves])
    table = None if X is None else read_rows(tree, X)
    found = []
    for column in boxes.numeric:
        pairs = boxes.pairs(column)
        ways = {way: pairs & move for way, move in moves.items()}
        if not (ways[True].any() and ways[False].any()):
            continue
        rows = _rows_near(tree, ways) if table is None else _rows_moved(tree, risk, column, table)
        if min(rows.values()):
            counts = {} if table is None else {"n_rows": min(rows.values()), "n_all": table.n_rows}
            higher = rows[True] < rows[False]
            leaves = _most_rows(tree, ways[higher])
            found.append(
                Reversal(
                    column,
                    boxes.names[column],
                    higher,
                    leaves,
                    (float(risk[leaves[0]]), float(risk[leaves[1]])),
                    tuple(tree.condition(*step) for step in steps_to(tree, leaves, column)),
                    **counts,
                )
            )
    return tuple(found)


def reversal_text(reversals: tuple[Reversal, ...]) -> str:
    """Return one sentence about all of them; empty where there is none."""
    if not reversals:
        return ""
    others = ", ".join(one.name for one in reversals[1:])
    too = f" The effect of {others} turns round too." if others else ""
    return printable(f"{reversals[0]}{too}")


def _moves(risk: Floats) -> dict[bool, Mask]:
    """Return whether the risk of each leaf (row) is below, and above, that of another (column)."""
    near = _SAME_RISK * np.maximum(np.abs(risk[:, None]), np.abs(risk))
    rise = risk[None, :] - risk[:, None]
    return {True: rise > near, False: rise < -near}


class _Boxes:
    """What each leaf of a tree leaves open for each column."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        columns = {cut.column: cut for cut in tree.cuts}
        self.names = {column: cut.name for column, cut in columns.items()}
        self.numeric = sorted({cut.column for cut in tree.cuts if cut.threshold is not None})
        self.low, self.high = (
            {column: np.full(tree.n_leaves, end) for column in self.numeric}
            for end in (-np.inf, np.inf)
        )
        self._kinds = {column: _kinds(tree, column) for column in columns}
        self._open = {
            column: np.ones((tree.n_leaves, len(kinds)), dtype=bool)
            for column, kinds in self._kinds.items()
        }
        paths = tree.paths()
        for index, path in enumerate(paths[leaf] for leaf in tree.leaves):
            for node, child in pairwise(path):
                self._narrow(index, node, right=bool(child == tree.right[node]))

    def _narrow(self, leaf: int, node: int, *, right: bool) -> None:
        cut = self._tree.question(node)
        stays = self._open[cut.column][leaf]
        for position, kind in enumerate(self._kinds[cut.column]):
            if kind is None:
                stays[position] &= cut.missing is right
            elif cut.threshold is None:
                stays[position] &= ((kind in (cut.categories or ())) ^ cut.negated) is right
        if cut.threshold is None:
            return
        if right:
            self.low[cut.column][leaf] = max(self.low[cut.column][leaf], cut.threshold)
        else:
            self.high[cut.column][leaf] = min(self.high[cut.column][leaf], cut.threshold)

    def pairs(self, column: int) -> Mask:
        """Return which leaves one value of the others leads to, the first by smaller numbers."""
        low, high, present = self.low[column], self.high[column], self._open[column][:, 0]
        before = (high[:, None] <= low) & (present & (low < high))[:, None]
        both: Mask = before & (present & (low < high))
        for other in self._kinds:
            if other != column:
                both &= self._meet(other)
        return both

    def _meet(self, column: int) -> Mask:
        """Return which leaves have a value of a column in common."""
        kept = self._open[column]
        if column not in self.low:
            return np.asarray(kept.astype(np.intp) @ kept.T.astype(np.intp) > 0)
        low = np.maximum(self.low[column][:, None], self.low[column])
        high = np.minimum(self.high[column][:, None], self.high[column])
        numbers: Mask = (low < high) & kept[:, :1] & kept[:, 0]
        missing = np.asarray(kept[:, 1:].any(axis=1))
        return np.asarray(numbers | (missing[:, None] & missing))


def _kinds(tree: Tree, column: int) -> list[Any]:
    """Return what a value can be: a number or each category, and None for a missing one."""
    cuts = [cut for cut in tree.cuts if cut.column == column]
    missing = [None] if any(cut.missing is not None for cut in cuts) else []
    if any(cut.threshold is not None for cut in cuts):
        return [0.0, *missing]
    listed = {one: None for cut in cuts for one in (*(cut.categories or ()), *(cut.known or ()))}
    # A category that no cut names; of a column that is only asked whether it is missing, any value.
    others = [] if any(cut.known for cut in cuts) else [object()]
    return [*listed, *others, *missing]


def _rows_near(tree: Tree, ways: dict[bool, Mask]) -> dict[bool, int]:
    """Return how many training rows are in leaves between which the risk goes up, and down."""
    rows = tree.n_samples[tree.leaves]
    return {
        way: int(rows[pairs.any(axis=0) | pairs.any(axis=1)].sum()) for way, pairs in ways.items()
    }


def _rows_moved(tree: Tree, risk: Floats, column: int, table: Table) -> dict[bool, int]:
    """Return for how many rows the risk goes up, and down, somewhere along a column."""
    asked = [tree.question(node) for node in np.flatnonzero(~tree.is_leaf).tolist()]
    thresholds = {
        cut.threshold for cut in asked if cut.column == column and cut.threshold is not None
    }
    moved = {way: np.zeros(table.n_rows, dtype=bool) for way in (False, True)}
    before: Floats | None = None
    # A value in every interval, from the smallest: its upper end belongs to it.
    for value in [*sorted(thresholds), np.inf]:

        def answer(node: int, rows: NDArray[np.intp], value: float = value) -> Mask:
            cut = tree.question(node)
            if cut.column != column:
                return goes_right(tree, node, table, rows)
            return np.full(rows.size, cut.threshold is not None and value > cut.threshold)

        here = risk[route_rows(tree, table.n_rows, answer)]
        if before is not None:
            near = _SAME_RISK * np.maximum(np.abs(before), np.abs(here))
            moved[True] |= here - before > near
            moved[False] |= before - here > near
        before = here
    return {way: int(rows.sum()) for way, rows in moved.items()}


def _most_rows(tree: Tree, pairs: Mask) -> tuple[int, int]:
    """Return the pair of leaves with the most rows in its smaller one."""
    rows = tree.n_samples[tree.leaves]
    least = np.where(pairs, np.minimum(rows[:, None], rows), -1)
    one, other = divmod(int(np.argmax(least)), tree.n_leaves)
    return int(tree.leaves[one]), int(tree.leaves[other])


def steps_to(tree: Tree, leaves: tuple[int, int], column: int) -> list[tuple[int, int]]:
    """Return the steps to either of two leaves that say the most of other columns than one."""
    steps: dict[Any, tuple[int, int]] = {}
    paths = tree.paths()
    for node, child in (step for leaf in leaves for step in pairwise(paths[leaf])):
        cut, right = tree.worded_cuts[node], bool(child == tree.right[node])
        if cut.column == column:
            continue
        key = (cut, right) if cut.threshold is None else (cut.column, cut.missing, right)
        known = tree.worded_cuts[steps[key][0]].threshold if key in steps else None
        if known is None or cut.threshold is None or (cut.threshold > known) is right:
            steps[key] = node, child
    return list(steps.values())
