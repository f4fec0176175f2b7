"""SurTreeBag: the average over optimal trees, each of a bootstrap sample of the rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import damaged
from surtree._support.parallel import FoldProgress, run_all
from surtree._support.parameters import (
    LeafCurveKind,
    require_hook,
    require_jobs,
    require_random_state,
    require_verbose,
    require_whole,
)
from surtree._support.status import Status, first_unproven, warn_of_limit
from surtree._support.types import Floats
from surtree.averages.bag_average import average_curves
from surtree.averages.bag_file import read_bag, write_bag
from surtree.averages.bag_sample import BagRows, SampleTree, draw_sample, fit_sample
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.cuts.unseen import warn_of_unseen
from surtree.data.bootstrap import read_groups, spawn_generators
from surtree.data.named import RowInputs
from surtree.data.rows import read_rows
from surtree.data.table import Table, read_table
from surtree.data.target import require_events
from surtree.estimators.base import SurvivalEstimator
from surtree.estimators.tree import SurTree, check_parameters
from surtree.metrics import concordance_index_censored
from surtree.solver.verbose import counting
from surtree.survival.baseline import Baseline, nelson_aalen
from surtree.survival.early_events import warn_of_early_events
from surtree.survival.kaplan_meier import median_time
from surtree.survival.objective import RELATIVE_RISK
from surtree.survival.step_function import StepFunction, beyond_follow_up, read_times
from surtree.tree.leaf_curve import LeafCurve
from surtree.tree.rows import find_leaves
from surtree.tree.tree import Tree


class SurTreeBag(SurvivalEstimator):
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
    max_splits : int or None, default=None
        The largest number of questions in a tree. None is as many as the depth allows.
    shrinkage : float, default=1.0
        The events that the prior of each leaf is worth, as in `SurTree`. A little keeps leaves
        without an event from risks close to zero; averaging does the rest.
    min_samples_leaf, min_events_leaf : int, default=1 and 0
        As in `SurTree`. A row that was drawn several times counts as one.
    ccp_alpha, n_thresholds, max_categories, min_support : optional
        As in `SurTree`. Thresholds and categories are found once, in all rows: trees with cuts of
        their own sample predict as well, and take longer.
    category_cuts, thresholds, leaf_curve, memory_limit : optional
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
        The loss of ``oob_risk_``, divided by the weight of the rows: what to expect of other rows.
        `SurTreeCV` has the same measure of a single tree in ``held_out_``.
    unique_times_ : array of float
        The distinct event times of the training rows.
    feature_importances_ : array of float
        The share of each column in the reduction of the loss, averaged over trees.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, where the table has names.

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

    trees_: tuple[Tree, ...]
    baseline_: Baseline
    status_: Status
    oob_risk_: Floats
    oob_score_: float
    oob_loss_: float

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int = 4,
        max_splits: int | None = None,
        shrinkage: float = 1.0,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        ccp_alpha: float = 0.0,
        n_thresholds: int | None = 10,
        max_categories: int = 10,
        min_support: float = 0.01,
        category_cuts: CategoryCuts = "subsets",
        thresholds: GivenThresholds | None = None,
        leaf_curve: LeafCurveKind = "baseline",
        time_limit: float | None = None,
        memory_limit: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        progress: Callable[[FoldProgress], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.shrinkage = shrinkage
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.ccp_alpha = ccp_alpha
        self.n_thresholds = n_thresholds
        self.max_categories = max_categories
        self.min_support = min_support
        self.category_cuts = category_cuts
        self.thresholds = thresholds
        self.leaf_curve = leaf_curve
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.progress = progress
        self.n_jobs = n_jobs
        self.verbose = verbose

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

        Returns
        -------
        SurTreeBag
            The estimator itself.
        """
        self._check_parameters()
        read = read_rows(self, RowInputs(X, y, sample_weight, entry, id, groups))
        table, target, weight = read.table, read.target, read.weight
        present = np.flatnonzero(read.present)
        groups = target.person if groups is None else read.given.groups
        group = present if groups is None else read_groups(groups, table.n_rows)[present]
        group = np.unique(group, return_inverse=True)[1]
        target = target.take(present)
        require_events(target)
        warn_of_early_events(target, weight[present])
        self.baseline_ = nelson_aalen(target, weight[present])
        sums = self._tree()._objective(target).row_sums(target, weight[present], self.baseline_)
        encoder = encoder_of(self)
        binned = encoder.fit_encode(table, weight, sums, share=target.share)
        rows = BagRows(table.take(present), target, weight[present], encoder, binned)
        samples = (
            draw_sample(random, group, target)
            for random in spawn_generators(self.random_state, int(self.n_estimators))
        )
        with counting("Bagging", "trees", self.verbose, self.progress) as progress:
            finished = run_all(
                partial(fit_sample, self._tree(), rows),
                samples,
                int(self.n_estimators),
                n_jobs=self.n_jobs,
                progress=progress,
            )
        found = list(finished.results.values())
        self.trees_ = tuple(one.tree for one in found)
        statuses = [one.status for one in found]
        self.status_ = "interrupted" if finished.stopped else first_unproven(statuses)
        self.oob_risk_ = np.full(table.n_rows, np.nan)
        self.oob_risk_[present] = _out_of_bag(found, present.size)
        self._score_out_of_bag(rows, self.oob_risk_[present])
        warn_of_limit(self.status_)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the risk of each row: the mean over trees of its hazard relative to the baseline.

        A mean of hazards, so that it goes with `predict_cumulative_hazard_function`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`. Here and in all methods, a category that `fit` never had
            counts as a missing value, with an `UnseenCategoryWarning`.
        """
        return self._risk(self._read(X))

    def predict_survival_function(
        self, X: Any, *, return_array: bool = False, times: ArrayLike | None = None
    ) -> NDArray[np.object_] | Floats:
        """Return the survival function of each row: the mean of those of its leaves.

        After the last follow-up of the training rows, the end of its ``domain``, it is not a
        number, with a `BeyondFollowUpWarning`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        return_array : bool, default=False
            Whether to return numbers at ``unique_times_``, an array of shape
            (n_samples, n_times), instead of an array of step functions.
        times : array of shape (n_times,), optional
            Times at which to return numbers, an array of shape (n_samples, n_times): not a number
            after the last follow-up, with a `BeyondFollowUpWarning`.
        """
        leaves = self._leaves(self._read(X))
        return self._curves(leaves, lambda curve: curve.survival, 1.0, return_array, times)

    def predict_cumulative_hazard_function(
        self, X: Any, *, return_array: bool = False, times: ArrayLike | None = None
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative hazard function of each row: the mean of those of its leaves.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        return_array : bool, default=False
            Whether to return numbers at ``unique_times_``, an array of shape
            (n_samples, n_times), instead of an array of step functions.
        times : array of shape (n_times,), optional
            Times at which to return numbers, an array of shape (n_samples, n_times): not a number
            after the last follow-up, with a `BeyondFollowUpWarning`.
        """
        leaves = self._leaves(self._read(X))
        return self._curves(leaves, lambda curve: curve.cumulative_hazard, 0.0, return_array, times)

    def predict_median(self, X: Any) -> Floats:
        """Return the predicted median survival time of each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Infinity where survival never falls to one half, as far as rows were followed.
        """
        leaves, known = self._leaves(self._read(X)), self.unique_times_
        survival = average_curves(self.trees_, leaves, known, lambda curve: curve.survival)
        return np.array([median_time(self.unique_times_, values) for values in survival])

    def loss(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> float:
        """Return the loss of the predicted risks on rows, as that of `SurTree`.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `fit`. The baseline hazard is that of the training rows.
        """
        rows = self._read_rows(RowInputs(X, y, sample_weight, entry, id))
        sums = RELATIVE_RISK.row_sums(rows.target, rows.weight, self.baseline_)
        return sums.loss(self._risk(rows.table))

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted bag to a file, as JSON and without code.

        Parameters
        ----------
        path : str or path
            The file, such as ``model.json``; one that is there is replaced.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from surtree import SurTreeBag
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> bag = SurTreeBag(5, max_depth=2).fit(X, y)
        >>> with TemporaryDirectory() as directory:
        ...     bag.save(Path(directory) / "bag.json")
        ...     again = SurTreeBag.load(Path(directory) / "bag.json")
        >>> bool((again.predict(X) == bag.predict(X)).all())
        True
        """
        check_is_fitted(self)
        write_bag(self, Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the bag that `save` wrote; `surtree.load` reads models of any class.

        Parameters
        ----------
        path : str or path
            The file. No code in it is run, so it may come from anywhere.

        Returns
        -------
        SurTreeBag
            It predicts exactly as the saved one. Of a file that was edited since, the ``status_``
            is "edited", and what was known out of bag is not a number. A ``progress`` hook and a
            ``RandomState`` are not saved.
        """
        parameters, attributes = read_bag(Path(path))
        try:
            bag = cls(**parameters)
            bag._check_parameters()
        except (TypeError, ValueError) as error:
            raise damaged(Path(path), error) from None
        for name, value in attributes.items():
            setattr(bag, name, value)
        return bag

    @property
    def unique_times_(self) -> Floats:
        """The distinct event times of the training rows."""
        check_is_fitted(self)
        return self.baseline_.times

    @property
    def feature_importances_(self) -> Floats:
        """The share of each of the user's columns in the reduction of the loss."""
        check_is_fitted(self)
        shares: Floats = np.mean(
            [tree.importances(self.n_features_in_) for tree in self.trees_], axis=0
        )
        return shares

    def _check_parameters(self) -> None:
        require_whole("n_estimators", self.n_estimators, 1)
        check_parameters(self._tree())
        require_random_state(self.random_state)
        require_jobs(self.n_jobs)
        require_hook(self.progress)
        require_verbose(self.verbose)

    def _tree(self) -> SurTree:
        """Return a SurTree with the parameters that both have and mean the same."""
        shared = SurTree().get_params().keys() & self.get_params(deep=False).keys()
        return SurTree(**{name: getattr(self, name) for name in shared - {"n_jobs", "progress"}})

    def _score_out_of_bag(self, rows: BagRows, risk: Floats) -> None:
        """Set the scores of what trees say of rows that they have not seen."""
        self.oob_score_ = self.oob_loss_ = float("nan")
        known = np.isfinite(risk)
        if not known.any():
            return
        target, weight, risk = rows.target.take(known), rows.weight[known], risk[known]
        sums = RELATIVE_RISK.row_sums(target, weight, self.baseline_)
        self.oob_loss_ = sums.loss(risk) / target.total(weight)
        try:
            self.oob_score_ = concordance_index_censored(
                target.event, target.time, risk, sample_weight=weight, entry=target.entry
            ).cindex
        except ValueError:  # no two rows can be compared
            return

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        # The warning names the line that calls predict, apply, ...
        warn_of_unseen((cut for tree in self.trees_ for cut in tree.cuts), table)
        return table

    def _risk(self, table: Table) -> Floats:
        total = np.zeros(table.n_rows)
        for tree in self.trees_:
            total += tree.theta[find_leaves(tree, table)]
        return total / len(self.trees_)

    def _leaves(self, table: Table) -> NDArray[np.intp]:
        return np.stack([find_leaves(tree, table) for tree in self.trees_], axis=1)

    def _curves(
        self,
        leaves: NDArray[np.intp],
        curve_of_leaf: Callable[[LeafCurve], StepFunction],
        before: float,
        return_array: bool,
        times: ArrayLike | None,
    ) -> NDArray[np.object_] | Floats:
        """Return the average curve of each row, or its values at given times or at all steps."""
        asked = self.unique_times_ if times is None else read_times(times)
        values = average_curves(self.trees_, leaves, asked, curve_of_leaf)
        end = self.baseline_.last_time
        if times is not None:
            values[:, beyond_follow_up(asked, end)] = np.nan
        if return_array or times is not None:
            return values
        functions = np.empty(len(values), dtype=object)
        functions[:] = [StepFunction(asked, one, before, (0.0, end)) for one in values]
        return functions


def _out_of_bag(found: list[SampleTree], n_rows: int) -> Floats:
    """Return the mean risk of each row over the trees that have not seen it, NaN if all have."""
    total, n_trees = np.zeros(n_rows), np.zeros(n_rows)
    for one in found:
        total[one.left_out] += one.risk
        n_trees[one.left_out] += 1
    mean = np.full(n_rows, np.nan)
    return np.asarray(np.divide(total, n_trees, out=mean, where=n_trees > 0))
