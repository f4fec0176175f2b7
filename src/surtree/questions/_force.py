"""The best tree with a given first question, or without some columns, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from surtree._support.exact import TIE
from surtree._support.parameters import read_time_limit
from surtree._support.status import WORDS, Status, first_unproven
from surtree._support.types import Floats
from surtree.averages.taught import TaughtTree
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import bin_answers, encoder_of, join_binned
from surtree.data.named import RowInputs
from surtree.estimators.fit import search_path
from surtree.estimators.parameters import limits_of, require_parameters
from surtree.estimators.tree import SurTree
from surtree.fitting.training import FitProblem, TrainingData, make_problem, read_training_data
from surtree.questions._first import Answers, first_questions, position_of, wish_text
from surtree.questions._search_result import SearchResult
from surtree.questions._training import require_no_conditions
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Solution, TreeTopology
from surtree.solver.search import SearchSettings, search
from surtree.tree.build import build_tree
from surtree.tree.resolve import chosen_model, last_step
from surtree.tree.tree import Tree
from surtree.words.numbers import plural
from surtree.words.printed import Printed

Forbidden = Sequence[str] | Mapping[str, Sequence[str]]
SIDES = ("no", "yes")


@dataclass(frozen=True, repr=False)
class ForcedTree(Printed):
    """The result of `force_questions`; ``print`` shows it.

    Parameters
    ----------
    tree : Tree
        The best tree that keeps to what was asked for.
    loss, lower_bound : float
        Its loss, and a value that no such tree goes below.
    free_loss, free_lower_bound : float
        The same for trees that ask whatever they like, within the same limits.
    status : Status
        "optimal" where both trees are proven.
    condition : str
        What was asked for, as in 'asks "age > 50" first'.

    Examples
    --------
    >>> from surtree import SurTree, force_questions
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> forced = force_questions(SurTree(max_depth=2), X, y, first="age")
    >>> round(forced.loss, 1), round(forced.free_loss, 1), round(forced.cost, 1)
    (438.6, 425.9, 12.7)
    """

    tree: Tree
    loss: float
    lower_bound: float
    free_loss: float
    free_lower_bound: float
    status: Status
    condition: str = ""

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that no tree of this kind is better."""
        return self.status == "optimal"

    @property
    def cost(self) -> float:
        """By how much the loss is larger than that of the best free tree found; zero or more."""
        return max(self.loss - self.free_loss, 0.0)

    @property
    def relative_cost(self) -> float:
        """The share of what the free tree explains that this one does not."""
        explained = float(self.tree.loss[0]) - self.free_loss
        return self.cost / explained if explained > 0 else 0.0

    def __repr__(self) -> str:
        return f"ForcedTree(loss={self.loss:.6g}, free_loss={self.free_loss:.6g})"

    def __str__(self) -> str:
        unproven = f" (not all proven: {WORDS[self.status].clause})"
        return (
            f"loss {self.loss:.6g}, that of the best free tree {self.free_loss:.6g}: the cost is "
            f"{self.cost:.3g}, {100 * self.relative_cost:.1f} % of what the free tree explains"
            f"{'' if self.status == 'optimal' else unproven}\n\n{self.tree}"
        )


def force_questions(
    estimator: SurTree,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    treatment: ArrayLike | None = None,
    first: Any = None,
    at: Mapping[str, Any] | None = None,
    forbid: Forbidden = (),
) -> ForcedTree:
    """Find the best tree that asks given questions at some nodes, or leaves out some columns.

    Parameters
    ----------
    estimator : SurTree, CompetingRisksTree, EffectTree, or a fitted search
        Its parameters say how large trees may be and which cuts there are. It need not be
        fitted; of a `SurTreeCV` the chosen parameters count. The time limit is for all searches.
    X, y, sample_weight, entry, id, treatment
        As in the ``fit`` of the estimator; only an `EffectTree` takes a treatment.
    first : str, Cut or tuple, optional
        What is asked first: a column, the best of its questions being chosen; or a question, as a
        `Cut`, or as a column with a threshold or with categories: ``("age", 50)`` asks whether the
        age is greater, ``("grade", ["II", "III"])`` whether the grade is one of these. Where
        a question does not say where missing values go, the better side is chosen.
    at : mapping from path to question, optional
        What is asked at other nodes, too: "" is the first question, "yn" the node that a yes and a
        no lead to (`question_costs`). The questions above a node must be given as well.
    forbid : sequence of str, or mapping
        Columns that are never asked about; or, where a question comes first, columns that are not
        asked about below its answers: ``{"yes": ["age"], "no": []}``.

    Returns
    -------
    ForcedTree
        The tree, and its cost compared with the best tree without such wishes.

    Examples
    --------
    >>> from surtree import SurTree, force_questions
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> forced = force_questions(SurTree(max_depth=2), X, y, first="hormone_therapy")
    >>> round(forced.cost, 1), round(forced.relative_cost, 2)
    (12.4, 0.24)
    >>> both = {"": "hormone_therapy", "y": "age"}
    >>> round(force_questions(SurTree(max_depth=2), X, y, at=both).cost, 1)
    27.4
    """
    model = parameters_of(estimator)
    clock = Clock(read_time_limit(model.time_limit))
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
    data = read_training_data(model, given.in_memory("force_questions"))
    limits = limits_of(model, data.target)
    no, yes = (_positions(side, forbid, data) for side in SIDES)
    free = best_tree(model, make_problem(encoder_of(model), data), limits, clock)
    wanted = _paths(first, at, limits)
    if not wanted:
        if isinstance(forbid, Mapping):
            raise ValueError("forbid says what is not asked below answers: say what is asked first")
        best = best_tree(model, make_problem(encoder_of(model), data, no), limits, clock)
    else:
        asked = {path: first_questions(each, model, data) for path, each in wanted.items()}
        chosen = best_with(model, asked, (no, yes), data, limits, clock)
        if chosen is None:
            tried = plural(sum(map(len, asked.values())), "question")
            raise ValueError(
                f"no {'first question' if set(asked) == {''} else 'questions'} of this kind "
                + ("divides" if set(asked) == {""} else "divide")
                + f" the rows and leaves enough of them on both sides: {tried} tried"
            )
        best = chosen
    return ForcedTree(
        best.tree,
        best.loss,
        best.lower_bound,
        min(free.loss, best.loss),
        min(free.lower_bound, best.loss),
        first_unproven((free.status, best.status)),
        wish_text(wanted, forbid, best.tree),
    )


def parameters_of(estimator: Any) -> SurTree:
    """Return a new estimator with the parameters of one, or of the one that a search chose."""
    if last_step(estimator).transformers:
        raise TypeError(
            "estimator is a pipeline with transformers: pass its last step, pipeline[-1], and the "
            "table that it sees, pipeline[:-1].transform(X)"
        )
    if not isinstance(estimator, SurTree):
        estimator = chosen_model(estimator)
    if not isinstance(estimator, SurTree):
        raise TypeError(f"estimator must be a SurTree or a fitted SurTreeCV; got {estimator!r}")
    if isinstance(estimator, TaughtTree):
        raise TypeError(
            "a taught tree follows its teacher, and its questions have no price on the rows: pass "
            f"SurTree(max_depth={estimator.max_depth})"
        )
    require_no_conditions(estimator, "price of questions")
    require_parameters(estimator)
    model: SurTree = clone(estimator)
    return model


def _positions(side: str, forbid: Forbidden, data: TrainingData) -> frozenset[int]:
    if isinstance(forbid, str):
        raise ValueError(f"forbid must be a list of columns; got {forbid!r}")
    if isinstance(forbid, Mapping) and not set(forbid) <= set(SIDES):
        raise ValueError(f"forbid says what is not asked below 'yes' and 'no'; got {forbid!r}")
    names = forbid.get(side, ()) if isinstance(forbid, Mapping) else forbid
    return frozenset(position_of(name, data.table) for name in names)


def best_tree(model: SurTree, problem: FitProblem, limits: Limits, clock: Clock) -> SearchResult:
    """Return the best tree over all cuts of a problem."""
    path = search_path(model, problem, limits, clock.left(), model.progress)
    price = float(model.ccp_alpha)
    best = path.choose(price)
    tree = problem.build_with_at_risk(path.topologies[best.splits], model.leaf_curve)
    return SearchResult(tree, best.loss, path.lower_bound(best, price), path.status_of(best, price))


def _paths(first: Any, at: Mapping[str, Any] | None, limits: Limits) -> dict[str, Any]:
    """Return what is asked at which node, those above first."""
    wanted = dict(at or {})
    if first is not None:
        if "" in wanted:
            raise ValueError("first and at[''] are the same question: give one of them")
        wanted[""] = first
    for path in wanted:
        if not isinstance(path, str) or set(path) - {"y", "n"}:
            raise ValueError(f"a path has a y or n for each answer, as 'yn'; got {path!r}")
        if path and path[:-1] not in wanted:
            raise ValueError(
                f"{path!r} is below {path[:-1]!r}: say what is asked there as well, and above it"
            )
    most = 2**limits.max_depth - 1 if limits.max_splits is None else limits.max_splits
    if wanted and (max(map(len, wanted)) >= limits.max_depth or len(wanted) > most):
        if set(wanted) == {""}:
            raise ValueError("a first question needs max_depth and max_splits of 1 or more")
        raise ValueError(
            f"these {len(wanted)} questions do not fit into max_depth={limits.max_depth} and "
            f"{plural(most, 'split')}"
        )
    return {path: wanted[path] for path in sorted(wanted, key=len)}


class _Forced:
    """The best trees with given questions at some nodes, by what is below each of them."""

    def __init__(
        self,
        model: SurTree,
        asked: Mapping[str, list[tuple[Cut, Answers]]],
        sides: list[FitProblem],
        data: TrainingData,
        clock: Clock,
    ) -> None:
        self._model, self._asked, self._sides = model, asked, sides
        self._data, self._clock = data, clock
        # Cuts are numbered side by side, and then come the questions that are asked.
        self.n_cuts = [len(side.encoder.cuts_) for side in sides]
        self._number, number = {}, sum(self.n_cuts)
        for path, questions in asked.items():
            self._number[path] = number
            number += len(questions)

    def solve(self, path: str, rows: Answers, limits: Limits) -> Solution | None:
        """Return the best trees of each size over the rows of a node; None if there is none."""
        if path not in self._asked:
            solution = _search_rows(self._model, self._side(path), rows, limits, self._clock)
            by = self.n_cuts[0] if path[0] == "y" else 0
            topologies = tuple(_shifted(topology, by) for topology in solution.topologies)
            return replace(solution, topologies=topologies)
        most = 2**limits.max_depth - 1 if limits.max_splits is None else limits.max_splits
        below = replace(limits, max_depth=limits.max_depth - 1, max_splits=most - 1)
        gains, bounds = np.full((2, most + 1), -np.inf)
        best = [TreeTopology(*np.full((3, 1), -1, dtype=np.int32))] * (most + 1)
        statuses: list[Status] = []
        for number, (_, answers) in enumerate(self._asked[path], self._number[path]):
            parts = (rows & ~answers, rows & answers)
            if not all(is_allowed(self._data, part, limits) for part in parts):
                continue
            no, yes = (
                self.solve(path + answer, part, below)
                for answer, part in zip("ny", parts, strict=True)
            )
            if no is None or yes is None:
                continue
            statuses += [no.status, yes.status]
            joined, shares = join_gains([no.gains, yes.gains], most)
            bounds = np.maximum(bounds, join_gains([no.gain_bounds, yes.gain_bounds], most)[0])
            for splits in np.flatnonzero(joined > gains):
                i, j = shares[splits]
                gains[splits] = joined[splits]
                best[splits] = joined_topology(number, no.topologies[i], yes.topologies[j])
        if not np.isfinite(gains).any():
            return None
        return Solution(first_unproven(statuses), gains, bounds, tuple(best))

    def _side(self, path: str) -> FitProblem:
        return self._sides[path[0] == "y"]


def best_with(
    model: SurTree,
    asked: Mapping[str, list[tuple[Cut, Answers]]],
    forbidden: tuple[frozenset[int], frozenset[int]],
    data: TrainingData,
    limits: Limits,
    clock: Clock,
) -> SearchResult | None:
    """Return the best tree that asks one of the questions of each path; None if none may be.

    Both sides of a question are problems of their own; a tree joins their best trees.
    """
    sides = [make_problem(encoder_of(model), data, leave_out) for leave_out in forbidden]
    forced = _Forced(model, asked, sides, data, clock)
    solution = forced.solve("", np.ones(data.sums.weight.size, dtype=np.bool_), limits)
    if solution is None:
        return None
    price, constant = float(model.ccp_alpha), data.sums.constant
    best: tuple[float, int, TreeTopology] | None = None
    bound = np.inf
    for splits in np.flatnonzero(np.isfinite(solution.gains)):
        bound = min(bound, constant - float(solution.gain_bounds[splits]) + price * splits)
        topology = solution.topologies[splits]
        n_splits = int(np.count_nonzero(topology.cut >= 0))
        worth = constant - float(solution.gains[splits]) + price * n_splits
        if best is None or worth < best[0] - TIE * (1 + abs(worth)):
            best = worth, n_splits, topology
    assert best is not None
    binned = join_binned(sides[0].binned, sides[1].binned)
    questions = [question for each in asked.values() for question in each]
    answers_of = [answers for _, answers in questions]
    binned = join_binned(binned, bin_answers(answers_of, data.sums.weight.size))
    cuts = (*sides[0].encoder.cuts_, *sides[1].encoder.cuts_, *(cut for cut, _ in questions))
    tree = build_tree(
        best[2], Problem(binned, data.sums), cuts, data.baseline, data.target, model.leaf_curve
    )
    status = solution.status
    loss = tree.total_loss
    proven = loss if status == "optimal" else max(min(bound - price * best[1], loss), 0.0)
    return SearchResult(tree, loss, proven, status)


def is_allowed(data: TrainingData, rows: Answers, limits: Limits) -> bool:
    counts = data.sums.counts
    return bool(rows.any()) and all(
        counts[name][rows].sum() >= least for name, least in limits.least.items()
    )


def _search_rows(
    model: SurTree, problem: FitProblem, rows: Answers, limits: Limits, clock: Clock
) -> Solution:
    how = SearchSettings(limits, clock.left(), model.n_jobs, model.memory_limit)
    return search(problem.core.take(rows), how)


def join_gains(profiles: list[Floats], most: int) -> tuple[Floats, list[tuple[int, int]]]:
    """Return the best sum of two profiles with one split above them, for every number of splits."""
    left, right = profiles
    gains = np.full(most + 1, -np.inf)
    shares = [(0, 0)] * (most + 1)
    for i, gain in enumerate(left):
        for j, other in enumerate(right):
            if i + j + 1 <= most and gain + other > gains[i + j + 1]:
                gains[i + j + 1], shares[i + j + 1] = gain + other, (i, j)
    return gains, shares


def _shifted(topology: TreeTopology, by: int) -> TreeTopology:
    cut = np.where(topology.cut >= 0, topology.cut + by, -1).astype(np.int32)
    return TreeTopology(cut, topology.left, topology.right)


def joined_topology(cut: int, left: TreeTopology, right: TreeTopology) -> TreeTopology:
    """Return two trees below a first question, in preorder."""

    def moved(children: np.ndarray[Any, Any], by: int) -> np.ndarray[Any, Any]:
        return np.where(children >= 0, children + by, -1)

    begin = 1 + left.cut.size
    parts = (
        ([cut], left.cut, right.cut),
        ([1], moved(left.left, 1), moved(right.left, begin)),
        ([begin], moved(left.right, 1), moved(right.right, begin)),
    )
    return TreeTopology(*(np.concatenate(part).astype(np.int32) for part in parts))
