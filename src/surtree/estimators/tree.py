"""SurTree, the scikit-learn estimator: from a table and a survival target to the optimal tree."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import damaged, plain_parameters
from surtree._support.parameters import (
    MAX_DEPTH,
    LeafCurveKind,
    read_time_limit,
    require_hook,
    require_jobs,
    require_leaf_curve,
    require_not_negative,
    require_shrinkage,
    require_verbose,
    require_whole,
)
from surtree._support.stack import user_level
from surtree._support.status import SMALL_GAP, Status, warn_of_rounding
from surtree._support.version import VERSION
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.encoder import Encoder, encoder_of
from surtree.cuts.given import GivenThresholds
from surtree.data.lazy import is_lazy, require_in_memory
from surtree.data.named import RowInputs
from surtree.data.target import Target
from surtree.engines.engines import source_of
from surtree.engines.fit import read_problem
from surtree.engines.reader import Reader
from surtree.engines.rows import target_names
from surtree.estimators.base import TreeEstimator
from surtree.estimators.model_file import read_model, write_model
from surtree.fitting.fit_problem import FitProblem, make_problem
from surtree.fitting.row_digest import row_digest
from surtree.fitting.size_path import SizePath, find_path
from surtree.fitting.training import read_training_data
from surtree.fitting.warm_start import nearest_topology
from surtree.solver.clock import Clock
from surtree.solver.core import n_threads
from surtree.solver.problem import Limits, ProgressHook
from surtree.solver.search import SearchSettings
from surtree.solver.verbose import searching
from surtree.survival.follow_up import FollowUp
from surtree.survival.objective import Objective, RelativeRisk
from surtree.tree.receipt import Receipt
from surtree.tree.resolve import tree_of
from surtree.tree.size import Size
from surtree.validation import Validation
from surtree.validation.held_out import HeldOutScores
from surtree.validation.sizes import SizeScores, Tuning

Model = TypeVar("Model", bound="SurTree")


class OtherKindError(ValueError):
    """The error of a file that is sound, and of a model of another class."""


# Seconds of a time limit that are kept for building the trees: in all, for each row, and for each
# split that limits and rows allow.
AFTERWARDS, AFTERWARDS_PER_ROW, AFTERWARDS_PER_SPLIT = 0.03, 2e-7, 6e-5
# The share of a time limit after which no more columns are read, and the seconds that they have.
READING, LEAST_READING = 0.5, 0.1


class SurTree(TreeEstimator):
    """An optimal survival tree: no tree within the limits has a smaller loss.

    The loss is the negative log-likelihood of proportional hazards within leaves, relative to a
    model with a hazard of its own for every row. All trees of all sizes within the limits are
    considered, over the cuts that `Encoder` finds in the columns.

    Parameters
    ----------
    max_depth : int, default=3
        The largest number of questions that a row is asked, from 0 to 20.
    max_splits : int or None, default=None
        The largest number of questions in the tree. None is as many as the depth allows.
    min_samples_leaf : int, default=1
        The smallest number of rows in a leaf, or of persons where `fit` is given an ``id``: then
        one is no limit, for a leaf may hold a part of a person's time. Rows of weight zero do not
        count.
    min_events_leaf : int, default=0
        The smallest number of rows with an event in a leaf.
    ccp_alpha : float, default=0.0
        The penalty on each split, in units of the summed loss: the size with the smallest
        ``loss + ccp_alpha * splits`` is chosen, the smallest one if several are.
    shrinkage : float, default=0.0
        A prior in every leaf, worth this number of events at the average risk, up to 1000: a
        leaf with ``E`` events where ``H`` are expected predicts ``(E + a) / (H + a)`` instead of
        ``E / H``. The tree is optimal with that. Helps where leaves are small; 1 to 10 are usual,
        and `SurTreeCV` chooses.
    n_thresholds : int or None, default=10
        The largest number of thresholds for a numeric column. None is every threshold: the tree is
        then optimal over all of them, which takes longer.
    max_categories : int, default=10
        A column with more categories keeps the most frequent ones, the others count as one.
    min_support : float, default=0.01
        Cuts that hold for at most this share of the rows, or for all but this share, are left out.
    category_cuts : {"one", "subsets"}, default="subsets"
        Whether a question about categories names one of them, as in the paper, or any set of them:
        all sets up to seven categories, of more those that `Encoder` lists.
    thresholds : mapping of str to sequences of float, optional
        Thresholds of your own for some columns, instead of quantiles: ``{"age": [50, 65]}``.
    leaf_curve : {"baseline", "kaplan-meier", "shrunk", "breslow"}, default="baseline"
        Which curve the survival of a leaf is read off, wherever it is stated: the baseline hazard
        times theta, the leaf's own Kaplan-Meier curve, that curve shrunk towards all rows by a
        prior that is worth ``shrinkage`` events, or the curve of a Cox model with the leaves as
        groups (`leaf_curves`). It does not change the tree.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best tree so far and a bound. Infinity, or
        more than 10**9, is no limit.
    n_jobs : int or None, default=None
        Threads that search. The tree does not depend on it. With None, in a
        ``joblib.parallel_config`` of a cluster such as Dask's, the workers of the cluster share a
        long search; else there is one thread.
    memory_limit : int or None, default=None
        Bytes that solved subproblems may take; beyond, they are solved again when needed. None is
        a quarter of the machine's memory. Of a lazy table, also what is kept of its distinct rows.
    progress : callable or None, default=None
        Called a few times a second while a search runs, with its ``fraction`` done, its ``loss``
        and its ``lower_bound``. Where it returns something true, the search ends with the best
        tree so far and the status "interrupted". While a lazy table is read it is called too, with
        what is read in ``reading``; there is no tree yet then, and `fit` raises KeyboardInterrupt.
    verbose : int, default=0
        1 to write a line on standard error that says how far the search is. As with a ``progress``
        hook, a long search then begins with heuristics, so that there is a loss to show.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    loss_, lower_bound_, gap_ : float
        What is minimised: the loss of the tree on its training rows, and with shrinkage a penalty
        ``a (theta - 1 - log theta)`` for each leaf. A value that no tree within the limits goes
        below (each further split being charged ``ccp_alpha``), and their difference relative to
        the loss: 0 for a tree that is proven optimal.
    unpenalised_loss_ : float
        The loss of the same tree without that penalty; ``loss_`` where there is no shrinkage.
    status_ : Status
        How the search ended: "optimal", "rounded", "time_limit" or "interrupted". A search that
        is out of time, but has proven its tree, is "optimal" too; of other sizes the bounds in
        ``path_`` say what is proven. "rounded" is a search to the end where weights are so uneven
        that rounding leaves a gap of more than 1e-9. A model loaded from a file that was edited by
        hand has the status "edited": nothing is proven, the lower bounds are zero and the gap is
        one.
    proven_depth_ : int
        The largest depth, up to ``max_depth``, whose optimum is known: where a limit ended the
        search, no tree of that depth is better than the one in ``path_`` for its size.
    n_cuts_, n_evaluated_ : int
        With every threshold, where columns are bisected: over all subproblems, the cuts that divide
        their rows, and those of them that had to be evaluated. Zero where nothing is bisected.
    path_ : tuple of Size
        For 0, 1, 2, ... splits, the best tree with at most that number. Only ``tree_`` among them
        keeps the at-risk counts that Kaplan-Meier curves need.
    held_out_, sizes_, tuning_ : HeldOutScores, SizeScores, Tuning or None
        Scores on held-out rows and what was tried, of a model that `SurTreeCV` has chosen; `save`
        keeps them.
    validation_ : Validation or None
        What `surtree.validate` says of this model: None until you set it. `save` keeps it, and
        `write_report` shows it.
    row_digest_ : tuple of int, or None
        The number of training rows, and sums of hashes of them, by which `surtree.verify` knows
        them again; None for lazy tables and for files that do not keep it.
    receipt_ : Receipt or None
        That `surtree.verify` has confirmed this model: None until you set it. `save` keeps it, and
        `write_report` shows it.
    encoder_ : Encoder
        The fitted encoder, with the cuts that the search could use.
    surtree_version_ : str or None
        Which surtree fitted the model; None for files that do not say so.
    follow_up_ : FollowUp or None
        The quartiles of follow-up (``lower``, ``median``, ``upper``), by the reverse Kaplan-Meier
        estimate: infinity where fewer rows are censored. None of a file that does not say so.
    time_unit_ : str or None
        What time is counted in, such as "days", for reports: None until you set it. `save` keeps
        it.
    horizons_ : sequence of float or None
        Times at which reports and tables state survival, and `surtree.evaluate` looks at
        calibration: None until you set it. `save` keeps it.
    unique_times_ : array of float
        The distinct event times of the training rows.
    feature_importances_ : array of float
        The share of each column in the reduction of the loss.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, where the table has names and all are texts. Other names, such as
        numbers, are shown in rules as texts; columns without names, or numbered from zero, are
        called x0, x1, ... there.

    Notes
    -----
    Where limits disagree, the tighter one rules: three splits are what depth two allows, whatever
    ``max_splits`` says, and where no split can meet the minimum of both sides the tree is a single
    leaf.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X, y)
    >>> model.status_, model.gap_
    ('optimal', 0.0)
    >>> print(model.tree_)  # doctest: +ELLIPSIS
                                         n  events  theta  median (baseline)
    all rows
    ├─ positive_nodes <= 3
    │  ├─ tumor_size <= 12              26       2  0.125             > 2456  few events
    │  └─ tumor_size > 12              350     117  0.682               2456
    └─ positive_nodes > 3
       ├─ progesterone_receptor <= 26  161     110    2.4                729
       └─ progesterone_receptor > 26   149      70   1.07               1684
    1 leaf has fewer than 5 events: its numbers say little about new rows; try shrinkage, ...
    >>> model.predict(X.head(3)).round(3).tolist()
    [0.682, 1.065, 1.065]
    """

    # Which counts the limits on leaves are about.
    _limits_type: ClassVar[type[Limits]] = Limits

    path_: tuple[Size, ...]
    held_out_: HeldOutScores | None
    sizes_: SizeScores | None
    tuning_: Tuning | None
    validation_: Validation | None
    row_digest_: tuple[int, ...] | None
    receipt_: Receipt | None
    encoder_: Encoder
    surtree_version_: str | None
    follow_up_: FollowUp | None
    time_unit_: str | None
    horizons_: Sequence[float] | None
    n_cuts_: int
    n_evaluated_: int
    proven_depth_: int
    loss_: float
    lower_bound_: float
    gap_: float
    status_: Status

    def __init__(
        self,
        max_depth: int = 3,
        max_splits: int | None = None,
        *,
        min_samples_leaf: int = 1,
        min_events_leaf: int = 0,
        ccp_alpha: float = 0.0,
        shrinkage: float = 0.0,
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
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.ccp_alpha = ccp_alpha
        self.shrinkage = shrinkage
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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
        init: Any = None,
    ) -> Self:
        """Find the optimal tree.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features), or lazy table
            Numbers, booleans, categories or text; values may be missing. A lazy table is read in
            passes, and never as a whole: a DuckDB relation, a polars lazy frame, a pyarrow
            dataset, a Dask or PySpark data frame, or the path of Parquet files (one, a directory,
            or a pattern such as ``"rows/*.parquet"``). The model is the same as in memory.
        y : structured array, data frame, pair of arrays, array of two columns, or names of columns
            Whether the event happened (boolean, or 0 and 1) and when, zero or later, in either
            order: what `surtree.target` or scikit-survival's ``Surv`` makes, a frame of two
            columns, ``(event, time)``, or greenwood's ``Surv``. Time differences are counted in
            days. An array of times alone means that every row has an event, with an
            `AllEventsWarning`. Rows that are censored at time zero are left out. Columns of X
            may be named instead, as ``("event", "time")``; those of a lazy table must be. Columns
            that are named, here and below, are no questions.
        sample_weight : array of shape (n_samples,), or the name of a column, optional
            How often each row counts. A row of weight zero counts as absent.
        entry : array of shape (n_samples,), or the name of a column, optional
            When each row came under observation, before its time: left truncation.
        id : array of shape (n_samples,), or the name of a column, optional
            Whose row it is, where persons have several rows: start-stop rows with entry times, for
            covariates that change and events that recur. Leaves count persons then, and so does
            ``min_samples_leaf``: a person whose rows are in several leaves counts in each of them
            by the share of the time at risk. A row that is cut in two changes nothing.
        init : fitted model or Tree, optional
            A tree to start from, such as last week's model: each of its questions becomes the one
            of the same column that divides these rows most alike, and the result is at least as
            good as the tree of these. It matters where a limit ends the search, and makes a search
            over every threshold faster; a proven optimum is the same without it.

        Returns
        -------
        SurTree
            The estimator itself.

        Examples
        --------
        >>> from surtree import SurTree
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> first = SurTree(max_depth=2).fit(X[:600], y[:600])
        >>> SurTree(max_depth=2).fit(X, y, init=first).status_
        'optimal'
        """
        self._search(RowInputs(X, y, sample_weight, entry, id), init)
        return self

    def _search(self, given: RowInputs, init: Any) -> FitProblem:
        """Read the rows, find the best tree of every size and adopt one; return the problem."""
        start = perf_counter()
        limits = check_parameters(self)
        time_limit = read_time_limit(self.time_limit)
        # Reading the table and building the trees count as well.
        reading = Clock(None if time_limit is None else max(READING * time_limit, LEAST_READING))
        problem: FitProblem
        if is_lazy(given.X):
            n_rows = 0  # how many there are does not matter: they are merged
            problem = self._read_lazy(limits, given, init)
        else:
            data = read_training_data(self, given)
            n_rows = data.table.n_rows
            limits = self._limits(data.target)
            problem = make_problem(encoder_of(self), data, clock=reading)
        if time_limit is not None:
            before = perf_counter() - start
            # Without time left, the search ends at once.
            time_limit = max(time_limit - before - _afterwards(time_limit, n_rows, limits), 1e-9)
        known = None if init is None else nearest_topology(tree_of(init), problem)
        with searching("Searching", self.verbose, self.progress, time_limit) as progress:
            path = find_path(
                problem,
                SearchSettings(limits, time_limit, self.n_jobs, self.memory_limit, progress, known),
            )
        adopt_size(self, problem, path, choose_size(self, path))
        self.follow_up_ = problem.follow_up
        if self.status_ == "time_limit":
            unread = f"; {problem.n_unread} columns were not even read" if problem.n_unread else ""
            warnings.warn(
                "The time limit ended the search: this is the best tree so far, with a gap of "
                f"{self.gap_:.1%}{unread}. Allow more time, or fewer splits.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        elif self.status_ == "rounded" and self.gap_ > SMALL_GAP:
            warn_of_rounding(f"The tree is proven up to a gap of {self.gap_:.2g}")
        return problem

    def _limits(self, target: Target) -> Limits:
        """Return the limits of the search for these rows."""
        return check_parameters(self)

    def _read_lazy(self, limits: Limits, given: RowInputs, init: Any) -> FitProblem:
        """Read a table that is not in memory."""
        if given.id is not None or init is not None:
            name = "id" if given.id is not None else "init"
            raise ValueError(f"{name} is for tables in memory: leave it out, or collect the table")
        if type(self)._read_target is not TreeEstimator._read_target:
            require_in_memory(given.X, type(self).__name__)
        source = source_of(given.X)
        names = target_names(given.y, given.sample_weight, given.entry, source.names)
        reader = Reader(source, n_threads(self.n_jobs), self.progress, self.verbose)
        return read_problem(self, RelativeRisk(float(self.shrinkage)), limits, names, reader)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, as JSON and without code.

        Parameters
        ----------
        path : str or path
            The file, such as ``model.json``; one that is there is replaced.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from surtree import SurTree
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> with TemporaryDirectory() as directory:
        ...     SurTree(max_depth=2).fit(X, y).save(Path(directory) / "model.json")
        ...     model = SurTree.load(Path(directory) / "model.json")
        >>> model.status_, model.predict_median(X.head(3)).tolist()
        ('optimal', [2456.0, 1684.0, 1684.0])
        """
        check_is_fitted(self)
        write_model(self, Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the estimator that `save` wrote; `surtree.load` reads models of any class.

        Parameters
        ----------
        path : str or path
            The file. No code in it is run, so it may come from anywhere.

        Returns
        -------
        SurTree
            It predicts exactly as the saved one, and has its certificate and its path; of a file
            that was edited since, the ``status_`` is "edited" and the certificate is void. A
            ``progress`` hook is not saved.
        """
        parameters, attributes = read_model(Path(path))
        # Files of version 1 have a parameter that was removed.
        parameters.pop("refine", None)
        try:
            model = cls(**cls._read_parameters(parameters))
            check_parameters(model)
        except OtherKindError as error:
            raise ValueError(f"{path}: {error}, or with surtree.load, which reads any") from None
        except (TypeError, ValueError) as error:
            raise damaged(Path(path), error) from None
        for name, value in attributes.items():
            setattr(model, name, value)
        if not model._is_objective(model.tree_.objective):
            fault = "its tree was fitted with another shrinkage or objective"
            raise damaged(Path(path), ValueError(fault))
        return model

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return plain_parameters(self.get_params())

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that a file has, or raise a ValueError for those of others."""
        if "causes" in saved:
            raise OtherKindError("it is of competing risks: load it with CompetingRisksTree.load")
        if "min_events_arm" in saved:
            raise OtherKindError("it is of treatment effects: load it with EffectTree.load")
        if "prior_events" in saved:
            raise OtherKindError("it is a taught tree: load it with TaughtTree.load")
        return saved

    def _is_objective(self, objective: Objective) -> bool:
        """Return whether the tree of a file has the objective that the parameters ask for."""
        return objective == RelativeRisk(self.shrinkage)

    @property
    def unpenalised_loss_(self) -> float:
        """The loss of the tree on its training rows, without the penalty of shrinkage."""
        check_is_fitted(self)
        return self.tree_.unpenalised_loss


def _afterwards(time_limit: float, n_rows: int, limits: Limits) -> float:
    """Return the seconds that are kept for building the trees."""
    asked = n_rows if limits.max_splits is None else limits.max_splits
    n_splits: int = min(2**limits.max_depth - 1, n_rows, asked)
    wanted = AFTERWARDS + AFTERWARDS_PER_ROW * n_rows + AFTERWARDS_PER_SPLIT * n_splits
    return min(wanted, time_limit / 10 if time_limit < 1 else time_limit / 4)


def check_parameters(model: SurTree) -> Limits:
    """Return the limits of the search, or raise an error that names the parameter at fault."""
    require_whole("max_depth", model.max_depth, 0, MAX_DEPTH)
    if model.max_splits is not None:
        require_whole("max_splits", model.max_splits, 0)
    require_whole("min_samples_leaf", model.min_samples_leaf, 1)
    require_whole("min_events_leaf", model.min_events_leaf, 0)
    require_not_negative("ccp_alpha", model.ccp_alpha)
    require_shrinkage(model.shrinkage)
    encoder_of(model)._check_parameters()
    require_jobs(model.n_jobs)
    if model.memory_limit is not None:
        require_whole("memory_limit", model.memory_limit, 0)
    require_hook(model.progress)
    require_verbose(model.verbose)
    require_leaf_curve(model.leaf_curve)
    read_time_limit(model.time_limit)
    return model._limits_type(
        max_depth=model.max_depth,
        max_splits=model.max_splits,
        min_samples_leaf=model.min_samples_leaf,
        min_events_leaf=model.min_events_leaf,
    )


def choose_size(model: SurTree, path: SizePath) -> Size:
    """Return the size with the smallest penalised loss, the smallest one if several have it."""
    penalty = float(model.ccp_alpha)
    return min(path.sizes, key=lambda size: (size.loss + penalty * size.splits, size.splits))


def adopt_size(model: Model, problem: FitProblem, path: SizePath, best: Size) -> Model:
    """Set the fitted attributes of a model to one of the sizes that were found."""
    chosen = problem.build_with_at_risk(path.topologies[best.splits], model.leaf_curve)
    model.path_ = tuple(size.with_tree_of(best, chosen) for size in path.sizes)
    model.tree_ = chosen
    model.encoder_ = problem.encoder
    model.surtree_version_ = VERSION
    model.time_unit_ = model.horizons_ = model.follow_up_ = None
    model.held_out_ = model.sizes_ = model.tuning_ = model.validation_ = None
    model.row_digest_, model.receipt_ = row_digest(problem), None
    model.n_cuts_, model.n_evaluated_ = path.n_cuts, path.n_evaluated
    model.proven_depth_ = path.proven_depth
    model.loss_ = best.loss
    model.lower_bound_ = path.lower_bound(best, float(model.ccp_alpha))
    model.gap_ = (best.loss - model.lower_bound_) / best.loss if best.loss > 0 else 0.0
    model.status_ = path.status_of(best, float(model.ccp_alpha))
    return model
