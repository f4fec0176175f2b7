"""TaughtTree: the tree of each size that is nearest to a teacher, proven."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import plain_parameters
from surtree._support.parameters import LeafCurveKind, read_time_limit, require_not_negative
from surtree._support.stack import user_level
from surtree._support.types import Floats
from surtree.averages.bayes import SurTreeBayes
from surtree.averages.teachers import teacher_risk
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.data.named import RowInputs
from surtree.data.names import remember_columns
from surtree.estimators.tree import (
    OtherKindError,
    SurTree,
    adopt_size,
    check_parameters,
    choose_size,
)
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import read_training_data
from surtree.solver.problem import ProgressHook
from surtree.solver.search import SearchSettings
from surtree.solver.verbose import searching
from surtree.survival.objective import RELATIVE_RISK, Objective
from surtree.survival.taught import TaughtRisk


class TaughtTree(SurTree):
    """The one readable tree that is nearest to a teacher: a tree that predicts.

    The optimal tree of `SurTree` follows the rows that it has seen. This one follows a model that
    predicts better than any tree, and is proven to be the nearest tree of its size to it, in
    Poisson deviance. Its leaves are filled by the events of their rows and by the teacher. Nothing
    is tuned: a larger tree is nearer to the teacher, and no longer fits noise.

    Parameters
    ----------
    max_depth : int, default=3
        The largest number of questions that the tree asks of a row.
    max_splits : int or None, default=None
        The largest number of questions in the tree. None is as many as the depth allows.
    teacher : fitted survival model, array of shape (n_samples,) or None, default=None
        What to come near to. None is a `SurTreeBayes`, fitted on the same rows. Of a fitted model
        of any library, such as a forest or a Cox model, the hazard that it predicts for each row
        counts; of an array, the risk of each training row, above zero, on any scale.
    prior_events : float, default=30
        The events that the teacher is worth in a leaf: a leaf with ``E`` events, ``H`` expected by
        the baseline and ``T`` by the teacher predicts ``(E + k T / H) / (H + k)``. Zero leaves
        leaves to their rows.
    min_samples_leaf, min_events_leaf : int, default=1 and 0
        As in `SurTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`; the teacher, where it is None, has the same.
    leaf_curve, time_limit, n_jobs, memory_limit, progress, verbose : optional
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

    # The search has no prior and no price of its own.
    shrinkage = 0.0
    ccp_alpha = 0.0

    teacher_: Any
    training_loss_: float

    def __init__(
        self,
        max_depth: int = 3,
        max_splits: int | None = None,
        *,
        teacher: Any = None,
        prior_events: float = 30.0,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        n_thresholds: int | None = 10,
        max_categories: int = 10,
        min_support: float = 0.01,
        category_cuts: CategoryCuts = "subsets",
        thresholds: GivenThresholds | None = None,
        leaf_curve: LeafCurveKind = "baseline",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        progress: ProgressHook | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.teacher = teacher
        self.prior_events = prior_events
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.n_thresholds = n_thresholds
        self.max_categories = max_categories
        self.min_support = min_support
        self.category_cuts = category_cuts
        self.thresholds = thresholds
        self.leaf_curve = leaf_curve
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress
        self.verbose = verbose

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

        Returns
        -------
        TaughtTree
            The estimator itself.
        """
        limits = check_parameters(self)
        require_not_negative("prior_events", self.prior_events)
        given = RowInputs(X, y, sample_weight, entry, id).in_memory(type(self).__name__)
        data = read_training_data(self, given, RELATIVE_RISK)
        plain = make_problem(encoder_of(self), data)
        risk = self._teacher_risk(plain, given.X)
        sums = TaughtRisk(float(self.prior_events)).teach(data.sums, risk)
        problem = FitProblem(replace(data, sums=sums), plain.encoder, plain.binned)
        time_limit = read_time_limit(self.time_limit)
        with searching("Searching", self.verbose, self.progress, time_limit) as progress:
            path = find_path(
                problem,
                SearchSettings(limits, time_limit, self.n_jobs, self.memory_limit, progress, None),
            )
        adopt_size(self, problem, path, choose_size(self, path))
        self.follow_up_ = problem.follow_up
        leaf = problem.core.find_leaves(path.topologies[self.tree_.n_splits])
        self.training_loss_ = data.sums.loss(self.tree_.theta[leaf])
        if self.status_ == "time_limit":
            warnings.warn(
                "The time limit ended the search: this is the tree nearest to the teacher so far, "
                f"with a gap of {self.gap_:.1%}. Allow more time, or fewer splits.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
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
        names = SurTreeBayes().get_params().keys() & self.get_params(deep=False).keys()
        shared = names - {"max_depth", "min_samples_leaf", "progress", "verbose", "time_limit"}
        self.teacher_ = SurTreeBayes(**{name: getattr(self, name) for name in shared})
        table = data.table
        remember_columns(self.teacher_, table.names, named=table.named, texts=table.texts)
        risk: Floats = self.teacher_._fit_problem(problem)
        return risk

    def _plain_parameters(self) -> dict[str, Any]:
        named = self.get_params(deep=False)
        if self.teacher is not None and not isinstance(self.teacher, str):
            named["teacher"] = type(self.teacher).__name__
        return plain_parameters(named)

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        if "prior_events" not in saved:
            raise OtherKindError("it is not a taught tree: load it with SurTree.load")
        return saved

    def _is_objective(self, objective: Objective) -> bool:
        return objective == TaughtRisk(float(self.prior_events))

    def _objective(self, target: Any) -> Objective:
        return TaughtRisk(float(self.prior_events))
