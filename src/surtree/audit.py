"""How far a tree is from the best: its loss beside the optimum of the same size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from surtree._solver import Limits, Solution, solve
from surtree.building import build_tree
from surtree.cut import Cut
from surtree.encoding import Encoded, Encoder, encode_answers, join_encoded
from surtree.parameters import (
    MAX_DEPTH,
    is_number,
    read_time_limit,
    require_jobs,
    require_whole,
)
from surtree.statistics import RowSums, gain, total_by
from surtree.subject import Answers, Subject, read_subject
from surtree.training import TrainingRows, read_training_rows
from surtree.tree import Tree

Floats = NDArray[np.float64]

# Depths up to which exact search takes seconds on most tables.
_EASY_DEPTH = 4
# Less of the loss of a single leaf is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Optimum:
    """The best tree within limits.

    Parameters
    ----------
    max_depth, max_splits : int
        The limits.
    loss : float
        The loss of the tree.
    lower_bound : float
        No tree within the limits has a smaller loss; the loss itself where it is proven.
    tree : Tree
        The tree.
    """

    max_depth: int
    max_splits: int
    loss: float
    lower_bound: float
    tree: Tree


@dataclass(frozen=True)
class SplitCost:
    """What one question of a tree costs, when everything below it is the best there is.

    Parameters
    ----------
    node : int
        The number of the node in the tree.
    rule : str
        The question.
    cost : float
        By how much the loss could be smaller with another question. The costs of all splits of a
        tree add up to its distance from the optimum.
    """

    node: int
    rule: str
    cost: float


@dataclass(frozen=True)
class Audit:
    """What `audit` found; ``print`` shows it.

    Parameters
    ----------
    name : str
        What was audited.
    loss : float
        Its loss: that of its leaves, each with the theta that suits its rows best.
    leaf_loss : float
        The loss of a single leaf.
    n_splits : int
        One less than the number of its leaves.
    depth : int or None
        Its depth; None for leaf labels, whose questions are not known.
    tree : Tree or None
        The tree, with the sums of these rows; None for leaf labels.
    same_depth : Optimum or None
        The optimum of the same depth and number of splits; None for leaf labels.
    same_size : Optimum
        The optimum of the same number of splits, of a depth up to a limit.
    split_costs : tuple of SplitCost
        What each split costs, the costliest first; empty for leaf labels, and where the time was
        not enough to prove the optimum of the same depth.
    """

    name: str
    loss: float
    leaf_loss: float
    n_splits: int
    depth: int | None
    tree: Tree | None
    same_depth: Optimum | None
    same_size: Optimum
    split_costs: tuple[SplitCost, ...]

    @property
    def optimum(self) -> Optimum:
        """The optimum of the same depth, or of the same size where there is no depth."""
        return self.same_size if self.same_depth is None else self.same_depth

    @property
    def gap(self) -> float:
        """How much of what the optimum explains is missed, in per cent.

        What a tree explains is by how much its loss is smaller than that of a single leaf.
        """
        return self.gap_to(self.optimum)

    def gap_to(self, optimum: Optimum) -> float:
        """Return how much of what an optimum explains is missed, in per cent."""
        missed, explained = self.loss - optimum.loss, self.leaf_loss - optimum.loss
        return 100 * missed / explained if explained > _ROUNDING * self.leaf_loss else 0.0

    def title(self) -> str:
        """Return one line about the audited tree."""
        title = f"{self._shape()}: loss {self.loss:.6g}"
        worst = self._costliest()
        return title if worst is None else f"{title}, costliest question {worst.rule!r}"

    def optimum_title(self) -> str:
        """Return one line about the optimum, and how far from it the audited tree is."""
        optimum = self.optimum
        return (
            f"{_limits_text(optimum)}: loss {optimum.loss:.6g}; {self.name} misses "
            f"{self.gap:.1f} % of what it explains"
        )

    def __str__(self) -> str:
        parts = [self._table()]
        worst = self._costliest()
        if worst is not None:
            parts.append(
                f"Of the loss above the optimum, {worst.cost:.3g} is due to the question "
                f"{worst.rule!r} at node {worst.node}."
            )
        if self.tree is not None:
            parts.append(f"{self.name}:\n{self.tree}")
        parts.append(f"{_limits_text(self.optimum)}:\n{self.optimum.tree}")
        return "\n\n".join(parts)

    def _table(self) -> str:
        lines = [
            ("", "loss", "explained", "missed"),
            ("a single leaf", f"{self.leaf_loss:.6g}", self._explained(self.leaf_loss), ""),
            (self._shape(), f"{self.loss:.6g}", self._explained(self.loss), ""),
        ]
        optima = [self.same_size] if self.same_depth is None else [self.same_depth]
        if self.same_size.max_depth > optima[0].max_depth:
            optima.append(self.same_size)
        lines += [
            (
                _limits_text(optimum),
                f"{optimum.loss:.6g}",
                self._explained(optimum.loss),
                # What is added turns the negative zero of rounding into zero.
                f"{round(self.gap_to(optimum), 1) + 0.0:.1f} %",
            )
            for optimum in optima
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in lines
        )

    def _costliest(self) -> SplitCost | None:
        """Return the split that costs most, where any costs more than rounding."""
        if not self.split_costs or self.split_costs[0].cost <= _ROUNDING * self.leaf_loss:
            return None
        return self.split_costs[0]

    def _shape(self) -> str:
        depth = "" if self.depth is None else f", depth {self.depth}"
        return f"{self.name}, {_counted(self.n_splits, 'split')}{depth}"

    def _explained(self, loss: float) -> str:
        return f"{100 * (self.leaf_loss - loss) / self.leaf_loss:.1f} %" if self.leaf_loss else ""


def audit(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    max_depth: int | None = None,
    encoder: Encoder | None = None,
    time_limit: float | None = 60.0,
    n_jobs: int | None = None,
) -> Audit:
    """Compare a tree with the best tree of its size.

    The optimum is over the cuts of the encoder and the model's own, so a model never beats it. It
    keeps the model's ``min_samples_leaf`` and ``min_events_leaf`` (``min_bucket``) where it has
    them, and so far as the leaves of the model keep them on these rows.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n_samples,)
        An estimator of this package, or a search that chose one; a ``SurvivalTree`` of
        scikit-survival, or any other with a ``tree_`` like scikit-learn's; or the leaf of each
        row, as any labels. Labels say nothing about questions: they can be better than the
        optimum of the encoder's cuts.
    X : data frame or array of shape (n_samples, n_features)
        The rows, as a rule those that the model was fitted on.
    y : structured array of shape (n_samples,)
        A boolean event indicator and a time, zero or later.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    entry : array of shape (n_samples,), optional
        When each row came under observation.
    max_depth : int, optional
        The depth up to which the optimum of the same number of splits is searched for; by default
        4, or the depth of the model where that is more.
    encoder : Encoder, optional
        Which cuts the optimum can use; by default those of the model, where it has an encoder.
    time_limit : float or None, default=60.0
        Seconds after which the search ends. The optimum is then the best tree found, with a bound.
    n_jobs : int or None, default=None
        Threads that search.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from surtree import audit
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> found = audit(ConditionalInferenceTree(max_depth=2).fit(X, y), X, y)
    >>> round(found.gap, 1)
    3.1
    >>> found.split_costs[0].rule
    'hormone_therapy is yes'
    """
    if max_depth is not None:
        require_whole("max_depth", max_depth, 0, MAX_DEPTH)
    require_jobs(n_jobs)
    clock = _Clock(read_time_limit(time_limit), n_jobs)
    # A search over hyperparameters is as good as the model that it chose.
    model = getattr(model, "best_estimator_", model)
    chosen = clone(_encoder_of(model) if encoder is None else encoder)
    rows = read_training_rows(chosen, X, y, sample_weight, entry)
    subject = read_subject(model, X, rows)
    questions = _Questions(chosen, rows, subject)
    limits = _limits_of(model, subject, rows)
    tree = subject.tree(rows)
    same_depth: Optimum | None = None
    costs: tuple[SplitCost, ...] = ()
    if tree is not None and subject.depth is not None:
        shape = replace(limits, max_depth=subject.depth)
        solution = clock.solve(questions.encoded, rows.sums, shape)
        same_depth = questions.optimum(solution, shape)
        if solution.status == "optimal":
            costs = _split_costs(questions.encoded, rows.sums, subject, tree, shape, clock)
    same_size = same_depth
    size = replace(limits, max_depth=_deepest(max_depth, subject))
    if same_size is None or size.max_depth > same_size.max_depth:
        same_size = questions.optimum(clock.solve(questions.encoded, rows.sums, size), size)
    return Audit(
        name=subject.name,
        loss=_partition_loss(subject.label, rows),
        leaf_loss=_partition_loss(np.zeros_like(subject.label), rows),
        n_splits=subject.n_leaves - 1,
        depth=subject.depth,
        tree=tree,
        same_depth=same_depth,
        same_size=same_size,
        split_costs=costs,
    )


class _Questions:
    """All questions that the optimum can ask: those of an encoder, and those of the subject."""

    def __init__(self, encoder: Encoder, rows: TrainingRows, subject: Subject) -> None:
        encoded = encoder.fit_encode(rows.table, rows.table_weight)
        asked = {cut: cut for cut in encoder.cuts_}

        def is_new(cut: Cut, answer: Answers) -> bool:
            if cut not in asked:
                return True
            # Of what counts as missing, the subject and these rows may have different ideas.
            column = rows.table.column(cut.column)
            return not np.array_equal(asked[cut].holds(column)[rows.present], answer)

        own = {
            (cut, answer.tobytes()): answer
            for cut, answer in zip(subject.cuts, subject.answers, strict=True)
            if is_new(cut, answer)
        }
        self.encoded = join_encoded(
            encoded, encode_answers(list(own.values()), encoded.bins.shape[1])
        )
        self.cuts = (*encoder.cuts_, *(cut for cut, _ in own))
        self._rows = rows

    def optimum(self, solution: Solution, limits: Limits) -> Optimum:
        """Return the best tree of a solution, with the loss added up from its rows."""
        rows = self._rows
        tree = build_tree(
            solution.structures[-1], self.encoded, self.cuts, rows.sums, rows.baseline, rows.target
        )
        slack = float(solution.gain_bounds[-1] - solution.gains[-1])
        loss = tree.total_loss
        return Optimum(limits.max_depth, limits.max_splits or 0, loss, max(loss - slack, 0.0), tree)


class _Clock:
    """Solves problems, all of them together within a time."""

    def __init__(self, time_limit: float | None, n_jobs: int | None) -> None:
        self._end = None if time_limit is None else perf_counter() + time_limit
        self._n_jobs = n_jobs

    def solve(self, encoded: Encoded, sums: RowSums, limits: Limits) -> Solution:
        left = None if self._end is None else max(self._end - perf_counter(), 1e-9)
        return solve(encoded, sums, limits, time_limit=left, n_jobs=self._n_jobs)


def _split_costs(
    encoded: Encoded, sums: RowSums, subject: Subject, tree: Tree, limits: Limits, clock: _Clock
) -> tuple[SplitCost, ...]:
    """Return what each split costs, the costliest first, or nothing where time is up.

    The optimum below a node, of the size and depth that the subject has there, gains at least as
    much as the optima below its two children together. The difference is due to its question.
    """
    structure = subject.structure
    assert structure is not None
    is_split = structure.left >= 0
    n_nodes = is_split.size
    n_splits, gains = np.zeros(n_nodes, dtype=int), np.zeros(n_nodes)
    reaches = subject.reaches()
    depth = subject.depths()
    costs = []
    # In preorder children come after their parent, so backwards they are complete before it.
    for node in range(n_nodes - 1, -1, -1):
        rows = reaches[node]
        if not is_split[node]:
            gains[node] = gain(sums.events[rows].sum(), sums.hazard[rows].sum())
            continue
        children = [structure.left[node], structure.right[node]]
        n_splits[node] = 1 + n_splits[children].sum()
        solution = clock.solve(
            replace(encoded, bins=np.ascontiguousarray(encoded.bins[:, rows])),
            _take(sums, rows),
            replace(
                limits,
                max_depth=limits.max_depth - int(depth[node]),
                max_splits=int(n_splits[node]),
            ),
        )
        if solution.status != "optimal":
            return ()
        gains[node] = solution.gains[-1]
        cost = max(float(gains[node] - gains[children].sum()), 0.0)
        costs.append(SplitCost(node, tree.worded_cuts[node].rule, cost))
    return tuple(sorted(costs, key=lambda split: (-split.cost, split.node)))


def _take(sums: RowSums, rows: Answers) -> RowSums:
    return RowSums(
        weight=sums.weight[rows],
        events=sums.events[rows],
        hazard=sums.hazard[rows],
        n_events=sums.n_events[rows],
        negative_log_hazard=0.0,
    )


def _encoder_of(model: Any) -> Encoder:
    return getattr(model, "encoder_", None) or Encoder()


def _limits_of(model: Any, subject: Subject, rows: TrainingRows) -> Limits:
    """Return the limits of the model, where its own leaves keep them."""
    n_samples = total_by(subject.label, np.ones(subject.label.size), subject.n_labels)
    n_events = total_by(subject.label, rows.sums.n_events, subject.n_labels)
    reached = n_samples > 0

    def least(names: tuple[str, ...], default: int, counts: Floats) -> int:
        for name in names:
            value: Any = getattr(model, name, None)
            if is_number(value) and value >= 1:
                return int(min(value, counts[reached].min()))
        return default

    return Limits(
        max_depth=0,
        max_splits=subject.n_leaves - 1,
        min_samples_leaf=least(("min_samples_leaf", "min_bucket"), 1, n_samples),
        min_events_leaf=least(("min_events_leaf",), 0, n_events),
    )


def _deepest(max_depth: int | None, subject: Subject) -> int:
    """Return the depth up to which the optimum of the same size is searched for."""
    if max_depth is not None:
        return max(int(max_depth), subject.depth or 0)
    shallowest = math.ceil(math.log2(subject.n_leaves))
    # A tree is no deeper than it has splits.
    easy = min(_EASY_DEPTH, subject.n_leaves - 1)
    return max(easy, shallowest, subject.depth or 0)


def _partition_loss(label: NDArray[np.intp], rows: TrainingRows) -> float:
    n_labels = int(label.max()) + 1
    events, hazard = (
        total_by(label, values, n_labels) for values in (rows.sums.events, rows.sums.hazard)
    )
    return rows.sums.negative_log_hazard - float(gain(events, hazard).sum())


def _limits_text(optimum: Optimum) -> str:
    proven = optimum.lower_bound >= optimum.loss
    what = "optimum" if proven else f"best found (none below {optimum.lower_bound:.6g})"
    return f"{what}, {_counted(optimum.max_splits, 'split')}, depth up to {optimum.max_depth}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
