"""Counted things and figures in words."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 leaf" and "2 leaves"."""
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{count} {noun if count == 1 else many}"


def figure(value: float, digits: int = 3) -> str:
    """Return a number as tables print it: a dash where there is none."""
    return f"{value:.{digits}f}" if isfinite(value) else "-"


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
