"""Predictions for rows: risk and curves, of one event or of each cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.metrics.calibration_groups import observed_at
from surtree.metrics.input import event_codes
from surtree.metrics.predicted import Curves, last_time, value_at
from surtree.metrics.reason import Score, after_training, missing, nobody_at_risk, score_or_reason
from surtree.metrics.slope import slope_or_reason
from surtree.outcomes._horizon_scores import HORIZON_KINDS, HorizonScores
from surtree.survival.aalen_johansen import observed_survival


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of each row.

    Of competing risks, risks and curves have a first axis of causes, and `of` returns those of one.
    """

    risk: Floats  # higher is riskier; the last axis is that of rows
    curves: NDArray[np.object_]  # the distinct curves, step functions, along the last axis
    # Which of them each row has. In a tree with arms, those of a leaf follow each other.
    of_row: NDArray[np.intp]
    causes: tuple[int, ...] = ()  # the main one first
    leaf: NDArray[np.intp] | None = None  # in a tree, the index of the leaf of each row

    def of(self, cause: int | None) -> Predictions:
        """Return the predictions of one cause; None is one event."""
        if cause is None:
            return self
        index = self.causes.index(cause)
        return Predictions(self.risk[index], self.curves[index], self.of_row, leaf=self.leaf)

    @property
    def cause(self) -> int | None:
        """The main cause, which curves and stability are shown for; None of one event."""
        return self.causes[0] if self.causes else None

    @property
    def main(self) -> Predictions:
        return self.of(self.cause)

    def in_arm(self, change: NDArray[np.intp]) -> Predictions:
        """Return what the same rows are predicted in arms whose number is so much larger."""
        return replace(self, of_row=self.of_row + change)

    @property
    def curves_of_rows(self) -> Curves:
        return Curves(tuple(self.curves), self.of_row).in_use()

    @property
    def last_time(self) -> float:
        """The last time at which all curves have a value: that of the training rows."""
        return min(map(last_time, self.curves.ravel()))

    def at(self, time: float) -> Floats:
        """Return the value of each row's curve at a time, NaN after the last follow-up."""
        values = [
            value_at(curve, time) if time <= last_time(curve) else np.nan for curve in self.curves
        ]
        return np.array(values)[self.of_row]

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        return replace(
            self,
            risk=self.risk[..., rows],
            of_row=self.of_row[rows],
            leaf=None if self.leaf is None else self.leaf[rows],
        )


def pool(parts: Sequence[Predictions], part_of_row: NDArray[np.intp]) -> Predictions:
    """Return predictions in which each row has those of one of the parts."""
    rows = np.arange(part_of_row.size)
    starts = np.cumsum([0, *(part.curves.shape[-1] for part in parts)])
    return Predictions(
        np.stack([part.risk for part in parts], axis=-1)[..., rows, part_of_row],
        np.concatenate([part.curves for part in parts], axis=-1),
        starts[part_of_row] + np.stack([part.of_row for part in parts])[part_of_row, rows],
        parts[0].causes,
    )


@dataclass(frozen=True, eq=False)
class LeafChannel:
    """What is compared in each leaf: a cause, an arm, or the event of all rows."""

    label: str  # for people; empty where there is nothing to tell apart
    rows: NDArray[np.bool_]  # which rows are about it, and which of them have the event
    event: NDArray[np.bool_]
    theta: Floats  # of each node
    hazard: Floats  # the events that the baseline expects of each row
    cause: int | None = None  # of competing risks


def objects(items: Sequence[Any]) -> NDArray[np.object_]:
    """Return an array of the items themselves, also of those that are sequences."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


# The quantiles of the times that the Brier score is integrated between, as the paper does it.
BRIER_INTERVAL = (0.1, 0.9)


@dataclass(frozen=True)
class Metric:
    """How a measure is computed from predictions, target and weight, and which values it has."""

    name: str
    words: str
    score: Callable[[Predictions, Target, Floats | None], Score]
    no_information: float = np.nan  # for predictions that know nothing; NaN where it has no end
    greatest: float = 1.0  # no value is above it
    by_median: bool = False  # a few samples may have any value
    is_mean: bool = False  # the difference of two means over the rows
    is_distance: bool = False  # never below zero, so that its spread is no interval


class JudgedTimes(NamedTuple):
    """When predictions are compared with rows."""

    horizons: Floats  # for calibration; the slope is about the last
    interval: tuple[float, float]  # the Brier score is integrated over it, and Uno's C ends with it
    unit: str | None = None  # what time is counted in, in words

    def text(self, time: float) -> str:
        """Return a time with its unit."""
        return f"{time:g}" + (f" {self.unit}" if self.unit else "")


def brier_interval(target: Target) -> tuple[float, float]:
    """Return the times between which the Brier score is integrated."""
    start, end = np.quantile(target.time, BRIER_INTERVAL)
    return float(start), float(end)


def one_event_metrics(times: JudgedTimes) -> tuple[Metric, ...]:
    """Return the metrics of one event: concordance, Brier score and calibration."""
    slope = partial(_slope, horizon=float(times.horizons[-1]))
    return (
        *_discrimination(times, None, ("Harrell's C", "Uno's C")),
        Metric("calibration_slope", "calibration slope", slope, 0.0, np.inf, by_median=True),
        *_calibration(times, None, "survival"),
        *_at_horizons(times, None, "Uno's C"),
    )


def cause_metrics(times: JudgedTimes, causes: Iterable[int]) -> tuple[Metric, ...]:
    """Return the metrics of competing risks: concordance, Brier score and calibration by cause."""
    names = "Wolbers' C without censoring weights", "Wolbers' C"
    return tuple(
        metric
        for cause in causes
        for metric in (
            *_discrimination(times, cause, names),
            *_calibration(times, cause, "incidence"),
            *_at_horizons(times, cause, names[1]),
        )
    )


def _discrimination(
    times: JudgedTimes, cause: int | None, concordances: tuple[str, str]
) -> tuple[Metric, ...]:
    name, words = _labels(cause)
    plain, weighted = concordances
    end = times.interval[1]
    return (
        Metric(f"{name}concordance", words + plain, partial(_concordance, cause=cause), 0.5),
        Metric(
            f"{name}concordance_ipcw",
            f"{words}{weighted} before {times.text(end)}",
            partial(_concordance_ipcw, cause=cause, end=end),
            0.5,
        ),
        # The error of curves has no end: those that know nothing lose the more, the more they
        # differ.
        Metric(
            f"{name}brier",
            f"{words}reduction of the Brier score",
            partial(_brier, cause=cause, interval=times.interval),
        ),
    )


def _calibration(times: JudgedTimes, cause: int | None, what: str) -> tuple[Metric, ...]:
    name, words = _labels(cause)
    return tuple(
        Metric(
            f"{name}calibration_at_{time:g}",
            f"{words}predicted - observed {what} at {times.text(time)}",
            partial(_difference, cause=cause, horizon=float(time)),
            is_mean=True,
        )
        for time in times.horizons
    )


def _at_horizons(times: JudgedTimes, cause: int | None, concordance: str) -> Iterator[Metric]:
    """Yield what is asked of the risks at each horizon: order, and distance to observed risks."""
    name, words = _labels(cause)
    for time in times.horizons.tolist():
        scores, at = HorizonScores(cause, time), times.text(time)
        titles = {"auc": f"AUC at {at}", "c": f"{concordance} up to {at}"}
        for kind in HORIZON_KINDS:
            yield Metric(
                f"{name}{kind}_at_{time:g}",
                words + titles.get(kind, f"{kind.upper()} at {at}"),
                partial(scores.score, kind=kind),
                0.5 if kind in titles else np.nan,
                is_distance=kind not in titles,
            )


def _labels(cause: int | None) -> tuple[str, str]:
    """Return what names and words of the metrics of a cause begin with."""
    return ("", "") if cause is None else (f"cause_{cause}_", f"cause {cause}: ")


def _concordance(
    predicted: Predictions, target: Target, weight: Floats | None, cause: int | None
) -> Score:
    events, risk = event_codes(target, cause), predicted.of(cause).risk
    return score_or_reason(
        lambda: (
            concordance_index_censored(
                events, target.time, risk, cause=cause, sample_weight=weight, entry=target.entry
            ).cindex
        )
    )


def _concordance_ipcw(
    predicted: Predictions, target: Target, weight: Floats | None, cause: int | None, end: float
) -> Score:
    risk = predicted.of(cause).risk
    return score_or_reason(
        lambda: (
            concordance_index_ipcw(
                target, target, risk, cause=cause, tau=end, **_weights(weight)
            ).cindex
        )
    )


def _brier(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    cause: int | None,
    interval: tuple[float, float],
) -> Score:
    reason = after_training(interval[1], predicted.last_time)
    if reason:
        return missing(f"its interval ends at {reason.replace(' is', ',', 1)}")
    curves = predicted.of(cause).curves_of_rows
    return score_or_reason(
        lambda: normalized_integrated_brier_score(
            target, target, curves, cause=cause, interval=interval, **_weights(weight)
        )
    )


def _weights(weight: Floats | None) -> dict[str, Floats | None]:
    return {"sample_weight": weight, "train_weight": weight}


def _slope(predicted: Predictions, target: Target, weight: Floats | None, horizon: float) -> Score:
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    return Score(*slope_or_reason(target, predicted.at(horizon), weight))


def _difference(
    predicted: Predictions,
    target: Target,
    weight: Floats | None,
    cause: int | None,
    horizon: float,
) -> Score:
    """Return the mean of a predicted curve at a horizon less what was observed."""
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    observed = observed_at(horizon, target, weight, cause).survival
    if np.isnan(observed):
        return missing(nobody_at_risk(target, horizon))
    mean = float(np.average(predicted.of(cause).at(horizon), weights=weight))
    return Score(mean - observed)


# Of more different predictions, groups are cut at quantiles.
_MOST_GROUPS = 10


def effect_metrics(times: JudgedTimes, names: Sequence[str]) -> Iterator[Metric]:
    """Yield the metrics of each arm against the reference, which is the first."""
    last = float(times.horizons[-1])
    for arm in range(1, len(names)):
        suffix = f"_of_{names[arm]}" if len(names) > 2 else ""
        words = f"{names[arm]} over {names[0]}"
        yield Metric(
            f"c_for_benefit{suffix}",
            f"C-for-benefit, {words}, at {times.text(last)}",
            partial(_benefit_concordance, arm=arm, horizon=last),
            0.5,
        )
        for time in times.horizons.tolist():
            yield Metric(
                f"effect_calibration{suffix}_at_{time:g}",
                f"predicted - observed gain in survival, {words}, at {times.text(time)}",
                partial(_gain_difference, arm=arm, horizon=time),
                is_mean=True,
            )


def _gain_difference(
    predicted: Predictions, target: Target, weight: Floats | None, arm: int, horizon: float
) -> Score:
    """Return the mean of the predicted gain in survival less that between the arms of rows."""
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    observed = np.diff(_arms_at(target, weight, np.ones(target.time.size, bool), arm, horizon))
    if np.isnan(observed[0]):
        return missing(f"in an arm {nobody_at_risk(target, horizon)}")
    gain = _gains(predicted, target, arm, horizon)
    return Score(float(np.average(gain, weights=weight) - observed[0]))


def _benefit_concordance(
    predicted: Predictions, target: Target, weight: Floats | None, arm: int, horizon: float
) -> Score:
    """Return how often the greater predicted gain goes with the greater observed one.

    An observed gain is that of two rows of similar predictions, one in each arm: 1 if the treated
    one alone is alive at the horizon, -1 if the other one alone is. van Klaveren and others match
    rows; here all such pairs count, by the Kaplan-Meier estimates of both arms, so that nothing is
    drawn and censored rows count as far as they were seen. Equal predictions count one half.
    """
    reason = after_training(horizon, predicted.last_time)
    if reason:
        return missing(reason)
    gain = _gains(predicted, target, arm, horizon)
    mass = np.ones(gain.size) if weight is None else weight
    distinct, group = np.unique(gain, return_inverse=True)
    if distinct.size > _MOST_GROUPS:
        edges = np.quantile(gain, np.arange(1, _MOST_GROUPS) / _MOST_GROUPS)
        group = np.searchsorted(edges, gain)
    shares, masses = [], []
    for number in np.unique(group):
        rows = group == number
        control, treated = _arms_at(target, weight, rows, arm, horizon)
        if np.isfinite([control, treated]).all():
            better, worse = treated * (1 - control), control * (1 - treated)
            shares.append((worse, 1 - better - worse, better))
            masses.append(mass[rows].sum())
    if not shares:
        return missing(f"no group has both arms, and rows of them at risk at {horizon:g}")
    worse, same, better = np.array(shares).T
    greater = np.outer(better, worse + same) + np.outer(same, worse)
    greater *= np.outer(masses, masses)
    if greater.sum() == 0:
        return missing(f"all rows are alike at {horizon:g}")
    # Groups ascend with the predicted gain.
    concordant = np.tril(greater, -1).sum() + np.trace(greater) / 2
    return Score(float(concordant / greater.sum()))


def _gains(predicted: Predictions, target: Target, arm: int, horizon: float) -> Floats:
    """Return the predicted gain in survival of each row in an arm, over the reference."""
    treated, control = (predicted.in_arm(number - target.arm).at(horizon) for number in (arm, 0))
    return treated - control


def _arms_at(
    target: Target, weight: Floats | None, rows: np.ndarray, arm: int, horizon: float
) -> Floats:
    """Return the observed survival of rows in the reference and in another arm."""
    observed = []
    for number in (0, arm):
        inside = np.flatnonzero(rows & (target.arm == number))
        known = inside.size > 0
        part = None if weight is None else weight[inside]
        observed.append(
            observed_survival(target.take(inside), part, horizon).survival if known else np.nan
        )
    return np.array(observed)
