"""Every single swap of a question: the tree that results, whom it moves, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.exact import SAME_LOSS
from surtree._support.parameters import read_time_limit
from surtree._support.status import Status, first_unproven
from surtree._support.types import Floats
from surtree.cuts.cut import Cut
from surtree.data.named import RowInputs
from surtree.estimators.parameters import limits_of
from surtree.fitting.training import FitProblem
from surtree.questions._first import asked_text
from surtree.questions._force import is_allowed, join_gains, joined_topology
from surtree.questions._look import Effort
from surtree.questions._training import fitted_problem
from surtree.questions.costs import PricedQuestion, QuestionCosts, question_costs
from surtree.solver.clock import Clock
from surtree.solver.problem import Limits, TreeTopology
from surtree.solver.search import SearchSettings, search
from surtree.survival.step_function import round_horizons
from surtree.tree.resolve import horizons_of
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree
from surtree.words.html_table import table_html
from surtree.words.numbers import plural
from surtree.words.text_table import text_table

Rows = NDArray[np.bool_]
# A row is moved if the survival that trees predict for it differs by more than this.
MOVED = 0.1
# Cut, left and right of a tree of one question.
_ONE_SPLIT = ((0, -1, -1), (1, -1, -1), (2, -1, -1))
_Profile = tuple[Floats, tuple[TreeTopology | None, ...]]
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

    @property
    def condition(self) -> str:
        """What the tree is the best of, in words."""
        return asked_text(self.tree, [self.path[:end] for end in range(len(self.path) + 1)])


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
    costs = question_costs(model, X, y, sample_weight, entry, id, time_limit=time_limit)
    tree = fitted.tree_
    limits = replace(limits_of(fitted, problem.data.target), max_splits=tree.n_splits)
    seconds = read_time_limit(fitted.time_limit if time_limit is None else time_limit)
    effort = Effort(Clock(seconds), fitted.n_jobs, fitted.memory_limit)
    end = tree.last_event
    known = list(horizons_of(model) or ()) or round_horizons(end) or [end]
    time = sorted(known)[len(known) // 2] if horizon is None else float(horizon)
    here = _Pinner(problem, limits, effort)
    before = _survival(problem, tree, time)
    swaps, pinned = [], []
    for path, question, keep, topology in _cheapest(costs, here):
        swapped = problem.build_with_at_risk(topology, fitted.leaf_curve)
        moved = int((np.abs(_survival(problem, swapped, time) - before) > MOVED).sum())
        swaps.append(Swap(path, question.cut, question.cost, question.share, swapped, moved))
        pinned.append(keep)
    if n_folds:
        compared = _held_out(here, costs, pinned, n_folds)
        swaps = [
            replace(swap, difference=mean, standard_error=error)
            for swap, (mean, error) in zip(swaps, compared, strict=True)
        ]
    n_rows = problem.data.sums.weight.size
    status = first_unproven([costs.status, *here.statuses])
    swaps = [replace(swap, is_proven=status == "optimal") for swap in swaps]
    return QuestionSwaps(costs, tree, tuple(swaps), time, n_rows, n_folds, status)


def _cheapest(
    costs: QuestionCosts, here: _Pinner
) -> Iterator[tuple[str, PricedQuestion, dict[str, int], TreeTopology]]:
    """Yield each column's cheapest question at each node, the cuts that are kept, and the tree."""
    asked, number = _asked(costs, here.problem), _numbers(here.problem)
    for node in costs.nodes:
        above = {path: cut for path, cut in asked.items() if node.path.startswith(path)}
        done: set[str] = set()
        # Of two that cost the same, the one that the tree has.
        for question in sorted(node.questions, key=lambda one: (one.cost, one.cut != node.asked)):
            if question.column in done:
                continue
            keep = above | {node.path: number[question.cut]}
            topology = here.topology(keep)
            if topology is not None:
                done.add(question.column)
                yield node.path, question, keep, topology


def _numbers(problem: FitProblem) -> dict[Cut, int]:
    return {cut: position for position, cut in enumerate(problem.encoder.cuts_)}


def _asked(costs: QuestionCosts, problem: FitProblem) -> dict[str, int]:
    """Return the cut that the tree asks at each of its splits, by path."""
    number = _numbers(problem)
    return {node.path: number[node.asked] for node in costs.nodes}


def _survival(problem: FitProblem, tree: Tree, time: float) -> Floats:
    """Return the survival that a tree predicts for each row at a time."""
    leaves = find_leaves(tree, problem.data.table)[problem.data.present]
    of_leaf = [tree.outcome.group(leaf).curve(None).survival(time) for leaf in tree.leaves.tolist()]
    return np.asarray(of_leaf)[np.searchsorted(tree.leaves, leaves)]


@dataclass
class _Pinner:
    """Finds the best trees over some rows that keep given cuts at given nodes."""

    problem: FitProblem
    limits: Limits
    effort: Effort
    statuses: list[Status] = field(default_factory=list)
    # What was found for rows without a cut to keep.
    _known: dict[tuple[bytes, int], _Profile] = field(default_factory=dict)

    def topology(self, keep: Mapping[str, int]) -> TreeTopology | None:
        """Return the smallest of the best trees that keep some cuts; None where none may."""
        gains, topologies = self._best(np.ones_like(self.problem.data.sums.weight, bool), "", keep)
        if not np.isfinite(gains).any():
            return None
        rounding = SAME_LOSS * self.problem.data.sums.constant
        return topologies[int(np.argmax(gains >= gains.max() - rounding))]

    def _best(self, rows: Rows, path: str, keep: Mapping[str, int]) -> _Profile:
        """Return what trees with at most 0, 1, ... splits gain below a node, and these trees."""
        depth = len(path)
        most = (self.limits.max_splits or 0) - depth
        if not is_allowed(self.problem.data, rows, self.limits):
            return np.full(most + 1, -np.inf), (None,) * (most + 1)
        if path not in keep:
            return self._search(rows, depth, most)
        one = TreeTopology(*(np.array(ends, np.int32) for ends in _ONE_SPLIT))
        one.cut[0] = keep[path]
        right = self.problem.core.find_leaves(one) == 2
        no, yes = (
            self._best(rows & side, path + answer, keep)
            for side, answer in ((~right, "n"), (right, "y"))
        )
        gains, shares = join_gains([no[0], yes[0]], most)
        topologies: list[TreeTopology | None] = []
        for gain, (i, j) in zip(gains, shares, strict=True):
            left, other = no[1][i], yes[1][j]
            if left is None or other is None or not np.isfinite(gain):
                topologies.append(None)
            else:
                topologies.append(joined_topology(keep[path], left, other))
        return gains, tuple(topologies)

    def _search(self, rows: Rows, depth: int, most: int) -> _Profile:
        key = rows.tobytes(), depth
        if key not in self._known:
            limits = replace(self.limits, max_depth=self.limits.max_depth - depth, max_splits=most)
            how = SearchSettings(
                limits, self.effort.clock.left(), self.effort.n_jobs, self.effort.memory_limit
            )
            core = self.problem.core
            solution = search(core if rows.all() else core.take(rows), how)
            self.statuses.append(solution.status)
            self._known[key] = solution.gains, solution.topologies
        return self._known[key]


def _held_out(
    here: _Pinner, costs: QuestionCosts, pinned: list[dict[str, int]], n_folds: int
) -> list[tuple[float, float]]:
    """Return the mean difference in held-out loss from trees without a swap, and its error."""
    data, asked = here.problem.data, _asked(costs, here.problem)
    person = data.target.person
    unit = np.arange(data.sums.weight.size) if person is None else person
    n_units = int(unit.max()) + 1
    if n_folds > n_units:
        raise ValueError(f"n_folds is {n_folds}, and there are only {n_units} rows or persons")
    fold = (np.random.default_rng(0).permutation(n_units) % n_folds)[unit]
    # As many questions were found on all rows for both: the own ones are kept, too.
    own = [{path: asked[path] for path in keep} for keep in pinned]
    losses = np.array([_fold_losses(here, [*own, *pinned], fold == k) for k in range(n_folds)])
    differences = losses[:, len(own) :] - losses[:, : len(own)]
    # Folds share training rows (Nadeau and Bengio).
    spread = sqrt(1 / n_folds + 1 / (n_folds - 1))
    errors = spread * differences.std(axis=0, ddof=1)
    return list(zip(differences.mean(axis=0).tolist(), errors.tolist(), strict=True))


def _fold_losses(on_all: _Pinner, pinned: list[dict[str, int]], held: Rows) -> list[float]:
    """Return the loss per held-out row of the trees of the others that keep some cuts."""
    data = on_all.problem.data
    part, target = on_all.problem.take(~held), data.target.take(held)
    weight = data.sums.weight[held]
    sums = data.sums.objective.row_sums(target, weight, part.data.baseline)
    here = _Pinner(part, on_all.limits, on_all.effort)
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
