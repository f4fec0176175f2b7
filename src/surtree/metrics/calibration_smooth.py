"""Smooth calibration: observed risk as a smooth function of predicted risk, and its distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surtree._support.types import ArrayValue, Floats
from surtree.data.target import read_weights
from surtree.metrics._kaplan_meier import inverse, uncensored_before, under_observation
from surtree.metrics.input import ScoredRows, had_event, read_outcomes, read_scored
from surtree.metrics.predicted import read_horizon, read_predicted_at
from surtree.metrics.slope import log_hazard
from surtree.survival.cox import RiskSets, fit_cox

# Where the knots of the restricted cubic spline are, as R's ``rcs(x, 3)`` has them.
_KNOTS = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class SmoothCalibration(ArrayValue):
    """Observed risk at a horizon as a smooth function of the predicted one.

    Parameters
    ----------
    horizon : float
        The time.
    predicted, observed : array of float, shape (n_rows,)
        The predicted survival of each row, and that of all rows with such a prediction; with a
        cause, its cumulative incidence.
    ici, e50, e90 : float
        The integrated calibration index, the mean of the absolute differences of both over the
        rows; their median; and their 90% quantile. Zero is right. Of few rows they are above zero
        by chance alone.

    References
    ----------
    Austin, Harrell, van Klaveren (2020). Graphical calibration curves and the integrated
    calibration index (ICI) for survival models. Statistics in Medicine 39, 2714-2742.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> from surtree.metrics import smooth_calibration
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2, leaf_curve="baseline").fit(X, y)
    >>> smooth = smooth_calibration(y, model.predict_survival_function(X), 730)
    >>> round(smooth.ici, 3), round(smooth.e90, 3)
    (0.012, 0.014)
    """

    horizon: float
    predicted: Floats
    observed: Floats
    ici: float
    e50: float
    e90: float


def smooth_calibration(
    y: Any,
    predicted: Any,
    horizon: float,
    *,
    cause: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> SmoothCalibration:
    """Compare predicted survival at a horizon with a smooth curve of what was observed.

    The curve is a Cox model (of a cause, Fine and Gray's model) of a restricted cubic spline, with
    three knots, of the complementary log-log of the predictions: ``rms::cph(y ~ rcs(cll, 3))``.
    Where the knots coincide, as those of a tree with few leaves may, it is a straight line.

    Parameters
    ----------
    y, predicted, horizon, cause, sample_weight
        As in `calibration`.

    Examples
    --------
    >>> import numpy as np
    >>> from surtree.metrics import smooth_calibration
    >>> rng = np.random.default_rng(0)
    >>> hazard = np.exp(rng.normal(size=3000))
    >>> y = np.full(3000, True), rng.exponential(1 / hazard)
    >>> round(smooth_calibration(y, np.exp(-0.5 * hazard), horizon=0.5).ici, 2)
    0.0
    >>> round(smooth_calibration(y, np.exp(-0.5 * hazard**2), horizon=0.5).ici, 2)
    0.11
    """
    target = read_outcomes(y, cause=cause)
    times = read_horizon(horizon, target, predicted)
    values = read_predicted_at(predicted, times, target.time.size)[:, 0]
    weight = read_weights(sample_weight, target.time.size)
    event = had_event(target, cause)
    if not (event & (weight > 0) & (target.time <= times[0])).any():
        raise ValueError(f"No row has the event by {times[0]:g}: there is no curve to compare.")
    sets = _risk_sets(ScoredRows(target, weight), event, cause)
    columns = _spline(log_hazard(values if cause is None else 1.0 - values), weight)
    fit = fit_cox(sets, event, columns, np.zeros(weight.size))
    risk = np.exp(fit.coefficients @ columns)
    steps = sets.deaths / sets.at_risk(risk)
    survival = np.exp(-steps[sets.times <= times[0]].sum() * risk)
    observed = survival if cause is None else 1.0 - survival
    apart = np.abs(observed - values)
    e50, e90 = _quantiles(apart, weight, (0.5, 0.9))
    ici = float(np.average(apart, weights=weight))
    return SmoothCalibration(float(times[0]), values, observed, ici, e50, e90)


@dataclass(frozen=True, eq=False)
class _SubdistributionSets(RiskSets):
    """Risk sets of Fine and Gray: rows that another cause has ended stay, as far as uncensored."""

    ended: NDArray[np.intp]  # the rows that another cause has ended, by time
    before: NDArray[np.intp]  # how many of them have ended before each event time
    after: NDArray[np.intp]  # how many event times come before each of them has ended, or then
    factor: Floats  # the inverse of the share that is uncensored when each of them ends
    share: Floats  # the share that is uncensored just before each event time

    def at_risk(self, values: Floats) -> Floats:
        """Return the weighted sum of values of the rows at risk at each time."""
        stays = (values * self.weight)[..., self.ended] * self.factor
        sums = np.concatenate([np.zeros((*stays.shape[:-1], 1)), np.cumsum(stays, axis=-1)], -1)
        return np.asarray(super().at_risk(values) + self.share * sums[..., self.before])

    def exposure(self, steps: Floats) -> Floats:
        """Return the sum of values at event times while each row is at risk."""
        total = super().exposure(steps)
        rest = np.append(np.cumsum((steps * self.share)[::-1])[::-1], 0.0)
        total[self.ended] += self.factor * rest[self.after]
        return total


def _risk_sets(rows: ScoredRows, event: NDArray[np.bool_], cause: int | None) -> RiskSets:
    target, weight = rows
    if cause is not None:
        read_scored(target, weight, cause=cause)  # not of rows with entry times
    alone = replace(target, event=event)
    sets = RiskSets.of(alone, weight, np.zeros(weight.size, dtype=np.intp))
    ended = np.flatnonzero(target.event & ~event)
    if cause is None or ended.size == 0:
        return sets
    ended = ended[np.argsort(target.time[ended], kind="stable")]
    uncensored = under_observation(rows)
    return _SubdistributionSets(
        **vars(sets),
        ended=ended,
        before=np.searchsorted(target.time[ended], sets.times),
        after=np.searchsorted(sets.times, target.time[ended], side="right"),
        factor=inverse(uncensored_before(uncensored, target.time[ended])),
        share=uncensored_before(uncensored, sets.times),
    )


def _spline(x: Floats, weight: Floats) -> Floats:
    """Return the columns of a restricted cubic spline, centred and in units of their range."""
    x = x - np.average(x, weights=weight)
    span = float(np.ptp(x))
    if span < 1e-9:
        return np.empty((0, x.size))
    x = x / span
    low, middle, high = _quantiles(x, weight, _KNOTS)
    if not low < middle < high:
        return x[np.newaxis]

    def cubed(knot: float) -> Floats:
        return np.asarray(np.maximum(x - knot, 0.0) ** 3)

    bend = cubed(low) - (cubed(middle) * (high - low) - cubed(high) * (middle - low)) / (
        high - middle
    )
    return np.stack([x, bend / (high - low) ** 2])


def _quantiles(values: Floats, weight: Floats, shares: tuple[float, ...]) -> tuple[float, ...]:
    """Return quantiles in which a weight of two is the row twice."""
    order = np.argsort(values)
    until = np.cumsum(weight[order])
    last = float(until[-1]) - 1.0

    def value(index: int) -> float:
        found = int(np.searchsorted(until, index * (1 + 1e-12), side="right"))
        return float(values[order[min(found, order.size - 1)]])

    places = [share * max(last, 0.0) for share in shares]
    return tuple(
        value(floor(at)) + (at - floor(at)) * (value(ceil(at)) - value(floor(at))) for at in places
    )
