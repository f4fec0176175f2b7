"""At-risk counts of the leaves, from which their curves are drawn without the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.compiled import count_groups
from surtree._support.exact import Terms
from surtree._support.types import ArrayValue, Floats
from surtree.data.target import Target
from surtree.survival.baseline import Baseline
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import round_times
from surtree.words.printed import Printed

Integers = NDArray[np.int32]

# Marks of censoring closer than this share of the time axis cannot be told apart in a picture.
CENSORED_PLACES = 500
# The fields that are counts, and are kept as small as they can be.
_COUNTS = ("step", "at_risk", "deaths", "round_at_risk")


@dataclass(frozen=True, eq=False, repr=False)
class AtRiskCounts(Printed, ArrayValue):
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
    positions = np.cumsum(left < 0)  # among leaves, from one
    leaf = (positions - 1)[leaf_of_row]
    entering = None if target.entry is None else Entering(leaf, target.entry, weight)
    return count_at_risk(int(positions[-1]), Leaving(leaf, target, weight), entering, baseline)


def count_at_risk(
    n_groups: int, leaving: Leaving, entering: Entering | None, baseline: Baseline
) -> tuple[AtRiskCounts, ...]:
    """Count, for each group of rows, what is at risk and what dies over time."""
    target, weight = leaving.target, leaving.weight
    # The last time of all is in the last part of the axis.
    axis = CENSORED_PLACES / float(target.time.max()), CENSORED_PLACES
    late = None
    if entering is not None:
        step = np.searchsorted(baseline.times, entering.time, side="right")
        late = entering.group, step, entering.time, entering.weight
    (n_steps, *at_events), at_round, (n_censored, censored), last = count_groups(
        (n_groups, baseline.times.size),
        (leaving.group, baseline.steps(target), target.time, weight),
        target.event,
        target.censored,
        axis,
        late,
        round_times(float(baseline.times[-1])),
    )
    ends = np.cumsum(n_steps)
    fields: dict[str, Sequence[Any]] = {
        name: _parts(_smallest(values), ends)
        for name, values in zip(("step", "at_risk", "deaths"), at_events, strict=True)
    }
    fields["round_at_risk"] = list(read_only(_smallest(at_round)))
    fields["censored"] = _parts(censored, np.cumsum(n_censored))
    fields["last_time"] = last.tolist()
    if target.causes:
        fields["by_cause"] = [*map(_smallest, _by_cause(leaving, fields["step"], baseline))]
    return tuple(
        AtRiskCounts(**dict(zip(fields, values, strict=True)))
        for values in zip(*fields.values(), strict=True)
    )


def _by_cause(
    leaving: Leaving, steps: Sequence[NDArray[Any]], baseline: Baseline
) -> Iterator[Floats]:
    """Yield the weight of the events of each cause at the steps of each group."""
    target = leaving.target
    time, cause = baseline.steps(target) - 1, np.searchsorted(target.causes, target.cause)
    for number, step in enumerate(steps):
        rows = target.event & (leaving.group == number)
        cell = cause[rows] * step.size + np.searchsorted(step, time[rows])
        size = len(target.causes), step.size
        yield leaving.weight.take(rows).total_by(cell, size[0] * size[1]).reshape(size)


def at_risk_counts(leaves: Iterable[Mapping[str, Any]]) -> tuple[AtRiskCounts, ...]:
    """Return the counts of some leaves, as small as they can be kept."""
    fields = [dict(leaf) for leaf in leaves]
    if not fields:
        return ()
    counts = {}
    for name in _COUNTS:
        parts = [np.asarray(leaf[name]) for leaf in fields]
        ends = np.cumsum([part.size for part in parts])
        counts[name] = _parts(_smallest(np.concatenate(parts)), ends)
    for leaf in fields:
        if "by_cause" in leaf:
            leaf["by_cause"] = _smallest(leaf["by_cause"])
    return tuple(
        AtRiskCounts(**leaf | {name: parts[number] for name, parts in counts.items()})
        for number, leaf in enumerate(fields)
    )


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _parts(values: NDArray[Any], ends: NDArray[np.intp]) -> list[NDArray[Any]]:
    """Cut an array where parts end; the parts are read-only."""
    whole = read_only(values)
    return [whole[start:end] for start, end in pairwise([0, *ends.tolist()])]


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
