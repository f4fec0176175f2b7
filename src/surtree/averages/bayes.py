"""SurTreeBayes: stages of the exact average over all trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from surtree._support.package import user_level
from surtree._support.parallel import FoldProgress
from surtree._support.parameters import read_time_limit, require_whole
from surtree._support.status import Status
from surtree._support.types import Floats
from surtree.averages._bayes_file import BAYES_FILE
from surtree.averages._model_file import ModelFile
from surtree.averages._stages import MergedRows, Stage, next_stage, risk_of
from surtree.averages.base import ProportionalEstimator
from surtree.averages.ridge_cox import RidgeCox, cross_fit
from surtree.cuts.categories import CategoryCuts
from surtree.cuts.thresholds import GivenThresholds
from surtree.data.named import RowInputs, require_in_memory
from surtree.data.names import column_names
from surtree.data.table import Table
from surtree.estimators.parameters import of_value, or_none, require_parameters, whole
from surtree.fitting.training import FitProblem, TrainingData
from surtree.solver.average import MAX_DEPTH, PairTables, TreePrior
from surtree.solver.problem import Limits
from surtree.solver.verbose import counting
from surtree.survival.objective import RelativeRisk
from surtree.tree.tree import Tree
from surtree.words.numbers import plural

# Bytes of the tables of all stages.
_MOST_BYTES = 2**31
# A Cox model leaves less to be asked.
_STAGES, _STAGES_AFTER_COX = 16, 4


def _require_cox(cox: Any) -> None:
    if cox not in (None, "offset"):
        raise ValueError(f'cox must be None or "offset"; got {cox!r}.')


@dataclass(eq=False, repr=False)
class SurTreeBayes(ProportionalEstimator):
    """The average over all survival trees, exactly, in stages that correct each other.

    A stage is the posterior mean over *all* trees of a depth: none is drawn, none is left out. A
    leaf has a Gamma prior, whose strength is averaged over too; a node that can be split is split
    with probability one half; each column is as likely as another, and so is each way in which it
    divides the rows. The risk of a row is the product over stages; before each stage, the expected
    events are those of the stages before. Nothing is tuned: neither the number of stages nor their
    depth is chosen by evidence.

    It is no tree to read, but the best predictor here: see `TaughtTree` for the one readable tree
    that is nearest to it. It shows no intervals: those that were tried, of exact draws and of a
    Bayesian bootstrap, cover 37% to 65% at a level of 90%. There is one kind of event and no arm:
    see `CompetingRisksTree` and `EffectTree`.

    Parameters
    ----------
    max_depth : {0, 1, 2, 3}, default=2
        The depth of the trees of a stage. Three takes some thirty times as long, and pays where
        interactions are deep: where the truth is a tree of depth four it is ahead of two on 30 of
        30 synthetic tables in C, and so is the tree that it teaches on 26.
    n_stages : int or None, default=None
        The number of stages. None is 16, or 4 where a Cox model comes first.
    cox : {"offset"} or None, default=None
        "offset": a Cox model comes first, and the stages correct it. Its penalty, a ridge, is tuned
        by ten-fold cross-validation, and the events that the first stage expects of a training row
        are those of the models of the other folds. It has numbers as they are, with the mean for a
        missing value, categories as questions of yes and no, and whether a value is missing. For a
        new row its log risk stays in the range that it had on training rows.
    min_samples_leaf : int, default=5
        The least rows of a leaf (persons, where `fit` is told whose rows they are).
    n_thresholds, max_categories, min_support, category_cuts, thresholds, n_jobs : optional
        As in `SurTree`.
    time_limit : float or None, default=None
        Seconds after which no stage is begun or ended: the risk is then that of the stages so far.
    progress : callable, optional
        Called with a `FoldProgress` after each stage; where it returns something true, the model
        has the stages so far, and the status "interrupted".
    verbose : int, default=0
        1 to write a line on standard error that says how many stages are done.

    Attributes
    ----------
    column_probability_ : array of float of shape (n_features,)
        The probability that a tree of the first stage asks about each column at all, exactly.
    first_questions_ : dict of str to float
        The probability of each first question of the first stage, from the likeliest on; one minus
        their sum is that of no question.
    cox_ : object or None
        With ``cox``, its coefficients, to be printed as hazard ratios: of a standard deviation
        more, or of a yes. What the stages add to them is the rest of the model, so that the
        attributes above are about what the Cox model leaves to be asked.
    stage_evidence_ : array of float of shape (n_stages,)
        The logarithm of the Bayes factor of each stage against no question. Above zero the data
        speak for more trees, below for none.
    n_stages_ : int
        The number of stages.
    status_ : Status
        "optimal" where all stages were added up, "time_limit" or "interrupted" where some are
        missing, "edited" of a file that was edited.
    baseline_ : Baseline
        The baseline hazard of all rows.
    validation_, time_unit_, horizons_, follow_up_ : object
        As in `SurTree`.
    unique_times_, n_features_in_, feature_names_in_ : object
        As in `SurTree`.

    Examples
    --------
    >>> from surtree import SurTreeBayes
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTreeBayes().fit(X, y)
    >>> model.predict(X.head(3)).round(2).tolist()
    [0.75, 0.88, 1.05]
    >>> rule, probability = next(iter(model.first_questions_.items()))
    >>> rule, round(probability, 2)
    ('positive_nodes > 3', 0.66)
    """

    max_depth: int = 2
    n_stages: int | None = None
    _: KW_ONLY
    cox: Literal["offset"] | None = None
    min_samples_leaf: int = 5
    n_thresholds: int | None = 10
    max_categories: int = 10
    min_support: float = 0.01
    category_cuts: CategoryCuts = "subsets"
    thresholds: GivenThresholds | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    progress: Callable[[FoldProgress], object] | None = None
    verbose: int = 0

    stages_: tuple[Stage, ...] = field(init=False)
    cox_: RidgeCox | None = field(init=False)
    status_: Status = field(init=False)
    column_probability_: Floats = field(init=False)
    first_questions_: dict[str, float] = field(init=False)

    _file: ClassVar[ModelFile] = BAYES_FILE
    _format: ClassVar[str] = BAYES_FILE.format
    _checks = ProportionalEstimator._checks | {
        "max_depth": whole(0, MAX_DEPTH),
        "n_stages": or_none(whole(1)),
        "cox": of_value(_require_cox),
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
    ) -> Self:
        """Add up all trees, stage by stage.

        Parameters
        ----------
        X, y, sample_weight, entry, id
            As in `SurTree.fit`; a lazy table where its rows, merged by their bins, fit into memory,
            and no Cox model comes first.
        """
        start = perf_counter()
        require_parameters(self)
        if self.cox is not None:
            require_in_memory(X, 'SurTreeBayes(cox="offset")')
        problem = self._read_problem(RowInputs(X, y, sample_weight, entry, id))
        self._fit_problem(problem, start)
        return self

    def draw_trees(
        self,
        n_trees: int,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | str | None = None,
        entry: ArrayLike | str | None = None,
        id: ArrayLike | str | None = None,
        *,
        seed: int = 0,
    ) -> list[Tree]:
        """Draw trees from the posterior of the first stage, exactly and independently.

        A tree is drawn with its posterior probability given the rows, and with it the strength
        ``a`` of the prior of its leaves. A leaf with ``E`` events, ``H`` expected by the baseline,
        has its posterior mean: ``theta = (E + a) / (H + a)``. Trees keep no at-risk counts: their
        curves are multiples of the baseline. The model is not changed. The spread of trees is no
        interval: at a level of 90% it covers 45% to 55% of what is true for a row.

        Parameters
        ----------
        n_trees : int
            How many trees.
        X, y, sample_weight, entry, id
            As in `SurTree.fit`, for tables in memory: a model does not keep its rows.
        seed : int, default=0
            The same seed draws the same trees, on any number of threads.

        Examples
        --------
        >>> from surtree import SurTreeBayes
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> trees = SurTreeBayes().draw_trees(200, X, y)
        >>> first = [tree.cuts[tree.cut[0]].rule for tree in trees if tree.n_splits]
        >>> 0.6 < first.count("positive_nodes > 3") / len(trees) < 0.75
        True
        """
        require_parameters(self)
        require_whole("n_trees", n_trees, 1)
        require_whole("seed", seed, 0, 2**63 - 1)
        if self.cox is not None:
            raise ValueError("draw_trees is for cox=None: its trees multiply the baseline alone.")
        given = RowInputs(X, y, sample_weight, entry, id).in_memory("draw_trees")
        reader: Self = clone(self)
        problem = reader._read_problem(given)
        rows, prior = reader._merge(problem), TreePrior()
        draws = rows.problem(rows.expected * (rows.events.sum() / rows.expected.sum())).draw(
            self._stage_limits,
            prior,
            n_draws=int(n_trees),
            seed=int(seed),
            time_limit=read_time_limit(self.time_limit),
            n_jobs=self.n_jobs,
        )
        if draws.status != "optimal":
            raise ValueError("time_limit ended the draws: there are no trees. Allow more time.")
        problems = [problem.with_objective(RelativeRisk(a)) for a in prior.strengths]
        return [
            problems[strength].build([topology])[0].tree
            for topology, strength in zip(draws.topologies, draws.strength.tolist(), strict=True)
        ]

    @property
    def n_stages_(self) -> int:
        """The number of stages."""
        check_is_fitted(self)
        return len(self.stages_)

    @property
    def stage_evidence_(self) -> Floats:
        """The logarithm of the Bayes factor of each stage against no question."""
        check_is_fitted(self)
        return np.array([stage.log_bayes_factor for stage in self.stages_])

    def _table(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        order = np.argsort(-self.column_probability_, kind="stable")
        names = column_names(self)
        rows: list[tuple[str, ...]] = [
            (str(names[k]), f"{self.column_probability_[k]:.1%}") for k in order.tolist()
        ]
        return ("column", "probability that a tree asks about it"), rows

    def _fit_problem(
        self, problem: FitProblem, start: float | None = None, *, needs_one: bool = False
    ) -> Floats:
        """Add up the trees of rows that were read, and return the risk of each of these.

        Where a model is needed, the time limit does not end the first stage.
        """
        start = perf_counter() if start is None else start
        offset = self._fit_cox(problem.data)
        rows = self._merge(problem, offset)
        self._require_memory(rows)
        self._add_stages(rows, start, needs_one=needs_one)
        risk = risk_of(self.stages_, rows.binned.bins)[rows.index]
        return risk if offset is None else offset * risk

    def _fit_cox(self, data: TrainingData) -> Floats | None:
        """Fit the Cox model, if there is one, and return the cross-fitted risk of each row."""
        self.cox_, target = None, data.target
        if self.cox is None:
            return None
        table = data.table.take(np.flatnonzero(data.present))
        fit = cross_fit(table, target, data.sums.weight)
        self.cox_ = fit.model
        return np.asarray(np.exp(fit.log_risk))

    @property
    def _stage_limits(self) -> Limits:
        return Limits(int(self.max_depth), min_samples_leaf=int(self.min_samples_leaf))

    @property
    def _n_stages(self) -> int:
        """How many stages are asked for."""
        default = _STAGES if self.cox is None else _STAGES_AFTER_COX
        return default if self.n_stages is None else int(self.n_stages)

    def _add_stages(self, rows: MergedRows, start: float, *, needs_one: bool) -> None:
        """Add up one stage after the other, until all are done or something ends them."""
        prior, time_limit = TreePrior(), read_time_limit(self.time_limit)
        risk = np.ones(rows.events.size)
        stages: list[Stage] = []
        self.status_, n_stages = "optimal", self._n_stages
        with counting("Averaging", "stages", self.verbose, self.progress) as progress:
            for done in range(n_stages):
                left = None
                if time_limit is not None and (stages or not needs_one):
                    left = time_limit - (perf_counter() - start)
                if left is not None and left <= 0:
                    self.status_ = "time_limit"
                    break
                scale = rows.events.sum() / (risk * rows.expected).sum()
                average = rows.problem(scale * risk * rows.expected).average(
                    self._stage_limits, prior, time_limit=left, n_jobs=self.n_jobs
                )
                if average.status != "optimal":
                    self.status_ = average.status
                    break
                if not stages:
                    self._keep_posterior(average.asked, average.first)
                stages.append(next_stage(average, rows, scale, prior))
                risk *= stages[-1].risk(rows.binned.bins)
                now = FoldProgress(done + 1, n_stages, perf_counter() - start)
                if progress is not None and progress(now) and done + 1 < n_stages:
                    self.status_ = "interrupted"
                    break
        if not stages:
            raise ValueError(
                "time_limit ended the first stage: there is no model. Allow more time, fewer "
                "columns or thresholds, or a smaller max_depth."
            )
        self.stages_ = tuple(stages)
        if self.status_ == "time_limit":
            change = np.ptp(np.log(stages[-1].risk(rows.binned.bins)))
            warnings.warn(
                f"The time limit ended the average after {plural(len(stages), 'stage')} of "
                f"{n_stages}; the last one changed risks by a factor of up to "
                f"{np.exp(change):.3g}. Allow more time, or fewer stages.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )

    def _keep_posterior(self, asked: Floats, first: Floats) -> None:
        """Keep what the first stage says of columns and questions."""
        self.column_probability_ = np.zeros(self.n_features_in_)
        self.column_probability_[self.binning_.column_index] = np.clip(asked, 0.0, 1.0)
        order = np.argsort(-first, kind="stable")
        cuts = self.binning_.cuts
        self.first_questions_ = {
            cuts[k].rule: float(first[k]) for k in order.tolist() if first[k] > 0
        }

    def _require_memory(self, rows: MergedRows) -> None:
        """Refuse tables that are too large to keep, with what would make them smaller."""
        n_bins = rows.binned.n_bins
        n_tables, n_cells = PairTables.shape(n_bins, int(self.max_depth))
        size = 8 * self._n_stages * n_tables * n_cells
        if size > _MOST_BYTES:
            raise ValueError(
                f"The tables of {self._n_stages} stages over {n_bins.size} columns with "
                f"{int(n_bins.sum())} bins take {size / 2**30:.1f} GiB, more than "
                f"{_MOST_BYTES / 2**30:.0f}: use fewer n_stages or n_thresholds, or a smaller "
                "max_depth. A TaughtTree takes such a teacher, as in teacher=SurTreeBayes(1)."
            )

    def _risk_of_table(self, table: Table) -> Floats:
        risk = risk_of(self.stages_, self.binning_.find(table))
        return risk if self.cox_ is None else risk * np.exp(self.cox_.log_risk(table))
