"""Cox's partial likelihood in strata, with Breslow's handling of ties: risk sets and ratios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target
from surtree.survival.confidence import LEVEL

_MOST_STEPS = 50
# Products of so few columns do without BLAS, whose rounding may depend on the number of threads.
_MOST_SMALL = 8
# Likelihoods that differ by less, as a share, are equal.
_ROUNDING = 1e-9
# No coefficient changes by more in a step.
_LONGEST = 2.0
# A ratio that goes to zero or infinity stops here, on the logarithmic scale.
_FURTHEST = 20.0


@dataclass(frozen=True, eq=False)
class RiskSets(ArrayValue):
    """Who is at risk at each event time of each stratum.

    A row is at risk at time ``t`` when it entered before ``t`` and left at ``t`` or later.
    """

    # The positions of the rows by stratum and time, and by stratum and entry.
    order: NDArray[np.intp]
    entered: NDArray[np.intp] | None
    # How many rows, in these orders, come before the event time: those of ``order`` from there to
    # the end of the stratum have not left, those of ``entered`` have not entered.
    left: NDArray[np.intp]
    since: NDArray[np.intp]
    end: NDArray[np.intp]  # how many rows come before the end of the stratum
    # The event times of a row's stratum from its entry to its exit are ``first`` to ``last``.
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    stop: NDArray[np.intp]  # how many event times come before the end of a row's stratum
    times: Floats  # the event times, and the weight of the rows with an event at each of them
    deaths: Floats
    weight: Floats  # the weight of each row

    @classmethod
    def of(cls, target: Target, weight: Floats, stratum: NDArray[np.intp]) -> RiskSets:
        """Return the risk sets of rows."""
        times, rank = np.unique(target.time, return_inverse=True)
        n_times = times.size + 1
        # A key puts rows in the order of strata, and of times within them.
        key = stratum * n_times + rank
        event_keys: NDArray[np.intp] = np.unique(key[target.event])
        order = np.argsort(key, kind="stable")
        left = np.searchsorted(key[order], event_keys)
        end = np.searchsorted(key[order], (event_keys // n_times + 1) * n_times)
        last = np.searchsorted(event_keys, key, side="right")
        entered, since, first = None, left, np.searchsorted(event_keys, stratum * n_times)
        if target.entry is not None:
            # An entry between two times is one after the earlier of them.
            entry_key = stratum * n_times + np.searchsorted(times, target.entry, side="right")
            entered = np.argsort(entry_key, kind="stable")
            since = np.searchsorted(entry_key[entered], event_keys, side="right")
            first = np.searchsorted(event_keys, entry_key)
        cell = np.searchsorted(event_keys, key[target.event])
        deaths = np.bincount(cell, weight[target.event], event_keys.size).astype(np.float64)
        stop = np.searchsorted(event_keys, (stratum + 1) * n_times)
        at = times[event_keys % n_times]
        return cls(order, entered, left, since, end, first, last, stop, at, deaths, weight)

    def at_risk(self, values: Floats) -> Floats:
        """Return the weighted sum of values, (..., n_rows), of the rows at risk at each time."""
        weighted = values * self.weight

        def rest(order: NDArray[np.intp], start: NDArray[np.intp]) -> Floats:
            zero = np.zeros((*weighted.shape[:-1], 1))
            before = np.concatenate([zero, np.cumsum(weighted[..., order], axis=-1)], axis=-1)
            return np.asarray(before[..., self.end] - before[..., start])

        total = rest(self.order, self.left)
        return total if self.entered is None else total - rest(self.entered, self.since)

    def exposure(self, steps: Floats) -> Floats:
        """Return the sum of values at event times while each row is at risk."""
        until = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(until[self.last] - until[self.first])

    def draw(
        self, steps: Floats, since: NDArray[np.intp], rows: NDArray[np.intp], hazard: Floats
    ) -> Floats:
        """Return the event times at which rows have been exposed to a hazard; infinity if never."""
        until = np.concatenate([[0.0], np.cumsum(steps)])
        index = np.searchsorted(until[1:], until[since] + hazard)
        never = index >= self.stop[rows]
        return np.where(never, np.inf, np.append(self.times, np.inf)[index])

    def hazard(self, risk: Floats) -> Floats:
        """Return the cumulative hazard of each row's stratum while the row is at risk (Breslow)."""
        return self.exposure(self.deaths / self.at_risk(risk))


@dataclass(frozen=True, eq=False)
class CoxFit(ArrayValue):
    """Coefficients of a Cox model, and the inverse of their covariance."""

    coefficients: Floats  # the logarithms of hazard ratios
    information: Floats  # the observed information

    @property
    def ratios(self) -> Floats:
        return np.exp(self.coefficients)

    def limits(self, level: float = LEVEL) -> tuple[tuple[float, float], ...]:
        """Return the confidence limits of the hazard ratios (Wald)."""
        width = float(ndtri((1 + level) / 2)) * self.errors
        with np.errstate(over="ignore"):
            lower, upper = np.exp(self.coefficients - width), np.exp(self.coefficients + width)
        return tuple(zip(lower.tolist(), upper.tolist(), strict=True))

    @property
    def errors(self) -> Floats:
        """The standard errors of the coefficients; infinite where rows say nothing of one."""
        variance = np.diag(np.linalg.pinv(self.information)).copy()
        variance[np.diag(self.information) <= 0] = np.inf
        return np.sqrt(variance)


def fit_cox(
    sets: RiskSets,
    event: NDArray[np.bool_],
    columns: Floats,
    offset: Floats,
    penalty: float = 0.0,
    start: Floats | None = None,
) -> CoxFit:
    """Return the coefficients that maximise the partial likelihood, by damped Newton steps.

    A penalty takes half of it, times the sum of squares, from the likelihood.
    """
    n = len(columns)
    observed = _products(columns, np.where(event, sets.weight, 0.0)[np.newaxis])[:, 0]
    beta = np.zeros(n) if start is None else start
    ridge = penalty * np.eye(n)
    information = np.zeros((n, n))
    best, last, taken = -np.inf, beta, np.zeros(n)
    for _ in range(_MOST_STEPS):
        log_risk = offset + beta @ columns
        top = log_risk.max()
        risk = np.exp(log_risk - top)
        moments = sets.at_risk(np.concatenate([np.ones((1, risk.size)), columns]) * risk)
        total = np.maximum(moments[0], np.finfo(np.float64).tiny)
        value = beta @ (observed - penalty / 2 * beta) - sets.deaths @ (np.log(total) + top)
        if value < best - _ROUNDING * abs(best):  # too far
            taken = taken / 2
            beta = last + taken
            continue
        best, last, mean = value, beta, moments[1:] / total
        # How much each row counts in the risk sets of all events together.
        share = sets.weight * risk * sets.exposure(sets.deaths / total)
        died = mean * sets.deaths
        information = _products(columns * share, columns) - _products(died, mean) + ridge
        gradient = observed - died.sum(axis=1) - penalty * beta
        step = np.linalg.lstsq(information, gradient, rcond=1e-12)[0]
        # A shorter step keeps its direction, or the likelihood may not rise along it.
        length = np.abs(step).max(initial=0.0)
        beta = np.clip(beta + step * (_LONGEST / max(length, _LONGEST)), -_FURTHEST, _FURTHEST)
        taken = beta - last
        if length < 1e-10:
            break
    return CoxFit(beta, information)


def _products(first: Floats, second: Floats) -> Floats:
    """Return the sums of products of rows; of few rows, the same for any number of threads."""
    if len(first) > _MOST_SMALL:
        return np.asarray(first @ second.T)
    return np.asarray(np.einsum("ir,jr->ij", first, second))
