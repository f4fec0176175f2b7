"""How far a tree is from the best: its loss beside the optimum of the same size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from surtree._support.parameters import (
    MAX_DEPTH,
    is_number,
    read_time_limit,
    require_jobs,
    require_whole,
)
from surtree._support.status import FINISHED
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder, bin_answers, join_binned
from surtree.data.named import RowInputs
from surtree.data.rows import read_event, read_rows
from surtree.estimators.parameters import limits_of
from surtree.fitting.training import TrainingData, rows_to_fit
from surtree.questions._audited_tree import Answers, AuditedTree, read_audited_tree, rebuilt
from surtree.questions.audit_result import Audit, Optimum, SplitCost
from surtree.solver.clock import Clock
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Solution
from surtree.solver.search import SearchSettings, search
from surtree.survival.objective import RELATIVE_RISK, total_by
from surtree.tree.build import build_tree
from surtree.tree.resolve import last_step, renamed_cuts
from surtree.tree.tree import Tree

# Depths up to which exact search takes seconds on most tables.
_EASY_DEPTH = 4
# Categories of a column that labels may tell apart.
_MOST_CATEGORIES = 60
_CANNOT_ASK = (
    "No tree of questions about one column each has these leaves: rows followed surrogate "
    "questions, linear combinations or something else that the search cannot ask. Its best tree "
    "may therefore have the larger loss; then nothing is missed."
)


def audit_tree(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    treatment: ArrayLike | None = None,
    max_depth: int | None = None,
    encoder: Encoder | None = None,
    time_limit: float | None = 60.0,
    n_jobs: int | None = None,
) -> Audit:
    """Compare a tree with the best tree of its size.

    The optimum is over the cuts of the encoder and the model's own, and a search that ends early
    begins with the model itself, so a model never beats it. The optimum keeps the model's
    ``min_samples_leaf`` and ``min_events_leaf`` (``min_bucket``) where it has them, and its
    shrinkage; a limit that the leaves of the model break on these rows is relaxed to what they
    have.

    Parameters
    ----------
    model : fitted estimator, Tree, or array of shape (n_samples,)
        An estimator of this package, its tree, a search that chose one, or a pipeline that ends in
        one, whose transformers are applied to X; a ``SurvivalTree`` of
        scikit-survival, or any other with a ``tree_`` like scikit-learn's; a tree of R
        (`read_r_tree`); or the leaf of each row, as any labels. Questions that have these leaves
        are then looked for; where there are none, ``notes`` say so.
    X : data frame or array of shape (n_samples, n_features)
        The rows, as a rule those that the model was fitted on.
    y, sample_weight, entry, id, treatment
        As in the ``fit`` of the model: of competing risks y has the cause, and an `EffectTree`
        needs the treatment. Labels and trees of other packages are audited as trees of one event.
    max_depth : int, optional
        The depth up to which the optimum of the same number of splits is searched for; by default
        4, or the depth of the model where that is more.
    encoder : Encoder, optional
        Which cuts the optimum can use; by default those of the model, where it has an encoder; for
        labels and trees of R every threshold and every set of up to seven categories.
    time_limit : float or None, default=60.0
        Seconds after which the search ends. The optimum is then the best tree found, with a bound.
    n_jobs : int or None, default=None
        Threads that search.

    Examples
    --------
    >>> from surtree import audit_tree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.heuristics import ConditionalInferenceTree
    >>> X, y = load_gbsg2()
    >>> audit = audit_tree(ConditionalInferenceTree(max_depth=2).fit(X, y), X, y)
    >>> round(audit.gap, 4), round(audit.missed, 3)
    (0.0041, 0.031)
    >>> audit.split_costs[0].rule
    'hormone_therapy is yes'
    """
    if max_depth is not None:
        require_whole("max_depth", max_depth, 0, MAX_DEPTH)
    require_jobs(n_jobs)
    clock = Clock(read_time_limit(time_limit))
    given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment).in_memory("audit_tree")
    last = last_step(model)
    given = replace(given, X=last.transform(given.X))
    # A search over hyperparameters stands for the model that it chose.
    model = getattr(last.model, "best_estimator_", last.model)
    chosen = default_encoder(model) if encoder is None else clone(encoder)
    rows = _read_rows(model, chosen, given)
    audited = read_audited_tree(model, given.X, rows)
    if last.names is not None and not rows.table.named:
        rows = replace(rows, table=rows.table.renamed(last.names))
        audited = replace(audited, cuts=renamed_cuts(audited.cuts, last.names))
    start = rebuilt(audited, rows)
    cuts = _AuditCuts(chosen, rows, audited if start is None else start)
    limits = _limits_of(model, audited, rows)
    tree = audited.tree(rows)
    known = None if start is None else start.tree(rows)
    same_depth: Optimum | None = None
    costs: tuple[SplitCost, ...] = ()
    if tree is not None and audited.depth is not None:
        shape = replace(limits, max_depth=audited.depth)
        solution = search(cuts.problem, SearchSettings(shape, clock.left(), n_jobs))
        same_depth = cuts.optimum(solution, shape, known)
        if solution.status in FINISHED:
            costs = _split_costs(cuts.problem, audited, tree, shape, clock, n_jobs)
    same_size = same_depth
    size = replace(limits, max_depth=_deepest(max_depth, audited if start is None else start))
    if same_size is None or size.max_depth > same_size.max_depth:
        solution = search(cuts.problem, SearchSettings(size, clock.left(), n_jobs))
        same_size = cuts.optimum(solution, size, known)
    loss = rows.sums.partition_loss(audited.label)
    notes = audited.notes if start is not None else (*audited.notes, _CANNOT_ASK)
    return Audit(
        name=audited.name,
        loss=loss,
        leaf_loss=rows.sums.partition_loss(np.zeros_like(audited.label)),
        n_splits=audited.n_leaves - 1,
        depth=audited.depth,
        tree=tree,
        same_depth=same_depth,
        same_size=same_size,
        split_costs=costs,
        notes=notes,
    )


class _AuditCuts:
    """All cuts that the optimum can use: those of an encoder, and those of the audited tree."""

    def __init__(self, encoder: Encoder, rows: TrainingData, audited: AuditedTree) -> None:
        binned = encoder.fit_encode(rows.table, rows.table_weight, rows.sums)
        asked = {cut: cut for cut in encoder.cuts_}

        def is_new(cut: Cut, answer: Answers) -> bool:
            if cut not in asked:
                return True
            # The audited tree may treat missing values of these rows in another way.
            column = rows.table.column(cut.column)
            return not np.array_equal(asked[cut].holds(column)[rows.present], answer)

        new = {
            (cut, answer.tobytes()): answer
            for cut, answer in zip(audited.cuts, audited.answers, strict=True)
            if is_new(cut, answer)
        }
        joined = join_binned(binned, bin_answers(list(new.values()), binned.bins.shape[1]))
        self.problem = Problem(joined, rows.sums)
        self.cuts = (*encoder.cuts_, *(cut for cut, _ in new))
        self._rows = rows
        self._leaf_curve = audited.leaf_curve

    def optimum(self, solution: Solution, limits: Limits, known: Tree | None) -> Optimum:
        """Return the best tree of a solution, with the loss added up from its rows.

        A search that ended early may not have found a tree as good as one that is known.
        """
        rows = self._rows
        tree = build_tree(
            solution.topologies[-1],
            self.problem,
            self.cuts,
            rows.baseline,
            rows.target,
            self._leaf_curve,
        )
        slack = float(solution.gain_bounds[-1] - solution.gains[-1])
        loss = tree.total_loss
        bound = max(loss - slack, 0.0)
        if known is not None and known.total_loss < loss and slack > 0:
            tree, loss = known, known.total_loss
        return Optimum(limits.max_depth, limits.max_splits or 0, loss, min(bound, loss), tree)


def _split_costs(
    problem: Problem,
    audited: AuditedTree,
    tree: Tree,
    limits: Limits,
    clock: Clock,
    n_jobs: int | None,
) -> tuple[SplitCost, ...]:
    """Return what each split costs, the costliest first, or nothing where time is up.

    The optimum below a node, of the size and depth that the audited tree has there, gains at
    least as much as the optima below its two children together. The difference is due
    to its question.
    """
    topology = audited.topology
    assert topology is not None
    sums = problem.sums
    is_split = topology.left >= 0
    n_nodes = is_split.size
    n_splits, gains = np.zeros(n_nodes, dtype=int), np.zeros(n_nodes)
    reaches = audited.reaches()
    depth = audited.depths()
    costs = []
    # In preorder children come after their parent, so backwards they are complete before it.
    for node in range(n_nodes - 1, -1, -1):
        rows = reaches[node]
        if not is_split[node]:
            gains[node] = sums.objective.gain(sums.take(rows).total)
            continue
        children = [topology.left[node], topology.right[node]]
        n_splits[node] = 1 + n_splits[children].sum()
        if not rows.any():  # no row comes here: nothing is gained, and the question costs nothing
            costs.append(SplitCost(node, tree.worded_cuts[node].rule, 0.0))
            continue
        solution = problem.take(rows).solve(
            replace(
                limits,
                max_depth=limits.max_depth - int(depth[node]),
                max_splits=int(n_splits[node]),
            ),
            time_limit=clock.left(),
            n_jobs=n_jobs,
        )
        if solution.status != "optimal":
            return ()
        gains[node] = solution.gains[-1]
        cost = max(float(gains[node] - gains[children].sum()), 0.0)
        costs.append(SplitCost(node, tree.worded_cuts[node].rule, cost))
    return tuple(sorted(costs, key=lambda split: (-split.cost, split.node)))


def default_encoder(model: Any) -> Encoder:
    """Return the unfitted encoder whose cuts the optimum can use by default."""
    model = last_step(model).model
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Tree) or hasattr(model, "fit"):
        return cast(Encoder, clone(getattr(model, "encoder_", None) or Encoder()))
    # Labels, and trees of R: whatever they asked, it is among these questions as a rule.
    return Encoder(None, _MOST_CATEGORIES, 0.0, "subsets")


def _read_rows(model: Any, encoder: Encoder, given: RowInputs) -> TrainingData:
    """Read rows as a tree of this package knows them; for any other, those of one event."""
    tree = getattr(model, "tree_", model)
    outcome = tree.outcome if isinstance(tree, Tree) else None
    rows = read_rows(encoder, given, read_event if outcome is None else outcome.read_target)
    return rows_to_fit(encoder, rows, RELATIVE_RISK if outcome is None else tree.objective)


@dataclass(frozen=True)
class _LeafLimits(Limits):
    """Limits on leaves by the counts that they are about."""

    counts: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Leave limits as they are: rows keep them."""

    @property
    def least(self) -> dict[str, float]:
        return dict(self.counts)


def _limits_of(model: Any, audited: AuditedTree, rows: TrainingData) -> Limits:
    """Return the limits of the model, where its own leaves keep them."""
    counts = {
        name: total_by(audited.label, count, audited.n_labels)
        for name, count in rows.sums.counts.items()
    }
    reached = counts["samples"] > 0
    asked = limits_of(model, rows.target) if hasattr(model, "_limits") else _foreign(model)
    kept = {name: np.floor(counts[name][reached].min()) for name in asked.least}
    least = tuple((name, min(value, kept[name])) for name, value in asked.least.items())
    return _LeafLimits(max_depth=0, max_splits=audited.n_leaves - 1, counts=least)


def _foreign(model: Any) -> Limits:
    """Return the limits of another package's model, by the names that these have there."""

    def number(*names: str) -> int:
        values: list[Any] = [getattr(model, name, None) for name in names]
        return next((int(value) for value in values if is_number(value) and value >= 1), 0)

    return Limits(
        max_depth=0,
        min_samples_leaf=number("min_samples_leaf", "min_bucket"),
        min_events_leaf=number("min_events_leaf"),
    )


def _deepest(max_depth: int | None, audited: AuditedTree) -> int:
    """Return the depth up to which the optimum of the same size is searched for."""
    if max_depth is not None:
        return max(int(max_depth), audited.depth or 0)
    shallowest = math.ceil(math.log2(audited.n_leaves))
    # A tree is no deeper than it has splits.
    easy = min(_EASY_DEPTH, audited.n_leaves - 1)
    return max(easy, shallowest, audited.depth or 0)
