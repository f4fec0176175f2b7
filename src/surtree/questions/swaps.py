"""Every single swap of a question: the tree that results, whom it moves, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parameters import read_time_limit
from surtree._support.status import Status, first_unproven
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.named import RowInputs
from surtree.estimators.parameters import limits_of
from surtree.estimators.tree import SurTree
from surtree.questions._first import asked_text
from surtree.questions._look import Effort
from surtree.questions._near_search import End, NearSearch
from surtree.questions._pinned import Pinner
from surtree.questions._training import fitted_problem
from surtree.questions.costs import Prices, QuestionCosts
from surtree.solver.clock import Clock
from surtree.survival.step_function import round_horizons
from surtree.tree.resolve import horizons_of
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.tables import table_html, text_table

# A row is moved if the survival that trees predict for it differs by more than this.
MOVED = 0.1
HEADING = ("below", "question", "cost", "rows moved", "held-out loss", "std. error")


@dataclass(frozen=True)
class Swap:
    """One question in the place of another, and the best tree that asks it there.

    Parameters
    ----------
    path : str
        The answers that lead to the node: "" is the root, "yn" is reached by a yes and a no.
    cut : Cut
        The question: the cheapest of its column at this node.
    cost, share : float
        What it costs, and as a share of what the best tree explains (`question_costs`).
    tree : Tree
        The best tree that asks the questions of the tree above the node, and this one there.
    n_moved : int
        The rows whose predicted survival at the horizon differs by more than ten points.
    difference, standard_error : float
        The loss per row on held-out rows less that of trees without the swap, and its standard
        error over folds; NaN where no folds were asked for.
    is_proven : bool
        Whether it is proven that no tree of this kind is better.
    keeps : mapping of str to Cut
        The questions that the tree had to ask, by path: this one, and those above it.

    Examples
    --------
    >>> from surtree import SurTree, question_swaps
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> swap = question_swaps(SurTree(max_depth=1).fit(X, y), X, y).swaps[1]
    >>> swap.cut.rule, round(swap.share, 2), swap.n_moved
    ('progesterone_receptor > 26', 0.38, 305)
    """

    path: str
    cut: Cut
    cost: float
    share: float
    tree: Tree
    n_moved: int
    difference: float = nan
    standard_error: float = nan
    is_proven: bool = True
    keeps: Mapping[str, Cut] = field(default_factory=dict, repr=False)

    @property
    def condition(self) -> str:
        """What the tree is the best of, in words."""
        return asked_text(self.tree, sorted(self.keeps, key=len))


@dataclass(frozen=True)
class QuestionSwaps:
    """The result of `question_swaps`; ``print`` shows it, and `write_report` lets readers swap.

    Parameters
    ----------
    costs : QuestionCosts
        What every question costs at every node.
    tree : Tree
        The tree without a swap.
    swaps : tuple of Swap
        The cheapest question of each column at each node, those of the tree itself included.
    horizon : float
        The time at which survival is compared.
    n_rows : int
        How many rows there are.
    n_folds : int
        The folds of the held-out losses; 0 for none.
    status : {"optimal", "rounded", "time_limit", "interrupted"}
        "optimal" where every tree is proven.

    Examples
    --------
    >>> from surtree import SurTree, question_swaps
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> question_swaps(SurTree(max_depth=1).fit(X, y), X, y)
    QuestionSwaps(1 node, 8 swaps, horizon=1500)
    """

    costs: QuestionCosts
    tree: Tree
    swaps: tuple[Swap, ...]
    horizon: float
    n_rows: int
    n_folds: int
    status: Status
    _swapper: Swapper = field(repr=False, compare=False)

    def after(self, swap: Swap) -> tuple[Swap, ...]:
        """Return the swaps in the tree of a swap, which is kept with the questions above it.

        Costs and rows that move are compared with the tree without any swap. Those at the node of
        the swap and above it are left out: they drop it, and are swaps of the tree itself.

        Parameters
        ----------
        swap : Swap
            One of the swaps, or one of those after it.

        Examples
        --------
        >>> from surtree import SurTree, question_swaps
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> swaps = question_swaps(SurTree(max_depth=2).fit(X, y), X, y)
        >>> second = swaps.after(swaps.swaps[1])[1]
        >>> print(second.condition, round(second.share, 3))
        asks "progesterone_receptor > 46" first and "progesterone_receptor > 14" after no 0.405
        """
        costs = self._costs_after(swap)
        proven = costs.status == "optimal" and self.status == "optimal"
        swaps = self._swapper.swaps(costs, swap.keeps)
        return tuple(replace(each, is_proven=proven) for each in swaps)

    def near(self, within: float, most: int) -> tuple[list[Tree], End]:
        """Return the trees near the best one, as `near_optimal` lists them, and how that ended.

        Parameters
        ----------
        within : float
            The share of what the best tree explains by which a tree may be behind it.
        most : int
            How many are listed.
        """
        return self._swapper.near(within, most)

    def _costs_after(self, swap: Swap) -> QuestionCosts:
        swapper = self._swapper
        here = swapper.pinner
        here.effort = replace(here.effort, clock=Clock(swapper.seconds))
        return Prices(swap.tree, here, swapper.numbered(swap.keeps), self.costs.loss).all()

    def at(self, path: str) -> tuple[Swap, ...]:
        """Return the swaps at a node, the cheapest first.

        Parameters
        ----------
        path : str
            The path of the node.
        """
        return tuple(swap for swap in self.swaps if swap.path == path)

    def __repr__(self) -> str:
        nodes = plural(len({swap.path for swap in self.swaps}), "node")
        swaps = plural(len(self.swaps), "swap")
        return f"QuestionSwaps({nodes}, {swaps}, horizon={self.horizon:g})"

    def __str__(self) -> str:
        return f"{text_table([HEADING, *self.cells()])}\n{self.note()}"

    def _repr_html_(self) -> str:
        return table_html(HEADING, self.cells()) + f"<p>{self.note()}</p>"

    def note(self) -> str:
        """Return what the figures are, in sentences."""
        folds = (
            f" Held-out loss: per row, less that of the tree without a swap, over {self.n_folds} "
            "folds; less is better."
            if self.n_folds
            else ""
        )
        return (
            f"{self.costs.note()} A row is moved if its predicted survival at {self.horizon:g} "
            f"differs by more than {100 * MOVED:g} points; there are {self.n_rows}.{folds}"
        )

    def cells(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each swap, below `HEADING`."""
        below = {node.path: " and ".join(node.conditions) for node in self.costs.nodes}
        return [
            (
                below[swap.path] or "all rows",
                swap.cut.rule,
                f"{100 * swap.share:.1f} %",
                str(swap.n_moved),
                f"{swap.difference:+.4f}" if isfinite(swap.difference) else "-",
                f"{swap.standard_error:.4f}" if isfinite(swap.standard_error) else "-",
            )
            for swap in self.swaps
        ]


def question_swaps(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | str | None = None,
    entry: ArrayLike | str | None = None,
    id: ArrayLike | str | None = None,
    *,
    horizon: float | None = None,
    n_folds: int = 0,
    time_limit: float | None = None,
) -> QuestionSwaps:
    """Find, for every node and every column, the best tree that asks about the column there.

    At each node each column has its cheapest question (`question_costs`). The tree that asks it
    keeps the questions above the node, and chooses all others anew.

    Parameters
    ----------
    model : fitted SurTree, SurTreeCV or CompetingRisksTree
        The tree. Of a search, the one that it chose.
    X, y, sample_weight, entry, id
        The rows that it was fitted on.
    horizon : float, optional
        The time at which survival is compared; by default the middle one of the ``horizons_`` of
        the model, else of a few round times.
    n_folds : int, default=0
        With two or more: the trees of every swap are found anew without the rows of each fold, and
        their loss on these rows is compared with that of trees that keep the own question of the
        node. Both keep the questions above it; size and shrinkage are those of the model. As these
        and the kept questions were found on all rows, both losses are too good, and their
        difference is about this swap only.
    time_limit : float, optional
        Seconds for the prices, and as many for the trees; by default those of the model.

    Returns
    -------
    QuestionSwaps
        The swaps, by node, the cheapest first.

    Examples
    --------
    >>> from surtree import SurTree, question_swaps
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    >>> swap = question_swaps(model, X, y, horizon=1095).at("")[1]
    >>> print(f"{swap.cut.rule}: {100 * swap.share:.1f} %, {swap.n_moved} rows moved")
    progesterone_receptor > 26: 1.7 %, 159 rows moved
    """
    if n_folds < 0 or n_folds == 1:
        raise ValueError(f"n_folds must be 0, or 2 or more; got {n_folds!r}")
    given = RowInputs(X, y, sample_weight, entry, id).in_memory("question_swaps")
    fitted, problem = fitted_problem(model, given, "swap")
    tree = fitted.tree_
    limits = replace(limits_of(fitted, problem.data.target), max_splits=tree.n_splits)
    seconds = read_time_limit(fitted.time_limit if time_limit is None else time_limit)
    here = Pinner(problem, limits, Effort(Clock(seconds), fitted.n_jobs, fitted.memory_limit))
    costs = Prices(tree, here).all()
    end = tree.last_event
    known = list(horizons_of(model) or ()) or round_horizons(end) or [end]
    time = sorted(known)[len(known) // 2] if horizon is None else float(horizon)
    swapper = Swapper(fitted, here, time, seconds)
    here.effort = replace(here.effort, clock=Clock(seconds))
    swaps = list(swapper.swaps(costs, {}))
    if n_folds:
        swaps = [
            replace(swap, difference=mean, standard_error=error)
            for swap, (mean, error) in zip(
                swaps, _held_out(swapper, costs, swaps, n_folds), strict=True
            )
        ]
    n_rows = problem.data.sums.weight.size
    status = first_unproven([costs.status, *here.statuses])
    swaps = [replace(swap, is_proven=status == "optimal") for swap in swaps]
    return QuestionSwaps(costs, tree, tuple(swaps), time, n_rows, n_folds, status, swapper)


class Swapper:
    """Makes the trees of swaps, and says whom they move."""

    def __init__(self, model: SurTree, pinner: Pinner, time: float, seconds: float | None) -> None:
        self.model, self.pinner, self.seconds = model, pinner, seconds
        self.time = time
        self.number = {cut: number for number, cut in enumerate(pinner.problem.encoder.cuts_)}
        table, present = pinner.problem.data.table, pinner.problem.data.present
        leaves = find_leaves(model.tree_, table)[present]
        self.before = _of_nodes(model.tree_, time)[leaves]

    def near(self, within: float, most: int) -> tuple[list[Tree], End]:
        """Return the trees within a share of the best one, up to a number, and why they end."""
        problem = self.pinner.problem
        search = NearSearch(problem, self.model, within, Clock(self.seconds), distinct=True)
        return [
            problem.build_with_at_risk(topology, self.model.leaf_curve)
            for some, _ in search.batches(most, most)
            for topology in some
        ], search.end

    def numbered(self, kept: Mapping[str, Cut]) -> dict[str, int]:
        """Return the number of each question that is kept."""
        return {path: self.number[cut] for path, cut in kept.items()}

    def swaps(self, costs: QuestionCosts, kept: Mapping[str, Cut]) -> Iterator[Swap]:
        """Yield the tree of each column's cheapest question at each node, others being kept."""
        problem = self.pinner.problem
        asked = {node.path: node.asked for node in costs.nodes}
        for node in costs.nodes:
            if any(path.startswith(node.path) for path in kept):
                continue
            above = {path: cut for path, cut in asked.items() if node.path.startswith(path)}
            done: set[str] = set()
            # Of two that cost the same, the one that the tree has.
            for question in sorted(node.questions, key=lambda it: (it.cost, it.cut != node.asked)):
                if question.column in done:
                    continue
                keep = {**kept, **above, node.path: question.cut}
                topology = self.pinner.topology(self.numbered(keep))
                if topology is None:
                    continue
                done.add(question.column)
                tree = problem.build_with_at_risk(topology, self.model.leaf_curve)
                after = _of_nodes(tree, self.time)[problem.core.find_leaves(topology)]
                moved = int((np.abs(after - self.before) > MOVED).sum())
                yield Swap(
                    node.path, question.cut, question.cost, question.share, tree, moved, keeps=keep
                )


def _of_nodes(tree: Tree, time: float) -> Floats:
    """Return the survival that each leaf of a tree predicts at a time, by node."""
    survival = np.full(tree.n_nodes, nan)
    for leaf in tree.leaves.tolist():
        survival[leaf] = tree.outcome.group(leaf).curve(None).survival(time)
    return survival


def _held_out(
    swapper: Swapper, costs: QuestionCosts, swaps: list[Swap], n_folds: int
) -> list[tuple[float, float]]:
    """Return the mean difference in held-out loss from trees without a swap, and its error."""
    data = swapper.pinner.problem.data
    asked = {node.path: swapper.number[node.asked] for node in costs.nodes}
    person = data.target.person
    unit = np.arange(data.sums.weight.size) if person is None else person
    n_units = int(unit.max()) + 1
    if n_folds > n_units:
        raise ValueError(f"n_folds is {n_folds}, and there are only {n_units} rows or persons")
    fold = (np.random.default_rng(0).permutation(n_units) % n_folds)[unit]
    # As many questions were found on all rows for both: the own ones are kept, too.
    pinned = [swapper.numbered(swap.keeps) for swap in swaps]
    own = [{path: asked[path] for path in keep} for keep in pinned]
    here = swapper.pinner
    losses = np.array([_fold_losses(here, [*own, *pinned], fold == k) for k in range(n_folds)])
    differences = losses[:, len(own) :] - losses[:, : len(own)]
    # Folds share training rows (Nadeau and Bengio).
    spread = sqrt(1 / n_folds + 1 / (n_folds - 1))
    errors = spread * differences.std(axis=0, ddof=1)
    return list(zip(differences.mean(axis=0).tolist(), errors.tolist(), strict=True))


def _fold_losses(
    on_all: Pinner, pinned: list[dict[str, int]], held: NDArray[np.bool_]
) -> list[float]:
    """Return the loss per held-out row of the trees of the others that keep some cuts."""
    data = on_all.problem.data
    part, target = on_all.problem.take(~held), data.target.take(held)
    weight = data.sums.weight[held]
    sums = data.sums.objective.row_sums(target, weight, part.data.baseline)
    here = Pinner(part, on_all.limits, on_all.effort)
    losses: list[float] = []
    for keep in pinned:
        topology = here.topology(keep)
        if topology is None:
            losses.append(nan)
            continue
        (built,) = part.build([topology])
        leaves = find_leaves(built.tree, data.table)[data.present][held]
        losses.append(sums.loss(built.tree.prediction[..., leaves]) / target.total(weight))
    return losses
