"""The base classes: of all estimators, and of those with a tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.cuts.unseen import warn_of, warn_of_unseen
from surtree.data.named import RowInputs, is_lazy
from surtree.data.rows import Rows, read_event, read_target_and_weight
from surtree.data.table import Table, read_table
from surtree.data.target import Target
from surtree.engines.engines import source_of
from surtree.engines.predict import LazyLoss, Outcomes, find_outcomes, lazy_loss, route
from surtree.engines.rows import TargetNames, target_names
from surtree.estimators.parameters import CHECKS, Checks
from surtree.metrics import concordance_index_censored
from surtree.solver.problem import Limits
from surtree.survival.objective import Objective, RelativeRisk
from surtree.survival.step_function import StepFunction, conditional_curves, curves_of_rows
from surtree.tree.curves import leaf_curves, read_pieces, survival_along
from surtree.tree.rows import find_leaves, path_matrix
from surtree.tree.tree import Tree

# A `LeafCurve` calls its curves so.
CurveKind = Literal["survival", "cumulative_hazard"]


class SurvivalEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """The base class of all estimators: a risk and a survival function for each row.

    Examples
    --------
    >>> from surtree import SurTree, SurTreeBayes, SurvivalEstimator
    >>> isinstance(SurTree(), SurvivalEstimator), isinstance(SurTreeBayes(), SurvivalEstimator)
    (True, True)
    """

    # scikit-survival reads this: predictions are higher for a higher risk.
    _predict_risk_score = True
    # Whether `fit` warns of suspicious columns.
    _warns_of_columns = True
    # Which columns of a lazy table are the target.
    _names_type: ClassVar[type[TargetNames]] = TargetNames
    # The check of each parameter, by its name.
    _checks: ClassVar[Checks] = CHECKS
    # Which counts the limits on leaves are about.
    _limits_type: ClassVar[type[Limits]] = Limits

    def predict(self, X: Any) -> Floats:
        """Return the risk of each row: its hazard relative to the baseline, higher is riskier.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features), or lazy table
            The same columns as in `fit`. Here and in all methods, a category that `fit` never had
            counts as a missing value, with an `UnseenCategoryWarning`. A model that is one tree
            reads a lazy table in batches, which may have other columns too; predictions are in the
            order of its rows.
        """
        return self._risk(X)

    def predict_survival_function(
        self,
        X: Any,
        *,
        return_array: bool = False,
        times: ArrayLike | None = None,
        survived: float = 0.0,
    ) -> NDArray[np.object_] | Floats:
        """Return the survival function of each row: the probability of no event until a time.

        Of a tree it is the curve of the row's leaf, of the kind that ``leaf_curve`` said in `fit`
        (`leaf_curves`); of other models, the baseline's to the power of the risk. After the last
        follow-up of the training rows, the end of its ``domain``, it is not a number, with a
        `BeyondFollowUpWarning`. Before that, the Kaplan-Meier curve of a leaf that was not observed
        as long stays where it was.

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
        survived : float, default=0
            A time that rows are known to have survived: then it is the probability of no event from
            there on (conditional survival), by the columns that they had at time zero. For columns
            as they are now, fit on `landmark_rows`.

        Examples
        --------
        >>> from surtree import SurTree
        >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
        >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
        >>> model.predict_survival_function([[0], [1]], times=[1, 2]).round(2).tolist()
        [[0.85, 0.69], [0.55, 0.25]]
        >>> model.predict_survival_function([[0], [1]], times=[2], survived=1).round(2).tolist()
        [[0.81], [0.45]]
        """
        if not survived:
            return self._curves(X, "survival", return_array, times)
        functions = self._curves(X, "survival", False, None)
        return conditional_curves(functions, survived, return_array, times)

    def predict_cumulative_hazard_function(
        self, X: Any, *, return_array: bool = False, times: ArrayLike | None = None
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative hazard function of each row.

        Parameters
        ----------
        X, return_array, times
            As in `predict_survival_function`.
        """
        return self._curves(X, "cumulative_hazard", return_array, times)

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
        return self._medians(X)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        entry: ArrayLike | None = None,
    ) -> float:
        """Return Harrell's C: how often the riskier of two rows has its event first.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features), or lazy table
            The same columns as in `fit`; a lazy table only of a model that is one tree.
        y : structured array, data frame, pair of arrays, or names of columns
            Event and time, as in `SurTree.fit`.
        sample_weight, entry : array of shape (n_samples,), or the name of a column, optional
            How often each row counts, and when it came under observation: an event is compared
            with the rows at risk then.
        """
        risk, target, weight = self._risk_and_outcomes(RowInputs(X, y, sample_weight, entry))
        return concordance_index_censored(
            target.event, target.time, risk, sample_weight=weight, entry=target.entry
        ).cindex

    def loss(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> float:
        """Return the loss of the predicted risks on rows; `SurTree.fit` minimises it.

        The baseline hazard is that of the training rows. Of a tree, on the training rows this is
        the loss without the penalty of shrinkage, and without shrinkage up to one half more for
        each leaf without an event: such a leaf predicts the hazard of half an event, so that its
        curve is not flat.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `SurTree.fit`.
        """
        return self._loss(RowInputs(X, y, sample_weight, entry, id))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @abstractmethod
    def _risk(self, X: Any) -> Floats:
        """Return the risk of each row of a table."""

    @abstractmethod
    def _curves(
        self, X: Any, kind: CurveKind, return_array: bool, times: ArrayLike | None
    ) -> NDArray[np.object_] | Floats:
        """Return the curve of each row of a table, or its values."""

    @abstractmethod
    def _medians(self, X: Any) -> Floats:
        """Return the median survival time of each row of a table."""

    @abstractmethod
    def _loss(self, given: RowInputs) -> float:
        """Return the loss on rows."""

    @abstractmethod
    def _read(self, X: Any) -> Table:
        """Read the table of rows that the fitted model is asked about."""

    def _read_target(self, given: RowInputs, n_rows: int) -> Target:
        """Return the target of rows to fit on; a subclass may read another kind of it."""
        return read_event(given, n_rows)

    def _read_known_target(self, given: RowInputs, n_rows: int) -> Target:
        """Return the target of rows that the fitted model is asked about."""
        return self._read_target(given, n_rows)

    def _read_rows(self, given: RowInputs) -> Rows:
        """Read rows that the fitted model is asked about."""
        given = given.in_memory(type(self).__name__)
        table = self._read(given.X)
        target, weight = self._read_outcomes(given, table.n_rows)
        return Rows(target.with_spells(table), weight, given, table)

    def _objective(self, target: Target) -> Objective:
        """Return what a leaf is worth: by default relative risk, with the shrinkage if any."""
        return RelativeRisk(float(getattr(self, "shrinkage", 0.0)))

    def _risk_and_outcomes(self, given: RowInputs) -> tuple[Floats, Target, Floats]:
        given = given.in_memory(type(self).__name__)
        risk = self.predict(given.X)
        return risk, *self._read_outcomes(given, risk.size)

    def _read_outcomes(self, given: RowInputs, n_rows: int) -> tuple[Target, Floats]:
        """Return the target and the weights of rows, zero where a row is censored at time zero."""
        target, weight = read_target_and_weight(given, n_rows, self._read_known_target)
        return target, np.where(target.censored_at_zero, 0.0, weight)


class TreeEstimator(SurvivalEstimator):
    """The base class of all tree estimators.

    A subclass has the parameter ``leaf_curve``, and its ``fit`` sets ``tree_``.

    Examples
    --------
    >>> from surtree import SurTree, TreeEstimator
    >>> from surtree.heuristics import GreedyTree
    >>> issubclass(SurTree, TreeEstimator), issubclass(GreedyTree, TreeEstimator)
    (True, True)
    """

    leaf_curve: LeafCurveKind
    tree_: Tree

    def predict_survival_along(
        self,
        X: Any,
        start: ArrayLike,
        stop: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> NDArray[np.object_]:
        """Return the survival function of each person whose covariates change over time.

        While a person is in a leaf, the hazard is that of the leaf: survival is the product over
        the rows of what the curve of each leaf loses while the row holds. It is the probability of
        no event after the first start, and has a value until the last stop.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`; a row for each time that covariates change.
        start : array of shape (n_samples,)
            From when each row holds.
        stop : array of shape (n_samples,), optional
            Until when it does; by default until the next row of the person, and the last one until
            the last follow-up of the training rows.
        id : array of shape (n_samples,), optional
            Whose row it is; by default all rows are of one person.

        Returns
        -------
        array of StepFunction
            One for each person, in the order of their first rows.

        Notes
        -----
        The path is taken as given. Of covariates that only the living have, such as a measurement
        at a visit, the curve says nothing about how long the path will be.

        Examples
        --------
        >>> from surtree import SurTree
        >>> y = [True] * 4, [4.0, 3.0, 2.0, 1.0]
        >>> model = SurTree(max_depth=1).fit([[0], [0], [1], [1]], y)
        >>> (survival,) = model.predict_survival_along([[1], [0]], start=[0, 2])
        >>> survival([1, 2, 3]).round(2).tolist()
        [0.55, 0.25, 0.18]
        """
        return self._along(X, start, stop, id)[0]

    def predict_cumulative_hazard_along(
        self,
        X: Any,
        start: ArrayLike,
        stop: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> NDArray[np.object_]:
        """Return the cumulative hazard function of each person whose covariates change over time.

        Of events that recur, it is the number of events expected after the first start.

        Parameters
        ----------
        X, start, stop, id
            As in `predict_survival_along`.
        """
        return self._along(X, start, stop, id)[1]

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row falls in, by the number of its node.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        """
        return self._route(X)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row visits, as a sparse matrix of shape (n_samples, n_nodes).

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        """
        leaves = self._route(X)
        return path_matrix(self.tree_, leaves)

    def get_depth(self) -> int:
        """Return the largest number of questions that a row is asked."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def unique_times_(self) -> Floats:
        """The distinct event times of the training rows."""
        check_is_fitted(self)
        return self.tree_.event_times

    @property
    def feature_importances_(self) -> Floats:
        """The share of each of the user's columns in the reduction of the loss."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    def _html_repr(self) -> str:
        """Return what a notebook shows: the tree, or before `fit` scikit-learn's picture."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return str(super()._html_repr())
        # Imported late: report imports this module.
        from surtree.report import notebook_html

        return notebook_html(self)

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        warn_of_unseen(self.tree_.cuts, table)
        return table

    def _risk(self, X: Any) -> Floats:
        leaves = self._route(X)
        return self.tree_.theta[leaves]

    def _curves(
        self, X: Any, kind: CurveKind, return_array: bool, times: ArrayLike | None
    ) -> NDArray[np.object_] | Floats:
        index = self._leaf_index(self._route(X))
        curves = [getattr(curve, kind) for curve in leaf_curves(self.tree_)]
        return curves_of_rows(curves, index, return_array, times)

    def _medians(self, X: Any) -> Floats:
        index = self._leaf_index(self._route(X))
        return np.array([curve.median for curve in leaf_curves(self.tree_)])[index]

    def _risk_and_outcomes(self, given: RowInputs) -> tuple[Floats, Target, Floats]:
        if not is_lazy(given.X):
            return super()._risk_and_outcomes(given)
        outcomes = self._lazy_outcomes(given)
        return self.tree_.theta[outcomes.leaf], outcomes.target, outcomes.weight

    def _lazy_outcomes(self, given: RowInputs) -> Outcomes:
        """Return the distinct outcomes of the rows of a lazy table."""
        check_is_fitted(self)
        source = source_of(given.X)
        names = target_names(given, source.names, self._names_type)
        outcomes = find_outcomes(self, source, names)
        warn_of(outcomes.unseen)
        return outcomes

    def _route(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf of each row, of a table in memory or a lazy one."""
        check_is_fitted(self)
        if is_lazy(X):
            leaves, unseen = route(self, source_of(X))
            warn_of(unseen)
            return leaves
        return find_leaves(self.tree_, self._read(X))

    def _read_known_target(self, given: RowInputs, n_rows: int) -> Target:
        return self.tree_.outcome.read_target(given, n_rows)

    def _loss(self, given: RowInputs) -> float:
        if is_lazy(given.X):
            return self._lazy_loss(given).loss
        rows = self._read_rows(given)
        return self._loss_at(rows, find_leaves(self.tree_, rows.table))

    def _loss_at(self, rows: Rows, nodes: NDArray[np.intp]) -> float:
        tree, counted = self.tree_, rows.present
        target, weight = rows.target.take(counted), rows.weight[counted]
        sums = tree.row_sums(target, weight)
        return sums.loss(tree.prediction[..., nodes[counted]])

    def _lazy_loss(self, given: RowInputs, *, at_root: bool = False) -> LazyLoss:
        """Return the loss on a lazy table, of the tree or of its root, and the weight of rows."""
        check_is_fitted(self)
        if given.id is not None:
            raise ValueError("id is for tables in memory: leave it out, or collect the table")
        source = source_of(given.X)
        names = target_names(given, source.names, self._names_type)
        lazy = lazy_loss(self, source, names, at_root=at_root)
        warn_of(lazy.unseen)
        return lazy

    def _along(
        self, X: Any, start: ArrayLike, stop: ArrayLike | None, id: ArrayLike | None
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        table, tree = self._read(X), self.tree_
        pieces = read_pieces(table.n_rows, start, stop, id, tree.last_time)
        survival, hazard = map(_objects, survival_along(tree, find_leaves(tree, table), pieces))
        return survival, hazard

    def _leaf_index(self, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the position of each row's leaf among the leaves."""
        return np.searchsorted(self.tree_.leaves, leaves)


def _objects(functions: list[StepFunction]) -> NDArray[np.object_]:
    objects = np.empty(len(functions), dtype=object)
    objects[:] = functions
    return objects
