"""Counted things and figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count, product
from math import isfinite
from string import ascii_uppercase


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 leaf" and "2 leaves"."""
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"


# What is said of a median that survival does not fall to.
NOT_REACHED = "not reached"


def median_text(median: float, precision: int) -> str:
    """Return a median survival time, or that it is not reached."""
    return number(median, precision) if isfinite(median) else NOT_REACHED


def number(value: float, precision: int) -> str:
    """Return a number with this number of significant digits; large numbers stay whole."""
    if not 10.0**precision <= abs(value) < 1e15:
        return f"{value:.{precision}g}"
    return f"{value:.0f}"


def listed(names: Sequence[str]) -> str:
    """Return names as a part of a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def figure(value: float, digits: int = 3) -> str:
    """Return a number as tables print it: a dash where there is none."""
    return f"{value:.{digits}f}" if isfinite(value) else "-"


def interval_text(limits: tuple[float, float], precision: int = 3) -> str:
    """Return confidence limits in words; an empty text where they say nothing."""
    lower, upper = limits
    if isfinite(lower) and isfinite(upper):
        return f"{number(lower, precision)} to {number(upper, precision)}"
    return f"above {number(lower, precision)}" if isfinite(lower) and lower > 0 else ""


def limits_text(lower: float, upper: float, digits: int = 3) -> str:
    """Return the limits of a number as tables print them: a dash where there are none."""
    if not isfinite(lower) and not isfinite(upper):
        return "-"
    return f"{figure(lower, digits)} to {figure(upper, digits)}"


def missing_figures(measures: Iterable[tuple[str, str, bool]]) -> list[str]:
    """Return, for the foot of a table, why it has a dash where a number is expected."""
    named: dict[str, list[str]] = {}
    for name, reason, has_value in measures:
        what = "no interval" if has_value else "not estimable"
        named.setdefault(f"{what}: {reason}" if reason else "", []).append(name)
    return [
        reason if len(named) == 1 else f"{', '.join(names)}: {reason}"
        for reason, names in named.items()
        if reason
    ]


def leaf_names(leaves: Iterable[int]) -> dict[int, str]:
    """Return the name of each leaf, by its node, of all the leaves of a tree."""
    letters = chain.from_iterable(product(ascii_uppercase, repeat=n) for n in count(1))
    return dict(zip(sorted(set(leaves)), map("".join, letters), strict=False))
