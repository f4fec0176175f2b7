"""Rows that predictions are judged by: how they are read, drawn, fitted on and measured."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from surtree._support.package import user_level
from surtree._support.types import Floats
from surtree.data.named import RowInputs
from surtree.data.persons import draw_counts
from surtree.data.rows import TargetRows
from surtree.data.target import Target
from surtree.metrics.input import read_times
from surtree.metrics.reason import Score
from surtree.outcomes.measures import (
    JudgedTimes,
    Metric,
    Predictions,
    brier_interval,
    one_event_metrics,
)
from surtree.survival.step_function import BeyondFollowUpWarning
from surtree.validation._by_group import GroupPerformance
from surtree.validation._corrections import Interval, intervals_of_known
from surtree.validation._measures import Measure
from surtree.validation._predictions import has_tree, predict

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JudgedRows(TargetRows):
    """All rows that count, and the metrics that say how well predictions agree with them."""

    times: JudgedTimes
    groups: Positions  # the group of each row, which is drawn whole: a number from zero on
    metrics: tuple[Metric, ...] = ()  # how predictions are measured

    @property
    def n(self) -> int:
        """How many there are."""
        return self.target.time.size

    @property
    def horizon(self) -> float:
        """The last time for calibration, which the slope and all curves are about."""
        return float(self.times.horizons[-1])

    def measured_as(self, model: Any) -> JudgedRows:
        """Return the same rows with the measures of the outcome that a fitted model has."""
        measures = model.tree_.outcome.measures if has_tree(model) else one_event_metrics
        return replace(self, metrics=measures(self.times))

    @cached_property
    def uneven_weight(self) -> Floats | None:
        """The weights, unless all are equal: then measures are those of rows without weights."""
        return None if np.ptp(self.weight) == 0 else self.weight

    def scores(self, predicted: Predictions, positions: Positions | None = None) -> list[Score]:
        """Return how well what a model says of all rows agrees with some of them, or with all."""
        if positions is None:
            positions = np.arange(self.n)
        weight = None if self.uneven_weight is None else self.uneven_weight[positions]
        part, target = predicted.take(positions), self.target.take(positions)
        return [metric.score(part, target, weight) for metric in self.metrics]

    def measure(self, predicted: Predictions, positions: Positions | None = None) -> Floats:
        """Return the values of `scores`."""
        return np.array([score.value for score in self.scores(predicted, positions)])

    def measure_draw(self, predicted: Predictions, positions: Positions) -> Floats:
        """Return the values of `scores` that intervals come from; others are not estimated."""
        has_interval = np.array([not metric.is_distance for metric in self.metrics])
        chosen = tuple(metric for metric in self.metrics if not metric.is_distance)
        values = np.full(has_interval.size, np.nan)
        values[has_interval] = replace(self, metrics=chosen).measure(predicted, positions)
        return values

    def draw(self, rng: np.random.Generator) -> Positions:
        """Draw groups of rows with replacement; return the positions of rows, repeated."""
        return np.repeat(np.arange(self.n), draw_counts(rng, self.groups))

    def by_person(self) -> JudgedRows:
        """Return the same rows, to be drawn by person."""
        return replace(self, groups=_groups(self.target, None))

    def deal(self, rng: np.random.Generator, n_folds: int) -> Positions:
        """Deal groups of rows to folds with about equally many events; return each row's fold."""
        n_groups = int(self.groups.max()) + 1
        n_events = np.bincount(self.groups, weights=self.target.event, minlength=n_groups)
        shuffled = rng.permutation(n_groups)
        fold = np.empty(n_groups, dtype=np.intp)
        by_events = shuffled[np.argsort(-n_events[shuffled], kind="stable")]
        fold[by_events] = np.arange(n_groups) % n_folds
        return fold[self.groups]

    def performance_by(
        self, predicted: Predictions, labels: Any, level: float, n_draws: int, seed: int
    ) -> tuple[GroupPerformance, ...]:
        """Measure predictions in each group, with intervals from draws of its persons."""
        person = _groups(self.target, None)
        rng, groups = np.random.default_rng(seed), []
        for label in np.unique(labels):
            inside = np.flatnonzero(labels == label)
            own = np.unique(person[inside], return_inverse=True)[1]
            draws = [
                self.measure_draw(predicted, np.repeat(inside, draw_counts(rng, own)))
                for _ in range(n_draws)
            ]
            measures = self.with_intervals(
                self.scores(predicted, inside), intervals_of_known(np.stack(draws), level)
            )
            n_events = int(self.target.event[inside].sum())
            groups.append(GroupPerformance(str(label), inside.size, n_events, measures))
        return tuple(groups)

    def with_intervals(self, scores: list[Score], intervals: list[Interval]) -> tuple[Measure, ...]:
        """Return scores with their intervals; samples can have a value where all rows have none."""
        return tuple(
            Measure(
                metric.name,
                metric.words,
                score.value,
                *(Interval(np.nan, np.nan, score.reason) if score.reason else interval.of(metric)),
            )
            for metric, score, interval in zip(self.metrics, scores, intervals, strict=True)
        )

    def warn_of_horizons(self, last_time: float) -> None:
        """Warn of horizons after the last follow-up of these rows, or of the training rows."""
        for end, whose in (
            (last_time, "the training rows"),
            (float(self.target.time.max()), "these rows"),
        ):
            beyond = self.times.horizons[self.times.horizons > end]
            if beyond.size:
                warnings.warn(
                    f"The {'horizon' if beyond.size == 1 else 'horizons'} "
                    f"{', '.join(f'{horizon:g}' for horizon in beyond)} "
                    f"{'is' if beyond.size == 1 else 'are'} after the last follow-up of {whose}, "
                    f"{end:g}: nobody was observed then, so survival and calibration are not "
                    "numbers (nan). Choose earlier horizons.",
                    BeyondFollowUpWarning,
                    stacklevel=user_level(),
                )
                return


def judged(rows: TargetRows, horizons: ArrayLike | None, unit: str | None = None) -> JudgedRows:
    """Return rows with the times that they are judged at: by default, the median of the events."""
    target = rows.target
    asked = np.median(target.time[target.event]) if horizons is None else horizons
    times = JudgedTimes(read_times(asked), brier_interval(target), unit)
    return JudgedRows(target, rows.weight, rows.given, times, _groups(target, rows.given.groups))


def _groups(target: Target, labels: Any) -> Positions:
    """Return the group of each row: that of its label, else its person, else its own."""
    labels = target.person if labels is None else labels
    if labels is None:
        return np.arange(target.time.size)
    distinct, group = np.unique(labels, return_inverse=True)
    if distinct.size < 2:
        raise ValueError("groups has a single label: there is nothing to draw from.")
    return np.asarray(group, dtype=np.intp)


def require_fit_parameters(model: Any, given: RowInputs) -> None:
    """Raise an error for rows that an estimator cannot be fitted on."""
    reason = getattr(model, "_refuses_samples", "")
    if reason:
        raise ValueError(reason)
    for name in given.fit_arguments:
        if not has_fit_parameter(model, name):
            raise ValueError(f"{type(model).__name__} takes no {name}: leave it out.")


def fit_on(model: Any, rows: JudgedRows, sample: Positions) -> tuple[Any, Predictions]:
    """Fit a clone on a sample, and ask it about all rows.

    An estimator that takes weights gets rows that count as often as they were drawn, any other as
    many copies.
    """
    chosen, weight = sample, None
    if has_fit_parameter(model, "sample_weight"):
        chosen, count = np.unique(sample, return_counts=True)
        if rows.given.sample_weight is not None or (count > 1).any():
            weight = count * rows.weight[chosen]
    given = rows.given.take(chosen)
    arguments = given.fit_arguments | ({} if weight is None else {"sample_weight": weight})
    fitted = clone(model)
    fitted._warns_of_columns = False  # the columns of all rows were looked at
    # SurTreeCV also scores the chosen model (held_out_), which is not needed here.
    fit = getattr(fitted, "fit_unmeasured", fitted.fit)
    with warnings.catch_warnings():
        # The rows outside a sample may have categories that it never had.
        warnings.simplefilter("ignore", UserWarning)
        fit(given.X, given.y, **arguments)
        return fitted, predict(fitted, rows.given.X, rows.target)
