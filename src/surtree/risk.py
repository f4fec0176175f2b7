"""What the Kaplan-Meier curves of the leaves are made of, counted while the rows are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree.statistics import ArrayValue, Baseline, risk_table
from surtree.target import Target

Integers = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskCounts(ArrayValue):
    """What a leaf's own Kaplan-Meier curve is made of, without the rows.

    Parameters
    ----------
    step : array of int
        Positions, in the times of the baseline, of the event times of the leaf.
    at_risk : array
        The weight at risk at each of them.
    deaths : array
        The weight of the events at each of them.
    """

    step: NDArray[Any]
    at_risk: NDArray[Any]
    deaths: NDArray[Any]


def leaf_risk(
    leaf_of_row: Integers,
    left: Integers,
    target: Target,
    weight: Floats,
    baseline: Baseline,
) -> tuple[RiskCounts, ...]:
    """Count, for each leaf, the rows at risk and the events at its own event times."""
    leaves = np.flatnonzero(left < 0)
    if target.entry is None and np.array_equal(weight, np.floor(weight)):
        return _leaf_risk_at_once(leaf_of_row, leaves, target, weight, baseline)
    order = np.argsort(leaf_of_row, kind="stable")
    counts = []
    for rows in np.split(order, np.searchsorted(leaf_of_row[order], leaves[1:])):
        table = risk_table(target.take(rows), weight[rows])
        step = np.searchsorted(baseline.times, table.times)
        counts.append(risk_counts(step, table.at_risk, table.deaths))
    return tuple(counts)


def _leaf_risk_at_once(
    leaf_of_row: Integers,
    leaves: NDArray[np.intp],
    target: Target,
    weight: Floats,
    baseline: Baseline,
) -> tuple[RiskCounts, ...]:
    """Count for all leaves in one pass: sums of whole numbers are exact, also across leaves."""
    # By leaf, and by time within each. Small integers are sorted in a single pass.
    by_leaf = np.argsort(
        leaf_of_row[target.order].astype(np.min_scalar_type(leaves[-1])), kind="stable"
    )
    order = target.order[by_leaf]
    leaf, step, weight = leaf_of_row[order], baseline.steps(target)[order], weight[order]
    is_first = np.ones(order.size, dtype=np.bool_)
    is_first[1:] = (leaf[1:] != leaf[:-1]) | (step[1:] != step[:-1])
    first = np.flatnonzero(is_first)
    deaths = np.add.reduceat(weight * target.event[order], first)
    first, deaths = first[deaths > 0], deaths[deaths > 0]
    from_here_on = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    end_of_leaf = np.searchsorted(leaf, leaf[first], side="right")
    at_risk = from_here_on[first] - from_here_on[end_of_leaf]
    step, at_risk, deaths = step[first] - 1, _whole(at_risk), _whole(deaths)
    borders = np.searchsorted(leaf[first], leaves).tolist()
    return tuple(
        risk_counts(step[start:end], at_risk[start:end], deaths[start:end])
        for start, end in pairwise([*borders, first.size])
    )


def risk_counts(step: Any, at_risk: Any, deaths: Any) -> RiskCounts:
    """Return the counts of a leaf, as small as they can be kept."""
    return RiskCounts(_compact(step), _compact(at_risk), _compact(deaths))


def _compact(counts: Any) -> NDArray[Any]:
    """Return counts in the smallest type that holds them: with them, half of a pickle is counts."""
    values = _whole(counts)
    if values.dtype.kind == "f":
        return values
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _whole(counts: Any) -> NDArray[Any]:
    """Return counts as integers, if all of them are whole and can be."""
    values = np.asarray(counts)
    if values.dtype.kind != "f":
        return values
    if values.max(initial=0) > np.iinfo(np.int64).max or np.any(values != np.floor(values)):
        return values
    return values.astype(np.int64)
