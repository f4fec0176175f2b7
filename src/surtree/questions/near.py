"""All trees near the best one, best first, and what they agree about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parameters import is_number, read_time_limit
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import condition_texts
from surtree.fitting.training import FitProblem
from surtree.questions._near_search import End, NearSearch, node_thetas
from surtree.questions._search_result import missed_share
from surtree.questions._training import fitted_problem
from surtree.questions.near_result import ENDS, FirstTree, NearColumn, PersonRanges
from surtree.solver.clock import Clock
from surtree.solver.problem import Forest, TreeTopology
from surtree.survival.objective import RelativeRisk
from surtree.tree.leaf_curve import curve_of
from surtree.tree.tree import Tree
from surtree.words.tables import table_html, text_table

HEADING = ("column", "asked in", "best loss with it", "cost", "best loss without it", "cost")
_BATCH = 1000


class NearTreeList(Sequence[Tree]):
    """Trees that are built when they are asked for."""

    def __init__(self, problem: FitProblem, model: SurTree, topologies: Sequence[TreeTopology]):
        self._problem = problem
        self._leaf_curve = model.leaf_curve
        self._topologies = topologies

    def __len__(self) -> int:
        return len(self._topologies)

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> NearTreeList: ...
    def __getitem__(self, index: int | slice) -> Tree | NearTreeList:
        if isinstance(index, slice):
            part = NearTreeList.__new__(NearTreeList)
            vars(part).update(vars(self) | {"_topologies": self._topologies[index]})
            return part
        return self._problem.build_with_at_risk(self._topologies[index], self._leaf_curve)

    def __repr__(self) -> str:
        return f"<{len(self):,} trees, built when asked for>"


@dataclass(frozen=True, eq=False)
class NearOptimal:
    """The result of `near_optimal`; ``print`` shows it.

    Parameters
    ----------
    loss, leaf_loss : float
        The loss of the best tree and of a single leaf: the difference is what it explains.
    within : float
        The share of that by which a tree may be behind.
    max_splits : int
        The number of splits that every tree may have.
    losses : array of float
        The losses of the listed trees, ascending.
    trees : sequence of Tree
        The listed trees in this order, each built when it is asked for.
    columns : tuple of NearColumn
        What they say of each column, the one that most of them ask about first.
    end : {"complete", "max_trees", "time_limit", "memory_limit", "interrupted"}
        "complete" where every tree within the share is listed.

    Examples
    --------
    >>> from surtree import SurTree, near_optimal
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> near = near_optimal(SurTree(max_depth=2).fit(X, y), X, y, within=0.05)
    >>> near
    NearOptimal(43 trees within 5 %, loss=425.907)
    >>> near.n_trees, near.losses[:3].round(1).tolist(), near.trees[0].n_leaves
    (43, [425.9, 426.0, 426.1], 4)
    """

    loss: float
    leaf_loss: float
    within: float
    max_splits: int
    losses: Floats
    trees: Sequence[Tree]
    columns: tuple[NearColumn, ...]
    end: End
    _model: SurTree
    _problem: FitProblem
    _topologies: tuple[TreeTopology, ...]

    @property
    def n_trees(self) -> int:
        """How many trees are listed: exactly as many as there are, if ``end`` is "complete"."""
        return self.losses.size

    @property
    def count_text(self) -> str:
        """The number of trees in words: "1,234 trees", or "at least 1,234 trees"."""
        trees = f"{self.n_trees:,} {'tree' if self.n_trees == 1 else 'trees'}"
        return trees if self.end == "complete" else f"at least {trees}"

    def share(self, loss: float) -> float:
        """Return the share of what the best tree explains that a tree of this loss does not.

        Parameters
        ----------
        loss : float
            The loss of a tree.
        """
        return missed_share(loss, self.loss, self.leaf_loss)

    def __repr__(self) -> str:
        return (
            f"NearOptimal({self.count_text} within {100 * self.within:g} %, loss={self.loss:.6g})"
        )

    def __str__(self) -> str:
        return f"{self.note()}\n\n{text_table([HEADING, *self._cells()])}"

    def _repr_html_(self) -> str:
        return f"<p>{self.note()}</p>" + table_html(HEADING, self._cells())

    def note(self) -> str:
        """Return how many trees there are, in a sentence or two."""
        conditions = "".join(f" and {text}" for text in condition_texts(self._model))
        more = "" if self.end == "complete" else f" ({ENDS[self.end]})"
        return (
            f"{self.count_text[0].upper()}{self.count_text[1:]} of at most {self.max_splits} "
            f"splits{conditions}{more} within {100 * self.within:g} % of what the best tree "
            "explains, each another division of the rows. These are losses on the training rows: "
            "they say nothing of new data."
        )

    def _cells(self) -> list[tuple[str, ...]]:
        def loss_and_cost(loss: float | None) -> tuple[str, str]:
            if loss is None:
                return ("none listed", "-")
            return (f"{loss:.6g}", f"{100 * self.share(loss):.1f} %")

        return [
            (
                column.name,
                f"{100 * column.share:.0f} %",
                *loss_and_cost(column.best_with),
                *loss_and_cost(column.best_without),
            )
            for column in self.columns
        ]

    def ranges(self, time: float | None = None) -> PersonRanges:
        """Return the range of the survival that the listed trees predict, for each training row.

        Rows are those that count, in their order: without rows of weight zero.

        Parameters
        ----------
        time : float, optional
            The time of the prediction; by default the median follow-up.
        """
        if not isinstance(self._problem.data.sums.objective, RelativeRisk):
            raise ValueError(
                "ranges are of the survival of one event: ask a tree of it for the others"
            )
        if time is None:
            time = min(self._problem.follow_up.median, self._problem.data.baseline.last_time)
        if not is_number(time) or not 0 <= time <= self._problem.data.baseline.last_time:
            raise ValueError(f"time must be within follow-up; got {time!r}")
        survival = self._survival(float(time))
        best = next(survival)
        lower, upper = best.copy(), best.copy()
        for each in survival:
            np.minimum(lower, each, out=lower)
            np.maximum(upper, each, out=upper)
        return PersonRanges(float(time), best, lower, upper)

    def _survival(self, time: float) -> Iterator[Floats]:
        """Return the survival of each row at a time, by one listed tree after the other."""
        core, data = self._problem.core, self._problem.data
        if self._model.leaf_curve != "baseline":
            for topology, tree in zip(self._topologies, self.trees, strict=True):
                of_node = np.full(tree.n_nodes, np.nan)
                for leaf in tree.leaves:
                    of_node[leaf] = curve_of(tree, int(leaf)).survival(time)
                yield of_node[core.find_leaves(topology)]
            return
        hazard = float(data.baseline.at(time))
        for topology, theta in node_thetas(self._problem, self._topologies):
            yield np.exp(-theta * hazard)[core.find_leaves(topology)]

    def first(
        self,
        predicate: Callable[[Tree], object],
        *,
        within: float = 0.1,
        max_trees: int | None = None,
        time_limit: float | None = None,
    ) -> FirstTree:
        """Return the best tree that satisfies a condition, with the proof that it is the best.

        All trees are looked at in the order of their losses, so the first that satisfies the
        condition is the best one. Unlike the list, this looks at every tree, also at several that
        divide the training rows alike: conditions are about questions, too. What the risk does
        along columns, and how many there are, `SurTree` asks of trees much faster, by ``monotone``
        and ``max_columns``.

        Parameters
        ----------
        predicate : callable
            Takes a `Tree`, and returns whether it will do.
        within : float, default=0.1
            The share of what the best tree explains by which a tree may be behind it.
        max_trees, time_limit : optional
            Where the search ends without an answer. Memory ends it at the model's limit.

        Examples
        --------
        >>> from surtree import SurTree, near_optimal
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> near = near_optimal(SurTree(max_depth=2).fit(X, y), X, y)
        >>> first = near.first(lambda tree: tree.question(0).name == "progesterone_receptor")
        >>> first.end, round(first.share, 3), first.n_seen
        ('complete', 0.007, 4)
        """
        if not callable(predicate):
            raise TypeError(f"predicate must take a tree and return a bool; got {predicate!r}")
        share, clock = read_share(within), Clock(read_time_limit(time_limit))
        search = NearSearch(self._problem, self._model, share, clock, distinct=False)
        n_seen = 0
        for topologies, gains in search.batches(_BATCH, max_trees):
            for position, unbuilt in enumerate(self._problem.build(topologies)):
                if _will_do(predicate, unbuilt.tree):
                    tree = self.trees_of([topologies[position]])[0]
                    loss, n_seen = tree.total_loss, n_seen + position + 1
                    cost = max(loss - self.loss, 0.0)
                    return FirstTree(tree, loss, cost, self.share(loss), within, n_seen, "complete")
            n_seen += len(gains)
        return FirstTree(None, None, None, None, within, n_seen, search.end)

    def trees_of(self, topologies: Sequence[TreeTopology]) -> NearTreeList:
        """Return trees of the same rows."""
        return NearTreeList(self._problem, self._model, topologies)


def near_optimal(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | str | None = None,
    entry: ArrayLike | str | None = None,
    id: ArrayLike | str | None = None,
    *,
    treatment: ArrayLike | str | None = None,
    within: float = 0.05,
    max_trees: int = 100_000,
    time_limit: float | None = None,
) -> NearOptimal:
    """List all trees near the best one, best first.

    A tree is near if it is behind the best one by at most a share of what that explains, the
    difference of its loss from that of a single leaf. All trees keep to the limits of the model,
    and have at most as many splits as its tree; with ``monotone`` or ``max_columns``, all satisfy
    these, and the best one is the best of those. Trees that divide the training rows into the same
    leaves count once, whatever they ask, and in whichever order; with such conditions, trees that
    divide all possible rows alike do.

    Parameters
    ----------
    model : fitted SurTree, SurTreeCV, CompetingRisksTree or EffectTree
        Its tree says how many splits there may be. Of a search, the tree that it chose.
    X, y, sample_weight, entry, id, treatment
        The rows that it was fitted on; of an `EffectTree` with their arms.
    within : float, default=0.05
        The share, from 0 to 1.
    max_trees : int, default=100,000
        How many trees are listed at most.
    time_limit : float, optional
        Seconds after which the list ends with the trees that are known; by default that of the
        model. Memory ends it at the ``memory_limit`` of the model, too.

    Returns
    -------
    NearOptimal
        How many trees there are, or at least are; the trees, what they say of each column, and
        the range of what they predict.

    Examples
    --------
    >>> from surtree import SurTree, near_optimal
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    >>> near = near_optimal(model, X, y, within=0.05)
    >>> near.end, near.n_trees
    ('complete', 20)
    >>> [column.name for column in near.columns if column.share == 1]
    ['positive_nodes', 'progesterone_receptor']
    """
    share = read_share(within)
    if not isinstance(max_trees, int | np.integer) or max_trees < 1:
        raise ValueError(f"max_trees must be a whole number, 1 or more; got {max_trees!r}")
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment).in_memory("near_optimal")
    fitted, problem = fitted_problem(model, given, "list of trees", with_conditions=True)
    clock = Clock(read_time_limit(fitted.time_limit if time_limit is None else time_limit))
    search = NearSearch(problem, fitted, share, clock, distinct=True)
    topologies: list[TreeTopology] = []
    gains: list[Floats] = []
    for some, of_some in search.batches(_BATCH, int(max_trees)):
        topologies += some
        gains.append(of_some)
    order, losses = search.losses(topologies, gains)
    listed = tuple(topologies[index] for index in order)
    best = float(losses[0]) if losses.size else float(fitted.loss_)
    return NearOptimal(
        best,
        float(fitted.tree_.loss[0]),
        share,
        fitted.tree_.n_splits,
        losses,
        NearTreeList(problem, fitted, listed),
        _columns(problem, listed, losses),
        search.end,
        fitted,
        problem,
        listed,
    )


def _will_do(predicate: Callable[[Tree], object], tree: Tree) -> bool:
    try:
        return bool(predicate(tree))
    except Exception as error:
        raise ValueError(
            f"predicate raised {type(error).__name__} for a tree of {tree.n_splits} splits: {error}"
        ) from error


def read_share(within: Any) -> float:
    """Return a share of what the best tree explains, from zero to one."""
    if not is_number(within) or not 0 <= within <= 1:
        raise ValueError(
            f"within is a share of what the best tree explains, from 0 to 1; got {within!r}"
        )
    return float(within)


def _columns(
    problem: FitProblem, topologies: Sequence[TreeTopology], losses: Floats
) -> tuple[NearColumn, ...]:
    """Return what trees, in the order of their losses, say of each column."""
    cuts, names = problem.encoder.cuts_, problem.data.table.names
    column_of = np.array([cut.column for cut in cuts], dtype=np.intp)
    asks = np.zeros((len(topologies), len(names)), dtype=np.bool_)
    if topologies:
        forest = Forest.of(topologies)
        splits = forest.cut >= 0
        tree = np.repeat(np.arange(len(topologies)), np.diff(forest.begin))
        asks[tree[splits], column_of[forest.cut[splits]]] = True

    def first(has: NDArray[np.bool_]) -> float | None:
        return float(losses[np.argmax(has)]) if has.any() else None

    columns = [
        NearColumn(
            names[index],
            float(asks[:, index].mean()) if topologies else 0.0,
            first(asks[:, index]),
            first(~asks[:, index]),
        )
        for index in np.unique(column_of)
    ]
    return tuple(sorted(columns, key=lambda column: -column.share))
