"""Leaves on new data: what each of them predicts, and the observed outcomes of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.data.target import Target
from surtree.engines.predict import Outcomes
from surtree.metrics.calibration_groups import observed_at
from surtree.outcomes.measures import LeafChannel, Predictions
from surtree.survival.confidence import poisson_limits, profile_limits
from surtree.tree.resolve import needed_steps
from surtree.tree.tree import Tree
from surtree.validation._rows import JudgedRows
from surtree.words.numbers import figure, limits_text, plural


@dataclass(frozen=True)
class LeafCheck:
    """What a leaf predicts, and the observed outcomes of the rows that fall into it.

    Parameters
    ----------
    leaf : int
        The number of its node.
    name : str
        What the leaf is called in prints: A, B, ...
    rule : str
        What holds for its rows.
    channel : str
        The cause or the arm that the figures are about; empty where there is nothing to tell apart.
    n_rows, n_events : int
        The rows in it, and those of them with an event.
    expected : float
        How many events the leaf expected, by the weight of rows and how long they were followed:
        up to the last follow-up of the rows that the model was fitted on.
    ratio, lower, upper : float
        Observed events, up to the same time, divided by the expected ones, and limits: 1 is right.
        NaN where none are expected.
    predicted, observed, observed_lower, observed_upper : tuple of float
        Survival at each horizon: as the leaf says, NaN after the last follow-up of the rows that
        the model was fitted on; and the Kaplan-Meier estimate with its limits, NaN where nobody
        is at risk. Of a cause it is the cumulative incidence, and the Aalen-Johansen estimate.

    Examples
    --------
    >>> from surtree import SurTree, evaluate
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> model = SurTree(max_depth=1).fit(X[:500], y[:500])
    >>> result = evaluate(model, X[500:], y[500:])
    >>> leaf = result.leaves[0]
    >>> leaf.rule, leaf.n_events, round(leaf.expected, 1)
    ('positive_nodes <= 3', 27, 27.5)
    """

    leaf: int
    name: str
    rule: str
    n_rows: int
    n_events: int
    expected: float
    ratio: float
    lower: float
    upper: float
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    observed_lower: tuple[float, ...]
    observed_upper: tuple[float, ...]
    channel: str = ""


def leaf_checks(
    tree: Tree,
    rows: JudgedRows,
    predicted: Predictions,
    level: float,
    merged: Outcomes | None = None,
) -> tuple[LeafCheck, ...]:
    """Compare each leaf that some row falls into with its rows; of a lazy table, merged ones."""
    n_rows = np.ones(rows.n) if merged is None else merged.n_rows
    weighted = None if merged is None else merged.is_weighted
    steps, names = needed_steps(tree), tree.leaf_names
    channels = tree.outcome.leaf_channels(rows.target)
    checks = []
    for index, leaf in enumerate(tree.leaves.tolist()):
        rule = " and ".join(tree.condition(*step) for step in steps[leaf]) or "all rows"
        for channel in channels:
            inside = np.flatnonzero((predicted.leaf == index) & channel.rows & (rows.weight > 0))
            if inside.size:
                figures = _figures(rows, predicted, channel, leaf, inside, level, weighted)
                n_here = n_rows[inside]
                counts = int(n_here.sum()), int(n_here[channel.event[inside]].sum())
                checks.append(LeafCheck(leaf, names[leaf], rule, *counts, *figures))
    return tuple(checks)


def _figures(
    rows: JudgedRows,
    predicted: Predictions,
    channel: LeafChannel,
    leaf: int,
    inside: NDArray[np.intp],
    level: float,
    weighted: bool | None,
) -> tuple[Any, ...]:
    """Return the figures of a leaf about a cause, an arm, or all of its rows."""
    target, weight = rows.target.take(inside), rows.weight[inside]
    hazard = weight * channel.hazard[inside]
    if target.entry is not None:
        # The baseline has a floor, but nothing is expected of rows that enter after its end.
        hazard[target.entry >= predicted.last_time] = 0.0
    counted = channel.event[inside] & ~is_after(target, predicted.last_time)
    events, expected = float(weight[counted].sum()), float(channel.theta[leaf] * hazard.sum())
    if weighted is None:
        weighted = bool((weight != 1).any())
    horizons = rows.times.horizons.tolist()
    said = predicted.of(channel.cause).take(inside[:1])
    observed = [observed_at(time, target, weight, channel.cause, level) for time in horizons]
    return (
        expected,
        *_ratio(events, expected, level, weighted),
        tuple(float(said.at(time)[0]) for time in horizons),
        *(tuple(map(float, part)) for part in zip(*observed, strict=True)),
        channel.label,
    )


def _ratio(
    events: float, expected: float, level: float, weighted: bool
) -> tuple[float, float, float]:
    """Return observed over expected events, and limits; NaN where none are expected."""
    if not expected > 0:
        return np.nan, np.nan, np.nan
    limits = (profile_limits if weighted else poisson_limits)(events, expected, level)
    return events / expected, *limits


def overall_ratio(
    checks: Sequence[LeafCheck], level: float, weighted: bool
) -> tuple[float, float, float]:
    """Return observed over expected events of all leaves, unless they are of causes or arms."""
    if any(one.channel for one in checks):
        return np.nan, np.nan, np.nan
    expected = [one.expected for one in checks]
    events = sum(one.ratio * one.expected for one in checks if one.expected > 0)
    return _ratio(events, sum(expected), level, weighted)


def is_after(target: Target, last_time: float) -> NDArray[np.bool_]:
    """Tell which rows have an event after the last follow-up of the training rows."""
    return np.asarray(target.event & (target.time > last_time))


def check_lines(leaves: Sequence[LeafCheck], horizon: str, curve: str) -> list[str]:
    """Return the table of leaves, with survival at the last horizon, as lines of text."""
    width = max(len(leaf.channel) for leaf in leaves)
    lines = [
        "",
        f"leaf  {'':{width}} rows  events  expected  observed / expected  "
        f"{curve} at {horizon}: predicted, observed",
    ]
    for leaf in leaves:
        ratio = _with_limits(leaf.ratio, leaf.lower, leaf.upper)
        observed = _with_limits(leaf.observed[-1], leaf.observed_lower[-1], leaf.observed_upper[-1])
        lines.append(
            f"{leaf.name:4}  {leaf.channel:{width}}{leaf.n_rows:5}  {leaf.n_events:6}  "
            f"{leaf.expected:8.1f}  "
            f"{ratio:>19}  {figure(leaf.predicted[-1], 2)}, {observed}: {leaf.rule}"
        )
    return lines


def _with_limits(value: float, lower: float, upper: float) -> str:
    limits = limits_text(lower, upper, 2)
    return figure(value, 2) if limits == "-" else f"{figure(value, 2)} ({limits})"


def check_notes(
    leaves: Sequence[LeafCheck], horizon: float, last_time: float, n_events_after: int
) -> list[str]:
    """Return what the table of the leaves leaves out, and why."""
    notes = []
    if not all(isfinite(leaf.predicted[-1]) for leaf in leaves):
        notes.append(f"- predicted: the training rows were followed to {last_time:g} only")
    if not all(isfinite(leaf.observed[-1]) for leaf in leaves):
        notes.append(f"- observed: no row of the leaf is at risk at {horizon:g}")
    if n_events_after:
        notes.append(
            f"observed / expected: without {plural(n_events_after, 'event')} after "
            f"{last_time:g}, the last follow-up of the training rows"
        )
    return notes
