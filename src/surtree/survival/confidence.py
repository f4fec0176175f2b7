"""Confidence limits: of a relative risk, of a product-limit curve, and of its median.

Weights count as repeated rows in all of them.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtri, gammaincinv, ndtri

from surtree._support.types import Floats
from surtree.survival.kaplan_meier import EventCounts, median_time

# The level of limits that are printed where nobody chose another.
LEVEL = 0.95

# Limits of survival beyond this are zero and one, and their exponential would overflow.
_GREATEST_EXPONENT = 700.0


def require_level(level: float) -> None:
    """Raise an error unless a level is a probability between zero and one."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for example 0.95; got {level!r}.")


def poisson_limits(
    events: float, expected: float, level: float = LEVEL, prior: float = 0.0
) -> tuple[float, float]:
    """Return exact limits of the ratio of a Poisson rate to what was expected, after Garwood."""
    require_level(level)
    shape, rate = events + prior, expected + prior
    if rate == 0:  # of no rows
        return 0.0, math.inf
    lower = float(gammaincinv(shape, (1 - level) / 2)) / rate if shape > 0 else 0.0
    more = 0.0 if prior > 0 else 1.0
    return lower, float(gammaincinv(shape + more, (1 + level) / 2)) / rate


def profile_limits(
    events: float, expected: float, level: float = LEVEL, prior: float = 0.0
) -> tuple[float, float]:
    """Return the same limits by the profile of the likelihood, which also takes weights.

    The limits are where twice the log likelihood is below its maximum by a quantile of the
    chi-squared distribution with one degree of freedom.
    """
    require_level(level)
    shape, rate = events + prior, expected + prior
    if rate == 0:  # of no rows
        return 0.0, math.inf
    drop = float(chdtri(1.0, 1 - level)) / 2
    if shape < sys.float_info.min:  # also the limit from above
        return 0.0, drop / rate

    # With z = log(theta * rate / shape), the drop is shape * (exp(z) - 1 - z): from z on either
    # side of zero, it grows without end.
    def excess(z: float) -> float:
        return math.expm1(z) - z - drop / shape

    below = -2.0 * (1.0 + drop / shape)
    above = 1.0 + math.log1p(drop / shape)
    mode = shape / rate
    return (
        mode * math.exp(brentq(excess, below, 0.0, xtol=1e-14)),
        mode * math.exp(brentq(excess, 0.0, above, xtol=1e-14)),
    )


def log_log_band(counts: EventCounts, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the pointwise limits of a product-limit curve, as R's ``conf.type = "log-log"``.

    They come from Greenwood's variance of the logarithm of survival, on the scale of its
    complementary log-log, so they never leave the interval from zero to one. They are not numbers
    (nan) where R says NA: where survival is one or zero, nothing is known of its variance.
    """
    require_level(level)
    survival = counts.survival
    inside = (survival > 0) & (survival < 1)
    greenwood = np.zeros_like(survival)
    left = counts.at_risk - counts.deaths
    np.divide(
        counts.deaths, counts.at_risk * left, out=greenwood, where=(survival > 0) & (left > 0)
    )
    variance = np.cumsum(greenwood)
    reach = ndtri((1 + level) / 2) * np.sqrt(variance[inside]) / -np.log(survival[inside])
    return stretched(survival, inside, reach)


def stretched(curve: Floats, inside: NDArray[np.bool_], reach: Floats) -> tuple[Floats, Floats]:
    """Return limits that reach so far on the scale of the complementary log-log."""
    stretch = np.exp(np.minimum(reach, _GREATEST_EXPONENT))
    lower, upper = np.full_like(curve, np.nan), np.full_like(curve, np.nan)
    lower[inside] = curve[inside] ** stretch
    upper[inside] = curve[inside] ** (1.0 / stretch)
    return lower, upper


def median_limits(times: Floats, band: tuple[Floats, Floats]) -> tuple[float, float]:
    """Return the limits of a median, after Brookmeyer and Crowley: where a band meets one half."""
    if np.isnan(band[0]).all():
        return np.nan, np.nan
    return median_time(times, band[0]), median_time(times, band[1])
