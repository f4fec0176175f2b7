"""Permutation tests of scores: whether a column matters, and where its two sides differ most.

Scores are attached to the rows of a node. If a column did not matter, every way to hand the scores
to the rows would be as likely as the one that was seen. Under that distribution the sum of scores
over any set of rows has a known mean and variance, and standardised it is asymptotically normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from surtree._support.types import Floats
from surtree.survival.objective import total_by

Codes = NDArray[np.intp]

# With more categories, not all partitions are tried.
_MOST_CATEGORIES = 16
# A column whose variance is below this part of its mean square does not vary.
_CONSTANT = 1e-14
# The same for the variance of scores.
_EQUAL_SCORES = 1e-24
# Below this, p-values underflow, and statistics are compared instead.
_LEAST_P_VALUE = 1e-150


@dataclass(frozen=True)
class Scores:
    """The scores of rows, and how often each row counts."""

    score: Floats  # the score of each row
    weight: Floats  # the weight of each row, above zero

    @cached_property
    def total(self) -> float:
        """How many rows there are, counted by weight."""
        return float(self.weight.sum())

    @cached_property
    def excess(self) -> Floats:
        """By how much each score exceeds the mean, times the weight of the row."""
        mean = float(self.weight @ self.score) / self.total
        excess: Floats = self.weight * (self.score - mean)
        return excess

    @cached_property
    def variance(self) -> float:
        """The variance of the score of a row drawn without replacement."""
        squares = float((self.excess**2 / self.weight).sum())
        # A score is an event less a hazard, so scores that differ by less than this do not differ.
        if self.total <= 1 or squares <= _EQUAL_SCORES * float(self.weight @ (1 + self.score**2)):
            return 0.0
        return squares / (self.total - 1)


@dataclass(frozen=True)
class Test:
    """The result of a test; NaN if there was nothing to test."""

    statistic: float = np.nan
    p_value: float = np.nan

    @property
    def evidence(self) -> tuple[float, float]:
        """Sort key of tests, the most significant first."""
        return max(self.p_value, _LEAST_P_VALUE), -self.statistic


def linear_test(scores: Scores, values: Floats) -> Test:
    """Test whether scores go up or down with the values of a column."""
    if not values.size or scores.variance <= 0:
        return Test()
    # The unit does not matter to the test. A power of two changes no digit, and keeps the squares
    # of huge and of tiny values in range.
    values = np.ldexp(values, -np.frexp(np.abs(values).max())[1])
    mean = float(scores.weight @ values) / scores.total
    centred = values - mean
    spread = float(scores.weight @ centred**2)
    if spread <= _CONSTANT * float(scores.weight @ values**2):
        return Test()
    return _test(float(scores.excess @ centred) ** 2 / (spread * scores.variance), 1)


def group_test(scores: Scores, codes: NDArray[np.int32]) -> Test:
    """Test whether the categories of a column differ in their mean scores."""
    if not codes.size or scores.variance <= 0:
        return Test()
    excess, weight, present = _by_category(scores, codes)
    if present.size < 2:
        return Test()
    return _test(float((excess**2 / weight).sum()) / scores.variance, present.size - 1)


def adjusted(p_values: list[float]) -> Floats:
    """Return p-values adjusted for multiple tests (Sidak): ``1 - (1 - p)**n``."""
    values = np.array(p_values)
    n_tests = np.count_nonzero(~np.isnan(values))
    # A p-value of one has no logarithm; the largest number below one has.
    at_most = np.minimum(values, np.nextafter(1.0, 0.0))
    adjusted_values: Floats = -np.expm1(n_tests * np.log1p(-at_most))
    return adjusted_values


def best_threshold(scores: Scores, values: Floats, bucket: float) -> tuple[float, float] | None:
    """Return the two neighbouring values between which a column is best cut."""
    distinct, index = np.unique(values, return_inverse=True)
    excess = np.cumsum(total_by(index, scores.excess, distinct.size))[:-1]
    weight = np.cumsum(total_by(index, scores.weight, distinct.size))[:-1]
    best = _best_division(excess, weight, scores.total, bucket)
    return None if best is None else (float(distinct[best]), float(distinct[best + 1]))


def best_subset(scores: Scores, codes: NDArray[np.int32], bucket: float) -> Codes | None:
    """Return the categories that are best divided from all others, those of less weight."""
    excess, weight, present = _by_category(scores, codes)
    if present.size <= _MOST_CATEGORIES:
        # A division and its mirror image are the same: the last category is always outside.
        number = np.arange(1, 2 ** (present.size - 1))
        inside = (number[:, None] >> np.arange(present.size) & 1).astype(bool)
    else:
        # Without a least weight, the best division never crosses the order of the means.
        order = np.argsort(excess / weight, kind="stable")
        inside = np.zeros((present.size - 1, present.size), dtype=bool)
        inside[:, order] = np.tri(present.size - 1, present.size, dtype=bool)
    inside_weight = inside @ weight
    best = _best_division(inside @ excess, inside_weight, scores.total, bucket)
    if best is None:
        return None
    lighter = inside[best] ^ bool(inside_weight[best] > scores.total / 2)
    return np.asarray(present[lighter])


def _test(statistic: float, freedom: int) -> Test:
    return Test(statistic, float(chdtrc(freedom, statistic)))


def _by_category(scores: Scores, codes: NDArray[np.int32]) -> tuple[Floats, Floats, Codes]:
    n_codes = int(codes.max()) + 1
    weight = total_by(codes, scores.weight, n_codes)
    present = np.flatnonzero(weight)
    return total_by(codes, scores.excess, n_codes)[present], weight[present], present


def _best_division(excess: Floats, weight: Floats, total: float, bucket: float) -> int | None:
    """Return the division whose two sides differ most, given the sums of one side of each."""
    other = total - weight
    allowed = (weight >= bucket) & (other >= bucket) & (weight > 0) & (other > 0)
    if not allowed.any():
        return None
    # The statistic of two groups, but for the variance, which all divisions share.
    statistic = np.full(weight.size, -np.inf)
    statistic[allowed] = excess[allowed] ** 2 * (1 / weight[allowed] + 1 / other[allowed])
    return int(np.argmax(statistic))
