"""Hazard ratios of groups: a Cox model whose only covariate is the group, ties after Breslow.

Such a model sees the rows only through what is at risk and what dies in each group at each event
time, which a tree keeps of its leaves and arms. A stratum is a set of further event times, at which
only its own rows are at risk.

The maximum of the partial likelihood is finite if every group leads to every other one, where a
group leads to another if it has an event while the other is at risk. Otherwise groups fall into
classes: the ratio of two groups of a class is finite, and that of two classes is zero, infinite or,
where neither leads to the other, unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.special import chdtri, ndtri

from surtree._support.types import ArrayValue, Floats
from surtree.survival.confidence import LEVEL, require_level

_MOST_STEPS = 100
_LONGEST_STEP = 2.0
# The logarithm of a ratio beyond this counts as infinite.
_FURTHEST = 40.0
# Where no maximum is finite, each group has a prior worth this many events.
HALF_AN_EVENT = 0.5


@dataclass(frozen=True, eq=False)
class GroupCounts(ArrayValue):
    """What is at risk and what dies in each group, at each event time of each stratum."""

    at_risk: Floats  # the weight at risk and the weight of the events
    deaths: Floats

    @property
    def events(self) -> Floats:
        return np.asarray(self.deaths.sum(axis=1))

    @cached_property
    def leads(self) -> NDArray[np.bool_]:
        """Whether each group leads to each other one, directly or by others."""
        direct = (self.deaths > 0).astype(float) @ (self.at_risk > 0).T > 0
        return np.asarray(np.isfinite(shortest_path(direct, unweighted=True)))

    @property
    def is_finite(self) -> bool:
        return bool(self.leads.all())

    @property
    def classes(self) -> list[NDArray[np.intp]]:
        number = connected_components(self.leads, connection="strong")[1]
        return [np.flatnonzero(number == one) for one in np.unique(number)]

    def of_class(self, groups: NDArray[np.intp]) -> GroupCounts:
        """Return the counts of a class of groups, at the times of its events.

        All who die at one time are of one class; of others at risk then, the hazard is zero.
        """
        times = self.deaths[groups].any(axis=0)
        return GroupCounts(self.at_risk[groups][:, times], self.deaths[groups][:, times])


@dataclass(frozen=True, eq=False)
class GroupFit(ArrayValue):
    """The maximum of the partial likelihood, with a prior or without."""

    # The hazard of each group relative to the baseline ``steps``; only ratios mean something.
    hazard: Floats
    # Minus the second derivative of the log likelihood, by the logarithms of hazards. Without a
    # prior it is zero for a factor that all groups share.
    information: Floats
    steps: Floats  # breslow's estimate of the baseline hazard at each time
    log_likelihood: float  # its logarithm, with that of the prior


def survival_band(
    counts: GroupCounts, fit: GroupFit, group: int, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the pointwise limits of the survival of a group by its hazard and the baseline.

    They are R's ``survfit`` of a Cox model with ``conf.type = "log-log"``: by the delta method,
    from the variance of the baseline and that of the ratios. They are not numbers before the first
    event.
    """
    require_level(level)
    steps = fit.hazard[group] * fit.steps
    hazard, deaths = np.cumsum(steps), counts.deaths.sum(axis=0)
    variances = np.divide(steps**2, deaths, out=np.zeros_like(steps), where=deaths > 0)
    # What one more in the logarithm of the hazard of each group adds to the cumulative hazard.
    share = (
        fit.hazard[:, None]
        * counts.at_risk
        * np.divide(fit.steps, deaths, where=deaths > 0, out=np.zeros_like(steps))
    )
    moved = -np.cumsum(share * steps, axis=1)
    moved[group] += hazard
    variance = np.cumsum(variances) + (moved * (np.linalg.pinv(fit.information) @ moved)).sum(
        axis=0
    )
    known = hazard > 0
    reach = ndtri((1 + level) / 2) * np.sqrt(variance[known]) / hazard[known]
    stretch = np.exp(np.minimum(reach, _FURTHEST))
    lower, upper = np.full_like(hazard, np.nan), np.full_like(hazard, np.nan)
    lower[known] = np.exp(-hazard[known] * stretch)
    upper[known] = np.exp(-hazard[known] / stretch)
    return lower, upper


def fit_groups(counts: GroupCounts, prior: float = 0.0) -> GroupFit:
    """Return the maximum of the partial likelihood, by Newton's method."""
    return _fit(counts, np.full(len(counts.deaths), prior), np.full(len(counts.deaths), prior))


def _fit(counts: GroupCounts, shape: Floats, rate: Floats) -> GroupFit:
    """Return the same for a prior whose density is ``hazard ** shape * exp(-rate * hazard)``."""
    moves = counts.deaths.any(axis=0)
    at_risk, deaths = counts.at_risk[:, moves], counts.deaths[:, moves].sum(axis=0)
    events = counts.events
    expected = at_risk @ (deaths / at_risk.sum(axis=0))
    beta = np.log((events + HALF_AN_EVENT) / (expected + HALF_AN_EVENT))
    # Without a prior, a factor that all share is free: the group with most events stays.
    free = np.ones(beta.size, dtype=bool)
    if not shape.any():
        beta -= beta[events.argmax()]
        free[events.argmax()] = False

    def value_at(beta: Floats) -> tuple[float, Floats, Floats]:
        hazard = np.exp(beta)
        exposed = hazard @ at_risk
        value = (events + shape) @ beta - rate @ hazard - deaths @ np.log(exposed)
        return float(value), hazard, exposed

    value, hazard, exposed = value_at(beta)
    for _ in range(_MOST_STEPS):
        share = hazard[:, None] * at_risk / exposed
        gradient = events + shape - rate * hazard - share @ deaths
        information = np.diag(share @ deaths + rate * hazard) - (share * deaths) @ share.T
        if not free.any():
            break
        step = np.zeros_like(beta)
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], gradient[free], rcond=None)[0]
        step = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        # The likelihood is concave: half a step is better where a whole one goes too far.
        for _ in range(_MOST_STEPS):
            new = value_at(beta + step)
            if new[0] >= value - 1e-9 * (1 + abs(value)):
                break
            step = step / 2
        beta, (value, hazard, exposed) = beta + step, new
        if np.abs(step).max() < 1e-10:
            break
    steps = np.zeros(moves.size)
    steps[moves] = deaths / exposed
    return GroupFit(hazard, information, steps, value)


def hazard_ratios(counts: GroupCounts, reference: int = 0, prior: float = 0.0) -> Floats:
    """Return the hazard ratio of each group over one of them.

    Without a prior they are those of R's ``coxph(..., ties = "breslow")``, or what these tend to:
    zero for a group without events, infinity for one whose events all are before those of others,
    and not a number where nobody of one is at risk when another has events.
    """
    if prior > 0 or counts.is_finite:
        hazard = fit_groups(counts, prior).hazard
        return np.asarray(hazard / hazard[reference])
    to, back = counts.leads[:, reference], counts.leads[reference]
    ratios = np.where(to, np.inf, np.where(back, 0.0, np.nan))
    members = np.flatnonzero(to & back)
    hazard = fit_groups(counts.of_class(members)).hazard if members.size > 1 else np.ones(1)
    ratios[members] = hazard / hazard[members.tolist().index(reference)]
    return np.asarray(ratios)


def ratio_limits(
    counts: GroupCounts, group: int, reference: int = 0, level: float = LEVEL, prior: float = 0.0
) -> tuple[float, float]:
    """Return the confidence limits of the hazard ratio of two groups, by the profile likelihood.

    They are the ratios at which twice the log likelihood, at its maximum over the other groups, is
    below its maximum by a quantile of the chi-squared distribution with one degree of freedom. A
    ratio of zero has an upper limit, and an infinite one a lower limit.
    """
    require_level(level)
    if group == reference:
        return 1.0, 1.0
    if prior == 0 and not (counts.leads[group, reference] or counts.leads[reference, group]):
        return 0.0, np.inf
    fit = fit_groups(counts, needed_prior(counts, prior))
    contrast = np.zeros(fit.hazard.size)
    contrast[[group, reference]] = 1.0, -1.0
    centre = float(contrast @ np.log(fit.hazard))
    width = np.sqrt(2 * drop_of(level) * (contrast @ np.linalg.pinv(fit.information) @ contrast))
    known = prior > 0 or counts.is_finite
    least = (fit.log_likelihood if known else _supremum(counts)) - drop_of(level)

    def excess(log_ratio: float) -> tuple[float, float]:
        value, slope = _profile(counts, group, reference, log_ratio, prior)
        return value - least, slope

    reach = min(float(width), _LONGEST_STEP)
    lower, upper = (_root(excess, centre, side * reach) for side in (-1.0, 1.0))
    return float(np.exp(lower)), float(np.exp(upper))


def drop_of(level: float) -> float:
    """Return by how much a log likelihood is below its maximum at the limits of a level."""
    return float(chdtri(1.0, 1 - level)) / 2


def needed_prior(counts: GroupCounts, prior: float) -> float:
    """Return a prior with which all ratios are finite: half an event where they are not without."""
    return prior if prior > 0 or counts.is_finite else HALF_AN_EVENT


def _supremum(counts: GroupCounts) -> float:
    """Return the log likelihood that cannot be exceeded: the sum over classes of their maxima."""
    parts = (counts.of_class(groups) for groups in counts.classes)
    return sum(fit_groups(part).log_likelihood for part in parts if part.deaths.size)


def _profile(
    counts: GroupCounts, group: int, reference: int, log_ratio: float, prior: float
) -> tuple[float, float]:
    """Return the largest log likelihood where two groups have a given ratio, and its slope.

    The two are then one group, whose rows count by the ratio.
    """
    ratio, kept = np.exp(log_ratio), np.arange(len(counts.deaths)) != group
    at_risk, deaths = counts.at_risk.copy(), counts.deaths.copy()
    at_risk[reference] += ratio * at_risk[group]
    deaths[reference] += deaths[group]
    joined = GroupCounts(at_risk[kept], deaths[kept])
    index = int(kept[:reference].sum())  # the position of the two
    shape, rate = np.full((2, len(joined.deaths)), prior)
    shape[index] += prior
    rate[index] += prior * ratio
    events = float(counts.deaths[group].sum()) + prior
    value, slope = events * log_ratio, events
    all_groups = np.arange(len(joined.deaths))
    for groups in [all_groups] if prior > 0 or joined.is_finite else joined.classes:
        part, times = joined.of_class(groups), joined.deaths[groups].any(axis=0)
        if not part.deaths.size:
            continue
        fit = _fit(part, shape[groups], rate[groups])
        value += fit.log_likelihood
        if index in groups:
            exposed = counts.at_risk[group, times] @ fit.steps + prior
            slope -= float(ratio * fit.hazard[groups.tolist().index(index)] * exposed)
    return value, slope


def _root(excess: Callable[[float], tuple[float, float]], centre: float, width: float) -> float:
    """Return where a concave function falls through zero on one side of its maximum.

    It is searched for by Newton's method, which never leaves the side where the function is below
    zero; infinity where there is no such place, as on the side of an infinite maximum.
    """
    side, at, reach = np.sign(width), centre + width, 1.0
    for _ in range(_MOST_STEPS):
        value, slope = excess(at)
        if slope * side >= 0:  # the maximum is further on
            step, reach = side * reach, 2 * reach
        else:
            step = float(np.clip(-value / slope, -_LONGEST_STEP, _LONGEST_STEP))
        at += step
        if abs(at) > _FURTHEST:
            return float(side * np.inf)
        if abs(step) < 1e-9:
            break
    return float(at)
