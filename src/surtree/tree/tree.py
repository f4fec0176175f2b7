"""The tree: frozen flat arrays, root first, with readable rules, and no training row inside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surtree._support.json_file import format_and_version, is_known, shown
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import ArrayValue, Floats
from surtree.cuts.cut import Cut, load_cuts, save_cuts
from surtree.data.target import Target
from surtree.survival.baseline import Baseline
from surtree.survival.cox_groups import GroupFit
from surtree.survival.objective import Objective, total_by
from surtree.survival.objectives import read_objective, save_objective
from surtree.survival.row_sums import RowSums
from surtree.tree._printed import tree_text
from surtree.tree.arms import Arms, read_arms, save_arms
from surtree.tree.at_risk import (
    AtRiskCounts,
    at_risk_counts,
    read_counts,
    read_only,
    save_counts,
)
from surtree.tree.leaf_curve import curve_of, events_note, proportional_hazards, theta_limits
from surtree.tree.reversals import Reversal, find_reversals
from surtree.tree.rows import find_leaves, path_matrix, read_rows
from surtree.tree.validate import (
    TREE_FORMATS,
    read_baseline,
    read_sums,
    save_baseline,
    validate_tree,
)
from surtree.words.numbers import leaf_names, plural

if TYPE_CHECKING:
    from surtree.outcomes.outcome import Outcome

Integers = NDArray[np.int32]

FORMAT = "surtree.tree"
VERSION = 2

_INTEGER_FIELDS = ("column", "cut", "left", "right", "n_samples", "n_events")
_FLOAT_FIELDS = ("weight", "loss")


@dataclass(frozen=True)
class Rule:
    """The questions that lead to one leaf, and what the leaf says.

    Parameters
    ----------
    leaf : int
        The number of the leaf's node.
    name : str
        What the leaf is called in prints, reports and pictures: A, B, ...
    conditions : tuple of str
        What holds for every row of the leaf, from the root down; empty in a tree of one leaf.
    theta : float
        Observed over expected events: the hazard of the leaf relative to that of all rows.
    n_samples, n_events : int
        The training rows of the leaf, and those of them with an event.
    theta_limits : tuple of two floats
        The 95% confidence limits of theta.
    n_persons : int, optional
        The persons whose rows they are, where that is known.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> rule = SurTree(max_depth=1).fit(X, y).tree_.rules()[-1]
    >>> print(rule)
    positive_nodes > 3: theta 1.61 (180 events in 310 rows)
    >>> rule.conditions, rule.n_events
    (('positive_nodes > 3',), 180)
    """

    leaf: int
    name: str
    conditions: tuple[str, ...]
    theta: float
    n_samples: int
    n_events: int
    theta_limits: tuple[float, float] = (np.nan, np.nan)
    n_persons: int | None = None

    def __str__(self) -> str:
        where = " and ".join(self.conditions) or "all rows"
        rows = plural(self.n_samples, "row")
        if self.n_persons is not None:
            rows = f"{rows} of {plural(self.n_persons, 'person')}"
        if self.n_events == 0:
            return f"{where}: theta at most {self.theta_limits[1]:.3g} (no events in {rows})"
        counted = f"{plural(self.n_events, 'event')} in {rows}"
        note = events_note(self.n_events)
        return f"{where}: theta {self.theta:.3g} ({counted}{note and f': {note}'})"


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
    n_samples, n_events : array of int
        The training rows of the node, and those of them with an event.
    weight : array of float
        The weight of the rows.
    sums : array of float of shape (n_nodes, n_sums)
        The sums over the rows that the objective names, such as events and hazard.
    loss : array of float
        The loss of the rows if the node were a leaf.
    cuts : tuple of Cut
        The questions that the tree asks.
    objective : Objective
        What a leaf gains and predicts, from its sums.
    baseline : Baseline
        The cumulative hazard that theta multiplies.
    risk : tuple of AtRiskCounts
        One for each leaf, in the order of ``leaves``; empty where they were not kept.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}
        Which curve the survival of a leaf is read off, wherever it is stated (`leaf_curves`):
        the ``leaf_curve`` of the estimator when it was fitted. A tree without at-risk counts has
        none but "baseline".
    n_persons : array of int, optional
        The persons who have rows in the node, where `fit` was told whose rows they are; a person
        may be on both sides of a split. Trees of other sizes on a path do not keep them.
    arms : Arms, optional
        The arms of a trial, in the chosen tree of an `EffectTree`.
    factor : array of float, optional
        What `recalibrate` multiplied the hazard of each node by.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> tree = SurTree(max_depth=1).fit(X, y).tree_
    >>> print(tree)
                            leaf    n  events  theta  median (baseline)
    all rows
    ├─ positive_nodes <= 3     A  376     119  0.635             > 2456
    └─ positive_nodes > 3      B  310     180   1.61               1059
    >>> tree.left.tolist(), tree.n_samples.tolist(), tree.theta.round(2).tolist()
    ([1, -1, -1], [686, 376, 310], [1.0, 0.63, 1.61])
    """

    column: Integers
    cut: Integers
    left: Integers
    right: Integers
    n_samples: Integers
    n_events: Integers
    weight: Floats
    sums: Floats
    loss: Floats
    cuts: tuple[Cut, ...]
    objective: Objective
    baseline: Baseline
    risk: tuple[AtRiskCounts, ...] = ()
    leaf_curve: LeafCurveKind = "baseline"
    n_persons: Integers | None = None
    arms: Arms | None = None
    factor: Floats | None = None

    @cached_property
    def theta(self) -> Floats:
        """What each node predicts: as a rule, its observed over expected events."""
        return read_only(self._adapted(self.objective.theta(self.sums.T)))

    @cached_property
    def prediction(self) -> Floats:
        """What the objective predicts for each node, the last axis: theta, or more than that."""
        return read_only(self._adapted(self.objective.predict(self.sums.T)))

    def _adapted(self, hazard: Floats) -> Floats:
        return hazard if self.factor is None else hazard * self.factor

    @cached_property
    def outcome(self) -> Outcome:
        """What kind of outcome the rows have: figures, curves and words of leaves come from it."""
        # Imported late: outcomes are about trees.
        from surtree.outcomes import outcome_of

        return outcome_of(self)

    @cached_property
    def _proportional_hazards(self) -> GroupFit:
        """The hazards of the leaves and the baseline that maximise the full likelihood."""
        return proportional_hazards(self)

    @cached_property
    def _hazard_ratios(self) -> dict[float, Any]:
        """The hazard ratios of leaves that are known, by their level."""
        return {}

    @cached_property
    def _arm_ratios(self) -> Floats:
        """The hazard ratio of each arm of a trial over the first, of shape (n_arms, n_nodes)."""
        from surtree.outcomes.arm_effects import arm_ratios

        return read_only(arm_ratios(self))

    @property
    def events(self) -> Floats:
        """The weight of the events of each node."""
        return self._totals()[0]

    @property
    def hazard(self) -> Floats:
        """The weighted hazard of the rows of each node: how many events the baseline expects."""
        return self._totals()[1]

    @property
    def weighted(self) -> bool:
        """Whether rows have weights other than one."""
        return not np.array_equal(self.weight, self.n_samples)

    @property
    def weight_of_persons(self) -> float:
        """The weight of all rows; of persons in several rows, who are at risk in one of them."""
        total = float(self.weight[0])
        return total if self.n_persons is None else total * self.n_persons[0] / self.n_samples[0]

    @property
    def enters_late(self) -> bool:
        """Whether some person, or row, came under observation after time zero, where it is known.

        Later rows of a person who was there at zero are no late entry.
        """
        at_start = sum(float(counts.round_at_risk[0]) for counts in self.risk)
        return bool(self.risk) and at_start < (1 - 1e-9) * self.weight_of_persons

    @cached_property
    def share_at_risk(self) -> Floats:
        """The share of all rows that is at risk at each time of the baseline."""
        times = self.event_times
        at_risk = sum((counts.at_events(times.size).at_risk for counts in self.risk), 0.0 * times)
        return read_only(at_risk / self.weight_of_persons)

    @property
    def event_times(self) -> Floats:
        """The distinct event times of the training rows, at which curves have their steps."""
        return self.baseline.times

    @property
    def last_event(self) -> float:
        """The last event time."""
        return float(self.event_times[-1])

    @property
    def last_time(self) -> float:
        """The last follow-up of the training rows; infinity where it is not known."""
        return self.baseline.last_time

    def row_hazard(self, target: Target) -> Floats:
        """Return how many events are expected of each of some rows, at the hazard of all rows."""
        return self.baseline.row_hazard(target)

    def row_sums(self, target: Target, weight: Floats) -> RowSums:
        """Return what each of some rows adds to the sums of the objective, and to the loss."""
        return self.objective.row_sums(target, weight, self.baseline)

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
        return self.leaves.size

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return read_only(self.left < 0)

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that are leaves, ascending."""
        return read_only(np.flatnonzero(self.is_leaf))

    @cached_property
    def leaf_names(self) -> dict[int, str]:
        """The letters that prints, reports and pictures call the leaves by, by their nodes."""
        return leaf_names(self.leaves.tolist())

    @property
    def depth(self) -> int:
        """The largest number of questions that a row is asked."""
        return max(len(path) for path in self.paths()) - 1

    @property
    def total_loss(self) -> float:
        """The loss of the tree on its training rows, the penalty of shrinkage included."""
        return float(self.loss[self.leaves].sum())

    @property
    def unpenalised_loss(self) -> float:
        """The same without the penalty of shrinkage."""
        return self.total_loss - float(self.objective.penalty(self.sums[self.leaves].T).sum())

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row falls in.

        A value that is missing, in a column that had none missing where the tree was fitted,
        follows the side of that node with more weight. A category that the column did not have
        there counts as missing, with an `UnseenCategoryWarning`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The columns of the training table, in their order.

        Examples
        --------
        >>> from surtree import SurTree
        >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
        >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
        >>> model.tree_.apply([[1], [0]]).tolist()
        [2, 1]
        """
        return find_leaves(self, read_rows(self, X))

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each row visits, as a sparse matrix of ones.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The columns of the training table, in their order.
        """
        return path_matrix(self, find_leaves(self, read_rows(self, X)))

    def question(self, node: int) -> Cut:
        """Return what a node asks, with its answer to a missing value whatever training had.

        Parameters
        ----------
        node : int
            A node that is not a leaf.
        """
        cut = self._cut_of(node)
        if cut.missing is not None:
            return cut
        heavier = self.weight[self.right[node]] > self.weight[self.left[node]]
        return replace(cut, missing=bool(heavier))

    @cached_property
    def worded_cuts(self) -> dict[int, Cut]:
        """The question of each node that is not a leaf, worded for the values that reach it.

        Below a question that has sent the missing values of a column to its other side, no such
        value arrives, and a rule about that column does not mention them.
        """
        worded = {}
        # For each node, the columns whose missing values have gone elsewhere.
        gone: list[frozenset[int]] = [frozenset()] * self.n_nodes
        for node in np.flatnonzero(~self.is_leaf).tolist():
            cut, without = self._cut_of(node), gone[node] | {self._cut_of(node).column}
            only_missing = cut.threshold is None and cut.categories is None
            silent = without == gone[node] and not only_missing
            worded[node] = replace(cut, missing=None) if silent else cut
            missing_right = self.question(node).missing
            gone[self.left[node]] = without if missing_right else gone[node]
            gone[self.right[node]] = gone[node] if missing_right else without
        return worded

    def paths(self) -> list[tuple[int, ...]]:
        """Return, for each node, the nodes from the root down to it."""
        paths: list[tuple[int, ...]] = [(0,)] * self.n_nodes
        for node in np.flatnonzero(~self.is_leaf):
            for child in (self.left[node], self.right[node]):
                paths[child] = (*paths[node], int(child))
        return paths

    def rules(self) -> tuple[Rule, ...]:
        """Return how each leaf is reached, in the words of the user's columns.

        Examples
        --------
        >>> from surtree import SurTree
        >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
        >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
        >>> for rule in model.tree_.rules():
        ...     print(rule)
        x0 <= 0: theta 0.632 (2 events in 2 rows: few events)
        x0 > 0: theta 2.4 (2 events in 2 rows: few events)
        """
        paths = self.paths()
        return tuple(
            Rule(
                leaf=int(leaf),
                name=self.leaf_names[int(leaf)],
                conditions=tuple(self.condition(*step) for step in pairwise(paths[leaf])),
                theta=float(self.theta[leaf]),
                n_samples=int(self.n_samples[leaf]),
                n_events=int(self.n_events[leaf]),
                theta_limits=theta_limits(self, int(leaf)),
                n_persons=None if self.n_persons is None else int(self.n_persons[leaf]),
            )
            for leaf in self.leaves
        )

    def reversals(self, X: Any = None) -> tuple[Reversal, ...]:
        """Return the numeric columns whose effect turns round inside the tree.

        With all other columns held fixed, the relative risk that the tree predicts is a function
        of one column. A column is named if for some values of the others a larger value raises
        that risk somewhere, and for some, the same or others, it lowers it: it is named unless the
        risk never falls with it, or never rises. Values of the others are all that the tree can
        tell apart; with ``X``, only those of its rows.

        With causes the risk is the one that `predict` ranks by. The leaves of an `EffectTree`
        differ in effects, not in risk: nothing is said of them. Columns of categories have no
        larger value, and are not looked at, nor are missing values of the column itself.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features), optional
            Rows whose values of the other columns count, such as the training table. Then how
            many rows have the rarer effect is counted.

        Examples
        --------
        >>> from surtree import SurTree
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
        >>> print(*model.tree_.reversals(X))  # doctest: +NORMALIZE_WHITESPACE
        More positive_nodes mostly means higher risk, but lower risk for 129 of 686 rows where
        progesterone_receptor <= 83 and progesterone_receptor > 26 (1.66, then 1.17).
        """
        return find_reversals(self, X)

    def median(self, leaf: int) -> float:
        """Return the median survival time of a leaf, infinity if it is not reached.

        It is read off the curve that the tree predicts with, its ``leaf_curve``.

        Parameters
        ----------
        leaf : int
            The number of a leaf's node.
        """
        return curve_of(self, leaf).median

    def importances(self, n_columns: int) -> Floats:
        """Return the share of each of the user's columns in the reduction of the loss."""
        splits = np.flatnonzero(~self.is_leaf)
        sides = self.loss[self.left[splits]] + self.loss[self.right[splits]]
        # A split that increases the loss, as rounding and shrinkage allow, has no share.
        reduction = np.maximum(self.loss[splits] - sides, 0.0)
        share = total_by(self.column[splits], reduction, n_columns)
        return share / (share.sum() or 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain lists and numbers that JSON can hold without loss."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "leaf_curve": self.leaf_curve,
            "objective": save_objective(self.objective),
            "nodes": {
                **{name: getattr(self, name).tolist() for name in _INTEGER_FIELDS + _FLOAT_FIELDS},
                "sums": dict(zip(self.objective.sum_names, self.sums.T.tolist(), strict=True)),
                "theta": self.theta.tolist(),
                **({} if self.n_persons is None else {"n_persons": self.n_persons.tolist()}),
                **({} if self.factor is None else {"factor": self.factor.tolist()}),
            },
            **save_cuts(self.cuts),
            "baseline": save_baseline(self.baseline),
            "risk": [save_counts(counts) for counts in self.risk],
            **save_arms(self.arms),
        }

    @classmethod
    def from_dict(
        cls,
        saved: dict[str, Any],
        baseline: Baseline | None = None,
        leaf_curve: LeafCurveKind = "baseline",
    ) -> Tree:
        """Return the tree that `to_dict` wrote.

        Parameters
        ----------
        saved : dict
            What `to_dict` returned, also after a way through JSON, or what it returned before
            trees had an objective (version 1); a ValueError says what is wrong with anything else.
        baseline : Baseline, optional
            The baseline, where several trees share one; by default it is read too.
        leaf_curve : {"baseline", "kaplan-meier"}, default="baseline"
            The kind of curve of a tree of version 1, which does not say it.
        """
        format_, version = format_and_version(saved)
        if format_ != FORMAT or not is_known(version, TREE_FORMATS):
            raise ValueError(
                f"This is not a tree that this version of surtree can read: expected format "
                f"{FORMAT!r} version {VERSION}, found {shown(format_)} version {shown(version)}."
            )
        TREE_FORMATS[version](saved, "")
        nodes, objective = saved["nodes"], read_objective(saved)
        arrays: dict[str, Any] = {
            **{name: np.array(nodes[name], dtype=np.int32) for name in _INTEGER_FIELDS},
            **{name: np.array(nodes[name], dtype=np.float64) for name in _FLOAT_FIELDS},
        }
        tree = cls(
            **arrays,
            sums=read_sums(nodes, objective, version),
            cuts=load_cuts(saved),
            objective=objective,
            baseline=baseline or read_baseline(saved.get("baseline")),
            risk=at_risk_counts(map(read_counts, saved["risk"])),
            leaf_curve=saved.get("leaf_curve", leaf_curve if saved["risk"] else "baseline"),
            n_persons=np.array(nodes["n_persons"], dtype=np.int32)
            if "n_persons" in nodes
            else None,
            arms=read_arms(saved["arms"]) if "arms" in saved else None,
            factor=np.array(nodes["factor"], dtype=np.float64) if "factor" in nodes else None,
        )
        theta = np.array(nodes["theta"], dtype=np.float64)
        if version == 1 and theta.shape == tree.n_events.shape:
            # Nodes without events were not yet kept from a risk above the average.
            theta = np.where(tree.n_events > 0, theta, np.minimum(theta, 1.0))
        validate_tree(tree, theta)
        return tree

    def __repr__(self) -> str:
        return f"Tree(n_leaves={self.n_leaves}, depth={self.depth}, loss={self.total_loss:.6g})"

    def __str__(self) -> str:
        return tree_text(self)

    def _repr_html_(self) -> str:
        # Imported late: report imports this module.
        from surtree.report import notebook_html

        return notebook_html(self)

    def condition(self, node: int, child: int) -> str:
        """Return what holds for the rows that go from a node to one of its two children."""
        cut = self.worded_cuts[node]
        return cut.rule if child == self.right[node] else cut.negated_rule

    def _totals(self) -> tuple[Floats, Floats]:
        totals = self.objective.totals(self.sums.T)
        if totals is None:
            raise ValueError(f"The objective {self.objective.name!r} has no events and no hazard.")
        return totals

    def _cut_of(self, node: int) -> Cut:
        return self.cuts[int(self.cut[node])]
