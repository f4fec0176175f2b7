"""What each column is worth, exactly: the best tree without it, and the best that asks it first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from surtree._support.parameters import read_time_limit
from surtree._support.status import WORDS, Status, first_unproven
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import limits_of
from surtree.fitting.training import make_problem, read_training_data
from surtree.questions._first import first_questions
from surtree.questions._force import best_tree, best_with, parameters_of
from surtree.questions._search_result import missed_share
from surtree.solver.clock import Clock
from surtree.words.quoting import printable
from surtree.words.tables import table_html, text_table

HEADING = ("column", "loss without it", "cost", "loss if asked first", "cost")


@dataclass(frozen=True)
class ColumnCost:
    """What a column is worth.

    Parameters
    ----------
    name : str
        The column.
    without : float
        The loss of the best tree that never asks about it.
    first : float or None
        The loss of the best tree that asks about it first; None if no question about it divides
        the rows within the limits.

    Examples
    --------
    >>> from surtree import SurTree, column_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> worth = column_costs(SurTree(max_depth=1), X[["age", "positive_nodes"]], y).columns[0]
    >>> worth.name, round(worth.without, 1)
    ('positive_nodes', 473.8)
    """

    name: str
    without: float
    first: float | None


@dataclass(frozen=True)
class ColumnCosts:
    """The result of `column_costs`; ``print`` shows it.

    Parameters
    ----------
    loss : float
        The loss of the best tree.
    leaf_loss : float
        The loss of a single leaf.
    columns : tuple of ColumnCost
        The columns, the one that is missed most first.
    status : Status
        "optimal" where every tree is proven.

    Examples
    --------
    >>> from surtree import SurTree, column_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> costs = column_costs(SurTree(max_depth=1), X[["age", "positive_nodes"]], y)
    >>> round(costs.loss, 1), [column.name for column in costs.columns]
    (445.7, ['positive_nodes', 'age'])
    """

    loss: float
    leaf_loss: float
    columns: tuple[ColumnCost, ...]
    status: Status

    def share(self, loss: float) -> float:
        """Return the share of what the best tree explains that a tree of this loss does not.

        Parameters
        ----------
        loss : float
            The loss of a tree.
        """
        return missed_share(loss, self.loss, self.leaf_loss)

    def __repr__(self) -> str:
        return f"ColumnCosts({len(self.columns)} columns, loss={self.loss:.6g})"

    def __str__(self) -> str:
        table = text_table([HEADING, *(tuple(map(printable, row)) for row in self.cells())])
        return f"{table}\n{self.note()}"

    def _repr_html_(self) -> str:
        return table_html(HEADING, self.cells()) + f"<p>{self.note()}</p>"

    def note(self) -> str:
        """Return what the costs are shares of, and what is proven, in a sentence or two."""
        note = (
            f"On these rows the best tree has loss {self.loss:.6g}, a single leaf "
            f"{self.leaf_loss:.6g}: costs are shares of the difference. They say nothing of new "
            "data."
        )
        if self.status != "optimal":
            note += f" Not all trees are proven optimal: {WORDS[self.status].clause}."
        return note

    def cells(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each column, below `HEADING`."""
        return [
            (
                column.name,
                f"{column.without:.6g}",
                f"{100 * self.share(column.without):.1f} %",
                *(
                    ("-", "-")
                    if column.first is None
                    else (f"{column.first:.6g}", f"{100 * self.share(column.first):.1f} %")
                ),
            )
            for column in self.columns
        ]


def column_costs(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    treatment: ArrayLike | None = None,
    first: bool = True,
) -> ColumnCosts:
    """Find, for each column, the best tree without it and the best tree that asks about it first.

    Unlike importances of one tree, these are facts about all trees within the limits: a column
    that costs nothing can be left out without any loss on the training rows, whatever the tree
    that was found asks.

    Parameters
    ----------
    estimator : SurTree, CompetingRisksTree, EffectTree, or a fitted search
        Its parameters say how large trees may be and which cuts there are. Its time limit is that
        of each tree.
    X, y, sample_weight, entry, id, treatment
        As in `force_questions`.
    first : bool, default=True
        Whether to find the trees that ask about each column first, too.

    Examples
    --------
    >>> from surtree import SurTree, column_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> costs = column_costs(SurTree(max_depth=2), X, y)
    >>> costs.columns[0].name, round(costs.share(costs.columns[0].without), 2)
    ('positive_nodes', 0.4)
    """
    model = parameters_of(estimator)
    limit = read_time_limit(model.time_limit)
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    data = read_training_data(model, given.in_memory("column_costs"))
    limits = limits_of(model, data.target)
    free = best_tree(model, make_problem(encoder_of(model), data), limits, Clock(limit))
    loss, statuses, columns = free.loss, [free.status], []
    may_split = limits.max_depth > 0 and limits.max_splits != 0
    for index, name in enumerate(data.table.names):
        problem = make_problem(encoder_of(model), data, {index})
        without = best_tree(model, problem, limits, Clock(limit))
        statuses.append(without.status)
        asked_first = None
        if first and may_split:
            asked = first_questions(name, model, data)
            free_sides = (frozenset[int](), frozenset[int]())
            best = best_with(model, {"": asked}, free_sides, data, limits, Clock(limit))
            if best is not None:
                asked_first = best.loss
                statuses.append(best.status)
        columns.append(ColumnCost(name, without.loss, asked_first))
        loss = min(loss, without.loss, *([] if asked_first is None else [asked_first]))
    columns.sort(key=lambda column: -column.without)
    leaf_loss = float(free.tree.loss[0])
    return ColumnCosts(loss, leaf_loss, tuple(columns), first_unproven(statuses))
