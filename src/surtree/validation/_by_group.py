"""Performance in groups of rows: centres that a model had not seen, or subgroups of persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy.special import ndtri

from surtree.validation._measures import Measure
from surtree.words.numbers import figure, limits_text
from surtree.words.quoting import printable
from surtree.words.tables import text_table

# What is shown of a group, of the event or of the main cause.
_SHOWN = ("concordance", "calibration_slope", "calibration")


@dataclass(frozen=True)
class GroupPerformance:
    """How well predictions agree with the rows of a centre or a subgroup.

    Parameters
    ----------
    name : str
        Its label.
    n_rows, n_events : int
        Its rows, and those of them with an event.
    measures : tuple of Measure
        Those of all rows, on these alone. Intervals come from draws of its persons: they are about
        other patients of this group, and not about another group.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=2).fit(X[:400], y[:400])
    >>> result = evaluate(model, X[400:], y[400:], by=X["menopause"][400:])
    >>> [(one.name, one.n_rows, round(one["concordance"].value, 2)) for one in result.groups]
    [('post', 160, 0.57), ('pre', 126, 0.64)]
    """

    name: str
    n_rows: int
    n_events: int
    measures: tuple[Measure, ...]

    def __getitem__(self, name: str) -> Measure:
        """Return a measure by its name."""
        return next(measure for measure in self.measures if measure.name == name)


def spread_between(groups: Sequence[GroupPerformance], name: str, level: float) -> float:
    """Return the standard deviation of a measure between groups, beyond chance.

    It is that of DerSimonian and Laird, from the intervals of groups; NaN where fewer than two
    have one.
    """
    own = [one[name] for one in groups]
    known = [one for one in own if isfinite(one.value) and one.upper > one.lower]
    if len(known) < 2:
        return np.nan
    values = np.array([one.value for one in known])
    errors = np.array([one.upper - one.lower for one in known]) / (2 * ndtri((1 + level) / 2))
    weight = errors**-2.0
    mean = weight @ values / weight.sum()
    excess = weight @ (values - mean) ** 2 - (values.size - 1)
    scale = weight.sum() - (weight @ weight) / weight.sum()
    return float(np.sqrt(max(excess / scale, 0.0)))


def group_lines(groups: Sequence[GroupPerformance], level: float) -> list[str]:
    """Return a table of the groups as lines of text."""
    return ["", *text_table(rows_of_groups(groups, level)).splitlines()] if groups else []


def rows_of_groups(groups: Sequence[GroupPerformance], level: float) -> list[list[str]]:
    """Return a table of the groups: its heading, a row for each, and how they differ."""
    first = groups[0].measures
    main = first[0].cause
    shown = {one.kind: one for one in first if one.kind in _SHOWN and one.cause == main}
    head = ["group", "rows", "events", *(one.words for one in shown.values())]
    rows = [
        [printable(group.name), str(group.n_rows), str(group.n_events)]
        + [_text(group[one.name]) for one in shown.values()]
        for group in groups
    ]
    between = [figure(spread_between(groups, one.name, level)) for one in shown.values()]
    return [head, *rows, ["SD between, beyond chance", "", "", *between]]


def _text(one: Measure) -> str:
    limits = limits_text(one.lower, one.upper)
    return figure(one.value) if limits == "-" else f"{figure(one.value)} ({limits})"
