"""The figures of a leaf as a page writes them, with their intervals."""

from __future__ import annotations

from math import isfinite

from surtree.summary import wording
from surtree.summary.leaves import Leaf
from surtree.summary.wording import median_text, number


def risk_text(leaf: Leaf) -> str:
    """Return the relative risk of a leaf; without events, only what it is not above."""
    if not leaf.no_events:
        return number(leaf.theta, 3)
    most = leaf.theta_limits[1]
    return f"≤ {number(most, 2)}" if isfinite(most) else "unknown"


def risk_limits_text(leaf: Leaf) -> str:
    """Return the confidence interval of the relative risk; "no events" where there are none."""
    return "no events" if leaf.no_events else interval_text(leaf.theta_limits, 2)


def median_limits_text(leaf: Leaf) -> str:
    """Return the confidence interval of the median; empty where neither end is known."""
    return interval_text(leaf.median_limits, 3)


def risk_in_words(leaf: Leaf, level: float) -> str:
    """Return the relative risk of a leaf with its interval, as a part of a sentence."""
    if leaf.no_events:
        return f"no events: relative risk {wording.risk_text(leaf, 2)}"
    return f"relative risk {number(leaf.theta, 3)}{_in_brackets(risk_limits_text(leaf), level)}"


def median_in_words(leaf: Leaf, level: float, unit: str) -> str:
    """Return the median of a leaf with its interval, as a part of a sentence."""
    said = median_text(leaf.median, 3)
    if isfinite(leaf.median) and unit:
        said += f" {unit}"
    return f"median survival {said}{_in_brackets(median_limits_text(leaf), level)}"


def interval_text(limits: tuple[float, float], precision: int) -> str:
    """Return an interval in words; an end that is infinite or not known is left out."""
    low, high = limits
    if not isfinite(low):
        return ""
    if not isfinite(high):
        return f"from {number(low, precision)}"
    return f"{number(low, precision)} to {number(high, precision)}"


def level_text(level: float) -> str:
    """Return the name of a confidence interval, such as "95% CI"."""
    return f"{100 * level:g}% CI"


def _in_brackets(limits: str, level: float) -> str:
    return f" ({level_text(level)} {limits})" if limits else ""
