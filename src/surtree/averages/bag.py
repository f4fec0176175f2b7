"""SurTreeBag: the average over optimal trees, each of a bootstrap sample of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.parallel import FoldProgress, run_all
from surtree._support.parameters import LeafCurveKind
from surtree._support.status import Status, first_unproven, warn_of_limit
from surtree._support.types import Floats
from surtree.averages._bag_average import average_curves
from surtree.averages._bag_file import FORMAT, bag_content, read_bag
from surtree.averages._bag_sample import SampleTree, draw_sample, fit_sample
from surtree.averages.base import AverageEstimator
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.data.bootstrap import read_groups, spawn_generators
from surtree.data.named import RowInputs
from surtree.data.rows import read_rows
from surtree.data.table import Table
from surtree.estimators.base import CurveKind
from surtree.estimators.parameters import make_like, require_parameters, whole
from surtree.estimators.tree import SurTree
from surtree.fitting.fit_problem import make_problem
from surtree.fitting.training import TrainingData, rows_to_fit
from surtree.metrics import concordance_index_censored
from surtree.solver.verbose import counting
from surtree.survival.objective import RELATIVE_RISK
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


@dataclass(eq=False, repr=False)
class SurTreeBag(AverageEstimator):
    """The average over optimal survival trees, each of a bootstrap sample of the rows.

    No longer a model to read, but one that predicts better than a single tree: it shows how far
    a small tree is from what many can do. Each tree is the optimum of its sample, within limits as
    those of `SurTree`. A sample counts each row as often as it was drawn.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_depth : int, default=4
        The largest number of questions that a tree asks of a row. It is one more than that of
        `SurTree` because an average needs trees that differ, and nobody reads them.
    shrinkage : float, default=1.0
        The events that the prior of each leaf is worth, as in `SurTree`. A little keeps leaves
        without an event from risks close to zero; averaging does the rest.
    max_splits, min_samples_leaf, min_events_leaf, ccp_alpha : optional
        As in `SurTree`. A row that was drawn several times counts as one in a leaf.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`. Thresholds and categories are found once, in all rows: trees with cuts of
        their own sample predict as well, and take longer.
    leaf_curve, memory_limit : optional
        As in `SurTree`.
    time_limit : float or None, default=None
        Seconds after which the search for each tree ends with the best one so far.
    random_state : int, RandomState or None, default=0
        Where the samples come from. None is different every time.
    progress : callable, optional
        Called with a `FoldProgress` after each tree; where it returns something true, the bag has
        the trees so far, and the status "interrupted".
    verbose : int, default=0
        1 to write a line on standard error that says how many trees are done.
    n_jobs : int or None, default=None
        How many trees to fit at the same time, through joblib: in threads, unless
        ``joblib.parallel_config`` names another backend. The result does not depend on it.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees. Each has the baseline of its own sample.
    baseline_ : Baseline
        The baseline hazard of all rows.
    status_ : Status
        "optimal" where every tree is proven, else how the first unfinished search ended, or
        "rounded" (see `SurTree`). Of a bag that was loaded from a file that had been edited:
        "edited".
    oob_risk_ : array of float of shape (n_samples,)
        The risk of each training row, by the trees whose samples do not have it ("out of bag"). Not
        a number for rows that all samples have, and for rows of weight zero.
    oob_score_ : float
        Harrell's C of ``oob_risk_``.
    oob_loss_ : float
        The loss of ``oob_risk_``, divided by the weight of the rows: what to expect in new data.
        `SurTreeCV` has the same measure of a single tree in ``held_out_``.
    feature_importances_ : array of float
        The share of each column in the reduction of the loss, averaged over trees.
    unique_times_, n_features_in_, feature_names_in_ : object
        As in `SurTree`.

    Examples
    --------
    >>> from surtree import SurTreeBag
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> bag = SurTreeBag(20, max_depth=3).fit(X, y)
    >>> bag.predict(X.head(3)).round(2).tolist()
    [0.64, 0.97, 1.3]
    >>> round(bag.oob_score_, 2)
    0.67
    """

    n_estimators: int = 100
    _: KW_ONLY
    max_depth: int = 4
    max_splits: int | None = None
    shrinkage: float = 1.0
    min_samples_leaf: int = 1
    min_events_leaf: int = 0
    ccp_alpha: float = 0.0
    n_thresholds: int | None = 10
    max_categories: int = 10
    min_support: float = 0.01
    category_cuts: CategoryCuts = "subsets"
    thresholds: GivenThresholds | None = None
    leaf_curve: LeafCurveKind = "baseline"
    time_limit: float | None = None
    memory_limit: int | None = None
    random_state: int | np.random.RandomState | None = 0
    progress: Callable[[FoldProgress], object] | None = None
    n_jobs: int | None = None
    verbose: int = 0

    trees_: tuple[Tree, ...] = field(init=False)
    status_: Status = field(init=False)
    oob_risk_: Floats = field(init=False)
    oob_score_: float = field(init=False)
    oob_loss_: float = field(init=False)

    _format: ClassVar[str] = FORMAT
    _checks = AverageEstimator._checks | {"n_estimators": whole(1)}

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> Self:
        """Find the optimal tree of each bootstrap sample.

        Parameters
        ----------
        X, y, sample_weight, entry
            As in `SurTree.fit`. Samples are drawn from the rows of positive weight, whatever their
            weights; a row counts in a sample with its weight times how often it was drawn.
        groups : array of shape (n_samples,), optional
            Rows with the same label, such as those of a centre, are drawn together; by default,
            those with the same ``id``.
        id : array of shape (n_samples,), optional
            Whose row it is, as in `SurTree.fit`.
        """
        require_parameters(self)
        template = make_like(SurTree, self, {"n_jobs", "progress"})
        rows = read_rows(self, RowInputs(X, y, sample_weight, entry, id, groups))
        present = np.flatnonzero(rows.present)
        groups = rows.target.person if groups is None else rows.given.groups
        group = present if groups is None else read_groups(groups, rows.table.n_rows)[present]
        group = np.unique(group, return_inverse=True)[1]
        data = rows_to_fit(template, rows)
        self.baseline_ = data.baseline
        problem = make_problem(encoder_of(self), data)
        n_samples = int(self.n_estimators)
        samples = (
            draw_sample(random, group, data.target)
            for random in spawn_generators(self.random_state, n_samples)
        )
        with counting("Bagging", "trees", self.verbose, self.progress) as progress:
            job = partial(fit_sample, template, problem)
            finished = run_all(job, samples, n_samples, n_jobs=self.n_jobs, progress=progress)
        fitted = list(finished.results.values())
        self.trees_ = tuple(sample.tree for sample in fitted)
        statuses = [sample.status for sample in fitted]
        self.status_ = "interrupted" if finished.stopped else first_unproven(statuses)
        self.oob_risk_ = np.full(rows.table.n_rows, np.nan)
        self.oob_risk_[present] = _out_of_bag(fitted, present.size)
        self._score_out_of_bag(data, self.oob_risk_[present])
        warn_of_limit(self.status_)
        return self

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf of each row in each tree, by the number of its node.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.

        Returns
        -------
        array of shape (n_samples, n_estimators)
        """
        return self._leaves(self._read(X))

    @property
    def feature_importances_(self) -> Floats:
        """The share of each of the user's columns in the reduction of the loss."""
        check_is_fitted(self)
        shares: Floats = np.mean(
            [tree.importances(self.n_features_in_) for tree in self.trees_], axis=0
        )
        return shares

    def _file_content(self) -> dict[str, Any]:
        return bag_content(self)

    @classmethod
    def _read_file(cls, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        return read_bag(path)

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        is_seed = isinstance(parameters["random_state"], int)
        return parameters if is_seed else parameters | {"random_state": None}

    def _score_out_of_bag(self, data: TrainingData, risk: Floats) -> None:
        """Set the scores of what trees say of rows that they have not seen."""
        self.oob_score_ = self.oob_loss_ = float("nan")
        known = np.isfinite(risk)
        if not known.any():
            return
        target, weight, risk = data.target.take(known), data.sums.weight[known], risk[known]
        sums = RELATIVE_RISK.row_sums(target, weight, self.baseline_)
        self.oob_loss_ = sums.loss(risk) / target.total(weight)
        try:
            self.oob_score_ = concordance_index_censored(
                target.event, target.time, risk, sample_weight=weight, entry=target.entry
            ).cindex
        except ValueError:  # no two rows can be compared
            return

    def _cuts(self) -> Iterable[Cut]:
        return (cut for tree in self.trees_ for cut in tree.cuts)

    def _risk_of_table(self, table: Table) -> Floats:
        total = np.zeros(table.n_rows)
        for tree in self.trees_:
            total += tree.theta[find_leaves(tree, table)]
        return total / len(self.trees_)

    def _leaves(self, table: Table) -> NDArray[np.intp]:
        return np.stack([find_leaves(tree, table) for tree in self.trees_], axis=1)

    def _values(self, table: Table, kind: CurveKind, times: Floats) -> Floats:
        return average_curves(self.trees_, self._leaves(table), times, kind)


def _out_of_bag(fitted: list[SampleTree], n_rows: int) -> Floats:
    """Return the mean risk of each row over the trees that have not seen it, NaN if all have."""
    total, n_trees = np.zeros(n_rows), np.zeros(n_rows)
    for sample in fitted:
        total[sample.left_out] += sample.risk
        n_trees[sample.left_out] += 1
    mean = np.full(n_rows, np.nan)
    return np.asarray(np.divide(total, n_trees, out=mean, where=n_trees > 0))
