"""At-risk counts of the leaves, from which their curves are drawn without the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Terms
from surtree._support.types import ArrayValue, Floats, read_only
from surtree.data.target import Target
from surtree.survival.baseline import Baseline, from_each_on
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import round_times

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


@dataclass(frozen=True, eq=False)
class Leaving:
    """Who leaves which group, a leaf or an arm of one: rows, or rows of the same outcome merged."""

    group: NDArray[np.intp]
    target: Target  # how and when; its entry times are not looked at
    weight: Terms


@dataclass(frozen=True, eq=False)
class Entering:
    """Who enters which group after time zero, and when."""

    group: NDArray[np.intp]
    time: Floats
    weight: Terms


def leaf_at_risk(
    leaf_of_row: Integers,
    left: Integers,
    target: Target,
    weight: Terms,
    baseline: Baseline,
) -> tuple[AtRiskCounts, ...]:
    """Count, for each leaf, the rows at risk and the events over time."""
    leaves = np.flatnonzero(left < 0)
    leaf = np.searchsorted(leaves, leaf_of_row)
    entering = None if target.entry is None else Entering(leaf, target.entry, weight)
    return count_at_risk(leaves.size, Leaving(leaf, target, weight), entering, baseline)


def count_at_risk(
    n_groups: int, leaving: Leaving, entering: Entering | None, baseline: Baseline
) -> tuple[AtRiskCounts, ...]:
    """Count, for each group of rows, what is at risk and what dies over time."""
    times = round_times(float(baseline.times[-1]))
    at_events = list(_at_events(n_groups, leaving, entering, baseline))
    by_cause: Iterable[dict[str, NDArray[Any]]] = [{}] * n_groups
    if leaving.target.causes:
        by_cause = _by_cause(leaving, leaving.target, [step for step, _, _ in at_events], baseline)
    return at_risk_counts(
        {
            "step": step,
            "at_risk": at_risk,
            "deaths": deaths,
            "round_at_risk": at_round,
            "censored": censored,
            "last_time": last_time,
            **causes,
        }
        for (step, at_risk, deaths), at_round, censored, last_time, causes in zip(
            at_events,
            _at_round_times(n_groups, leaving, entering, times),
            _censored(n_groups, leaving),
            _last_times(n_groups, leaving).tolist(),
            by_cause,
            strict=True,
        )
    )


def _at_events(
    n_groups: int, leaving: Leaving, entering: Entering | None, baseline: Baseline
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the steps of each group, and what is at risk and dies there."""
    n_times, grid = baseline.times.size, leaving.weight.grid
    # Rows are at risk at the event times after their entry, up to the last that they reach.
    last = baseline.steps(leaving.target)
    first = None
    if entering is not None:
        first = np.searchsorted(baseline.times, entering.time, side="right")
    n_together = max(_MOST_CELLS // (n_times + 1), 1)  # groups, in one table of groups and times
    for start in range(0, n_groups, n_together):
        size = (min(n_together, n_groups - start), n_times + 1)
        cell, weight, rows = _cells(leaving.group, last, leaving.weight, start, size)
        gone = weight.parts_by(cell, size[0] * size[1]).reshape(-1, *size)
        at_risk = from_each_on(gone)[:, :, 1:]
        died = leaving.target.event[rows]
        deaths = weight.take(died).total_by(cell[died], size[0] * size[1]).reshape(size)[:, 1:]
        # Where rows come and go, by their number: their weights may cancel.
        moved = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)[:, :-1] > 0
        if entering is None or first is None:
            moved[:, 0] = True
        else:
            cell, weight, _ = _cells(entering.group, first, entering.weight, start, size)
            waiting = weight.parts_by(cell, size[0] * size[1]).reshape(-1, *size)
            at_risk = at_risk - from_each_on(waiting)[:, :, 1:]
            moved |= np.bincount(cell, minlength=size[0] * size[1]).reshape(size)[:, :-1] > 0
        changed = moved | (deaths > 0)
        for here, at_times, dying in zip(changed, grid.join(at_risk), deaths, strict=True):
            step = np.flatnonzero(here)
            yield step, at_times[step], dying[step]


def _cells(
    group: NDArray[np.intp],
    time: NDArray[np.intp],
    weight: Terms,
    start: int,
    size: tuple[int, int],
) -> tuple[NDArray[np.intp], Terms, slice | NDArray[np.bool_]]:
    """Return cells of a table of groups and times, the weights in them, and which rows these are.

    The table has some of the groups, from one on.
    """
    if not start and group.max(initial=0) < size[0]:
        return group * size[1] + time, weight, slice(None)
    rows = (group >= start) & (group < start + size[0])
    return (group[rows] - start) * size[1] + time[rows], weight.take(rows), rows


def _by_cause(
    leaving: Leaving, target: Target, steps: list[NDArray[Any]], baseline: Baseline
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the weight of the events of each cause at the steps of each group."""
    time, cause = baseline.steps(target) - 1, np.searchsorted(target.causes, target.cause)
    for number, step in enumerate(steps):
        rows = target.event & (leaving.group == number)
        cell = cause[rows] * step.size + np.searchsorted(step, time[rows])
        size = len(target.causes), step.size
        deaths = leaving.weight.take(rows).total_by(cell, size[0] * size[1])
        yield {"by_cause": deaths.reshape(size)}


def _censored(n_groups: int, leaving: Leaving) -> list[Floats]:
    """Return when rows of each group were censored, at most once in each part of the time axis."""
    target = leaving.target
    # From the last row to the first, so that of several in a part the earliest stays.
    rows = target.order[::-1]
    rows = rows[target.censored[rows]]
    scale = CENSORED_PLACES / float(target.time.max())
    # The last time of all is in the last part.
    part = np.minimum((target.time[rows] * scale).astype(np.intp), CENSORED_PLACES - 1)
    times = np.full((n_groups, CENSORED_PLACES), np.nan)
    times[leaving.group[rows], part] = target.time[rows]
    return [one[~np.isnan(one)] for one in times]


def _last_times(n_groups: int, leaving: Leaving) -> Floats:
    last, order = np.zeros(n_groups), leaving.target.order
    last[leaving.group[order]] = leaving.target.time[order]  # of equal groups, the last one stays
    return last


def _at_round_times(
    n_groups: int, leaving: Leaving, entering: Entering | None, times: Floats
) -> Floats:
    def at_and_after(group: NDArray[np.intp], time: Floats, weight: Terms) -> Floats:
        """Return, in parts, the weight of the rows whose time is in each interval or later."""
        cell = group * times.size + np.searchsorted(times, time, side="right") - 1
        sums = weight.parts_by(cell, n_groups * times.size)
        return from_each_on(sums.reshape(-1, n_groups, times.size))

    # A row is at risk until the last of these times that it reaches ...
    at_risk = at_and_after(leaving.group, leaving.target.time, leaving.weight)
    if entering is not None:
        # ... and not before it enters; rows with entry zero are at risk from the start.
        waiting = at_and_after(entering.group, entering.time, entering.weight)
        late = entering.time > 0
        waiting[:, :, 0] = entering.weight.take(late).parts_by(entering.group[late], n_groups)
        at_risk = at_risk - waiting
    return leaving.weight.grid.join(at_risk)


def at_risk_counts(leaves: Iterable[Mapping[str, Any]]) -> tuple[AtRiskCounts, ...]:
    """Return the counts of some leaves, as small as they can be kept."""
    fields = [dict(leaf) for leaf in leaves]
    if not fields:
        return ()
    counts = {}
    for name in _COUNTS:
        parts = [np.asarray(leaf[name]) for leaf in fields]
        borders = [0, *accumulate(part.size for part in parts)]
        counts[name] = _parts(_smallest(np.concatenate(parts)), borders)
    for leaf in fields:
        if "by_cause" in leaf:
            leaf["by_cause"] = _smallest(leaf["by_cause"])
    return tuple(
        AtRiskCounts(**leaf | {name: parts[number] for name, parts in counts.items()})
        for number, leaf in enumerate(fields)
    )


def _parts(values: NDArray[Any], borders: list[int]) -> list[NDArray[Any]]:
    """Cut an array at some borders; the parts are read-only."""
    whole = read_only(values)
    return [whole[start:stop] for start, stop in pairwise(borders)]


def _smallest(counts: Any) -> NDArray[Any]:
    """Return counts in the smallest type that holds them: with them, half of a pickle is counts."""
    values = _whole(counts)
    if values.dtype.kind == "f":
        return values
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _whole(counts: Any) -> NDArray[Any]:
    values = np.asarray(counts)
    if values.dtype.kind != "f":
        return values
    if values.max(initial=0) > np.iinfo(np.int64).max or np.any(values != np.floor(values)):
        return values
    return values.astype(np.int64)


def save_counts(counts: AtRiskCounts) -> dict[str, Any]:
    return {
        "step": counts.step.tolist(),
        "at_risk": counts.at_risk.tolist(),
        "deaths": counts.deaths.tolist(),
        "round_at_risk": counts.round_at_risk.tolist(),
        "censored": counts.censored.tolist(),
        "last_time": saved_time(counts.last_time),
        **({"by_cause": counts.by_cause.tolist()} if len(counts.by_cause) else {}),
    }


def read_counts(leaf: dict[str, Any]) -> dict[str, Any]:
    """Return the at-risk counts of a leaf; version 1 has neither censored rows nor a last time."""
    arrays = {"censored": []} | {name: leaf[name] for name in leaf.keys() - {"last_time"}}
    return {
        **{name: np.array(values, dtype=np.float64) for name, values in arrays.items()},
        "last_time": read_time(leaf.get("last_time")),
    }


def saved_time(time: float) -> float | None:
    """Return a time that JSON can hold: None for one that is not known."""
    return time if np.isfinite(time) else None


def read_time(saved: float | None) -> float:
    return np.inf if saved is None else float(saved)
