"""How predicted effects are measured: differences in survival between arms at a horizon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.metrics.reason import Score, after_training, missing, nobody_at_risk
from surtree.outcomes.measures import JudgedTimes, Metric
from surtree.outcomes.predicted import Predictions
from surtree.survival.observed import observed_survival

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
                partial(_difference, arm=arm, horizon=time),
                is_mean=True,
            )


def _difference(
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
