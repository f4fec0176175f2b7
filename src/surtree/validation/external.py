"""External validation: a fitted model on rows that it has nothing to do with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._types import Floats
from surtree._words import figure, limits_text, missing_figures, plural
from surtree.base import TreeEstimator
from surtree.competing_risks.prediction import refuse_causes
from surtree.cuts.unseen import UnseenCategoryWarning, warn_of
from surtree.data.lazy import is_lazy, require_in_memory
from surtree.data.named import RowInputs
from surtree.data.table import read_table
from surtree.data.target import Target, require_event_counts
from surtree.data.target_columns import as_rows
from surtree.metrics import Calibration, DecisionCurve, calibration, decision_curve
from surtree.metrics._input import read_times
from surtree.parameters import require_random_state, require_whole
from surtree.streaming.engines import source_of
from surtree.streaming.outcomes import Outcomes, find_outcomes, quantiles_of_counts
from surtree.streaming.rows import target_names
from surtree.survival.confidence import LEVEL, poisson_limits, profile_limits, require_level
from surtree.survival.observed import observed_survival
from surtree.survival.time_axis import read_horizons
from surtree.tree.conditions import needed_steps
from surtree.tree.tree import Tree
from surtree.validation.corrections import intervals_of_known
from surtree.validation.drift import ColumnDrift, column_drifts
from surtree.validation.models import Predictions, predict, predictions_of_leaves
from surtree.validation.performance import BRIER_INTERVAL, names_and_words
from surtree.validation.rows import Rows, read_judged_rows
from surtree.validation.samples import Positions, draw_bootstrap, read_groups

# Why a measure of a lazy table has no limits.
_LAZY = "it needs the rows of the lazy table, so collect it first"


@dataclass(frozen=True)
class Performance:
    """One measure of how well a model predicts some rows.

    Parameters
    ----------
    name, words : str
        What it is called in code, and by people.
    value : float
        Its value; NaN where such rows have no such measure.
    lower, upper : float
        Its limits, from bootstrap samples of the rows; the model stays as it is. NaN where fewer
        than 20 samples have a value, or all have the same.
    reason : str
        Why the value or its limits are NaN; empty where they are not.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:500], y[:500])
    >>> found = evaluate(model, X[500:], y[500:])
    >>> found["concordance"].words, round(found["concordance"].value, 2)
    ("Harrell's C", 0.63)
    """

    name: str
    words: str
    value: float
    lower: float
    upper: float
    reason: str = ""


@dataclass(frozen=True)
class LeafCheck:
    """What a leaf predicts, and the observed outcomes of the rows that fall into it.

    Parameters
    ----------
    leaf : int
        The number of its node.
    rule : str
        What holds for its rows.
    n_rows, n_events : int
        The rows in it, and those of them with an event.
    expected : float
        How many events the leaf expected, by the weight of rows and how long they were followed:
        up to the last follow-up of the rows that the model was fitted on.
    ratio, lower, upper : float
        Observed events, up to the same time, divided by the expected ones, and limits: 1 is right.
        NaN where none are expected.
    predicted, observed, observed_lower, observed_upper : tuple of float
        Survival at each horizon: as the leaf says, NaN after the last follow-up of the rows that
        the model was fitted on; and the Kaplan-Meier estimate with its limits, NaN where nobody
        is at risk.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:500], y[:500])
    >>> found = evaluate(model, X[500:], y[500:])
    >>> leaf = found.leaves[0]
    >>> leaf.rule, leaf.n_events, round(leaf.expected, 1)
    ('positive_nodes <= 3', 27, 27.5)
    """

    leaf: int
    rule: str
    n_rows: int
    n_events: int
    expected: float
    ratio: float
    lower: float
    upper: float
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    observed_lower: tuple[float, ...]
    observed_upper: tuple[float, ...]


@dataclass(frozen=True)
class Evaluation:
    """How well a fitted model predicts other rows.

    Parameters
    ----------
    measures : tuple of Performance
        Those of `surtree.validate`, on these rows.
    horizons : tuple of float
        Times for calibration; the slope and the two curves are about the last.
    level : float
        The level of intervals.
    n_rows, n_events : int
        The rows, and those of them with an event.
    calibration : Calibration or None
        Predicted and observed survival at the last horizon.
    decision : DecisionCurve or None
        The net benefit of acting on the predictions.
    leaves : tuple of LeafCheck
        For trees of this package: each leaf that some row falls into.
    columns : tuple of ColumnDrift
        For trees of this package: columns whose values are not as in training; the most first.
    time_unit : str or None
        What time is counted in, where the model knows.
    last_time : float
        The last follow-up of the rows that the model was fitted on; infinity where it says none.
    n_events_after : int
        Events after that time, which no measure of a leaf counts.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:500], y[:500])
    >>> found = evaluate(model, X[500:], y[500:])
    >>> found.n_rows, found.n_events, round(found["concordance"].value, 2)
    (186, 71, 0.63)
    """

    measures: tuple[Performance, ...]
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

    def __getitem__(self, name: str) -> Performance:
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
        return "\n".join([*lines, *_leaf_lines(self), *_column_lines(self.columns)])


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    *,
    id: ArrayLike | None = None,
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
        ``print`` shows tables. Of a lazy table, measures have no intervals, and columns are not
        compared: both need the rows.

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
    refuse_causes(model, "validation")
    require_level(level)
    require_whole("n_bootstraps", n_bootstraps, 1)
    require_random_state(random_state)
    if is_lazy(X):
        if id is not None:
            require_in_memory(X, "evaluate, with id,")
        return _evaluate_lazy(model, X, y, sample_weight, entry, horizons, level)
    given = RowInputs(X, y, sample_weight, entry, id).in_memory("evaluate")
    rows = _at_horizons_of(model, read_judged_rows(given, horizons), horizons)
    with warnings.catch_warnings():
        # They are counted, column by column.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        predicted = predict(model, rows.X)
    rows.warn_of_horizons(predicted.last_time)
    is_tree, unit = isinstance(model, TreeEstimator), getattr(model, "time_unit_", None)
    curve, decision = _curves(rows, predicted, level)
    groups = read_groups(given.id, len(as_rows(given.y)), rows.counted)
    return Evaluation(
        measures=_measures(rows, groups, predicted, level, int(n_bootstraps), random_state, unit),
        horizons=tuple(rows.horizons.tolist()),
        level=float(level),
        n_rows=rows.n,
        n_events=int(rows.target.event.sum()),
        calibration=curve,
        decision=decision,
        leaves=_leaf_checks(model.tree_, rows, predicted, level) if is_tree else (),
        columns=column_drifts(model.tree_, _cuts(model), read_table(model, rows.X, reset=False))
        if is_tree
        else (),
        time_unit=unit,
        last_time=predicted.last_time,
        n_events_after=int(_is_after(rows.target, predicted.last_time).sum()),
    )


def _evaluate_lazy(
    model: Any, X: Any, y: Any, sample_weight: Any, entry: Any, horizons: Any, level: float
) -> Evaluation:
    """Evaluate a tree on a lazy table, from the distinct outcomes of its rows in each leaf."""
    if not isinstance(model, TreeEstimator):
        require_in_memory(X, f"evaluate, of a {type(model).__name__},")
    source = source_of(X)
    found = find_outcomes(model, source, target_names(y, sample_weight, entry, source.names))
    warn_of(found.unseen)
    rows = Rows(
        None,
        None,
        found.target,
        found.weight,
        np.arange(found.leaf.size),
        *_horizons(found, horizons),
    )
    rows = _at_horizons_of(model, rows, horizons)
    tree, unit = model.tree_, getattr(model, "time_unit_", None)
    predicted = predictions_of_leaves(tree, found.leaf)
    rows.warn_of_horizons(predicted.last_time)
    curve, decision = _curves(rows, predicted, level)
    return Evaluation(
        measures=tuple(
            Performance(name, words, score.value, np.nan, np.nan, score.reason or _LAZY)
            for (name, words), score in zip(
                names_and_words(rows.horizons, rows.interval[1], unit),
                rows.scores(predicted),
                strict=True,
            )
        ),
        horizons=tuple(rows.horizons.tolist()),
        level=float(level),
        n_rows=int(found.n_rows.sum()),
        n_events=int(found.n_rows[found.target.event].sum()),
        calibration=curve,
        decision=decision,
        leaves=_leaf_checks(tree, rows, predicted, level, found),
        time_unit=unit,
        last_time=predicted.last_time,
        n_events_after=int(found.n_rows[_is_after(found.target, predicted.last_time)].sum()),
    )


def _is_after(target: Target, last_time: float) -> NDArray[np.bool_]:
    """Tell which rows have an event after the last follow-up of the training rows."""
    return np.asarray(target.event & (target.time > last_time))


def _horizons(found: Outcomes, horizons: Any) -> tuple[Floats, tuple[float, float]]:
    """Return times for calibration, and those between which scores are integrated."""
    target, n = found.target, found.n_rows
    require_event_counts(
        int(n.sum()), int(n[target.event].sum()), bool(target.time[target.event].any())
    )
    if horizons is None:
        horizons = quantiles_of_counts(target.time[target.event], n[target.event], (0.5,))
    start, end = quantiles_of_counts(target.time, n, BRIER_INTERVAL)
    return read_times(horizons), (float(start), float(end))


def _at_horizons_of(model: Any, rows: Rows, asked: Any) -> Rows:
    """Return rows at the times that the model keeps, unless others were asked for."""
    kept = getattr(model, "horizons_", None) if asked is None else None
    reached = [time for time in kept or () if time <= rows.target.time.max()]
    return replace(rows, horizons=read_times(read_horizons(reached))) if reached else rows


def _cuts(model: TreeEstimator) -> Any:
    fitted = getattr(model, "best_estimator_", model)
    encoder = getattr(fitted, "encoder_", None)
    return model.tree_.cuts if encoder is None else encoder.cuts_


def _measures(
    rows: Rows,
    groups: Positions,
    predicted: Predictions,
    level: float,
    n_bootstraps: int,
    random_state: int,
    time_unit: str | None,
) -> tuple[Performance, ...]:
    rng = np.random.default_rng(random_state)
    draws = np.stack(
        [rows.measure(predicted, draw_bootstrap(rng, groups)) for _ in range(n_bootstraps)]
    )
    return tuple(
        Performance(
            name,
            words,
            score.value,
            # Samples can have a value where all rows together have none.
            *((np.nan, np.nan, score.reason) if score.reason else interval),
        )
        for (name, words), score, interval in zip(
            names_and_words(rows.horizons, rows.interval[1], time_unit),
            rows.scores(predicted),
            intervals_of_known(draws, level),
            strict=True,
        )
    )


def _curves(
    rows: Rows, predicted: Predictions, level: float
) -> tuple[Calibration | None, DecisionCurve | None]:
    horizon = float(rows.horizons[-1])
    if horizon > min(rows.target.time.max(), predicted.last_time):
        return None, None
    survival = predicted.at(horizon)
    curve = calibration(rows.target, survival, horizon, sample_weight=rows.weight, level=level)
    if rows.target.entry is not None:  # net benefit has no form for late entries
        return curve, None
    return curve, decision_curve(rows.target, survival, horizon, sample_weight=rows.weight)


def _leaf_checks(
    tree: Tree,
    rows: Rows,
    predicted: Predictions,
    level: float,
    merged: Outcomes | None = None,
) -> tuple[LeafCheck, ...]:
    weight = np.ones(rows.n) if rows.weight is None else rows.weight
    n_rows = np.ones(rows.n) if merged is None else merged.n_rows
    is_weighted = merged.is_weighted if merged is not None else None
    hazard = weight * tree.baseline.row_hazard(rows.target)
    if rows.target.entry is not None:
        # The baseline has a floor, but nothing is expected of rows that enter after its end.
        hazard[rows.target.entry >= predicted.last_time] = 0.0
    said = np.stack([predicted.at(float(horizon)) for horizon in rows.horizons])
    checks, steps = [], needed_steps(tree)
    for place, rule in enumerate(tree.rules()):
        inside = np.flatnonzero((predicted.of_row == place) & (weight > 0))
        if inside.size:
            checks.append(
                _leaf_check(
                    rule.leaf,
                    " and ".join(tree.condition(*step) for step in steps[rule.leaf]) or "all rows",
                    rows.target.take(inside),
                    n_rows[inside],
                    weight[inside],
                    bool((weight[inside] != 1).any()) if is_weighted is None else is_weighted,
                    float(rule.theta * hazard[inside].sum()),
                    said[:, inside[0]],
                    rows.horizons,
                    predicted.last_time,
                    level,
                )
            )
    return tuple(checks)


def _leaf_check(
    leaf: int,
    rule: str,
    target: Target,
    n_rows: Floats,
    weight: Floats,
    weighted: bool,
    expected: float,
    said: Floats,
    horizons: Floats,
    last_time: float,
    level: float,
) -> LeafCheck:
    events = float(weight[target.event & ~_is_after(target, last_time)].sum())
    ratio, lower, upper = np.nan, np.nan, np.nan
    if expected > 0:
        ratio = events / expected
        lower, upper = (profile_limits if weighted else poisson_limits)(events, expected, level)
    observed: NDArray[Any] = np.array(
        [observed_survival(target, weight, float(horizon), level) for horizon in horizons]
    )
    survival, low, high = (tuple(column.tolist()) for column in observed.T)
    return LeafCheck(
        leaf,
        rule,
        int(n_rows.sum()),
        int(n_rows[target.event].sum()),
        expected,
        ratio,
        lower,
        upper,
        tuple(said.tolist()),
        survival,
        low,
        high,
    )


def _leaf_lines(found: Evaluation) -> list[str]:
    if not found.leaves:
        return []
    horizon = f"{found.horizons[-1]:g}" + (f" {found.time_unit}" if found.time_unit else "")
    lines = [
        "",
        "leaf   rows  events  expected  observed / expected  "
        f"survival at {horizon}: predicted, observed",
    ]
    for leaf in found.leaves:
        ratio = _with_limits(leaf.ratio, leaf.lower, leaf.upper)
        observed = _with_limits(leaf.observed[-1], leaf.observed_lower[-1], leaf.observed_upper[-1])
        lines.append(
            f"{leaf.leaf:4}  {leaf.n_rows:5}  {leaf.n_events:6}  {leaf.expected:8.1f}  "
            f"{ratio:>19}  {figure(leaf.predicted[-1], 2)}, {observed}: {leaf.rule}"
        )
    return [*lines, *_leaf_notes(found)]


def _with_limits(value: float, lower: float, upper: float) -> str:
    limits = limits_text(lower, upper, 2)
    return figure(value, 2) if limits == "-" else f"{figure(value, 2)} ({limits})"


def _leaf_notes(found: Evaluation) -> list[str]:
    """Return what the table of the leaves leaves out, and why."""
    notes = []
    horizon, last = f"{found.horizons[-1]:g}", f"{found.last_time:g}"
    if not all(isfinite(leaf.predicted[-1]) for leaf in found.leaves):
        notes.append(f"- predicted: the training rows were followed to {last} only")
    if not all(isfinite(leaf.observed[-1]) for leaf in found.leaves):
        notes.append(f"- observed: no row of the leaf is at risk at {horizon}")
    if found.n_events_after:
        notes.append(
            f"observed / expected: without {plural(found.n_events_after, 'event')} after {last}, "
            "the last follow-up of the training rows"
        )
    return notes


def _column_lines(columns: tuple[ColumnDrift, ...]) -> list[str]:
    changed = [column for column in columns if column.has_changed]
    if not columns:
        return []
    if not changed:
        return ["", "all columns have values as in training"]
    return ["", "not as in training:", *(f"  {column}" for column in changed)]
