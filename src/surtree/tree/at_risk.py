"""At-risk counts of the leaves, from which their curves are drawn without the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import ArrayValue, Floats
from surtree.data.causes import CauseTarget
from surtree.data.target import Target
from surtree.survival.baseline import Baseline
from surtree.survival.intervals import weight_over
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.time_axis import round_times

Integers = NDArray[np.int32]

# A table of leaves and event times has at most so many cells.
_MOST_CELLS = 2**18
# Marks of censoring closer than this share of the time axis cannot be told apart in a picture.
CENSORED_PLACES = 500
# The fields that are counts, and are kept as small as they can be.
_COUNTS = ("step", "at_risk", "deaths", "round_at_risk")


@dataclass(frozen=True, eq=False)
class AtRiskCounts(ArrayValue):
    """The at-risk counts of a leaf: enough for its product-limit curve, without the rows.

    They are run-length encoded: what is at risk is kept at the event times of all rows where it
    changes or where the leaf has events, and is the same until the next of these.

    Parameters
    ----------
    step : array of int
        Positions, in the times of the baseline, of these times; nobody is at risk before the
        first. In files of version 1, of the event times of the leaf alone.
    at_risk : array
        The weight at risk at each of them.
    deaths : array
        The weight of the events at each of them, zero at most.
    round_at_risk : array
        The weight at risk at each of the `round_times` up to the last event of all rows: every
        tick of a time axis is among them.
    censored : array of float
        When rows of the leaf were censored: distinct times, at most one in each of
        `CENSORED_PLACES` equal parts of the time axis.
    last_time : float
        The last follow-up of the leaf, with an event or without; infinity where it is not known,
        as in files of version 1.
    by_cause : array of shape (n_causes, n_steps)
        With competing risks, the weight of the events of each cause; else it is empty.

    Examples
    --------
    >>> from surtree import SurTree
    >>> from surtree.datasets import load_gbsg2
    >>> X, y = load_gbsg2()
    >>> tree = SurTree(max_depth=1).fit(X, y).tree_
    >>> counts = tree.risk[0]
    >>> int(counts.at_risk[0]), int(counts.deaths.sum()), counts.last_time
    (370, 119, 2659.0)
    """

    step: NDArray[Any]
    at_risk: NDArray[Any]
    deaths: NDArray[Any]
    round_at_risk: NDArray[Any]
    censored: Floats = field(default_factory=lambda: np.empty(0))
    last_time: float = np.inf
    by_cause: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def of_all_times(self) -> bool:
        """Whether the weight at risk is known at all event times, not only those of the leaf."""
        return bool(np.isfinite(self.last_time))

    def at_events(self, n_times: int) -> EventCounts:
        """Return what is at risk and what dies at each of the times of the baseline.

        Parameters
        ----------
        n_times : int
            How many they are.
        """
        runs = np.diff(self.step, prepend=0, append=n_times).astype(np.intp)
        at_risk = np.repeat(np.concatenate(([0.0], self.at_risk)), runs)
        deaths = np.zeros(n_times)
        deaths[self.step] = self.deaths
        return EventCounts(at_risk, deaths)


def leaf_at_risk(
    leaf_of_row: Integers,
    left: Integers,
    target: Target,
    weight: Terms,
    baseline: Baseline,
) -> tuple[AtRiskCounts, ...]:
    """Count, for each leaf, the rows at risk and the events over time."""
    times = round_times(float(baseline.times[-1]))
    leaves = np.flatnonzero(left < 0)
    leaf = np.searchsorted(leaves, leaf_of_row)
    at_events: Iterable[tuple[NDArray[Any], ...]]
    if target.entry is None:
        at_events = _at_events(leaf, leaves.size, target, weight, baseline)
    else:
        at_events = _at_events_with_entry(leaf, leaves.size, target, weight, baseline)
    by_cause: Iterable[dict[str, NDArray[Any]]] = [{}] * leaves.size
    if isinstance(target, CauseTarget):
        at_events = list(at_events)
        by_cause = _by_cause(leaf, [step for step, _, _ in at_events], target, weight, baseline)
    return at_risk_counts(
        {
            "step": step,
            "at_risk": at_risk,
            "deaths": deaths,
            "round_at_risk": line,
            "censored": censored,
            "last_time": last_time,
            **causes,
        }
        for (step, at_risk, deaths), line, censored, last_time, causes in zip(
            at_events,
            _at_round_times(leaf, leaves.size, target, weight, times),
            _censored(leaf, leaves.size, target),
            _last_times(leaf, leaves.size, target).tolist(),
            by_cause,
            strict=True,
        )
    )


def _at_events(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Terms, baseline: Baseline
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
        # Weight is at risk up to the event time that it passes last, and changes at the next.
        weights = weight.take(own)
        leaving = weights.parts_by(cell, n_cells).reshape(-1, *size)
        at_risk = weight.grid.join(_from_each_on(leaving)[:, :, 1:])
        deaths = weights.take(died).total_by(cell[died], n_cells).reshape(size)[:, 1:]
        for place, (line, dying) in enumerate(zip(at_risk, deaths, strict=True)):
            changed = np.logical_or(leaving[:, place, :-1].any(axis=0), dying > 0)
            changed[0] = True
            step = np.flatnonzero(changed)
            yield step, line[step], dying[step]


def _from_each_on(parts: Floats) -> Floats:
    """Return the sum from each place of a line, the last axis, to its end."""
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]


def _at_events_with_entry(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Terms, baseline: Baseline
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the same, where rows enter after time zero."""
    assert target.entry is not None
    n_times = baseline.times.size
    # A row is at risk at the event times after its entry, up to its own time.
    first = np.searchsorted(baseline.times, target.entry, side="right")
    last = baseline.steps(target)
    order = np.argsort(leaf, kind="stable")
    for rows in np.split(order, np.searchsorted(leaf[order], np.arange(1, n_leaves))):
        at_risk = weight_over(first[rows], last[rows], weight.take(rows), n_times)
        died = rows[target.event[rows]]
        deaths = weight.take(died).total_by(last[died] - 1, n_times)
        # Where rows come and go, by their number: their weights may cancel.
        moved = np.bincount(first[rows], minlength=n_times + 1)[:n_times] > 0
        moved |= np.bincount(last[rows], minlength=n_times + 1)[:n_times] > 0
        step = np.flatnonzero(moved | (deaths > 0))
        yield step, at_risk[step], deaths[step]


def _by_cause(
    leaf: NDArray[np.intp],
    steps: list[NDArray[Any]],
    target: CauseTarget,
    weight: Terms,
    baseline: Baseline,
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the weight of the events of each cause at the steps of each leaf."""
    time, cause = baseline.steps(target) - 1, np.searchsorted(target.causes, target.cause)
    for place, step in enumerate(steps):
        rows = target.event & (leaf == place)
        cell = cause[rows] * step.size + np.searchsorted(step, time[rows])
        size = len(target.causes), step.size
        deaths = weight.take(rows).total_by(cell, size[0] * size[1])
        yield {"by_cause": deaths.reshape(size)}


def _censored(leaf: NDArray[np.intp], n_leaves: int, target: Target) -> list[Floats]:
    """Return when rows of each leaf were censored, at most once in each place of the time axis."""
    # From the last row to the first, so that of several in a place the earliest stays.
    rows = target.order[::-1]
    rows = rows[target.censored[rows]]
    scale = CENSORED_PLACES / float(target.time.max())
    # The last time of all is in the last place.
    place = np.minimum((target.time[rows] * scale).astype(np.intp), CENSORED_PLACES - 1)
    found = np.full((n_leaves, CENSORED_PLACES), np.nan)
    found[leaf[rows], place] = target.time[rows]
    return [line[~np.isnan(line)] for line in found]


def _last_times(leaf: NDArray[np.intp], n_leaves: int, target: Target) -> Floats:
    """Return the last time of a row of each leaf."""
    last = np.zeros(n_leaves)
    last[leaf[target.order]] = target.time[target.order]  # of equal places, the last one stays
    return last


def _at_round_times(
    leaf: NDArray[np.intp], n_leaves: int, target: Target, weight: Terms, times: Floats
) -> Floats:
    """Return the weight at risk at each of some times, a line for each leaf."""

    def from_each_on(place: NDArray[np.intp]) -> Floats:
        """Return, in parts, the weight of the rows whose place is each one or later."""
        sums = weight.parts_by(leaf * times.size + place, n_leaves * times.size)
        return _from_each_on(sums.reshape(-1, n_leaves, times.size))

    # A row is at risk until the last of these times that it reaches ...
    at_risk = from_each_on(np.searchsorted(times, target.time, side="right") - 1)
    if target.entry is None:
        return weight.grid.join(at_risk)
    # ... and not before it enters; rows with entry zero are at risk from the start.
    waiting = from_each_on(np.searchsorted(times, target.entry, side="right") - 1)
    late = target.entry > 0
    waiting[:, :, 0] = weight.take(late).parts_by(leaf[late], n_leaves)
    return weight.grid.join(at_risk - waiting)


def at_risk_counts(leaves: Iterable[Mapping[str, Any]]) -> tuple[AtRiskCounts, ...]:
    """Return the counts of some leaves, as small as they can be kept."""
    found = [dict(leaf) for leaf in leaves]
    if not found:
        return ()
    counts = {}
    for name in _COUNTS:
        parts = [np.asarray(leaf[name]) for leaf in found]
        borders = [0, *accumulate(part.size for part in parts)]
        counts[name] = _parts(_smallest(np.concatenate(parts)), borders)
    for leaf in found:
        if "by_cause" in leaf:
            leaf["by_cause"] = _smallest(leaf["by_cause"])
    return tuple(
        AtRiskCounts(**leaf | {name: parts[place] for name, parts in counts.items()})
        for place, leaf in enumerate(found)
    )


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
