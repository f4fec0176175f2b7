"""Validation by resampling: everything that builds a model is repeated on samples of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.parallel import FoldProgress, run_all
from surtree._support.parameters import (
    is_whole,
    require_hook,
    require_jobs,
    require_random_state,
    require_verbose,
    require_whole,
)
from surtree._support.status import warn_of_limit
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.rows import read_target_rows, warn_of_columns
from surtree.fitting.training import reader_of
from surtree.metrics import Calibration, DecisionCurve
from surtree.metrics.reason import Score
from surtree.outcomes.measures import Predictions, pool
from surtree.solver.verbose import counting, quiet
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.step_function import round_horizons
from surtree.tree.tree import Tree
from surtree.validation._by_group import GroupPerformance
from surtree.validation._corrections import Interval, correct, mean_of_known
from surtree.validation._measures import Measure, observed_curves
from surtree.validation._predictions import (
    FittedTree,
    has_tree,
    predicting,
    reduced,
)
from surtree.validation._rows import (
    JudgedRows,
    Positions,
    fit_on,
    judged,
    require_fit_parameters,
)
from surtree.validation._stability import (
    FEWEST_SAMPLES,
    LeafStability,
    column_uses,
    jaccard,
    leaf_stabilities,
)
from surtree.validation.results import Method, Repetitions, Validation

# How many predictions are kept for calibration and stability; of more rows, some are drawn.
_MOST_KEPT = 5_000_000
# How often the predictions of folds are drawn for intervals, over all repetitions.
_DRAWS = 200
# At how many times, and for how many of its rows, limits of the curve of a leaf are found.
_CURVE_TIMES, _LEAF_ROWS = 20, 100


@dataclass(frozen=True, eq=False)
class _Repetition:
    """What one repetition says."""

    resampled: Floats
    original: Floats
    held_out: Floats
    predicted: Floats
    unseen: NDArray[np.bool_]
    agreement: Floats
    models: tuple[Any, ...]
    by_group: tuple[GroupPerformance, ...] = ()


@dataclass(frozen=True, eq=False)
class _Task:
    """What all repetitions have in common."""

    model: Any
    rows: JudgedRows
    shown: Positions  # the rows whose predictions are kept
    leaves: Positions | None  # the index of the leaf of each row, in the tree of all rows
    n_leaves: int
    level: float

    def agreement(self, predicted: Predictions) -> Floats:
        if self.leaves is None or predicted.leaf is None:
            return np.empty(0)
        return jaccard(self.leaves, predicted.leaf, self.n_leaves, self.rows.uneven_weight)

    def predicted(self, predicted: Predictions) -> Floats:
        return predicted.take(self.shown).main.at(self.rows.horizon)


def validate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    n_bootstraps: int = 200,
    method: Method = "632+",
    n_folds: int = 10,
    groups: ArrayLike | None = None,
    id: ArrayLike | None = None,
    treatment: ArrayLike | None = None,
    horizons: ArrayLike | None = None,
    level: float = LEVEL,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[FoldProgress], object] | None = None,
    verbose: int = 0,
) -> Validation:
    """Estimate how well a way of building models will predict new data.

    The estimator is cloned and fitted on each sample, so that everything it does, thresholds,
    tuning and shrinkage included, is repeated.

    Parameters
    ----------
    model : estimator
        Of this package, or any survival estimator in scikit-learn's way with ``predict`` (higher
        is riskier) and ``predict_survival_function``. It is cloned; whether it is fitted does not
        matter.
    X, y, sample_weight, entry
        As in `SurTree.fit`. An estimator that takes weights gets a sample as weights, so that
        copies of a row are never on both sides of a fold when it tunes.
    n_bootstraps : int, default=200
        The number of bootstrap samples, or of repetitions of folds. Fewer than 20 samples give no
        intervals.
    method : {"632+", "optimism", "folds", "groups"}, default="632+"
        - "632+" weighs the apparent value and that of rows outside the samples, the more of the
          latter the more a model overfits (Efron and Tibshirani).
        - "optimism" subtracts what models lose from their own sample to all rows (Harrell, as R's
          ``rms::validate``). It is too small a correction for models that overfit much, such as
          deep trees that are not tuned: intervals of slopes seldom hold the truth on noise.
        - "folds" takes the predictions of models that were fitted on the other folds. Its
          intervals take these models as given, so they are too narrow.
        - "groups" predicts each of the ``groups``, such as centres, by a model of all others:
          internal-external validation. ``Validation.groups`` has the performance in each, from
          ``n_bootstraps`` draws of its persons.
    n_folds : int, default=10
        The number of folds in each repetition, for ``method="folds"``.
    groups : array of shape (n_samples,), optional
        Rows with the same label, such as those of a centre, stay together; by default, those with
        the same ``id``.
    id : array of shape (n_samples,), optional
        Whose row it is, as in `SurTree.fit`. Predictions are judged row by row, each by its own
        covariates: Uno's C and the Brier score, which need one prediction a person, are then not
        numbers where persons have several rows with entry times.
    treatment : array of shape (n_samples,), optional
        Of an `EffectTree`, the arm of each row.
    horizons : array of float, optional
        Times for calibration; by default the median time of the events. After the last
        follow-up, with a `BeyondFollowUpWarning`, what is asked about them is not a number.
    level : float, default=0.95
        The level of intervals.
    random_state : int, default=0
        Where the samples come from.
    n_jobs : int or None, default=None
        How many repetitions run at the same time, through joblib: in processes, unless
        ``joblib.parallel_config`` names another backend. The result does not depend on it.
    progress : callable, optional
        Called with a `FoldProgress` after each repetition; where it returns something true, the
        validation ends with what it has. So does Ctrl-C.
    verbose : int, default=0
        1 to write a line on standard error that says how many samples are done; the model itself
        writes none.

    Returns
    -------
    Validation
        ``print`` shows a table. Uno's C counts the events before the 90% quantile of the times,
        where the interval that the Brier score is integrated over ends. Of competing risks, there
        are measures of each cause that counts, ``cause_1_concordance`` (Wolbers' C) and so on. Of
        an `EffectTree`, survival is that in the arm of each row, and there are two measures of
        effects: the gain in survival that is predicted less that observed, and the C-for-benefit.

    Notes
    -----
    The C-for-benefit is how often, of two pairs of a treated and an untreated row, the one with
    the greater predicted gain in survival at the horizon has the greater observed one; 0.5 is
    chance. Rows are paired with all those of about the same predicted gain, by the Kaplan-Meier
    estimates of both arms, where van Klaveren and others draw one match for each.

    With "632+", Harrell's and Uno's C and the calibration slope are by the .632+ rule. The Brier
    score and the mean calibration are by the .632 rule, since there is no value that they cannot
    fall below without information. Of the slopes outside the samples, the median is taken: a sample
    whose leaves have no events may have any. Intervals come from the spread of the values over the
    rows outside the samples, and include the Monte Carlo error of so many samples. Uno's C counts
    pairs whose first event is before the 90% quantile of all times, where the Brier score ends too.

    How far the corrected values are off, and how often the intervals hold the truth, on simulated
    tables: docs/results/validation.md.

    Examples
    --------
    >>> from surtree import SurTree, validate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> result = validate(SurTree(max_depth=2), X, y, n_bootstraps=20)
    >>> result.n_repetitions
    20
    >>> concordance = result["concordance"]
    >>> bool(concordance.value < concordance.apparent)
    True
    """
    require_whole("n_bootstraps", n_bootstraps, 1)
    require_whole("n_folds", n_folds, 2)
    require_random_state(random_state)
    require_jobs(n_jobs)
    require_hook(progress)
    require_verbose(verbose)
    require_level(level)
    if method not in _REPEAT:
        raise ValueError(f"method must be one of {tuple(_REPEAT)}; got {method!r}.")
    given = RowInputs(X, y, sample_weight, entry, id, groups, treatment).in_memory("validate")
    require_fit_parameters(model, given)
    read = reader_of(model)
    rows = judged(read_target_rows(given, read), horizons)
    if getattr(model, "_warns_of_columns", False):  # the fits below are not to warn again
        warn_of_columns(given, read)
    model = quiet(model)
    fitted, predicted = fit_on(model, rows, np.arange(rows.n))
    rows.warn_of_horizons(predicted.last_time)
    warn_of_limit(getattr(fitted, "status_", "optimal"))
    rows = rows.measured_as(fitted)
    is_tree = has_tree(fitted)
    task = _Task(
        model,
        rows,
        _shown(rows.n, int(n_bootstraps), random_state),
        predicted.leaf,
        fitted.tree_.n_leaves if is_tree else 0,
        level,
    )
    n_repetitions = int(n_bootstraps)
    repeat = partial(_REPEAT[method], task)
    if method == "folds":
        repeat = partial(repeat, n_folds=int(n_folds), n_draws=-(-_DRAWS // n_repetitions))
    if method == "groups":
        if groups is None:
            raise ValueError("method='groups' leaves out each group: say which, as groups=centre.")
        repeat = partial(repeat, n_folds=0, n_draws=n_repetitions)
        n_repetitions = 1
    seeds = np.random.SeedSequence(random_state).spawn(n_repetitions)
    with counting("Validating", "samples", verbose, progress) as hook:
        finished = run_all(
            partial(_repeat_or_none, repeat),
            seeds,
            len(seeds),
            n_jobs=n_jobs,
            # A tuned tree spends most of its time in Python, where threads wait for each other.
            prefer="processes",
            progress=hook,
            keeps_done=True,
        )
    done = [one for one in finished.results.values() if one is not None]
    n_failed = len(finished.results) - len(done)
    if not done:
        raise ValueError(
            f"None of {n_failed} samples has a model: there are too few rows with events."
        )
    repetitions = Repetitions(
        resampled=np.concatenate([one.resampled for one in done]),
        original=np.concatenate([one.original for one in done]),
        held_out=np.stack([one.held_out for one in done]),
        predicted=np.stack([one.predicted for one in done]),
        unseen=np.stack([one.unseen for one in done]),
        rows=task.shown,
        whole=task.predicted(predicted),
        model=predicting(fitted),
        models=tuple(model for one in done for model in one.models),
    )
    curve, decision = _honest_curves(rows, repetitions, level, predicted.cause)
    trees = [one.tree for one in repetitions.models if isinstance(one, FittedTree)]
    result = Validation(
        method=method,
        measures=_measures(method, rows, rows.scores(predicted), repetitions, level),
        horizons=tuple(rows.times.horizons.tolist()),
        interval=rows.times.interval,
        level=float(level),
        n_asked=n_repetitions,
        n_repetitions=len(done),
        n_failed=n_failed,
        calibration=curve,
        decision=decision,
        columns=column_uses(trees) if trees else (),
        leaves=leaf_stabilities(
            fitted.tree_,
            predicted.leaf[task.shown],
            np.mean([one.agreement for one in done], axis=0),
            repetitions.whole,
            repetitions.predicted,
            level,
        )
        if predicted.leaf is not None
        else (),
        instability=float(
            mean_of_known(np.abs(repetitions.predicted - repetitions.whole).reshape(-1, 1))[0]
        ),
        random_state=random_state if is_whole(random_state) else None,
        causes=predicted.causes,
        groups=done[0].by_group,
        repetitions=repetitions,
    )
    if (
        predicted.leaf is None
        or fitted.tree_.outcome.is_several
        or method not in ("632+", "optimism")
    ):
        return result
    return replace(result, leaves=_with_limits(result, fitted.tree_, rows, predicted.leaf))


def _with_limits(
    result: Validation, tree: Tree, rows: JudgedRows, leaf: Positions
) -> tuple[LeafStability, ...]:
    """Return the leaves with limits of the survival of their rows: the mean over some of them."""
    if result.n_repetitions < FEWEST_SAMPLES or not tree.last_event:
        return result.leaves
    end = tree.last_event
    even = np.linspace(0.0, end, _CURVE_TIMES + 1)[1:].tolist()
    times = sorted({*even, *round_horizons(end), *(t for t in result.horizons if t <= end)})
    of_leaf = [np.flatnonzero(leaf == position) for position in range(tree.n_leaves)]
    drawn = [one[:: -(-one.size // _LEAF_ROWS) or 1] for one in of_leaf]
    X = rows.given.take(np.concatenate(drawn)).X
    limits = np.stack(result.survival_interval(X, times))
    ends = np.cumsum([one.size for one in drawn])[:-1]
    parts = dict(zip(tree.leaves.tolist(), np.split(limits, ends, axis=1), strict=True))
    return tuple(
        replace(one, limits=tuple(zip(times, *parts[one.leaf].mean(axis=1).tolist(), strict=True)))
        for one in result.leaves
    )


def _shown(n_rows: int, n_repetitions: int, random_state: int) -> Positions:
    """Return the rows whose predictions are kept."""
    most = max(_MOST_KEPT // n_repetitions, 1)
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, most, replace=False))


def _bootstrap(task: _Task, seed: np.random.SeedSequence) -> _Repetition:
    """Fit on a bootstrap sample; measure on it, on all rows, and on those outside of it."""
    rows = task.rows
    sample = rows.draw(np.random.default_rng(seed))
    fitted, predicted = fit_on(task.model, rows, sample)
    unseen = np.bincount(sample, minlength=rows.n) == 0
    outside = np.flatnonzero(unseen)
    everyone = rows.measure(predicted)
    return _Repetition(
        resampled=rows.measure(predicted, sample)[np.newaxis],
        original=everyone[np.newaxis],
        held_out=rows.measure(predicted, outside)
        if outside.size
        else np.full_like(everyone, np.nan),
        predicted=task.predicted(predicted),
        unseen=unseen[task.shown],
        agreement=task.agreement(predicted),
        models=(reduced(fitted),),
    )


def _folds(task: _Task, seed: np.random.SeedSequence, *, n_folds: int, n_draws: int) -> _Repetition:
    """Predict each row by the model of the other folds; measure, also on draws of the rows."""
    rows, rng = task.rows, np.random.default_rng(seed)
    fold = rows.deal(rng, n_folds) if n_folds else rows.groups
    numbers = np.unique(fold)
    parts = [fit_on(task.model, rows, np.flatnonzero(fold != number)) for number in numbers]
    pooled = pool([predicted for _, predicted in parts], np.searchsorted(numbers, fold))
    by_group: tuple[GroupPerformance, ...] = ()
    if not n_folds:
        label = rows.given.groups
        by_group = rows.performance_by(pooled, label, task.level, n_draws, int(rng.integers(2**31)))
        rows = rows.by_person()
    draws = [rows.measure_draw(pooled, rows.draw(rng)) for _ in range(n_draws)]
    return _Repetition(
        resampled=np.stack(draws),
        original=np.empty((0, len(draws[0]))),
        held_out=rows.measure(pooled),
        predicted=task.predicted(pooled),
        unseen=np.ones(task.shown.size, dtype=bool),
        agreement=np.mean([task.agreement(predicted) for _, predicted in parts], axis=0),
        models=tuple(reduced(fitted) for fitted, _ in parts),
        by_group=by_group,
    )


_REPEAT: dict[Method, Callable[..., _Repetition]] = {
    "632+": _bootstrap,
    "optimism": _bootstrap,
    "folds": _folds,
    "groups": _folds,
}


def _repeat_or_none(
    repeat: Callable[[np.random.SeedSequence], _Repetition], seed: np.random.SeedSequence
) -> _Repetition | None:
    try:
        return repeat(seed)
    except ValueError:  # a sample may have too few events to fit or to tune
        return None


def _measures(
    method: Method, rows: JudgedRows, scores: list[Score], repetitions: Repetitions, level: float
) -> tuple[Measure, ...]:
    apparent = np.array([score.value for score in scores])
    values, errors, intervals = correct(method, apparent, repetitions, level, rows.metrics)
    return tuple(
        Measure(
            metric.name,
            metric.words,
            float(value),
            interval.lower,
            interval.upper,
            score.reason or ("no sample has a value" if np.isnan(value) else interval.reason),
            score.value,
            float(error),
        )
        for metric, score, value, error, interval in zip(
            rows.metrics,
            scores,
            values,
            errors,
            map(Interval.of, intervals, rows.metrics),
            strict=True,
        )
    )


def _honest_curves(
    rows: JudgedRows, repetitions: Repetitions, level: float, cause: int | None
) -> tuple[Calibration | None, DecisionCurve | None]:
    """Return calibration and net benefit of predictions by models that had not seen the rows."""
    known = repetitions.unseen & np.isfinite(repetitions.predicted)
    models, shown = np.nonzero(known)
    positions = repetitions.rows[shown]
    # Each row counts once, however many models had not seen it.
    weight = 1.0 / np.maximum(known.sum(axis=0), 1)[shown] * rows.weight[positions]
    target, predicted = rows.target.take(positions), repetitions.predicted[models, shown]
    return observed_curves(target, predicted, weight, rows.horizon, level, cause)
