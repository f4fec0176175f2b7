"""CompetingRisksTreeCV: the size of a tree of competing risks chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from surtree._support.parameters import LeafCurveKind
from surtree.estimators.cause_prediction import CAUSE_CHECKS, CauseChoice, CauseEstimator
from surtree.estimators.causes import CompetingRisksTree
from surtree.model_selection.cv import OfChosen, SurTreeCV


@dataclass(eq=False, repr=False)
class CompetingRisksTreeCV(CauseEstimator, SurTreeCV):
    """An optimal tree of competing risks whose size and shrinkage are chosen by cross-validation.

    It is to `CompetingRisksTree`, whose targets it takes, what `SurTreeCV` is to `SurTree`.

    Parameters
    ----------
    causes : int, sequence of int, mapping of int to float, or None, default=None
        The causes that the tree is to tell apart, as in `CompetingRisksTree`.
    scoring : str or callable, default="loss"
        What the held-out rows are scored by, higher being better. "loss": the loss with its sign
        turned, divided by the weight of the rows. "concordance", "concordance_ipcw": concordance
        for the main cause. "integrated_brier": the share of the integrated Brier score of its
        cumulative incidence that the tree saves. Or a function of a fitted model, X and y.
    min_samples_leaf, min_events_leaf, leaf_curve : optional
        As in `CompetingRisksTree`.
    max_depth, max_splits, shrinkage, cv, rule, refit, n_thresholds, max_categories : optional
        As in `SurTreeCV`.
    min_support, category_cuts, thresholds, time_limit, memory_limit, progress : optional
        As in `SurTreeCV`.
    max_columns, monotone : optional
        As in `SurTree`; ``monotone`` is for trees of one event alone, and must be None.
    n_jobs, verbose : optional
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

    _: KW_ONLY
    causes: CauseChoice = None
    leaf_curve: LeafCurveKind = "kaplan-meier"

    cause_names_ = OfChosen()

    _tree_type = CompetingRisksTree
    _checks = SurTreeCV._checks | CAUSE_CHECKS
