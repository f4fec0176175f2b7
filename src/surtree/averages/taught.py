"""TaughtTree: the tree of each size that is nearest to a teacher, proven."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import plain_parameters
from surtree._support.parameters import read_time_limit, require_not_negative
from surtree._support.status import FINISHED
from surtree._support.types import Floats
from surtree.averages._teachers import fit_teacher, teacher_risk, teacher_text
from surtree.averages.bayes import SurTreeBayes
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.data.names import remember_columns
from surtree.estimators.fit import fit_problem, search_path
from surtree.estimators.parameters import check_parameters, make_like, no_monotone
from surtree.estimators.tree import SurTree
from surtree.fitting.training import FitProblem, make_problem, read_training_data
from surtree.solver.clock import Clock
from surtree.survival.objective import RELATIVE_RISK, Objective
from surtree.survival.taught import TaughtRisk
from surtree.tree.provenance import Teaching


@dataclass(eq=False, repr=False)
class TaughtTree(SurTree):
    """The one readable tree that is nearest to a teacher: a tree that predicts.

    The optimal tree of `SurTree` follows the rows that it has seen. This one follows a model that
    predicts better than any tree, and is proven to be the nearest tree of its size to it, in
    Poisson deviance. Its leaves are filled by the events of their rows and by the teacher. Nothing
    is tuned: a larger tree is nearer to the teacher, and no longer fits noise. For several causes
    of an event see `CompetingRisksTree`, for arms of a trial `EffectTree`.

    Parameters
    ----------
    max_depth, max_splits : optional
        As in `SurTree`.
    teacher : survival model, array of shape (n_samples,) or None, default=None
        What to come near to. None is a `SurTreeBayes`, fitted on the same rows. Of a model of any
        library, such as a forest or a Cox model, the hazard that it predicts for each row counts;
        a copy of one that is not fitted is fitted on the same rows, as in every sample of
        `validate`. Of an array, the risk of each training row counts, above zero, on any scale.
    prior_events : float, default=30
        The events that the teacher is worth in a leaf: a leaf with ``E`` events, ``H`` expected by
        the baseline and ``T`` by the teacher predicts ``(E + k T / H) / (H + k)``. Zero leaves
        leaves to their rows.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`; the teacher, where it is None, has the same.
    max_columns, monotone, verbose : optional
        As in `SurTree`; ``monotone`` is for trees of one event alone, and must be None.
    time_limit : float or None, default=None
        As in `SurTree`. Where the teacher is None, stages are begun in the first half of it; a
        teacher of another kind that is fitted here knows no limit.
    min_samples_leaf, min_events_leaf, leaf_curve, n_jobs, memory_limit, progress : optional
        As in `SurTree`.

    Attributes
    ----------
    teacher_ : survival model, or None
        The teacher, None where it was an array, and of a loaded model.
    explained_ : array of float
        For each size of ``path_``, the share of the teacher's deviance that its tree explains.
    training_loss_, plain_loss_ : float
        The loss on the events of the training rows, as `SurTree` has it: of the tree, and the least
        of any tree with as many splits within the same limits. The tree follows its teacher, so the
        first is larger. NaN where it is not known.
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
    _teaching: Teaching | None = field(init=False)

    _checks = SurTree._checks | {
        "prior_events": require_not_negative,
        "monotone": no_monotone("taught trees"),
    }
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
        self._fit(RowInputs(X, y, sample_weight, entry, id))
        return self

    def fit_unmeasured(self, X: Any, y: Any, **given: Any) -> Self:
        """Do as `fit`, without ``plain_loss_``, which needs another search.

        Parameters
        ----------
        X, y, **given
            As in `fit`.
        """
        self._fit(RowInputs(X, y, **given), is_compared=False)
        return self

    def _fit(self, given: RowInputs, *, is_compared: bool = True) -> None:
        limits, clock = check_parameters(self), Clock(read_time_limit(self.time_limit))
        given = given.in_memory(type(self).__name__)
        data = read_training_data(self, given, RELATIVE_RISK)
        plain = make_problem(encoder_of(self), data)
        risk = self._teacher_risk(plain, given, clock)
        sums = TaughtRisk(float(self.prior_events)).teach(data.sums, risk)
        problem = FitProblem(replace(data, sums=sums), plain.encoder, plain.binned)
        path = fit_problem(self, problem, limits, clock.left())
        leaf = problem.core.find_leaves(path.topologies[self.tree_.n_splits])
        teacher = teacher_text(self.teacher, self.teacher_)
        self._teaching = Teaching(teacher, data.sums.loss(self.tree_.theta[leaf]))
        if is_compared and self.status_ in FINISHED and not clock.is_over:
            limits = replace(limits, max_splits=self.tree_.n_splits)
            best = search_path(self, plain, limits, clock.left()).sizes[-1]
            self._teaching = replace(self._teaching, plain_loss=best.loss)

    @property
    def training_loss_(self) -> float:
        """The loss of the tree on the events of the training rows."""
        return self._loss_of_rows("training_loss")

    @property
    def plain_loss_(self) -> float:
        """The least loss on these events of any tree with as many splits."""
        return self._loss_of_rows("plain_loss")

    def _loss_of_rows(self, name: str) -> float:
        check_is_fitted(self)
        loss = getattr(self._teaching, name, None)
        return float("nan") if loss is None else loss

    @property
    def explained_(self) -> Floats:
        """The share of the teacher's deviance that the tree of each size explains."""
        check_is_fitted(self)
        losses = np.array([size.loss for size in self.path_])
        return np.asarray(1.0 - losses / losses[0]) if losses[0] > 0 else np.ones(losses.size)

    @property
    def _refuses_samples(self) -> str:
        """Why it cannot be fitted on samples of rows; empty where it can."""
        if self.teacher is None or hasattr(self.teacher, "get_params"):
            return ""
        return (
            "A teacher is fitted anew on each sample, or its tree would know the rows outside: "
            "pass the model that teaches (in scikit-learn's way, with get_params) as teacher, not "
            f"{teacher_text(self.teacher)}, which knows all rows."
        )

    def _teacher_risk(self, problem: FitProblem, given: RowInputs, clock: Clock) -> Floats:
        """Return the teacher's risk of each row that counts, and remember the teacher."""
        data = problem.data
        if isinstance(self.teacher, str):
            raise ValueError(
                f"teacher is {self.teacher!r}, the name of the teacher of a saved model: files do "
                "not keep it. Set teacher to a fitted model, an array of risks, or None."
            )
        if self.teacher is not None:
            self.teacher_ = self.teacher if hasattr(self.teacher, "predict") else None
            try:
                return teacher_risk(self.teacher, given.X, data)
            except NotFittedError:
                self.teacher_ = fit_teacher(self.teacher, given)
            return teacher_risk(self.teacher_, given.X, data)
        apart = {"max_depth", "min_samples_leaf", "progress", "verbose", "time_limit"}
        self.teacher_ = make_like(SurTreeBayes, self, apart)
        left = clock.left()
        self.teacher_.time_limit = None if left is None else left / 2
        table = data.table
        remember_columns(self.teacher_, table.names, named=table.named, texts=table.texts)
        risk: Floats = self.teacher_._fit_problem(problem, needs_one=True)
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
