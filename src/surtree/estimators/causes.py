"""CompetingRisksTree: the optimal tree for events of several causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self, cast

from numpy.typing import ArrayLike

from surtree._support.json_file import plain_parameters
from surtree._support.parameters import LeafCurveKind
from surtree.estimators.cause_prediction import (
    CAUSE_CHECKS,
    CauseChoice,
    CauseEstimator,
    CauseLimits,
    cause_weights,
    plain_causes,
    read_causes,
)
from surtree.estimators.tree import SurTree
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import Objective


@dataclass(eq=False, repr=False)
class CompetingRisksTree(CauseEstimator, SurTree):
    """An optimal tree of competing risks: no tree within the limits has a smaller loss.

    Every row ends with an event of one of several causes, or is censored. In a leaf the hazard of
    each cause is proportional to the Nelson-Aalen baseline of that cause; the loss is the sum over
    causes of the loss of `SurTree`. All trees of all sizes within the limits are considered.

    Parameters
    ----------
    max_depth, max_splits : optional
        As in `SurTree`.
    causes : int, sequence of int, mapping of int to float, or None, default=None
        The causes that the tree is to tell apart: all (None), one, several, or weights of causes,
        such as ``{1: 1.0, 2: 0.2}``. Other causes are predicted, but the tree is not chosen for
        them. At most four causes can count.
    min_events_leaf : int, default=0
        The smallest number of rows in a leaf with an event of a cause that counts.
    shrinkage : float, default=0.0
        A prior for each cause in every leaf, worth this number of events at the average risk.
    leaf_curve : {"kaplan-meier", "shrunk", "baseline"}, default="kaplan-meier"
        Which curves the leaves have: the Aalen-Johansen estimate of their own rows, that estimate
        shrunk towards all rows by a prior that is worth ``shrinkage`` events, or hazards in
        proportion to the baselines (`leaf_incidence`). It does not change the tree.
    min_samples_leaf, ccp_alpha, n_thresholds, max_categories, min_support : optional
        As in `SurTree`.
    max_columns, monotone : optional
        As in `SurTree`; ``monotone`` is for trees of one event alone, and must be None.
    category_cuts, thresholds, time_limit, n_jobs, memory_limit, progress, verbose : optional
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
                          leaf   n  events 1  theta 1  events 2  theta 2
    all rows
    ├─ thickness <= 2.25
    │  ├─ age <= 52          A  55         4    0.214         1    0.216  few events
    │  └─ age > 52           B  58        11    0.672         6     1.61
    └─ thickness > 2.25
       ├─ age <= 69          C  73        34     1.81         2    0.413
       └─ age > 69           D  19         8     2.46         5      6.3
    >>> incidence = model.predict_cumulative_incidence(X.head(2), cause=1)
    >>> [round(curve(2000), 3) for curve in incidence]
    [0.368, 0.18]
    """

    _: KW_ONLY
    causes: CauseChoice = None
    leaf_curve: LeafCurveKind = "kaplan-meier"

    cause_names_: Mapping[int, str] | None = field(init=False)

    _known_later = (*SurTree._known_later, "cause_names_")
    _limits_type = CauseLimits
    _checks = SurTree._checks | CAUSE_CHECKS
    _own_parameter = "causes"
    _kind = "of competing risks"

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
        X, sample_weight, entry, id, init
            As in `SurTree.fit`.
        y : structured array, data frame, pair of arrays, or names of columns
            The cause of each row, a whole number that is 0 where the row is censored, and its
            time, zero or later. Rows that are censored at time zero are left out. Columns of X
            may be named, as ``("cause", "time")``; those of a lazy table must be.
        """
        return super().fit(X, y, sample_weight, entry, id, init)

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False) | {"causes": None}
        return plain_parameters(parameters) | {"causes": plain_causes(self.causes)}

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        return saved | {"causes": read_causes(saved["causes"])}

    def _is_objective(self, objective: Objective) -> bool:
        if objective.name != CauseHazards.name:
            return False
        causes = cast(CauseHazards, objective).causes
        weights = cause_weights(self.causes, causes)
        return objective == CauseHazards(causes=causes, weights=weights, shrinkage=self.shrinkage)
