"""The tree: frozen flat arrays, root first, with readable rules, and no training row inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surtree._solver import Structure, sum_nodes
from surtree.cut import Cut
from surtree.soundness import require_sound
from surtree.statistics import (
    ArrayValue,
    Baseline,
    RowSums,
    gain,
    leaf_theta,
    median_time,
    risk_table,
    total_by,
)
from surtree.target import Target

if TYPE_CHECKING:
    from surtree.encoding import Encoded
    from surtree.table import Table

Integers = NDArray[np.int32]
Floats = NDArray[np.float64]

FORMAT = "surtree.tree"
VERSION = 1

_INTEGER_FIELDS = ("column", "cut", "left", "right", "n_samples", "n_events")
_FLOAT_FIELDS = ("theta", "weight", "events", "hazard", "loss")
_HEADINGS = ("n", "events", "theta", "median")


@dataclass(frozen=True, eq=False)
class RiskCounts(ArrayValue):
    """What a leaf's own Kaplan-Meier curve is made of, without the rows.

    Parameters
    ----------
    step : array of int
        Positions, in the times of the baseline, of the event times of the leaf.
    at_risk : array
        The weight at risk at each of them.
    deaths : array
        The weight of the events at each of them.
    """

    step: NDArray[Any]
    at_risk: NDArray[Any]
    deaths: NDArray[Any]


@dataclass(frozen=True)
class Rule:
    """The questions that lead to one leaf, and what the leaf says.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    conditions : tuple of str
        What holds for every row of the leaf, from the root down; empty in a tree of one leaf.
    theta : float
        The hazard of the leaf relative to the baseline.
    n_samples, n_events : int
        The training rows of the leaf, and those of them with an event.
    """

    leaf: int
    conditions: tuple[str, ...]
    theta: float
    n_samples: int
    n_events: int

    def __str__(self) -> str:
        where = " and ".join(self.conditions) or "all rows"
        return f"{where}: theta {self.theta:.3g} ({self.n_events} events in {self.n_samples} rows)"


@dataclass(frozen=True, eq=False, repr=False)
class Tree(ArrayValue):
    """A survival tree as flat arrays with an entry per node, in preorder: the root is node 0.

    Parameters
    ----------
    column : array of int
        Position in the user's table of the column that the node asks about, -1 for a leaf.
    cut : array of int
        Position in ``cuts`` of the question, -1 for a leaf.
    left, right : array of int
        The node where the answer is no, and where it is yes; -1 for a leaf.
    theta : array of float
        The hazard of the node relative to the baseline.
    n_samples, n_events : array of int
        The training rows of the node, and those of them with an event.
    weight, events, hazard : array of float
        The weight of the rows, of their events, and their weighted hazard.
    loss : array of float
        The loss of the rows if the node were a leaf.
    cuts : tuple of Cut
        The questions that the tree asks.
    baseline : Baseline
        The cumulative hazard that theta multiplies.
    risk : tuple of RiskCounts
        One for each leaf, in the order of ``leaves``; empty where they were not kept.
    """

    column: Integers
    cut: Integers
    left: Integers
    right: Integers
    theta: Floats
    n_samples: Integers
    n_events: Integers
    weight: Floats
    events: Floats
    hazard: Floats
    loss: Floats
    cuts: tuple[Cut, ...]
    baseline: Baseline
    risk: tuple[RiskCounts, ...] = ()

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return self.column.size

    @property
    def n_splits(self) -> int:
        """The number of nodes that ask a question."""
        return self.n_nodes - self.n_leaves

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.left < 0

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that are leaves, ascending."""
        return np.flatnonzero(self.is_leaf)

    @property
    def depth(self) -> int:
        """The largest number of questions that a row is asked."""
        return max(len(path) for path in self._paths()) - 1

    @property
    def total_loss(self) -> float:
        """The loss of the tree on its training rows."""
        return float(self.loss[self.leaves].sum())

    def apply(self, table: Table) -> NDArray[np.intp]:
        """Return the leaf that each row of a table falls in.

        A value that is missing, in a column that had none missing where the tree was fitted,
        follows the side of that node with more weight.

        Parameters
        ----------
        table : Table
            Rows with the columns of the table that the tree was fitted on.
        """
        return _leaf_of_row(
            self.left,
            self.right,
            table.n_rows,
            lambda node, rows: self.goes_right(node, table, rows),
        )

    def goes_right(
        self, node: int, table: Table, rows: NDArray[np.intp] | NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Answer the question of a node for some rows of a table.

        Parameters
        ----------
        node : int
            A node that is not a leaf.
        table : Table
            Rows with the columns of the table that the tree was fitted on.
        rows : array of int or bool
            Which of them are asked.
        """
        cut = self._cut_of(node)
        column = table.column(cut.column)
        column = replace(column, values=column.values[rows])
        answer = cut.holds(column)
        if cut.missing is None:
            answer[column.missing] = self.missing_goes_right(node)
        return answer

    def missing_goes_right(self, node: int) -> bool:
        """Return whether a missing value is a yes to the question of a node.

        Parameters
        ----------
        node : int
            A node that is not a leaf.
        """
        missing = self._cut_of(node).missing
        if missing is None:
            return bool(self.weight[self.right[node]] > self.weight[self.left[node]])
        return missing

    def decision_path(self, table: Table) -> csr_matrix:
        """Return which nodes each row of a table visits, as a sparse matrix of ones.

        Parameters
        ----------
        table : Table
            Rows with the columns of the table that the tree was fitted on.
        """
        leaf_of_row = self.apply(table)
        paths = self._paths()
        length = np.array([len(path) for path in paths])
        padded = np.zeros((self.n_nodes, length.max()), dtype=np.int32)
        for node, path in enumerate(paths):
            padded[node, : len(path)] = path
        visited = np.arange(length.max()) < length[leaf_of_row][:, None]
        nodes = padded[leaf_of_row][visited]
        first = np.concatenate(([0], np.cumsum(length[leaf_of_row])))
        shape = (leaf_of_row.size, self.n_nodes)
        return csr_matrix((np.ones(nodes.size, dtype=np.int64), nodes, first), shape=shape)

    def rules(self) -> tuple[Rule, ...]:
        """Return how each leaf is reached, in the words of the user's columns.

        Examples
        --------
        >>> from surtree import SurTree
        >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0])
        >>> for rule in model.tree_.rules():
        ...     print(rule)
        x0 <= 0: theta 0.632 (2 events in 2 rows)
        x0 > 0: theta 2.4 (2 events in 2 rows)
        """
        paths = self._paths()
        return tuple(
            Rule(
                leaf=int(leaf),
                conditions=tuple(self._condition(*step) for step in pairwise(paths[leaf])),
                theta=float(self.theta[leaf]),
                n_samples=int(self.n_samples[leaf]),
                n_events=int(self.n_events[leaf]),
            )
            for leaf in self.leaves
        )

    def importances(self, n_columns: int) -> Floats:
        """Return the share of each of the user's columns in the reduction of the loss."""
        splits = np.flatnonzero(~self.is_leaf)
        sides = self.loss[self.left[splits]] + self.loss[self.right[splits]]
        # A split never costs anything; less than nothing is rounding.
        reduction = np.maximum(self.loss[splits] - sides, 0.0)
        share = total_by(self.column[splits], reduction, n_columns)
        return share / (share.sum() or 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain lists and numbers that JSON can hold without loss."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "nodes": {
                name: getattr(self, name).tolist() for name in _INTEGER_FIELDS + _FLOAT_FIELDS
            },
            "cuts": [cut.to_dict() for cut in self.cuts],
            "baseline": {
                "times": self.baseline.times.tolist(),
                "cumulative_hazard": self.baseline.cumulative_hazard.tolist(),
                "floor": self.baseline.floor,
            },
            "risk": [
                {
                    "step": counts.step.tolist(),
                    "at_risk": counts.at_risk.tolist(),
                    "deaths": counts.deaths.tolist(),
                }
                for counts in self.risk
            ],
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Tree:
        """Return the tree that `to_dict` wrote.

        Parameters
        ----------
        saved : dict
            What `to_dict` returned, also after a way through JSON.
        """
        found = saved.get("format"), saved.get("version")
        if found != (FORMAT, VERSION):
            raise ValueError(
                f"This is not a tree that this version of surtree can read: expected format "
                f"{FORMAT!r} version {VERSION}, found {found[0]!r} version {found[1]!r}."
            )
        nodes, baseline = dict(saved["nodes"]), saved["baseline"]
        for names, dtype in ((_INTEGER_FIELDS, np.int32), (_FLOAT_FIELDS, np.float64)):
            nodes |= {name: np.array(nodes[name], dtype=dtype) for name in names}
        tree = cls(
            **nodes,
            cuts=tuple(Cut.from_dict(cut) for cut in saved["cuts"]),
            baseline=Baseline(
                np.array(baseline["times"], dtype=np.float64),
                np.array(baseline["cumulative_hazard"], dtype=np.float64),
                baseline["floor"],
            ),
            risk=tuple(
                _risk_counts(counts["step"], counts["at_risk"], counts["deaths"])
                for counts in saved["risk"]
            ),
        )
        require_sound(tree)
        return tree

    def __repr__(self) -> str:
        return f"Tree(n_leaves={self.n_leaves}, depth={self.depth}, loss={self.total_loss:.6g})"

    def __str__(self) -> str:
        lines = [("", _HEADINGS), *self._draw(0, "all rows", "", "")]
        label_width = max(len(label) for label, _ in lines)
        columns = zip(*(cells for _, cells in lines if cells), strict=True)
        widths = [max(map(len, column)) for column in columns]
        return "\n".join(
            "  ".join([label.ljust(label_width), *map(str.rjust, cells, widths)]).rstrip()
            for label, cells in lines
        )

    def _draw(
        self, node: int, label: str, before: str, below: str
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield a label and, for a leaf, its statistics, for a node and for all below it."""
        if self.is_leaf[node]:
            yield before + label, self._cells(node)
            return
        yield before + label, ()
        for child, tip, line in ((self.left[node], "├─ ", "│  "), (self.right[node], "└─ ", "   ")):
            yield from self._draw(child, self._condition(node, child), below + tip, below + line)

    def _cells(self, leaf: int) -> tuple[str, ...]:
        times = self.baseline.times
        median = median_time(times, self.baseline.survival(self.theta[leaf]))
        return (
            str(self.n_samples[leaf]),
            str(self.n_events[leaf]),
            f"{self.theta[leaf]:.3g}",
            f"{median:.6g}" if np.isfinite(median) else f"> {times[-1]:.6g}",
        )

    def _condition(self, node: int, child: int) -> str:
        """Return what holds for the rows that go from a node to one of its two children."""
        cut = self._cut_of(node)
        return cut.rule if child == self.right[node] else cut.negated_rule

    def _cut_of(self, node: int) -> Cut:
        return self.cuts[int(self.cut[node])]

    def _paths(self) -> list[tuple[int, ...]]:
        """Return, for each node, the nodes from the root down to it."""
        paths: list[tuple[int, ...]] = [(0,)] * self.n_nodes
        for node in np.flatnonzero(~self.is_leaf):
            for child in (self.left[node], self.right[node]):
                paths[child] = (*paths[node], int(child))
        return paths


def build_tree(
    structure: Structure,
    encoded: Encoded,
    cuts: tuple[Cut, ...],
    sums: RowSums,
    baseline: Baseline,
    target: Target | None = None,
) -> Tree:
    """Return the tree of a structure, with the sums of every node added up from the rows again.

    Parameters
    ----------
    structure : Structure
        Which cut each node asks, as the solver found it.
    encoded : Encoded
        The training rows, as the solver saw them.
    cuts : tuple of Cut
        The cuts that ``encoded`` and ``structure`` number.
    sums : RowSums
        What each training row adds to a node.
    baseline : Baseline
        The baseline hazard of the training rows.
    target : Target, optional
        Events and times of the training rows; with it, the leaves keep their risk counts.
    """
    left, right = structure.left, structure.right
    leaf_of_row, node_sums = sum_nodes(encoded, structure, sums.node_values)
    weight, events, hazard, negative_log_hazard, n_samples, n_events = node_sums
    used, position = np.unique(structure.cut[structure.cut >= 0], return_inverse=True)
    cut = np.full(left.size, -1, dtype=np.int32)
    column = cut.copy()
    cut[structure.cut >= 0] = position
    column[structure.cut >= 0] = [cuts[number].column for number in structure.cut if number >= 0]
    return Tree(
        column=column,
        cut=cut,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        theta=leaf_theta(events, hazard),
        n_samples=n_samples.astype(np.int32),
        n_events=n_events.astype(np.int32),
        weight=weight,
        events=events,
        hazard=hazard,
        # No leaf fits its rows better than a hazard for each row; less than nothing is rounding.
        loss=np.maximum(negative_log_hazard - gain(events, hazard), 0.0),
        cuts=tuple(cuts[number] for number in used),
        baseline=baseline,
        risk=() if target is None else _leaf_risk(leaf_of_row, left, target, sums.weight, baseline),
    )


def _leaf_of_row(
    left: Integers,
    right: Integers,
    n_rows: int,
    goes_right: Callable[[int, NDArray[np.intp]], NDArray[np.bool_]],
) -> NDArray[np.intp]:
    """Send rows down a tree; each node asks its question only of the rows that reach it."""
    leaf_of_row = np.zeros(n_rows, dtype=np.intp)
    pending = [(0, np.arange(n_rows))]
    while pending:
        node, rows = pending.pop()
        if left[node] < 0:
            leaf_of_row[rows] = node
            continue
        answer = goes_right(node, rows)
        pending.append((int(left[node]), rows[~answer]))
        pending.append((int(right[node]), rows[answer]))
    return leaf_of_row


def _leaf_risk(
    leaf_of_row: Integers,
    left: Integers,
    target: Target,
    weight: Floats,
    baseline: Baseline,
) -> tuple[RiskCounts, ...]:
    """Count, for each leaf, the rows at risk and the events at its own event times."""
    leaves = np.flatnonzero(left < 0)
    if target.entry is None and np.array_equal(weight, np.floor(weight)):
        return _leaf_risk_at_once(leaf_of_row, leaves, target, weight, baseline)
    order = np.argsort(leaf_of_row, kind="stable")
    counts = []
    for rows in np.split(order, np.searchsorted(leaf_of_row[order], leaves[1:])):
        table = risk_table(target.take(rows), weight[rows])
        step = np.searchsorted(baseline.times, table.times)
        counts.append(_risk_counts(step, table.at_risk, table.deaths))
    return tuple(counts)


def _leaf_risk_at_once(
    leaf_of_row: Integers,
    leaves: NDArray[np.intp],
    target: Target,
    weight: Floats,
    baseline: Baseline,
) -> tuple[RiskCounts, ...]:
    """Count for all leaves in one pass: sums of whole numbers are exact, also across leaves."""
    order = np.lexsort((target.time, leaf_of_row))
    leaf, time, weight = leaf_of_row[order], target.time[order], weight[order]
    is_first = np.ones(order.size, dtype=np.bool_)
    is_first[1:] = (leaf[1:] != leaf[:-1]) | (time[1:] != time[:-1])
    first = np.flatnonzero(is_first)
    deaths = np.add.reduceat(weight * target.event[order], first)
    from_here_on = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    end_of_leaf = np.searchsorted(leaf, leaf[first], side="right")
    at_risk = from_here_on[first] - from_here_on[end_of_leaf]
    seen = deaths > 0
    step = np.searchsorted(baseline.times, time[first][seen])
    borders = np.searchsorted(leaf[first][seen], leaves[1:])
    parts = (np.split(values, borders) for values in (step, at_risk[seen], deaths[seen]))
    return tuple(_risk_counts(*counts) for counts in zip(*parts, strict=True))


def _risk_counts(step: Any, at_risk: Any, deaths: Any) -> RiskCounts:
    return RiskCounts(_compact(step), _compact(at_risk), _compact(deaths))


def _compact(counts: Any) -> NDArray[Any]:
    """Return counts in the smallest type that holds them: with them, half of a pickle is counts."""
    values = np.asarray(counts, dtype=np.float64)
    largest = values.max(initial=0)
    if largest > np.iinfo(np.int64).max or np.any(values != np.floor(values)):
        return values
    return values.astype(np.min_scalar_type(int(largest)))
