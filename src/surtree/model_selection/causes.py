"""CompetingRisksTreeCV: the size of a tree of competing risks chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from surtree._support.parallel import FoldProgress
from surtree._support.parameters import LeafCurveKind
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.given import GivenThresholds
from surtree.estimators.cause_choice import CauseChoice, require_cause_curve, require_causes
from surtree.estimators.cause_prediction import CauseEstimator
from surtree.estimators.causes import CompetingRisksTree
from surtree.estimators.tree import SurTree
from surtree.model_selection.chosen import OfChosen
from surtree.model_selection.cv import SurTreeCV
from surtree.model_selection.scoring import Scorer, Scoring
from surtree.validation.sizes import Rule


class CompetingRisksTreeCV(CauseEstimator, SurTreeCV):
    """An optimal tree of competing risks whose size and shrinkage are chosen by cross-validation.

    It is to `CompetingRisksTree` what `SurTreeCV` is to `SurTree`.

    Parameters
    ----------
    max_depth : int, default=3
        The largest depth to try.
    max_splits : int or None, default=None
        The largest number of splits to try. None is as many as the depth allows.
    causes : int, sequence of int, mapping of int to float, or None, default=None
        The causes that the tree is to tell apart, as in `CompetingRisksTree`.
    shrinkage : float or sequence of float, default=(1.0, 3.0, 10.0)
        One value, or several to choose from.
    cv : int, splitter or iterable, default=10
        As in `SurTreeCV`.
    scoring : str or callable, default="loss"
        What the held-out rows are scored by, higher being better. "loss": the loss with its sign
        turned, divided by the weight of the rows. "concordance", "concordance_ipcw": concordance
        for the main cause. "integrated_brier": the share of the integrated Brier score of its
        cumulative incidence that the tree saves. Or a function of a fitted model, X and y.
    rule, refit : optional
        As in `SurTreeCV`.
    min_samples_leaf, min_events_leaf, leaf_curve : optional
        As in `CompetingRisksTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`.
    time_limit, memory_limit, progress, n_jobs, verbose : optional
        As in `SurTreeCV`.

    Attributes
    ----------
    best_estimator_ : CompetingRisksTree
        The tree of the chosen size, fitted on all rows.
    best_params_, best_score_, best_index_, sizes_, held_out_, cv_results_, status_ : object
        As in `SurTreeCV`.
    cause_names_ : mapping of int to str, or None
        Those of ``best_estimator_``, as in `CompetingRisksTree`.

    Examples
    --------
    >>> from surtree import CompetingRisksTreeCV
    >>> from surtree.datasets import load_melanoma
    >>> X, y = load_melanoma()
    >>> search = CompetingRisksTreeCV(max_depth=2).fit(X, y)
    >>> search.best_params_["max_splits"]
    3
    """

    _tree_type: ClassVar[type[SurTree]] = CompetingRisksTree

    cause_names_ = OfChosen()

    def __init__(
        self,
        max_depth: int = 3,
        max_splits: int | None = None,
        *,
        causes: CauseChoice = None,
        shrinkage: float | Sequence[float] = (1.0, 3.0, 10.0),
        cv: Any = 10,
        scoring: Scoring = "loss",
        rule: Rule = "best",
        refit: bool = True,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        n_thresholds: int | None = 10,
        max_categories: int = 10,
        min_support: float = 0.01,
        category_cuts: CategoryCuts = "subsets",
        thresholds: GivenThresholds | None = None,
        leaf_curve: LeafCurveKind = "kaplan-meier",
        time_limit: float | None = None,
        memory_limit: int | None = None,
        progress: Callable[[FoldProgress], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_depth,
            max_splits,
            shrinkage=shrinkage,
            cv=cv,
            scoring=scoring,
            rule=rule,
            refit=refit,
            min_samples_leaf=min_samples_leaf,
            min_events_leaf=min_events_leaf,
            n_thresholds=n_thresholds,
            max_categories=max_categories,
            min_support=min_support,
            category_cuts=category_cuts,
            thresholds=thresholds,
            leaf_curve=leaf_curve,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=progress,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.causes = causes

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Score every size on held-out rows, choose one, and fit it on all rows.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `CompetingRisksTree.fit`. Weights count in fits and in scores.
        groups : array of shape (n_samples,), or the name of a column, optional
            Rows with the same label stay together in folds, as in `SurTreeCV.fit`.

        Returns
        -------
        CompetingRisksTreeCV
            The estimator itself.
        """
        return super().fit(X, y, sample_weight, entry, id, groups)

    def _check_parameters(self) -> Scorer:
        require_causes(self.causes)
        require_cause_curve(self.leaf_curve)
        return super()._check_parameters()
