"""EffectTree: the optimal tree of treatment effects on survival."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from surtree._support.package import user_level
from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.data.causes import number_arms, read_arms
from surtree.data.named import RowInputs, is_lazy
from surtree.data.rows import read_one_event
from surtree.data.target import Label, Target
from surtree.engines.kinds import ArmNames
from surtree.estimators._arms import ArmLimits, warn_unless_randomised
from surtree.estimators.fit import fit_tree
from surtree.estimators.parameters import no_monotone, one_of, own_limits, whole
from surtree.estimators.tree import SurTree
from surtree.outcomes.arm_effects import (
    LeafEffect,
    arm_risks,
    arms_of,
    hazard_ratios,
    leaf_arm_curve,
    leaf_effects,
)
from surtree.outcomes.effect_results import (
    EffectCorrection,
    HeterogeneityTest,
    UntestedEffectsWarning,
    effects_warning,
    require_arms,
)
from surtree.survival.confidence import LEVEL
from surtree.survival.objective import Objective
from surtree.survival.step_function import curves_of_rows
from surtree.survival.treatment import ArmContrasts, ArmHazards
from surtree.tree.leaf_curve import LeafCurve
from surtree.tree.rows import find_leaves

Aim = Literal["effect", "both"]
AIMS: tuple[Aim, ...] = get_args(Aim)


@dataclass(eq=False, repr=False)
class EffectTree(SurTree):
    """The optimal tree of treatment effects: leaves in which arms of a trial differ differently.

    A leaf has a hazard for each arm, relative to a baseline that all rows share, as a Poisson model
    with a factor for the arm has it in each leaf. No tree within the limits has a smaller loss. The
    effect of the treatment in a leaf is the hazard ratio of a Cox model of its rows.

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
        with "both", at the risk of the leaf with "effect". It draws hazard ratios towards one.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`.
    max_columns, monotone : optional
        As in `SurTree`; ``monotone`` is for trees of one event alone, and must be None.
    leaf_curve, time_limit, n_jobs, memory_limit, progress, verbose : optional
        As in `SurTree`.

    Attributes
    ----------
    arms_ : tuple
        The labels of the arms, the reference first.
    effects_ : tuple of LeafEffect
        The hazard ratio of each leaf and arm, with 95% limits; `leaf_effects` has other levels.
    heterogeneity_, correction_ : HeterogeneityTest, EffectCorrection or None
        What `heterogeneity_test` and `correct_effects` say of this model: None until you set them.
        `save` keeps them, reports and tables show them, and predictions with ``corrected=True``
        follow them.
    tree_, path_, loss_, lower_bound_, gap_, status_, encoder_ : object
        As in `SurTree`. With "effect" the zero of the loss is arbitrary: only differences count,
        and a search that is ended early has no bound.

    Notes
    -----
    Leaves are those where arms differed most in these rows, so in new data they differ less (the
    winner's curse). `heterogeneity_test` says whether there is evidence that effects differ at all,
    and `correct_effects` how far apart they are to be expected in new data. Predictions of a model
    that was not tested, or whose test found no evidence, warn (`UntestedEffectsWarning`); with
    ``corrected=True`` they are what to expect in new data. An effect is causal if arms were drawn
    by lot; `fit` warns where the arm can be told from the columns.

    Examples
    --------
    Whether financial aid, given by lot, kept men who left prison from being arrested again:

    >>> from surtree import EffectTree
    >>> from surtree.datasets import load_rossi
    >>> X, y = load_rossi()
    >>> aid = X.pop("financial_aid")
    >>> model = EffectTree(max_depth=1).fit(X, y, treatment=aid)
    >>> print(model.tree_)
                      leaf    n  events no, yes  yes over no    95% interval
    all rows
    ├─ parole is yes     A  267          37, 31        0.859    0.53 to 1.38
    └─ parole is no      B  165          29, 17        0.495  0.266 to 0.891

    There is no evidence that aid did more for some than for others, so the effect expected in new
    data is the same for everybody:

    >>> from surtree import heterogeneity_test
    >>> model.heterogeneity_ = heterogeneity_test(model, X, y, aid)
    >>> model.heterogeneity_.is_evidence
    False
    >>> model.predict_effect(X.head(2), corrected=True).round(3).tolist()
    [0.72, 0.72]
    """

    max_depth: int = 2
    _: KW_ONLY
    objective: Aim = "effect"
    min_events_arm: int = 5
    reference: Label | None = None
    leaf_curve: LeafCurveKind = "kaplan-meier"

    heterogeneity_: HeterogeneityTest | None = field(init=False)
    correction_: EffectCorrection | None = field(init=False)

    _names_type = ArmNames
    _checks = SurTree._checks | {
        "objective": one_of(AIMS),
        "min_events_arm": whole(0),
        "monotone": no_monotone("treatment effects"),
    }
    _known_later = (*SurTree._known_later, "heterogeneity_", "correction_")
    _own_parameter = "min_events_arm"
    _kind = "of treatment effects"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        treatment: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
        init: Any = None,
    ) -> Self:
        """Find the optimal tree.

        Parameters
        ----------
        X, y, sample_weight, entry, id, init
            As in `SurTree.fit`. The arm is not to be among the columns.
        treatment : array of shape (n_samples,), or the name of a column
            The arm of each row: two to four different labels. That of a lazy table is named.
        """
        given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
        warn_unless_randomised(fit_tree(self, given, init))
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
        """Return the effect of the leaf of each row: the logarithm of the hazard ratio.

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
        return np.log(self._ratios(X, corrected=False))

    def predict_effect(self, X: Any, *, corrected: bool = False) -> Floats:
        """Return the hazard ratio for each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        corrected : bool, default=False
            Whether to return the effect expected in new data, and not that of the leaf, the
            exponential of `predict`. Where ``heterogeneity_`` found no evidence that effects
            differ, it is that of all rows; else it is that of the leaf drawn towards it, as
            ``correction_`` says. Both must have been set.

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_arms - 1)
            As in `predict`.

        Warns
        -----
        UntestedEffectsWarning
            Where the effects of leaves are returned, and nothing says that they differ.
        """
        return self._ratios(X, corrected)

    def predict_risk(self, X: Any, treatment: Any, *, corrected: bool = False) -> Floats:
        """Return the hazard of each row in an arm, relative to the baseline.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The same columns as in `fit`.
        treatment : label, or array of shape (n_samples,)
            One arm for all rows, or the arm of each.
        corrected : bool, default=False
            Whether arms differ as is to be expected in new data (`predict_effect`), and not as
            they did in the leaf; the risk of the leaf as a whole stays what it is.
        """
        leaves = self._route(X)
        risks = arm_risks(self.tree_, self._effects(corrected))
        arm = number_arms(treatment, leaves.size, self.arms_)
        return np.asarray(risks[arm, leaves])

    def predict_survival_function(  # type: ignore[override]
        self,
        X: Any,
        treatment: Any,
        *,
        return_array: bool = False,
        times: ArrayLike | None = None,
        survived: float = 0.0,
        corrected: bool = False,
    ) -> NDArray[np.object_] | Floats:
        """Return the survival function of each row in an arm.

        Parameters
        ----------
        X, treatment
            As in `predict_risk`.
        return_array, times, survived : optional
            As in `SurTree.predict_survival_function`.
        corrected : bool, default=False
            As in `predict_risk`. The arms of a leaf then share a baseline, that of its own rows
            (Breslow's estimate), or of all rows where ``leaf_curve`` is "baseline"; so they do
            anyway where it is "breslow".
        """
        curves, index = self._arm_curves(X, treatment, corrected)
        survival = [curve.survival for curve in curves]
        if survived:
            survival = [curve.after(survived) for curve in survival]
        return curves_of_rows(survival, index, return_array, times)

    def predict_cumulative_hazard_function(  # type: ignore[override]
        self,
        X: Any,
        treatment: Any,
        *,
        return_array: bool = False,
        times: ArrayLike | None = None,
        corrected: bool = False,
    ) -> NDArray[np.object_] | Floats:
        """Return the cumulative hazard function of each row in an arm.

        Parameters
        ----------
        X, treatment, return_array, times, corrected
            As in `predict_survival_function`.
        """
        curves, index = self._arm_curves(X, treatment, corrected)
        hazard = [curve.cumulative_hazard for curve in curves]
        return curves_of_rows(hazard, index, return_array, times)

    def predict_median(  # type: ignore[override]
        self, X: Any, treatment: Any, *, corrected: bool = False
    ) -> Floats:
        """Return the predicted median survival time of each row in an arm.

        Parameters
        ----------
        X, treatment, corrected
            As in `predict_survival_function`.
        """
        curves, index = self._arm_curves(X, treatment, corrected)
        return np.array([curve.median for curve in curves])[index]

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
        return self._loss(RowInputs(X, y, sample_weight, entry, id, treatment=treatment))

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
        given = RowInputs(X, y, sample_weight, entry, id, treatment=treatment)
        if is_lazy(X):
            root, tree = (self._lazy_loss(given, at_root=at_root) for at_root in (True, False))
            return (root.loss - tree.loss) / tree.weight
        rows = self._read_rows(given)
        at_root = self._loss_at(rows, np.zeros(rows.table.n_rows, dtype=np.intp))
        at_leaves = self._loss_at(rows, find_leaves(self.tree_, rows.table))
        return (at_root - at_leaves) / rows.target.total(rows.weight)

    def predict_survival_along(self, *_: Any, **__: Any) -> NDArray[np.object_]:
        """Refuse: a path of covariates has no arm."""
        raise NotImplementedError("EffectTree has no survival along a path of covariates")

    predict_cumulative_hazard_along = predict_survival_along

    def _read_target(self, given: RowInputs, n_rows: int) -> Target:
        return read_one_event(given, n_rows).with_arms(
            *read_arms(given.treatment, n_rows, self.reference)
        )

    def _objective(self, target: Target) -> ArmHazards:
        return self._objective_type.of(len(target.labels), float(self.shrinkage))

    def _limits(self, target: Target) -> ArmLimits:
        return ArmLimits(
            **vars(own_limits(self)),
            min_events_arm=self.min_events_arm,
            n_arms=len(target.labels),
        )

    @property
    def _objective_type(self) -> type[ArmHazards]:
        return ArmContrasts if self.objective == "effect" else ArmHazards

    def expected_effects(self) -> Floats:
        """Return the hazard ratio expected in new data, of shape (n_arms, n_nodes).

        It is what predictions with ``corrected=True`` follow: that of all rows in every node if
        ``heterogeneity_`` found no evidence that effects differ, else that of ``correction_``.

        Returns
        -------
        array of float
            The first row, the reference, is one.
        """
        check_is_fitted(self)
        if self.tree_.n_leaves > 1 or self.heterogeneity_ is not None:
            ratios = self._corrected_effects()
        else:
            ratios = hazard_ratios(self.tree_)
        return np.concatenate([np.ones((1, ratios.shape[1])), ratios])

    def _corrected_effects(self) -> Floats:
        """Return the effects to expect in each node, or raise an error where that is not known."""
        test, correction, tree = self.heterogeneity_, self.correction_, self.tree_
        if test is None:
            raise ValueError(
                "Nothing is known about what to expect in new data: set model.heterogeneity_ = "
                "heterogeneity_test(model, X, y, treatment), and model.correction_ = "
                "correct_effects(model, X, y, treatment)."
            )
        require_arms(test, self.arms_)
        if not test.is_evidence:
            return np.repeat(np.array(test.overall)[:, None], tree.n_nodes, axis=1)
        if correction is None:
            raise ValueError(
                "The effects of leaves are too far apart: set model.correction_ = "
                "correct_effects(model, X, y, treatment)."
            )
        return correction.ratios(tree.leaves.tolist(), tree.n_nodes)

    def _effects(self, corrected: bool) -> Floats | None:
        """Return effects to predict with, None for those of leaves, and warn of these."""
        if corrected:
            return self.expected_effects()
        if self.tree_.n_leaves > 1 and (doubt := effects_warning(self.heterogeneity_)):
            remedy = "corrected=True predicts with the effect of all rows."
            if self.heterogeneity_ is None:
                remedy = (
                    "Set model.heterogeneity_ = heterogeneity_test(model, X, y, treatment), and "
                    "predict with corrected=True."
                )
            warnings.warn(f"{doubt} {remedy}", UntestedEffectsWarning, stacklevel=user_level())
        return None

    def _ratios(self, X: Any, corrected: bool) -> Floats:
        leaves, effects = self._route(X), self._effects(corrected)
        of_nodes = hazard_ratios(self.tree_) if effects is None else effects[1:]
        ratios = of_nodes[:, leaves]
        return np.asarray(ratios[0] if len(ratios) == 1 else ratios.T)

    def _arm_curves(
        self, X: Any, treatment: Any, corrected: bool
    ) -> tuple[list[LeafCurve], NDArray[np.intp]]:
        """Return the curve of each leaf and arm, and the position of that of each row."""
        leaves, effects = self._route(X), self._effects(corrected)
        arm = number_arms(treatment, leaves.size, self.arms_)
        n_arms = len(self.arms_)
        curves = [
            leaf_arm_curve(self.tree_, leaf, index, effects)
            for leaf in self.tree_.leaves.tolist()
            for index in range(n_arms)
        ]
        return curves, np.asarray(self._leaf_index(leaves) * n_arms + arm)

    def _is_objective(self, objective: Objective) -> bool:
        return type(objective) is self._objective_type and objective.shrinkage == self.shrinkage
