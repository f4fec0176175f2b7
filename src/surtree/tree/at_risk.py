"""At-risk counts of the leaves, from which their Kaplan-Meier curves are drawn without the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._types import ArrayValue, Floats
from surtree.data.target import Target
from surtree.survival.baseline import Baseline, risk_table
from surtree.survival.objective import total_by
from surtree.survival.time_axis import round_times

Integers = NDArray[np.int32]

# A table of leaves and event times has at most so many cells.
_MOST_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class AtRiskCounts(ArrayValue):
    """The at-risk counts of a leaf: enough for its Kaplan-Meier curve, without the rows.

    Parameters
    ----------
    step : array of int
        Positions, in the times of the baseline, of the event times of the leaf.
    at_risk : array
        The weight at risk at each of them.
    deaths : array
        The weight of the events at each of them.
    round_at_risk : array
        The weight at risk at each of the `round_times` up to the last event of all rows: every
        tick of a time axis is among them.
    """

    step: NDArray[Any]
    at_risk: NDArray[Any]
    deaths: NDArray[Any]
    round_at_risk: NDArray[Any]


def leaf_at_risk(
    leaf_of_row: Integers,
    left: Integers,
    target: Target,
    weight: Floats,
    baseline: Baseline,
) -> tuple[AtRiskCounts, ...]:
    """Count, for each leaf, the rows at risk and the events at its own event times."""
    times = round_times(float(baseline.times[-1]))
    leaves = np.flatnonzero(left < 0)
    leaf = np.searchsorted(leaves, leaf_of_row)
    if target.entry is None:
        at_events = _at_events(leaf, leaves.size, target, weight, baseline)
    else:
        at_events = _at_events_with_entry(leaf, leaves.size, target, weight, baseline)
    lines = _at_round_times(leaf, leaves.size, target, weight, times)
    return at_risk_counts(
        {"step": step, "at_risk": at_risk, "deaths": deaths, "round_at_risk": line}
        for (step, at_risk, deaths), line in zip(at_events, lines, strict=True)
    )


def _at_events(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Floats, baseline: Baseline
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the steps of each leaf, and what is at risk and dies there."""
    n_times = baseline.times.size
    passed = baseline.steps(target)  # event times that a row reaches
    n_together = max(_MOST_CELLS // (n_times + 1), 1)  # leaves, in one table of leaves and times
    for first in range(0, n_leaves, n_together):
        size = (min(n_together, n_leaves - first), n_times + 1)
        own = slice(None) if n_leaves <= n_together else (leaf >= first) & (leaf < first + size[0])
        cell = (leaf[own] - first) * size[1] + passed[own]
        n_cells, died = size[0] * size[1], target.event[own]
        at_risk = _from_each_on(total_by(cell, weight[own], n_cells).reshape(size))[:, 1:]
        deaths = total_by(cell[died], weight[own][died], n_cells).reshape(size)[:, 1:]
        for line, dying in zip(at_risk, deaths, strict=True):
            step = np.flatnonzero(dying)
            yield step, line[step], dying[step]


def _from_each_on(values: Floats) -> Floats:
    """Return the sum from each place of a line to its end; nothing is subtracted."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _at_events_with_entry(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Floats, baseline: Baseline
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the same, where rows enter after time zero."""
    order = np.argsort(leaf, kind="stable")
    for rows in np.split(order, np.searchsorted(leaf[order], np.arange(1, n_leaves))):
        table = risk_table(target.take(rows), weight[rows])
        yield np.searchsorted(baseline.times, table.times), table.at_risk, table.deaths


def _at_round_times(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Floats, times: Floats
) -> Floats:
    """Return the weight at risk at each of some times, a line for each leaf.

    Parameters
    ----------
    leaf : array of int
        The position among the leaves of the leaf of each row.
    n_leaves : int
        How many there are.
    target, weight : Target, array of float
        The rows.
    times : array of float
        Ascending, the first is zero.
    """

    def from_each_on(place: NDArray[np.intp]) -> Floats:
        """Return the weight of the rows whose place is each one or later."""
        sums = total_by(leaf * times.size + place, weight, n_leaves * times.size)
        return _from_each_on(sums.reshape(n_leaves, -1))

    # A row is at risk until the last of these times that it reaches ...
    at_risk = from_each_on(np.searchsorted(times, target.time, side="right") - 1)
    if target.entry is None:
        return at_risk
    # ... and not before it enters; rows with entry zero are at risk from the start.
    waiting = from_each_on(np.searchsorted(times, target.entry, side="right") - 1)
    waiting[:, 0] = total_by(leaf, weight * (target.entry > 0), n_leaves)
    difference = at_risk - waiting
    # Where no row is left, rounding of fractional weights may leave a small number.
    return np.where(difference > 1e-12 * at_risk[:, :1], difference, 0.0)


def at_risk_counts(leaves: Iterable[Mapping[str, Any]]) -> tuple[AtRiskCounts, ...]:
    """Return the counts of some leaves, as small as they can be kept.

    Parameters
    ----------
    leaves : iterable of mappings
        The fields of the counts of each leaf.
    """
    found = list(leaves)
    if not found:
        return ()
    kinds = []
    for name in (field.name for field in fields(AtRiskCounts)):
        parts = [np.asarray(leaf[name]) for leaf in found]
        borders = [0, *accumulate(part.size for part in parts)]
        kinds.append(_parts(_smallest(np.concatenate(parts)), borders))
    return tuple(map(AtRiskCounts, *kinds))


def _parts(values: NDArray[Any], borders: list[int]) -> list[NDArray[Any]]:
    """Cut an array at some places; the parts are read-only."""
    values.setflags(write=False)
    return [values[start:stop] for start, stop in pairwise(borders)]


def _smallest(counts: Any) -> NDArray[Any]:
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
