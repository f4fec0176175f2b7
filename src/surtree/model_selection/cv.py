"""SurTreeCV: the size of the tree chosen by cross-validation, every size from one solve a depth."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from surtree._support.parallel import Finished, FoldProgress, run_all
from surtree._support.parameters import (
    LeafCurveKind,
    is_number,
    is_whole,
    require_flag,
    require_shrinkage,
)
from surtree._support.status import Status, first_unproven, warn_of_limit
from surtree.data.named import RowInputs
from surtree.data.names import copy_columns
from surtree.data.rows import Rows, read_rows
from surtree.data.target import require_events
from surtree.estimators.base import TreeEstimator
from surtree.estimators.fit import fit_tree
from surtree.estimators.parameters import (
    CutParameters,
    check_parameters,
    make_like,
    of_value,
    one_of,
)
from surtree.estimators.tree import SurTree
from surtree.model_selection._folds import (
    Fold,
    FoldScores,
    Positions,
    cut_fold,
    grid_results,
    hold_out_apart,
    measure_fold,
    require_folds,
    score_fold,
    split_rows,
)
from surtree.model_selection._scoring import SCORERS, Scoring, find_scorer, require_whole_persons
from surtree.solver.verbose import counting
from surtree.validation.held_out import HeldOutScores, held_out_scores
from surtree.validation.sizes import RULES, Rule, SizeScores, Tuning, candidate_sizes, choose


class OfChosen:
    """An attribute of ``best_estimator_`` that is read and set on the search too."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember what the attribute is called."""
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        check_is_fitted(search)
        return getattr(search.best_estimator_, self.name)

    def __set__(self, search: Any, value: Any) -> None:
        check_is_fitted(search)
        setattr(search.best_estimator_, self.name, value)


Result = TypeVar("Result")

# Fewer folds choose no size, and the seconds for the tree of the chosen one, where a search was
# stopped.
FEWEST_FOLDS, LAST_SECONDS = 2, 1.0


def read_shrinkages(shrinkage: Any) -> list[float]:
    """Return the values of shrinkage to choose from, ascending."""
    values = [shrinkage] if is_number(shrinkage) else shrinkage
    is_several = isinstance(values, Collection | np.ndarray) and not isinstance(values, str)
    if not (is_several and len(values)):
        raise ValueError(
            f"shrinkage must be a number or several to choose from; got {shrinkage!r}."
        )
    for value in values:
        require_shrinkage(value)
    return sorted({float(value) for value in values})


class _FittedSearch(TreeEstimator):
    """What `fit` learns; apart from parameters, which are the fields of a dataclass."""

    best_estimator_: SurTree
    best_params_: dict[str, float]
    held_out_: HeldOutScores | None
    status_: Status

    tuning_, validation_, time_unit_ = (OfChosen() for _ in range(3))
    horizons_, follow_up_, receipt_, risk_groups_ = (OfChosen() for _ in range(4))


@dataclass(eq=False, repr=False)
class SurTreeCV(CutParameters, _FittedSearch):
    """An optimal survival tree whose size and shrinkage are chosen by cross-validation.

    In every fold one solve for each depth and shrinkage finds the best tree of every size, and all
    of them are scored on the rows that were held out. Cuts and the baseline hazard are learnt from
    the training rows of the fold alone.

    Parameters
    ----------
    max_depth : int, default=3
        The largest depth to try.
    max_splits : int or None, default=None
        The largest number of splits to try. None is as many as the depth allows.
    shrinkage : float or sequence of float, default=(1.0, 3.0, 10.0)
        One value, or several to choose from: the events that the prior of each leaf is worth, as
        in `SurTree`. Zero is not among the default: where few rows chose it, trees did worst.
    cv : int, splitter or iterable, default=10
        A number of folds, drawn by `EventStratifiedKFold` always in the same way; or a splitter
        of scikit-learn's, or pairs of training and held-out positions. A position that is given
        twice, as a bootstrap does, counts as two rows.
    scoring : str or callable, default="loss"
        What the held-out rows are scored by, higher being better. "loss": the loss with its sign
        turned, divided by the weight of the rows. "concordance": Harrell's C. "concordance_ipcw":
        Uno's C, of the events before the last time of the training rows. "integrated_brier": the
        share of the integrated Brier score that the tree saves. Or a scikit-learn scorer, by its
        name or as a function of a fitted `SurTree`, X and y, which is not told of weights.
    rule : {"best", "1se"}, default="best"
        Whether to choose the size with the best mean score, or the smallest size whose mean is
        within one standard error of it: fewer splits first, then less depth. The shrinkage is that
        of the best mean in both cases. On real tables "1se" predicts worse; choose it where a
        small tree matters more than a good prediction.
    refit : bool, default=True
        Whether to fit the chosen size on all rows. Without it there is nothing to predict with.
    min_samples_leaf, min_events_leaf : optional
        As in `SurTree`.
    n_thresholds, max_categories, min_support, category_cuts, thresholds : optional
        As in `SurTree`.
    monotone, max_columns : optional
        As in `SurTree`: in every fold, too.
    leaf_curve, time_limit, memory_limit : optional
        As in `SurTree`; the limits are those of each search.
    progress : callable, optional
        Called with a `FoldProgress` after each fold. Where it returns something true, the size is
        chosen by the folds that are done, its tree searched for a second at most, and the status
        is "interrupted"; before two folds are done, `fit` raises KeyboardInterrupt.
    verbose : int, default=0
        1 to write a line on standard error that says how many folds are done, and then how far the
        fit on all rows is.
    n_jobs : int or None, default=None
        How many folds to score at the same time, each with one thread, and the number of threads
        of the fit on all rows. Folds run through joblib: in threads, unless
        ``joblib.parallel_config`` names another backend, such as processes or a Dask cluster. The
        result does not depend on it.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``max_depth``, ``max_splits`` and ``shrinkage``.
    best_score_ : float
        The mean score of the chosen size over the folds.
    best_index_ : int
        The position of the chosen size in ``cv_results_``.
    best_estimator_ : SurTree
        The tree of the chosen size, fitted on all rows.
    tree_ : Tree
        The tree of ``best_estimator_``.
    status_ : Status
        "optimal" where every search has proven its trees, else how the first unfinished one ended,
        or "rounded" (see `SurTree`); "interrupted" where ``progress`` has stopped it.
    sizes_ : SizeScores
        The scores of all sizes with the chosen shrinkage: ``print`` shows a table,
        `surtree.plot.plot_path` a picture.
    sizes_by_shrinkage_ : dict of float to SizeScores
        The same for each shrinkage.
    held_out_ : HeldOutScores
        How trees did on held-out rows, corrected for the choice of size and shrinkage; only with
        ``refit``. None where the search was interrupted.
    validation_ : Validation or None
        What `surtree.validate` says of this search: None until you set it. `save` keeps it, and
        `write_report` shows it.
    tuning_, follow_up_, time_unit_, horizons_ : Tuning, FollowUp, str, sequence of float, or None
        Those of ``best_estimator_``, as in `SurTree`; set the last two to have them in reports.
    risk_groups_ : RiskGroups or None
        Those of ``best_estimator_``, as in `SurTree`.
    cv_results_ : dict of arrays
        All scores in the layout of scikit-learn's ``GridSearchCV``, an entry for each shrinkage and
        size. Sizes of one depth share one solve, so they have the same fit time.
    n_splits_ : int
        The number of folds that are scored.
    n_features_in_, feature_names_in_ : object
        As in `SurTree`.

    Notes
    -----
    Pairs of a depth and a number of splits that allow the same trees are tried once: a tree with
    two splits is not deeper than two. ``score`` is Harrell's C, whatever ``scoring`` is.

    Ctrl-C raises KeyboardInterrupt: all searches stop, in other threads too, and nothing is kept.
    The command line keeps a tree, as with ``progress``.

    Examples
    --------
    >>> from surtree import SurTreeCV
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> search = SurTreeCV(max_depth=2).fit(X, y)
    >>> search.best_params_
    {'max_depth': 2, 'max_splits': 3, 'shrinkage': 10.0}
    >>> print(search.sizes_)
    splits  depth  training loss  held-out loss  std. error
         0      0         0.6960         0.7038      0.0302
         1      1         0.6493         0.6589      0.0293
         2      2         0.6272         0.6641      0.0271
         3      2         0.6204         0.6541      0.0251  best, chosen
    >>> round(search.held_out_.mean("concordance"), 3)
    0.626
    """

    max_depth: int = 3
    max_splits: int | None = None
    _: KW_ONLY
    shrinkage: float | Sequence[float] = (1.0, 3.0, 10.0)
    cv: Any = 10
    scoring: Scoring = "loss"
    rule: Rule = "best"
    refit: bool = True
    min_samples_leaf: int = 1
    min_events_leaf: int = 0
    monotone: Mapping[str, int] | None = None
    max_columns: int | None = None
    leaf_curve: LeafCurveKind = "baseline"
    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Callable[[FoldProgress], object] | None = None
    n_jobs: int | None = None
    verbose: int = 0

    # Models of this class are fitted on every fold, and in the end on all rows.
    _tree_type: ClassVar[type[SurTree]] = SurTree
    _checks = TreeEstimator._checks | {
        "shrinkage": of_value(read_shrinkages),
        "cv": require_folds,
        "scoring": of_value(find_scorer),
        "rule": one_of(RULES),
        "refit": require_flag,
    }

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
            As in `SurTree.fit`, but for lazy tables. Weights count in fits and in scores.
        groups : array of shape (n_samples,), or the name of a column, optional
            Rows with the same label, such as those of a person or a centre, stay together in folds;
            by default, those with the same ``id``. A splitter of scikit-learn's gets it too.
        """
        return self._fit(RowInputs(X, y, sample_weight, entry, id, groups))

    def fit_unmeasured(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        id: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Do as `fit`, without ``held_out_``: for whoever measures the model in another way.

        Parameters
        ----------
        X, y, sample_weight, entry, id, groups
            As in `fit`.
        """
        return self._fit(RowInputs(X, y, sample_weight, entry, id, groups), measured=False)

    def _fit(self, given: RowInputs, *, measured: bool = True, keeps_done: bool = False) -> Self:
        """Do as `fit`; with ``keeps_done``, Ctrl-C is as a progress hook that returns True."""
        limits = check_parameters(self)
        rows = read_rows(self, given, self._read_target)
        require_events(rows.target.take(rows.present))
        require_whole_persons(self.scoring, rows.target)
        sizes = candidate_sizes(limits.max_depth, limits.max_splits)
        positions = split_rows(self.cv, rows)
        scorer, shrinkages = find_scorer(self.scoring), read_shrinkages(self.shrinkage)
        score = partial(score_fold, self._tree(), shrinkages, sizes, scorer)
        with counting("Tuning", "folds", self.verbose, self.progress) as progress:
            folds = self._run(
                rows, positions, [score] * len(positions), progress, keeps_done=keeps_done
            )
        if folds.stopped and len(folds.results) < FEWEST_FOLDS:
            raise KeyboardInterrupt
        self._choose(sizes, shrinkages, list(folds.results.values()))
        for stale in ("best_estimator_", "tree_", "held_out_"):
            if hasattr(self, stale):
                delattr(self, stale)
        if self.refit:
            best = self._tree().set_params(**self.best_params_)
            refit = partial(self._refit, best, rows)
            stopped = folds.stopped
            try:
                fitted = refit(stopped=stopped)
            except KeyboardInterrupt:
                if stopped or not keeps_done:
                    raise
                stopped, fitted = True, refit(stopped=True)
            fitted.sizes_ = self.sizes_
            fitted.tuning_ = Tuning(
                tuple(self.sizes_by_shrinkage_), is_whole(self.cv), self.status_
            )
            self.best_estimator_, self.tree_ = fitted, fitted.tree_
            self.status_ = first_unproven([self.status_, fitted.status_])
            if stopped:
                self.held_out_ = None
            elif measured:
                self._measure(rows, positions, keeps_done=keeps_done)
        elif folds.stopped:
            self.status_ = "interrupted"
        warn_of_limit(self.status_)
        return self

    def _refit(self, best: SurTree, rows: Rows, *, stopped: bool) -> SurTree:
        """Return the tree of the chosen size, fitted on all rows; quickly, if all is stopped."""
        fitted: SurTree = clone(best).set_params(n_jobs=self.n_jobs)
        copy_columns(self, fitted)
        if stopped:
            fitted.set_params(time_limit=min(LAST_SECONDS, self.time_limit or LAST_SECONDS))
        with warnings.catch_warnings():
            # There is one warning for all searches.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit_tree(fitted, rows)
        if stopped:
            fitted.set_params(time_limit=self.time_limit)
            fitted.status_ = "interrupted"
        return fitted

    def _measure(
        self, rows: Rows, positions: list[tuple[Positions, Positions]], *, keeps_done: bool
    ) -> None:
        """Set the scores on held-out rows, each fold's with the size that others choose for it."""
        self.held_out_ = None
        others = hold_out_apart([test for _, test in positions])
        corrected = bool(others.any(axis=1).all())
        chosen = [
            self._chosen_without(fold, others[fold]) if corrected else self.best_params_
            for fold in range(len(positions))
        ]
        measures = [
            partial(measure_fold, self._tree().set_params(**parameters)) for parameters in chosen
        ]
        try:
            results = self._run(rows, positions, measures).results
        except KeyboardInterrupt:
            if not keeps_done:
                raise
            return
        self.held_out_ = held_out_scores(
            list(results.values()), corrected, self.tree_.objective.parts
        )
        self.best_estimator_.held_out_ = self.held_out_

    def _chosen_without(self, fold: int, others: NDArray[np.bool_]) -> dict[str, Any]:
        scores = [score.without_fold(fold, others) for score in self.sizes_by_shrinkage_.values()]
        index, size = choose(scores)
        parameters: dict[str, Any] = self.cv_results_["params"][index * scores[0].mean.size + size]
        return parameters

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chosen model, ``best_estimator_``, to a file that `surtree.load` reads.

        The file holds what predicts, with its certificate, its path and its held-out scores. Those
        of the other shrinkages are not in it; pickle the search to keep them.

        Parameters
        ----------
        path : str or path
            The file, such as ``model.json``; one that is there is replaced.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import surtree
        >>> from surtree import SurTreeCV
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> with TemporaryDirectory() as directory:
        ...     SurTreeCV(max_depth=1, cv=3).fit(X, y).save(Path(directory) / "model.json")
        ...     model = surtree.load(Path(directory) / "model.json")
        >>> model.max_depth, model.predict_median(X.head(1)).tolist()
        (1, [inf])
        """
        check_is_fitted(self)
        self.best_estimator_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SurTree:
        """Return the chosen model that `save` wrote: a `SurTree`, not the search that chose it.

        Parameters
        ----------
        path : str or path
            The file. No code in it is run, so it may come from anywhere.
        """
        return cls._tree_type.load(path)

    def _run(
        self,
        rows: Rows,
        positions: list[tuple[Positions, Positions]],
        scores: Sequence[Callable[[Fold], Result]],
        progress: Callable[[FoldProgress], object] | None = None,
        *,
        keeps_done: bool = False,
    ) -> Finished[Result]:
        cut = partial(cut_fold, rows, as_passed=self.scoring not in SCORERS)
        # A solve releases the GIL, so threads are as good as processes and start faster.
        return run_all(
            _score_numbered,
            (
                (score, number, cut(*fold))
                for number, (score, fold) in enumerate(zip(scores, positions, strict=True), start=1)
            ),
            len(positions),
            n_jobs=self.n_jobs,
            progress=progress,
            keeps_done=keeps_done,
        )

    def _choose(
        self, sizes: list[tuple[int, int]], shrinkages: list[float], folds: list[FoldScores]
    ) -> None:
        if self.rule == "1se" and len(folds) == 1:
            raise ValueError("rule='1se' needs two folds or more: one has no standard error.")
        depth, splits = np.array(sizes).T
        held_out = np.stack([fold.held_out for fold in folds], axis=-1)
        unclear = ~np.isfinite(held_out)
        if unclear.any():
            raise ValueError(
                f"scoring={self.scoring!r} gave {unclear.sum()} of {unclear.size} scores that are "
                "not finite numbers."
            )
        training_loss = np.stack([fold.training_loss for fold in folds], axis=-1)
        scores = [
            SizeScores(
                max_depth=depth,
                max_splits=splits,
                held_out=held_out[index],
                training_loss=training_loss[index],
                scoring=_name(self.scoring),
                rule=self.rule,
                shrinkage=shrinkage,
            )
            for index, shrinkage in enumerate(shrinkages)
        ]
        index, size = choose(scores)
        self.sizes_ = scores[index]
        self.sizes_by_shrinkage_ = {score.shrinkage: score for score in scores}
        self.cv_results_ = grid_results(scores, folds)
        self.n_splits_ = len(folds)
        self.status_ = first_unproven(fold.status for fold in folds)
        self.best_index_ = index * len(sizes) + size
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.sizes_.mean[size])

    def _tree(self) -> SurTree:
        """Return a tree with the parameters that both have and mean the same."""
        return make_like(self._tree_type, self, {"n_jobs", "progress", "shrinkage"})

    def __sklearn_is_fitted__(self) -> bool:
        if hasattr(self, "sizes_") and not hasattr(self, "tree_"):
            raise NotFittedError(
                "This SurTreeCV was fitted with refit=False, which chooses a size but fits no "
                "tree: fit it with refit=True, or fit SurTree(**search.best_params_)."
            )
        return hasattr(self, "tree_")


def _score_numbered(numbered: tuple[Callable[[Fold], Result], int, Fold]) -> Result:
    score, number, fold = numbered
    try:
        return score(fold)
    except Exception as error:
        error.add_note(f"This happened in fold {number} of the cross-validation.")
        raise


def _name(scoring: Scoring) -> str:
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
