"""The exact price of every question at every node of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.exact import SAME_LOSS
from surtree._support.parameters import read_time_limit
from surtree._support.status import FINISHED, WORDS, Status, first_unproven
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.named import RowInputs
from surtree.estimators.parameters import limits_of
from surtree.questions._look import Effort, Look, look
from surtree.questions._pinned import Pinner
from surtree.questions._search_result import missed_share
from surtree.questions._training import fitted_problem
from surtree.solver.clock import Clock
from surtree.tree.rows import goes_right
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.printed import Printed
from surtree.words.tables import table_html, text_table

HEADING = ("below", "question", "loss", "cost")
_SHOWN = 3  # columns of a node in print


@dataclass(frozen=True)
class PricedQuestion:
    """A question at a node, and what it costs to ask it there.

    Parameters
    ----------
    cut : Cut
        The question.
    loss : float
        The loss of the best tree that asks it there, as `question_costs` defines it.
    cost : float
        By how much that is more than the loss of the best tree.
    share : float
        The cost as a share of what the best tree explains.

    Examples
    --------
    >>> from surtree import SurTree, question_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X, y)
    >>> best = question_costs(model, X, y)[""].questions[0]
    >>> best.column, best.rule, best.cost
    ('positive_nodes', 'positive_nodes > 3', 0.0)
    """

    cut: Cut
    loss: float
    cost: float
    share: float

    @property
    def column(self) -> str:
        """The column that it asks about."""
        return self.cut.name

    @property
    def rule(self) -> str:
        """The question in words."""
        return self.cut.rule


@dataclass(frozen=True, repr=False)
class NodeQuestions(Printed):
    """All questions at a node of a tree.

    Parameters
    ----------
    path : str
        The answers that lead to the node from the root: "" is the root, "yn" is reached by a yes
        and a no.
    node : int
        The number of the node in the tree.
    conditions : tuple of str
        What holds for its rows, in words.
    asked : Cut
        What the tree asks there.
    questions : tuple of PricedQuestion
        Every question that divides its rows within the limits, the cheapest first.

    Examples
    --------
    >>> from surtree import SurTree, question_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> costs = question_costs(SurTree(max_depth=2).fit(X, y), X, y)
    >>> node = costs["y"]
    >>> node.conditions, [question.column for question in node.columns()[:2]]
    (('positive_nodes > 3',), ['progesterone_receptor', 'estrogen_receptor'])
    """

    path: str
    node: int
    conditions: tuple[str, ...]
    asked: Cut
    questions: tuple[PricedQuestion, ...]

    def columns(self) -> tuple[PricedQuestion, ...]:
        """Return the cheapest question of each column, the cheapest first."""
        best: dict[str, PricedQuestion] = {}
        for question in self.questions:
            best.setdefault(question.column, question)
        return tuple(best.values())


@dataclass(frozen=True)
class QuestionCosts:
    """The result of `question_costs`; ``print`` shows the cheapest columns of each node.

    Parameters
    ----------
    loss : float
        The loss of the best tree.
    leaf_loss : float
        The loss of a single leaf: the difference is what the best tree explains.
    max_splits : int
        The number of splits that every tree here may have.
    nodes : tuple of NodeQuestions
        The splits of the tree, in their order there. Where a time limit ended the search, those
        that it came to.
    status : {"optimal", "rounded", "time_limit", "interrupted"}
        How the search ended: "optimal" where every node has its prices.

    Examples
    --------
    >>> from surtree import SurTree, question_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> question_costs(SurTree(max_depth=2).fit(X, y), X, y)
    QuestionCosts(3 nodes, 147 questions, loss=425.907)
    """

    loss: float
    leaf_loss: float
    max_splits: int
    nodes: tuple[NodeQuestions, ...]
    status: Status

    def __getitem__(self, path: str) -> NodeQuestions:
        """Return the questions at a node, by its path."""
        for node in self.nodes:
            if node.path == path:
                return node
        paths = ", ".join(repr(node.path) for node in self.nodes)
        raise KeyError(f"{path!r} is no split of the tree: there are {paths}")

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each question at each node, as a data frame takes them.

        Examples
        --------
        >>> import pandas as pd
        >>> from surtree import SurTree, question_costs
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> costs = question_costs(SurTree(max_depth=1).fit(X, y), X, y)
        >>> pd.DataFrame(costs.records()).columns.tolist()
        ['path', 'node', 'column', 'question', 'loss', 'cost', 'share', 'asked']
        """
        return [
            {
                "path": node.path,
                "node": node.node,
                "column": question.column,
                "question": question.rule,
                "loss": question.loss,
                "cost": question.cost,
                "share": question.share,
                "asked": question.cut == node.asked,
            }
            for node in self.nodes
            for question in node.questions
        ]

    def __repr__(self) -> str:
        n_questions = sum(len(node.questions) for node in self.nodes)
        return (
            f"QuestionCosts({plural(len(self.nodes), 'node')}, "
            f"{plural(n_questions, 'question')}, loss={self.loss:.6g})"
        )

    def __str__(self) -> str:
        return f"{text_table([HEADING, *self._cells()])}\n{self.note()}"

    def _repr_html_(self) -> str:
        return table_html(HEADING, self._cells()) + f"<p>{self.note()}</p>"

    def note(self) -> str:
        """Return what the costs are shares of, and what is proven, in a sentence or two."""
        note = (
            f"Each line: the best tree of at most {plural(self.max_splits, 'split')} that keeps "
            "the questions above the node and asks this one there. On these rows the best tree has "
            f"loss {self.loss:.6g}, a single leaf {self.leaf_loss:.6g}: costs are shares of the "
            "difference. They say nothing of new data."
        )
        if self.status != "optimal":
            note += f" Not all is proven: {WORDS[self.status].clause}."
        return note

    def _cells(self) -> Iterator[tuple[str, ...]]:
        for node in self.nodes:
            below = " and ".join(node.conditions) or "all rows"
            for question in node.columns()[:_SHOWN]:
                yield below, question.rule, f"{question.loss:.6g}", f"{100 * question.share:.1f} %"


def question_costs(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | str | None = None,
    entry: ArrayLike | str | None = None,
    id: ArrayLike | str | None = None,
    *,
    treatment: ArrayLike | str | None = None,
    time_limit: float | None = None,
) -> QuestionCosts:
    """Price every question at every split of a fitted tree, exactly.

    The price of a question at a node is the loss of the best tree that asks the questions of this
    tree above the node, and that question at the node, less the loss of the best tree. All else
    is chosen anew: everything below the node, and in all branches beside the questions that are
    kept. Every tree has at most as many splits as this one, and keeps to the limits of the model.
    So a price is never higher than the swap need be, and the question that a best tree asks has
    the price zero.

    Parameters
    ----------
    model : fitted SurTree, SurTreeCV, CompetingRisksTree or EffectTree
        The tree. Of a search, the one that it chose.
    X, y, sample_weight, entry, id, treatment
        The rows that it was fitted on; of an `EffectTree` with their arms.
    time_limit : float, optional
        Seconds after which the search ends with the nodes that are done; by default those of the
        model.

    Returns
    -------
    QuestionCosts
        The questions of each node, the cheapest first.

    Examples
    --------
    >>> from surtree import SurTree, question_costs
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    >>> costs = question_costs(model, X, y)
    >>> for question in costs[""].columns()[:3]:
    ...     print(f"{question.rule}: {100 * question.share:.1f} %")
    positive_nodes > 7: 0.0 %
    progesterone_receptor > 26: 1.7 %
    estrogen_receptor > 8: 7.2 %
    """
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    fitted, problem = fitted_problem(model, given.in_memory("question_costs"), "question")
    seconds = read_time_limit(fitted.time_limit if time_limit is None else time_limit)
    effort = Effort(Clock(seconds), fitted.n_jobs, fitted.memory_limit)
    limits = replace(limits_of(fitted, problem.data.target), max_splits=fitted.tree_.n_splits)
    return Prices(fitted.tree_, Pinner(problem, limits, effort)).all()


class Prices:
    """Walks down a tree with what the rest of it gains, some questions of it being kept."""

    def __init__(
        self,
        tree: Tree,
        pinner: Pinner,
        kept: Mapping[str, int] | None = None,
        best: float = np.nan,
    ) -> None:
        self._tree = tree
        self._pinner = pinner
        self._problem, self._limits, self._effort = pinner.problem, pinner.limits, pinner.effort
        self._kept = kept or {}
        self._most = pinner.limits.max_splits or 0
        self._constant = self._problem.data.sums.constant
        self._leaf_loss = float(tree.loss[0])
        self._best = best
        self._statuses: list[Status] = []
        self._nodes: dict[int, NodeQuestions] = {}

    def all(self) -> QuestionCosts:
        rows = np.ones(self._problem.data.sums.weight.size, dtype=np.bool_)
        top = self._look(rows, 0)
        if self._is_done():
            if np.isnan(self._best):
                self._best = self._constant - float(top.best(self._most)[self._most])
            self._price(0, "", rows, top, np.zeros(self._most + 1))
        status = first_unproven(self._statuses)
        if status == "optimal" and self._problem.data.sums.is_uneven:
            status = "rounded"
        nodes = tuple(self._nodes[node] for node in sorted(self._nodes))
        best = self._best if np.isfinite(self._best) else self._tree.total_loss
        return QuestionCosts(best, self._leaf_loss, self._most, nodes, status)

    def _price(
        self, node: int, path: str, rows: NDArray[np.bool_], here: Look, beside: Floats
    ) -> None:
        """Price a node and those below, given what trees gain beside it by their splits."""
        tree = self._tree
        if tree.is_leaf[node]:
            return
        self._nodes[node] = self._priced(node, path, here, beside)
        right = goes_right(tree, node, self._problem.data.table, self._problem.data.present)
        sides = rows & ~right, rows & right
        looks = [self._look(side, len(path) + 1) for side in sides]
        if not self._is_done():
            return
        children = int(tree.left[node]), int(tree.right[node])
        for side, answer in enumerate("ny"):
            beside_it = path + "ny"[1 - side]
            if any(kept.startswith(beside_it) for kept in self._kept):
                pinned = self._pinner.best(sides[1 - side], beside_it, self._kept)[0]
                other = np.full(self._most + 1, -np.inf)
                other[: pinned.size] = pinned
                other = np.maximum.accumulate(other)
            else:
                other = looks[1 - side].best(self._most)
            around = np.full(self._most + 1, -np.inf)
            for spent in range(self._most):
                rest = beside[spent] + other[: self._most - spent]
                np.maximum(around[spent + 1 :], rest, out=around[spent + 1 :])
            self._price(children[side], path + answer, sides[side], looks[side], around)

    def _priced(self, node: int, path: str, here: Look, beside: Floats) -> NodeQuestions:
        by_cut = here.by_cut
        gains = np.full(len(by_cut), -np.inf)
        for below in range(min(by_cut.shape[1], self._most)):
            gains = np.maximum(gains, by_cut[:, below] + beside[self._most - below - 1])
        losses = self._constant - gains
        # What is above the best by less is rounding.
        rounding = SAME_LOSS * self._leaf_loss
        costs = np.where(losses - self._best > rounding, losses - self._best, 0.0)
        cuts = self._problem.encoder.cuts_
        questions = [
            PricedQuestion(
                cuts[number],
                float(losses[number]),
                float(costs[number]),
                missed_share(float(losses[number]), self._best, self._leaf_loss),
            )
            for number in np.argsort(costs, kind="stable")
            if np.isfinite(losses[number])
        ]
        tree, at = self._tree, self._tree.paths()[node]
        conditions = tuple(tree.condition(above, below) for above, below in pairwise(at))
        return NodeQuestions(path, node, conditions, tree.cuts[tree.cut[node]], tuple(questions))

    def _look(self, rows: NDArray[np.bool_], depth: int) -> Look:
        limits = replace(
            self._limits,
            max_depth=self._limits.max_depth - depth,
            max_splits=self._most - depth,
        )
        found = look(self._problem, rows, limits, self._effort)
        self._statuses.append(found.status)
        return found

    def _is_done(self) -> bool:
        return all(status in FINISHED for status in self._statuses)
