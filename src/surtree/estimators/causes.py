"""CompetingRisksTree: the optimal tree for events of several causes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from surtree._support.json_file import plain_parameters
from surtree._support.parameters import LeafCurveKind
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.given import GivenThresholds
from surtree.estimators.cause_choice import (
    CauseChoice,
    CauseLimits,
    cause_weights,
    plain_causes,
    read_causes,
    require_cause_curve,
    require_causes,
)
from surtree.estimators.cause_prediction import CauseEstimator
from surtree.estimators.tree import OtherKindError, SurTree
from surtree.solver.problem import Limits, ProgressHook
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import Objective


class CompetingRisksTree(CauseEstimator, SurTree):
    """An optimal tree of competing risks: no tree within the limits has a smaller loss.

    Every row ends with an event of one of several causes, or is censored. In a leaf the hazard of
    each cause is proportional to the Nelson-Aalen baseline of that cause; the loss is the sum over
    causes of the loss of `SurTree`. All trees of all sizes within the limits are considered.

    Parameters
    ----------
    max_depth : int, default=3
        The largest number of questions that a row is asked, from 0 to 20.
    max_splits : int or None, default=None
        The largest number of questions in the tree. None is as many as the depth allows.
    causes : int, sequence of int, mapping of int to float, or None, default=None
        The causes that the tree is to tell apart: all (None), one, several, or weights of causes,
        such as ``{1: 1.0, 2: 0.2}``. Other causes are predicted, but the tree is not chosen for
        them. At most four causes can count.
    min_samples_leaf : int, default=1
        The smallest number of rows in a leaf.
    min_events_leaf : int, default=0
        The smallest number of rows in a leaf with an event of a cause that counts.
    ccp_alpha : float, default=0.0
        The penalty on each split, as in `SurTree`.
    shrinkage : float, default=0.0
        A prior for each cause in every leaf, worth this number of events at the average risk.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`.
    leaf_curve : {"kaplan-meier", "shrunk", "baseline"}, default="kaplan-meier"
        Which curves the leaves have: the Aalen-Johansen estimate of their own rows, that estimate
        shrunk towards all rows by a prior that is worth ``shrinkage`` events, or hazards in
        proportion to the baselines (`leaf_incidence`). It does not change the tree.
    time_limit, n_jobs, memory_limit, progress, verbose : optional
        As in `SurTree`.

    Attributes
    ----------
    causes_ : tuple of int
        The causes of the training rows.
    main_cause_ : int
        The cause that counts most, and of equal ones the first: what `predict` is about unless
        another cause is named.
    cause_names_ : mapping of int to str, or None
        What reports call the causes, such as ``{1: "relapse", 2: "death"}``: None until you set
        it. `save` keeps it.
    tree_, loss_, lower_bound_, gap_, status_, path_, encoder_, unique_times_ : object
        As in `SurTree`. The hazard ``theta`` of a node is that of all causes together.

    Examples
    --------
    >>> from surtree import CompetingRisksTree
    >>> from surtree.datasets import load_melanoma
    >>> X, y = load_melanoma()
    >>> model = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(X, y)
    >>> model.status_, model.gap_, model.causes_
    ('optimal', 0.0, (1, 2))
    >>> print(model.tree_)
                           n  events 1  theta 1  events 2  theta 2
    all rows
    ├─ thickness <= 2.25
    │  ├─ age <= 52       55         4    0.214         1    0.216  few events
    │  └─ age > 52        58        11    0.672         6     1.61
    └─ thickness > 2.25
       ├─ age <= 69       73        34     1.81         2    0.413
       └─ age > 69        19         8     2.46         5      6.3
    >>> incidence = model.predict_cumulative_incidence(X.head(2), cause=1)
    >>> [round(curve(2000), 3) for curve in incidence]
    [0.368, 0.18]
    """

    _limits_type: ClassVar[type[Limits]] = CauseLimits

    cause_names_: Mapping[int, str] | None

    def __init__(
        self,
        max_depth: int = 3,
        max_splits: int | None = None,
        *,
        causes: CauseChoice = None,
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
        verbose: int = 0,
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
        init: Any = None,
    ) -> Self:
        """Find the optimal tree.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features), or lazy table
            Numbers, booleans, categories or text; values may be missing. Lazy tables are those of
            `SurTree.fit`.
        y : structured array, data frame, pair of arrays, or names of columns
            The cause of each row, a whole number that is 0 where the row is censored, and its
            time, zero or later. Rows that are censored at time zero are left out. Columns of X
            may be named, as ``("cause", "time")``; those of a lazy table must be.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts. A row of weight zero counts as absent.
        entry : array of shape (n_samples,), optional
            When each row came under observation, before its time: left truncation.
        id : array of shape (n_samples,), optional
            Whose row it is, where persons have several, as in `SurTree.fit`.
        init : fitted model or Tree, optional
            A tree to start from, as in `SurTree.fit`.

        Returns
        -------
        CompetingRisksTree
            The estimator itself.
        """
        require_causes(self.causes)
        require_cause_curve(self.leaf_curve)
        self.cause_names_ = None
        return super().fit(X, y, sample_weight, entry, id, init)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, as JSON and without code.

        Parameters
        ----------
        path : str or path
            The file, such as ``model.json``; one that is there is replaced.
        """
        super().save(path)

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = self.get_params() | {"causes": None}
        return plain_parameters(parameters) | {"causes": plain_causes(self.causes)}

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        if "causes" not in saved:
            raise OtherKindError("it is not a model of competing risks: load it with SurTree.load")
        causes = read_causes(saved["causes"])
        require_causes(causes)
        return saved | {"causes": causes}

    def _is_objective(self, objective: Objective) -> bool:
        return isinstance(objective, CauseHazards) and objective == CauseHazards(
            causes=objective.causes,
            weights=cause_weights(self.causes, objective.causes),
            shrinkage=self.shrinkage,
        )
