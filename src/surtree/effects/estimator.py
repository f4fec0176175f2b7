"""EffectTree: the optimal tree of treatment effects on survival."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from surtree._types import Floats
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.data.arms import ArmTarget, Label, number_arms, read_arms
from surtree.data.table import Table, read_table
from surtree.data.target import read_target, read_weights
from surtree.effects.limits import ArmLimits
from surtree.effects.randomisation import warn_unless_randomised
from surtree.estimator import (
    AFTERWARDS,
    SurTree,
    adopt_size,
    check_parameters,
    choose_size,
)
from surtree.fitting.fit_problem import make_problem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import TrainingData, leave_out_censored_at_zero, training_data
from surtree.parameters import LeafCurveKind, read_time_limit, require_whole
from surtree.solver.problem import ProgressHook
from surtree.solver.search import SearchSettings
from surtree.status import SMALL_GAP, warn_of_rounding
from surtree.survival.confidence import LEVEL
from surtree.survival.objective import Objective
from surtree.survival.step_function import StepFunction
from surtree.survival.treatment import ArmContrasts, ArmHazards
from surtree.tree.arms import LeafEffect, arm_curve, arms_of, hazard_ratios, leaf_effects
from surtree.tree.rows import find_leaves

Aim = Literal["effect", "both"]
AIMS: tuple[Aim, ...] = get_args(Aim)


class EffectTree(SurTree):
    """The optimal tree of treatment effects: leaves in which arms of a trial differ differently.

    A leaf has a hazard for each arm, relative to a baseline that all rows share; the ratio of two
    of them is the effect of the treatment there, as a Poisson model with a factor for the arm has
    it in each leaf. No tree within the limits has a smaller loss.

    Parameters
    ----------
    max_depth, max_splits : int
        As in `SurTree`; the default is two, as effects take many more rows than risks.
    objective : {"effect", "both"}, default="effect"
        What leaves are to tell apart. "effect": how much arms differ, whatever the risk of a leaf:
        the gain of a leaf is that of a hazard for each arm over one hazard for all. "both": risk
        and effect, as a tree of `SurTree` for each arm with the same questions.
    min_events_arm : int, default=5
        The smallest number of rows with an event in each arm of a leaf.
    reference : str, number or bool, optional
        The label of the arm that others are compared with; by default the first in order, such as
        0, False or "control".
    min_samples_leaf, min_events_leaf, ccp_alpha : optional
        As in `SurTree`.
    shrinkage : float, default=0.0
        A prior in every arm of a leaf, worth this number of events: at the average risk of all rows
        with "both", at the risk of the leaf with "effect", where it draws effects towards none.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`.
    leaf_curve, time_limit, n_jobs, memory_limit, progress : optional
        As in `SurTree`.

    Attributes
    ----------
    arms_ : tuple
        The labels of the arms, the reference first.
    effects_ : tuple of LeafEffect
        The hazard ratio of each leaf and arm, with 95% limits; `leaf_effects` has other levels.
    heterogeneity_, correction_ : HeterogeneityTest, EffectCorrection or None
        What `heterogeneity_test` and `correct_effects` say of this model: None until you set them,
        for `write_report`. They are not saved.
    tree_, path_, loss_, lower_bound_, gap_, status_, encoder_ : object
        As in `SurTree`. With "effect" the zero of the loss is arbitrary: only differences count,
        and a search that is ended early has no bound.

    Notes
    -----
    Leaves are those where arms differed most in these rows, so in other rows they differ less (the
    winner's curse). `heterogeneity_test` says whether there is evidence that effects differ at all,
    and `correct_effects` what is left of the differences in rows that were not searched. An effect
    is causal if arms were drawn by lot; `fit` warns where the arm can be told from the columns.

    Examples
    --------
    Whether financial aid, given by lot, kept men who left prison from being arrested again:

    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> model = EffectTree(max_depth=1).fit(X, y, treatment=aid)
    >>> print(model.tree_)
                        n  events no, yes  yes over no    95% interval
    all rows
    ├─ parole is yes  267          37, 31        0.858   0.515 to 1.42
    └─ parole is no   165          29, 17        0.494  0.255 to 0.929
    >>> model.predict_effect(X.head(2)).round(3).tolist()
    [0.858, 0.858]
    """

    # Of a loaded model nothing is known.
    heterogeneity_: Any = None
    correction_: Any = None

    def __init__(
        self,
        max_depth: int = 2,
        max_splits: int | None = None,
        *,
        objective: Aim = "effect",
        min_events_arm: int = 5,
        reference: Label | None = None,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        ccp_alpha: float = 0.0,
        shrinkage: float = 0.0,
        n_thresholds: int | None = 10,
        max_categories: int = 10,
        min_support: float = 0.01,
        category_cuts: CategoryCuts = "subsets",
        thresholds: GivenThresholds | None = None,
        leaf_curve: LeafCurveKind = "kaplan-meier",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        progress: ProgressHook | None = None,
    ) -> None:
        super().__init__(
            max_depth,
            max_splits,
            min_samples_leaf=min_samples_leaf,
            min_events_leaf=min_events_leaf,
            ccp_alpha=ccp_alpha,
            shrinkage=shrinkage,
            n_thresholds=n_thresholds,
            max_categories=max_categories,
            min_support=min_support,
            category_cuts=category_cuts,
            thresholds=thresholds,
            leaf_curve=leaf_curve,
            time_limit=time_limit,
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            progress=progress,
        )
        self.objective = objective
        self.min_events_arm = min_events_arm
        self.reference = reference

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        treatment: ArrayLike,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> Self:
        """Find the optimal tree.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `SurTree.fit`. The arm is not to be among the columns.
        treatment : array of shape (n_samples,)
            The arm of each row: two to four different labels.

        Returns
        -------
        EffectTree
            The estimator itself.
        """
        start = perf_counter()
        data, labels = read_trial(self, X, y, treatment, sample_weight, entry, id, stacklevel=4)
        limits = arm_limits(self, len(labels))
        problem = make_problem(encoder_of(self), data)
        time_left = read_time_limit(self.time_limit)
        if time_left is not None:
            time_left -= perf_counter() - start + min(AFTERWARDS, time_left / 10)
            time_left = max(time_left, 1e-9)
        path = find_path(
            problem,
            SearchSettings(limits, time_left, self.n_jobs, self.memory_limit, self.progress),
        )
        adopt_size(self, problem, path, choose_size(self, path))
        self.heterogeneity_ = self.correction_ = None
        warn_unless_randomised(problem, stacklevel=3)
        if self.status_ == "time_limit":
            warnings.warn(
                "The time limit ended the search: this is the best tree so far. Allow more time, "
                "or fewer splits.",
                ConvergenceWarning,
                stacklevel=2,
            )
        elif self.status_ == "rounded" and self.gap_ > SMALL_GAP:
            warn_of_rounding(f"The tree is proven up to a gap of {self.gap_:.2g}", stacklevel=2)
        return self

    @property
    def arms_(self) -> tuple[Label, ...]:
        """The labels of the arms, the reference first."""
        check_is_fitted(self)
        return arms_of(self.tree_).labels

    @property
    def effects_(self) -> tuple[LeafEffect, ...]:
        """The hazard ratio of each leaf and arm, with 95% limits."""
        return self.leaf_effects()

    def leaf_effects(self, level: float = LEVEL) -> tuple[LeafEffect, ...]:
        """Return the hazard ratio of each leaf and arm, with limits of any level.

        Parameters
        ----------
        level : float
            The probability that an interval covers the truth, if the leaf had been chosen
            beforehand: as it was not, it is less.
        """
        check_is_fitted(self)
        return leaf_effects(self.tree_, level)

    def predict(self, X: Any) -> Floats:
        """Return the effect for each row: the logarithm of the hazard ratio.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Below zero, the treatment does better than the reference. With more than two arms it
            has the shape (n_samples, n_arms - 1), in the order of ``arms_[1:]``.
        """
        table = self._read(X)
        return np.log(self._ratios(table))

    def predict_effect(self, X: Any) -> Floats:
        """Return the hazard ratio for each row: the exponential of `predict`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        """
        table = self._read(X)
        return self._ratios(table)

    def predict_risk(self, X: Any, treatment: Any) -> Floats:
        """Return the hazard of each row in an arm, relative to the baseline.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        treatment : label, or array of shape (n_samples,)
            One arm for all rows, or the arm of each.
        """
        table = self._read(X)
        arm = number_arms(treatment, table.n_rows, self.arms_)
        return np.asarray(self.tree_.prediction[arm, find_leaves(self.tree_, table)])

    def predict_survival_function(  # type: ignore[override]
        self, X: Any, treatment: Any, *, return_array: bool = False
    ) -> NDArray[np.object_] | Floats:
        """Return the survival function of each row in an arm.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        treatment : label, or array of shape (n_samples,)
            One arm for all rows, or the arm of each.
        return_array : bool, default=False
            As in `SurTree`.
        """
        table = self._read(X)
        return self._arm_curves(table, treatment, "survival", return_array)

    def predict_cumulative_hazard_function(  # type: ignore[override]
        self, X: Any, treatment: Any, *, return_array: bool = False
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative hazard function of each row in an arm.

        Parameters
        ----------
        X, treatment, return_array
            As in `predict_survival_function`.
        """
        table = self._read(X)
        return self._arm_curves(table, treatment, "cumulative_hazard", return_array)

    def predict_median(self, X: Any, treatment: Any) -> Floats:  # type: ignore[override]
        """Return the predicted median survival time of each row in an arm.

        Parameters
        ----------
        X, treatment
            As in `predict_survival_function`.
        """
        table = self._read(X)
        arm = number_arms(treatment, table.n_rows, self.arms_)
        tree = self.tree_
        medians = np.array(
            [
                [arm_curve(tree, leaf, place).median for place in range(len(self.arms_))]
                for leaf in tree.leaves.tolist()
            ]
        )
        return np.asarray(medians[self._leaf_index(table), arm])

    def loss(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        treatment: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> float:
        """Return the loss of the tree on rows; `fit` minimises it on the training rows.

        Parameters
        ----------
        X, y, treatment, sample_weight, entry, id
            As in `fit`. With the objective "effect", only differences of losses mean something.
        """
        table = self._read(X)
        read = read_target(y, table.n_rows, entry, id).with_spells(table)
        target = ArmTarget.of(read, number_arms(treatment, table.n_rows, self.arms_))
        weight = self._weights(target, sample_weight)
        sums = self.tree_.objective.row_sums(target, weight, self.tree_.baseline)
        return sums.loss(self.tree_.prediction[:, find_leaves(self.tree_, table)])

    def score(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        treatment: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
    ) -> float:
        """Return what the tree gains over one effect for all rows, for each unit of weight.

        It is the loss of a tree of one leaf, as fitted on the training rows, less that of the tree.

        Parameters
        ----------
        X, y, treatment, sample_weight, entry, id
            As in `fit`.
        """
        table = self._read(X)
        read = read_target(y, table.n_rows, entry, id).with_spells(table)
        target = ArmTarget.of(read, number_arms(treatment, table.n_rows, self.arms_))
        weight = self._weights(target, sample_weight)
        tree = self.tree_
        sums = tree.objective.row_sums(target, weight, tree.baseline)
        root = np.zeros(table.n_rows, dtype=np.intp)
        at_root, at_leaves = (
            sums.loss(tree.prediction[:, nodes]) for nodes in (root, find_leaves(tree, table))
        )
        return (at_root - at_leaves) / target.total(weight)

    def predict_survival_along(self, *_: Any, **__: Any) -> NDArray[np.object_]:
        """Refuse: a path of covariates has no arm."""
        raise NotImplementedError("EffectTree has no survival along a path of covariates")

    predict_cumulative_hazard_along = predict_survival_along

    def _ratios(self, table: Table) -> Floats:
        ratios = hazard_ratios(self.tree_)[:, find_leaves(self.tree_, table)]
        return np.asarray(ratios[0] if len(ratios) == 1 else ratios.T)

    def _arm_curves(
        self, table: Table, treatment: Any, name: str, return_array: bool
    ) -> NDArray[np.object_] | Floats:
        arm = number_arms(treatment, table.n_rows, self.arms_)
        n_arms = len(self.arms_)
        curves: list[StepFunction] = [
            getattr(arm_curve(self.tree_, leaf, place), name)
            for leaf in self.tree_.leaves.tolist()
            for place in range(n_arms)
        ]
        place = self._leaf_index(table) * n_arms + arm
        if return_array:
            return np.asarray(np.stack([curve.y for curve in curves])[place])
        shared = np.empty(len(curves), dtype=object)
        shared[:] = curves
        return np.asarray(shared[place])

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        if "min_events_arm" not in saved:
            raise ValueError("it is not of treatment effects: load it with SurTree.load")
        return saved

    def _is_objective(self, objective: Objective) -> bool:
        kind = ArmContrasts if self.objective == "effect" else ArmHazards
        return type(objective) is kind and objective.shrinkage == self.shrinkage


def objective_for(model: EffectTree, n_arms: int) -> ArmHazards:
    """Return what a leaf is worth to an estimator.

    Parameters
    ----------
    model : EffectTree
        Its ``objective`` and ``shrinkage`` count.
    n_arms : int
        The number of arms.
    """
    if model.objective not in AIMS:
        raise ValueError(f"objective must be one of {AIMS}; got {model.objective!r}.")
    kind = ArmContrasts if model.objective == "effect" else ArmHazards
    return kind.of(n_arms, float(model.shrinkage))


def arm_limits(model: EffectTree, n_arms: int) -> ArmLimits:
    """Return the limits of the search, or raise an error that names the parameter at fault.

    Parameters
    ----------
    model : EffectTree
        Its parameters count.
    n_arms : int
        The number of arms.
    """
    require_whole("min_events_arm", model.min_events_arm, 0)
    return ArmLimits(
        **vars(check_parameters(model)), min_events_arm=model.min_events_arm, n_arms=n_arms
    )


def read_trial(
    model: EffectTree,
    X: Any,
    y: Any,
    treatment: ArrayLike,
    sample_weight: ArrayLike | None,
    entry: ArrayLike | None,
    id: ArrayLike | None,
    *,
    stacklevel: int,
) -> tuple[TrainingData, tuple[Label, ...]]:
    """Read and check what a fit is given.

    Parameters
    ----------
    model : EffectTree
        It remembers the columns.
    X, y, treatment, sample_weight, entry, id
        As in `EffectTree.fit`.
    stacklevel : int
        Whose line a warning names, as in `warnings.warn`.

    Returns
    -------
    data, labels : TrainingData, tuple
        The rows, and the labels of the arms.
    """
    table = read_table(model, X, reset=True)
    weight = read_weights(sample_weight, table.n_rows)
    read = read_target(y, table.n_rows, entry, id).with_spells(table)
    weight = leave_out_censored_at_zero(read, weight, stacklevel=stacklevel)
    arm, labels = read_arms(treatment, table.n_rows, model.reference)
    counted = np.unique(arm[weight > 0])
    if counted.size < len(labels):
        raise ValueError(
            f"{len(labels) - counted.size} of {len(labels)} arms have no row of positive weight."
        )
    target = ArmTarget.of(read, arm, labels)
    objective = objective_for(model, len(labels))
    return training_data(table, target, weight, objective), labels
