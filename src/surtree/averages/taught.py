"""TaughtTree: the tree of each size that is nearest to a teacher, proven."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import plain_parameters
from surtree._support.parameters import read_time_limit, require_not_negative
from surtree._support.types import Floats
from surtree.averages._teachers import teacher_risk
from surtree.averages.bayes import SurTreeBayes
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.data.names import remember_columns
from surtree.estimators.fit import fit_problem
from surtree.estimators.parameters import check_parameters, make_like
from surtree.estimators.tree import SurTree
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.training import read_training_data
from surtree.survival.objective import RELATIVE_RISK, Objective
from surtree.survival.taught import TaughtRisk


@dataclass(eq=False, repr=False)
class TaughtTree(SurTree):
    """The one readable tree that is nearest to a teacher: a tree that predicts.

    The optimal tree of `SurTree` follows the rows that it has seen. This one follows a model that
    predicts better than any tree, and is proven to be the nearest tree of its size to it, in
    Poisson deviance. Its leaves are filled by the events of their rows and by the teacher. Nothing
    is tuned: a larger tree is nearer to the teacher, and no longer fits noise.

    Parameters
    ----------
    max_depth, max_splits : optional
        As in `SurTree`.
    teacher : fitted survival model, array of shape (n_samples,) or None, default=None
        What to come near to. None is a `SurTreeBayes`, fitted on the same rows. Of a fitted model
        of any library, such as a forest or a Cox model, the hazard that it predicts for each row
        counts; of an array, the risk of each training row, above zero, on any scale.
    prior_events : float, default=30
        The events that the teacher is worth in a leaf: a leaf with ``E`` events, ``H`` expected by
        the baseline and ``T`` by the teacher predicts ``(E + k T / H) / (H + k)``. Zero leaves
        leaves to their rows.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`; the teacher, where it is None, has the same.
    min_samples_leaf, min_events_leaf, leaf_curve, time_limit, n_jobs : optional
        As in `SurTree`.
    memory_limit, progress, verbose : optional
        As in `SurTree`.

    Attributes
    ----------
    teacher_ : survival model, or None
        The teacher, None where it was an array, and of a loaded model.
    explained_ : array of float
        For each size of ``path_``, the share of the teacher's deviance that its tree explains.
    training_loss_ : float
        The loss of the tree on the events of the training rows, as `SurTree` has it.
    loss_, lower_bound_, gap_, status_, path_ : optional
        As in `SurTree`, of the distance to the teacher: half of the deviance. "optimal" says that
        no tree within the limits is nearer to it.
    tree_ : Tree
        The tree; all else is as in `SurTree`.

    Examples
    --------
    >>> from surtree import TaughtTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = TaughtTree(max_depth=2).fit(X, y)
    >>> model.status_, model.explained_.round(2).tolist()
    ('optimal', [0.0, 0.56, 0.84, 0.86])
    """

    _: KW_ONLY
    teacher: Any = None
    prior_events: float = 30.0
    # The search has no prior and no price of its own.
    shrinkage: ClassVar[float] = 0.0  # type: ignore[misc]
    ccp_alpha: ClassVar[float] = 0.0  # type: ignore[misc]

    teacher_: Any = field(init=False)
    training_loss_: float = field(init=False)

    _checks = SurTree._checks | {"prior_events": require_not_negative}
    _own_parameter = "prior_events"
    _kind = "a taught tree"
    _aim = "tree nearest to the teacher"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
    ) -> Self:
        """Find the tree of each size that is nearest to the teacher.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `SurTree.fit`, for tables in memory.
        """
        limits = check_parameters(self)
        given = RowInputs(X, y, sample_weight, entry, id).in_memory(type(self).__name__)
        data = read_training_data(self, given, RELATIVE_RISK)
        plain = make_problem(encoder_of(self), data)
        risk = self._teacher_risk(plain, given.X)
        sums = TaughtRisk(float(self.prior_events)).teach(data.sums, risk)
        problem = FitProblem(replace(data, sums=sums), plain.encoder, plain.binned)
        path = fit_problem(self, problem, limits, read_time_limit(self.time_limit))
        leaf = problem.core.find_leaves(path.topologies[self.tree_.n_splits])
        self.training_loss_ = data.sums.loss(self.tree_.theta[leaf])
        return self

    @property
    def explained_(self) -> Floats:
        """The share of the teacher's deviance that the tree of each size explains."""
        check_is_fitted(self)
        losses = np.array([size.loss for size in self.path_])
        return np.asarray(1.0 - losses / losses[0]) if losses[0] > 0 else np.ones(losses.size)

    def _teacher_risk(self, problem: FitProblem, X: Any) -> Floats:
        """Return the teacher's risk of each row that counts, and remember the teacher."""
        data = problem.data
        if isinstance(self.teacher, str):
            raise ValueError(
                f"teacher is {self.teacher!r}, the name of the teacher of a saved model: files do "
                "not keep it. Set teacher to a fitted model, an array of risks, or None."
            )
        if self.teacher is not None:
            self.teacher_ = self.teacher if hasattr(self.teacher, "predict") else None
            return teacher_risk(self.teacher, X, data)
        apart = {"max_depth", "min_samples_leaf", "progress", "verbose", "time_limit"}
        self.teacher_ = make_like(SurTreeBayes, self, apart)
        table = data.table
        remember_columns(self.teacher_, table.names, named=table.named, texts=table.texts)
        risk: Floats = self.teacher_._fit_problem(problem)
        return risk

    def _plain_parameters(self) -> dict[str, Any]:
        named = self.get_params(deep=False)
        if self.teacher is not None and not isinstance(self.teacher, str):
            named["teacher"] = type(self.teacher).__name__
        return plain_parameters(named)

    def _is_objective(self, objective: Objective) -> bool:
        return objective == TaughtRisk(float(self.prior_events))

    def _objective(self, target: Any) -> Objective:
        return TaughtRisk(float(self.prior_events))
