"""SurTree, the scikit-learn estimator: from a table and a survival target to the optimal tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from surtree._support.parameters import LeafCurveKind
from surtree._support.status import Status
from surtree.cuts.encoder import Encoder
from surtree.data.named import RowInputs
from surtree.data.target import Target
from surtree.estimators.base import TreeEstimator
from surtree.estimators.fit import fit_tree, read_lazy
from surtree.estimators.model_file import FORMAT, model_dict, read_model
from surtree.estimators.parameters import CutParameters, own_limits
from surtree.estimators.saved import SavedEstimator
from surtree.fitting.training import FitProblem
from surtree.outcomes.risk_groups import RiskGroups
from surtree.solver.problem import Limits, ProgressHook
from surtree.survival.follow_up import FollowUp
from surtree.survival.objective import Objective, RelativeRisk
from surtree.tree.provenance import Kept, Recalibration, Receipt
from surtree.tree.size import Size
from surtree.validation import Validation
from surtree.validation.held_out import HeldOutScores
from surtree.validation.sizes import SizeScores, Tuning


class _Fitted(SavedEstimator, TreeEstimator):
    """What `fit` learns; apart from parameters, which are the fields of a dataclass."""

    path_: tuple[Size, ...]
    held_out_: HeldOutScores | None
    sizes_: SizeScores | None
    tuning_: Tuning | None
    validation_: Validation | None
    risk_groups_: RiskGroups | None
    recalibration_: Recalibration | None
    row_digest_: tuple[int, ...] | None
    receipt_: Receipt | None
    kept_: Kept | None
    free_loss_: float | None
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


@dataclass(eq=False, repr=False)
class SurTree(CutParameters, _Fitted):
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
    monotone : mapping of str to 1 or -1, optional
        Columns with which the risk may only rise (1) or only fall (-1), anywhere in the tree: of
        any two people who differ in this column alone, whether or not such people are among the
        rows, the tree never gives the one with the higher value a lower theta (1), or a higher one
        (-1). People are any combination of values that the cuts tell apart; a missing value is
        neither higher nor lower, and thetas that differ by less than a billionth are the same. Of
        categories the order is that of the column: they must be two, or ordered. The tree is the
        best of all that satisfy this, by enumeration in the order of loss.
    max_columns : int, optional
        About how many columns the tree may ask.
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
        is out of time, but has proven its tree, is "optimal" too; "memory_limit" is one under
        ``monotone`` or ``max_columns`` that came to the end of its memory; of other sizes the
        bounds in ``path_`` say what is proven. "rounded" is a search to the end where weights are
        so uneven that rounding leaves a gap of more than 1e-9. A model loaded from a file that was
        edited by hand has the status "edited": nothing is proven, the lower bounds are zero and the
        gap is one. A tree that was chosen by hand (`surtree.keep`) has the status "kept".
    recalibration_ : Recalibration or None
        How the model was recalibrated on other rows (`surtree.recalibrate`).
    kept_ : Kept or None
        What is known of a tree that was chosen by hand.
    free_loss_ : float or None
        With ``monotone`` or ``max_columns``, the loss of the best tree without them; else None.
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
    risk_groups_ : RiskGroups or None
        What `surtree.risk_groups` made of the leaves: None until you set it. `save` keeps it, and
        reports, methods and the table of leaves show it.
    comparison_ : Comparison or None
        What `surtree.compare` says of this model and others: None until you set it. `save` keeps
        it, and `write_report` shows it.
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
                                       leaf    n  events  theta  median (baseline)
    all rows
    ├─ positive_nodes <= 3
    │  ├─ tumor_size <= 12                A   26       2  0.125             > 2456  few events
    │  └─ tumor_size > 12                 B  350     117  0.682               2456
    └─ positive_nodes > 3
       ├─ progesterone_receptor <= 26     C  161     110    2.4                729
       └─ progesterone_receptor > 26      D  149      70   1.07               1684
    1 leaf has fewer than 5 events: its numbers say little about new data; try shrinkage, ...
    >>> model.predict(X.head(3)).round(3).tolist()
    [0.682, 1.065, 1.065]
    """

    max_depth: int = 3
    max_splits: int | None = None
    _: KW_ONLY
    min_samples_leaf: int = 1
    min_events_leaf: int = 0
    ccp_alpha: float = 0.0
    shrinkage: float = 0.0
    monotone: Mapping[str, int] | None = None
    max_columns: int | None = None
    leaf_curve: LeafCurveKind = "baseline"
    time_limit: float | None = None
    n_jobs: int | None = None
    memory_limit: int | None = None
    progress: ProgressHook | None = None
    verbose: int = 0

    # These attributes are None until others set them.
    _known_later: ClassVar[tuple[str, ...]] = (
        *("time_unit_", "horizons_", "follow_up_", "held_out_", "sizes_", "tuning_"),
        *("validation_", "receipt_", "comparison_", "_teaching", "kept_", "free_loss_"),
        *("risk_groups_", "recalibration_"),
    )
    _format: ClassVar[str] = FORMAT
    _kind: ClassVar[str] = "of one event"
    # A search looks for this, in words.
    _aim: ClassVar[str] = "best tree"

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
        fit_tree(self, RowInputs(X, y, sample_weight, entry, id), init)
        return self

    @property
    def unpenalised_loss_(self) -> float:
        """The loss of the tree on its training rows, without the penalty of shrinkage."""
        check_is_fitted(self)
        return self.tree_.unpenalised_loss

    @property
    def _refuses_samples(self) -> str:
        """Why it cannot be fitted on samples of rows; empty where it can."""
        if getattr(self, "kept_", None) is None:
            return ""
        return (
            "The tree of this model was chosen by hand, and on a sample nobody can choose: "
            "validate sklearn.base.clone(model), the modelling without the choice, or evaluate "
            "this tree on other rows."
        )

    def _limits(self, target: Target) -> Limits:
        """Return the limits of the search for these rows."""
        return own_limits(self)

    def _read_lazy(self, given: RowInputs, init: Any) -> FitProblem:
        if init is not None:
            raise ValueError("init is for tables in memory: leave it out, or collect the table")
        return read_lazy(self, given, self.progress)

    def _file_content(self) -> dict[str, Any]:
        return model_dict(self)

    @classmethod
    def _read_file(cls, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        return read_model(path)

    def _fault(self) -> str | None:
        if self._is_objective(self.tree_.objective):
            return None
        return "its tree was fitted with another shrinkage or objective"

    def _is_objective(self, objective: Objective) -> bool:
        """Return whether the tree of a file has the objective that the parameters ask for."""
        return objective == RelativeRisk(self.shrinkage)
