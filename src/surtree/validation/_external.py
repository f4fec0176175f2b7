"""External validation: a fitted model on rows that it has nothing to do with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from surtree._support.parameters import require_random_state, require_whole
from surtree.cuts.unseen import UnseenCategoryWarning, warn_of
from surtree.data.named import RowInputs, is_lazy, require_in_memory
from surtree.data.rows import TargetReader, read_event, read_target_rows
from surtree.data.table import read_table
from surtree.data.target import Target, require_event_counts
from surtree.engines.engines import source_of
from surtree.engines.predict import Outcomes, find_outcomes, quantiles_of_counts
from surtree.engines.rows import target_names
from surtree.metrics import Calibration, DecisionCurve
from surtree.metrics.input import read_times
from surtree.outcomes.measures import BRIER_INTERVAL, JudgedTimes, Predictions
from surtree.survival.confidence import LEVEL, require_level
from surtree.survival.step_function import read_horizons
from surtree.validation._by_group import GroupPerformance, group_lines
from surtree.validation._corrections import Interval, intervals_of_known
from surtree.validation._drift import ColumnDrift, column_drifts, drift_lines
from surtree.validation._leaf_checks import (
    LeafCheck,
    check_lines,
    check_notes,
    is_after,
    leaf_checks,
    overall_ratio,
)
from surtree.validation._measures import Measure, observed_curves
from surtree.validation._predictions import has_tree, predict
from surtree.validation._rows import JudgedRows, judged
from surtree.words.numbers import figure, limits_text, missing_figures, plural
from surtree.words.printed import Printed

# Why a measure of a lazy table has no limits.
_LAZY = "it needs the rows of the lazy table, so collect it first"


@dataclass(frozen=True, repr=False)
class Evaluation(Printed):
    """How well a fitted model predicts new data.

    Parameters
    ----------
    measures : tuple of Measure
        Those of `surtree.validate`, on these rows.
    horizons : tuple of float
        Times for calibration; the slope and the two curves are about the last.
    level : float
        The level of intervals.
    n_rows, n_events : int
        The rows, and those of them with an event.
    calibration : Calibration or None
        Predicted and observed survival at the last horizon; of competing risks, the incidence of
        the main cause.
    decision : DecisionCurve or None
        The net benefit of acting on the predictions.
    leaves : tuple of LeafCheck
        For trees of this package: each leaf that some row falls into, and in it each cause or arm.
    columns : tuple of ColumnDrift
        For trees of this package: columns whose values are not as in training; the most first.
    time_unit : str or None
        What time is counted in, where the model knows.
    last_time : float
        The last follow-up of the rows that the model was fitted on; infinity where it says none.
    n_events_after : int
        Events after that time, which no measure of a leaf counts.
    curve_name : str
        What predicted curves show: "survival" or "cumulative incidence".
    ratio : tuple of three floats
        Of a tree of one event: observed over expected events of all rows, and its limits.
    groups : tuple of GroupPerformance
        The performance in each subgroup, where ``by`` names them.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:500], y[:500])
    >>> result = evaluate(model, X[500:], y[500:])
    >>> result.n_rows, result.n_events, round(result["concordance"].value, 2)
    (186, 71, 0.63)
    """

    measures: tuple[Measure, ...]
    horizons: tuple[float, ...]
    level: float
    n_rows: int
    n_events: int
    calibration: Calibration | None
    decision: DecisionCurve | None
    leaves: tuple[LeafCheck, ...] = ()
    columns: tuple[ColumnDrift, ...] = ()
    time_unit: str | None = None
    last_time: float = np.inf
    n_events_after: int = 0
    curve_name: str = "survival"
    ratio: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    groups: tuple[GroupPerformance, ...] = ()

    def __getitem__(self, name: str) -> Measure:
        """Return a measure by its name."""
        return next(measure for measure in self.measures if measure.name == name)

    def __str__(self) -> str:
        head = f"{plural(self.n_rows, 'row')}, {plural(self.n_events, 'event')}"
        width = max(len(head), *(len(one.words) for one in self.measures))
        lines = [f"{head:{width}}   value  {f'{100 * self.level:g}% interval':>17}"]
        for one in self.measures:
            limits = limits_text(one.lower, one.upper)
            lines.append(f"{one.words:{width}}  {figure(one.value):>6}  {limits:>17}")
        lines += missing_figures(
            (one.words, one.reason, isfinite(one.value)) for one in self.measures
        )
        lines += group_lines(self.groups, self.level)
        lines += [*self._leaf_lines(), *drift_lines(self.columns)]
        return "\n".join([*lines, *filter(None, [self.advice])])

    @property
    def advice(self) -> str:
        """Whether the model should be recalibrated on such rows; empty where nothing says so."""
        value, lower, upper = self.ratio
        slope = next((one for one in self.measures if one.name == "calibration_slope"), None)
        if not isfinite(value):
            return ""
        said = f"observed / expected in all: {figure(value, 2)} ({limits_text(lower, upper, 2)})"
        if slope is not None and (slope.upper < 1 or slope.lower > 1):
            spread = "too far from" if slope.upper < 1 else "too near to"
            return (
                f"{said}, and predictions are {spread} each other: "
                "recalibrate(model, X, y, method='slope') adapts both to such rows"
            )
        if lower > 1 or upper < 1:
            return f"{said}: recalibrate(model, X, y) adapts the level to such rows"
        return f"{said}: nothing says that the model needs to be recalibrated"

    def _leaf_lines(self) -> list[str]:
        if not self.leaves:
            return []
        last = self.horizons[-1]
        horizon = f"{last:g}" + (f" {self.time_unit}" if self.time_unit else "")
        notes = check_notes(self.leaves, last, self.last_time, self.n_events_after)
        return [*check_lines(self.leaves, horizon, self.curve_name), *notes]


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
    treatment: ArrayLike | None = None,
    by: ArrayLike | None = None,
    horizons: ArrayLike | None = None,
    level: float = LEVEL,
    n_bootstraps: int = 200,
    random_state: int = 0,
) -> Evaluation:
    """Test a fitted model on other data: discrimination and calibration.

    Parameters
    ----------
    model : fitted estimator
        Of this package, loaded from a file or not; or any survival estimator in scikit-learn's
        way with ``predict`` and ``predict_survival_function``. It is not fitted again.
    X, y, sample_weight, entry
        The rows, as in `SurTree.fit`, in memory or lazy. They should not be those that the model
        was fitted on; for these, use `validate`.
    id : array of shape (n_samples,), optional
        Whose row it is, in memory only: rows with the same label are drawn together. Of start-stop
        rows, Uno's C and the Brier score are then not numbers: they need one prediction a person.
    treatment : array of shape (n_samples,), optional
        Of an `EffectTree`, the arm of each row.
    by : array of shape (n_samples,), or the name of a column, optional
        Labels of subgroups, such as sex or centre, in memory only: ``Evaluation.groups`` has the
        performance in each of them.
    horizons : array of float, optional
        Times for calibration; by default those of the ``horizons_`` of the model that the rows
        were followed up to, else the median time of the events. After the last follow-up of these
        rows, or of those that the model was fitted on, what is asked about them is not a number,
        with a `BeyondFollowUpWarning`.
    level : float, default=0.95
        The level of intervals.
    n_bootstraps : int, default=200
        How many samples of the rows the intervals of measures come from; fewer than 20 give none.
    random_state : int, default=0
        Where the samples come from.

    Returns
    -------
    Evaluation
        ``print`` shows tables. Its measures are those of `validate`. Of a lazy table, they have no
        intervals, and columns are not compared: both need the rows.

    Notes
    -----
    Uno's C counts the events before the end of the interval that the Brier score is integrated
    over: the 90% quantile of the times. Both weigh rows against censoring, which they take to be
    independent of the columns, and with entry times they are about everybody from time zero on
    (`surtree.metrics.brier_score`).

    Intervals of measures come from draws of the rows with their weights. Limits of leaves and of
    calibration count weights as repeated rows: they are too narrow where these are sampling
    weights, and intervals of measures are too wide where a weight counts merged rows
    (docs/results/evaluation.md).

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X.head(400), y[:400])
    >>> result = evaluate(model, X.tail(286), y[400:], n_bootstraps=20)
    >>> result.n_rows, [leaf.n_rows for leaf in result.leaves]
    (286, [107, 66, 43, 70])
    """
    require_level(level)
    require_whole("n_bootstraps", n_bootstraps, 1)
    require_random_state(random_state)
    if is_lazy(X):
        if id is not None or by is not None:
            require_in_memory(X, f"evaluate, with {'id' if by is None else 'by'},")
        given = RowInputs(X, y, sample_weight, entry, treatment=treatment)
        return _evaluate_lazy(model, given, horizons, level)
    if isinstance(by, str) and by in getattr(model, "feature_names_in_", ()):
        by = _column_of(X, by)  # the model needs it too
    given = RowInputs(X, y, sample_weight, entry, id, by, treatment).in_memory("evaluate")
    read = read_target_rows(given, _reader_of(model))
    labels = read.given.groups  # intervals come from draws of persons
    read = replace(read, given=replace(read.given, groups=None))
    rows = judged(read, _horizons_of(model, horizons, read.target), _time_unit(model))
    with warnings.catch_warnings():
        # They are counted, column by column.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        predicted = predict(model, rows.given.X, rows.target)
    rows = rows.measured_as(model)
    rng = np.random.default_rng(random_state)
    draws = [rows.measure_draw(predicted, rows.draw(rng)) for _ in range(int(n_bootstraps))]
    drifts: tuple[ColumnDrift, ...] = ()
    if has_tree(model):
        table = read_table(model, rows.given.X, reset=False)
        drifts = column_drifts(model.tree_, _cuts(model), table)
    intervals = intervals_of_known(np.stack(draws), level)
    result = _evaluation(model, rows, predicted, intervals, level, drifts)
    if labels is None:
        return result
    groups = rows.performance_by(predicted, labels, level, int(n_bootstraps), random_state)
    return replace(result, groups=groups)


def _column_of(X: Any, name: str) -> Any:
    """Return a column of a data frame; the name itself where there is none."""
    if not nw.dependencies.is_into_dataframe(X):
        return name
    frame = nw.from_native(X, eager_only=True)
    return frame[name].to_numpy() if name in frame.columns else name


def _reader_of(model: Any) -> TargetReader:
    """Return how the target of a fitted model is read; models of others know one event."""
    read: TargetReader = model.tree_.outcome.read_target if has_tree(model) else read_event
    return read


def _evaluate_lazy(model: Any, given: RowInputs, horizons: Any, level: float) -> Evaluation:
    """Evaluate a tree on a lazy table, from the distinct outcomes of its rows in each leaf."""
    if not has_tree(model):
        require_in_memory(given.X, f"evaluate, of a {type(model).__name__},")
    source = source_of(given.X)
    outcomes = find_outcomes(model, source, target_names(given, source.names, model._names_type))
    warn_of(outcomes.unseen)
    target, n_rows = outcomes.target, outcomes.n_rows
    died = target.event
    require_event_counts(int(n_rows.sum()), int(n_rows[died].sum()), bool(target.time[died].any()))
    asked = _horizons_of(model, horizons, target)
    if asked is None:
        asked = quantiles_of_counts(target.time[died], n_rows[died], (0.5,))
    start, end = quantiles_of_counts(target.time, n_rows, BRIER_INTERVAL)
    times = JudgedTimes(read_times(asked), (float(start), float(end)), _time_unit(model))
    positions = np.arange(target.time.size)
    rows = JudgedRows(target, outcomes.weight, RowInputs(None, None), times, positions)
    rows = rows.measured_as(model)
    predicted = model.tree_.outcome.predicted(outcomes.leaf, target)
    intervals = [Interval(np.nan, np.nan, _LAZY)] * len(rows.metrics)
    return _evaluation(model, rows, predicted, intervals, level, merged=outcomes)


def _evaluation(
    model: Any,
    rows: JudgedRows,
    predicted: Predictions,
    intervals: list[Interval],
    level: float,
    drifts: tuple[ColumnDrift, ...] = (),
    merged: Outcomes | None = None,
) -> Evaluation:
    """Return how well predictions agree with rows; of a lazy table, with merged ones."""
    rows.warn_of_horizons(predicted.last_time)
    checks = leaf_checks(model.tree_, rows, predicted, level, merged) if has_tree(model) else ()
    target, horizon = rows.target, rows.horizon
    n_rows = np.ones(rows.n) if merged is None else merged.n_rows
    curves: tuple[Calibration | None, DecisionCurve | None] = (None, None)
    if horizon <= predicted.last_time:
        values = predicted.main.at(horizon)
        curves = observed_curves(target, values, rows.weight, horizon, level, predicted.cause)
    return Evaluation(
        measures=rows.with_intervals(rows.scores(predicted), intervals),
        horizons=tuple(rows.times.horizons.tolist()),
        level=float(level),
        n_rows=int(n_rows.sum()),
        n_events=int(n_rows[target.event].sum()),
        calibration=curves[0],
        decision=curves[1],
        leaves=checks,
        ratio=overall_ratio(checks, level, bool((rows.weight != n_rows).any())),
        columns=drifts,
        time_unit=rows.times.unit,
        last_time=predicted.last_time,
        n_events_after=int(n_rows[is_after(target, predicted.last_time)].sum()),
        curve_name=model.tree_.outcome.curve_name if has_tree(model) else "survival",
    )


def _time_unit(model: Any) -> str | None:
    unit: str | None = getattr(model, "time_unit_", None)
    return unit


def _horizons_of(model: Any, asked: ArrayLike | None, target: Target) -> ArrayLike | None:
    """Return the times that were asked for, else those that the model keeps and rows reach."""
    if asked is not None:
        return asked
    kept = getattr(model, "horizons_", None) or ()
    reached = [time for time in kept if time <= target.time.max()]
    return read_horizons(reached) if reached else None


def _cuts(model: Any) -> Any:
    fitted = getattr(model, "best_estimator_", model)
    encoder = getattr(fitted, "encoder_", None)
    return model.tree_.cuts if encoder is None else encoder.cuts_
