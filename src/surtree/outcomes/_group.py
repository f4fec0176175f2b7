"""A group of rows: a leaf, a node, several leaves, or all rows of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from surtree._support.parameters import LeafCurveKind
from surtree._support.types import Floats
from surtree.survival.aalen_johansen import CauseCounts
from surtree.survival.kaplan_meier import EventCounts
from surtree.survival.step_function import round_step, round_times
from surtree.tree.at_risk import AtRiskCounts
from surtree.tree.leaf_curve import LeafCurve, curve_of, events_note, leaf_position
from surtree.tree.tree import Tree
from surtree.words.numbers import plural


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that are shown together."""

    tree: Tree
    leaves: tuple[int, ...]  # the leaves that the rows are in
    node: int | None  # the node that has just these rows, if there is one
    remark: ClassVar[str] = ""  # what follows its number of rows and events

    @classmethod
    def of(cls, tree: Tree, nodes: Iterable[int]) -> Group:
        nodes = tuple(nodes)
        if len(nodes) == 1:
            (node,) = nodes
            return cls(tree, leaves_below(tree, node), node)
        for leaf in nodes:
            leaf_position(tree, leaf)
        return cls(tree, tuple(sorted(nodes)), None)

    @property
    def letters(self) -> str:
        return ", ".join(self.tree.leaf_names[leaf] for leaf in self.leaves)

    @property
    def name(self) -> str:
        return f"{'leaf' if len(self.leaves) == 1 else 'leaves'} {self.letters}"

    @property
    def nodes(self) -> list[int]:
        return list(self.leaves) if self.node is None else [self.node]

    @property
    def n_samples(self) -> int:
        return int(self.tree.n_samples[self.nodes].sum())

    @property
    def n_events(self) -> int:
        return int(self.tree.n_events[self.nodes].sum())

    @property
    def n_persons(self) -> int | None:
        """The persons whose rows they are, where that is known."""
        if self.tree.n_persons is None or self.node is None:
            return None
        return int(self.tree.n_persons[self.node])

    @property
    def sums(self) -> Floats:
        if self.node is not None:
            return np.asarray(self.tree.sums[self.node])
        return np.asarray(self.tree.sums[self.nodes].sum(axis=0))

    @property
    def theta(self) -> float:
        """Observed over expected events."""
        if self.node is not None:
            return float(self.tree.theta[self.node])
        return float(self.tree.objective.theta(self.sums))

    @property
    def note(self) -> str:
        """The remark "no events" or "few events", or nothing where there are enough."""
        return events_note(self.n_events)

    @property
    def leaf(self) -> int:
        """The leaf that the group is, or an error where it is none."""
        if self.node is None or not self.tree.is_leaf[self.node]:
            raise ValueError(f"Not of {self.name} together: this is known of single leaves only.")
        return self.node

    def curve(self, kind: LeafCurveKind | None = None) -> LeafCurve:
        """Return the survival without any event."""
        return curve_of(self.tree, self.leaf, kind)

    @property
    def has_counts(self) -> bool:
        """Whether it is known what was at risk over time."""
        return bool(self.tree.risk)

    @cached_property
    def leaf_counts(self) -> tuple[AtRiskCounts, ...]:
        """The at-risk counts of its leaves; none where the tree keeps none."""
        if not self.has_counts:
            return ()
        return tuple(self.tree.risk[leaf_position(self.tree, leaf)] for leaf in self.leaves)

    @cached_property
    def counts(self) -> EventCounts:
        """What is at risk and what dies at each time of the baseline."""
        n_times = self.tree.event_times.size
        parts = [counts.at_events(n_times) for counts in self.leaf_counts]
        if len(parts) == 1:
            return parts[0]
        return EventCounts(sum_of(part.at_risk for part in parts), sum_of(p.deaths for p in parts))

    @property
    def last_time(self) -> float:
        """The last follow-up; of old files, the last time at which rows are known to be there."""
        if not self.has_counts:
            return self.tree.last_time
        return max(last_time(self.tree, counts) for counts in self.leaf_counts)

    @property
    def censored(self) -> Floats:
        """When rows were censored; of many at almost the same time, one."""
        if not self.has_counts:
            return np.empty(0)
        if len(self.leaf_counts) == 1:
            return self.leaf_counts[0].censored
        return np.unique(np.concatenate([counts.censored for counts in self.leaf_counts]))

    def at_risk(self, times: Floats) -> Floats:
        """Return the weight at risk at some times, not a number where it is not kept."""
        return sum_of(at_round_times(self.tree, counts, times) for counts in self.leaf_counts)


class ObservedChannel(NamedTuple):
    """What was observed of a group, or of one channel of it, at the times of the baseline."""

    key: Any
    label: str
    counts: CauseCounts
    last_time: float  # the last follow-up
    words: str = "without an event"  # what a restricted mean is of
    cause: int | None = None  # of competing risks, the position of the cause


def counted(group: Group, n_samples: int | None = None, n_events: int | None = None) -> str:
    """Return how many rows, persons and events a group has, in words, or some of its rows."""
    n_samples = group.n_samples if n_samples is None else n_samples
    n_events = group.n_events if n_events is None else n_events
    rows = plural(n_samples, "row")
    if group.n_persons is not None:
        rows = f"{plural(group.n_persons, 'person')}, {rows}"
    events = plural(n_events, "event") if n_events else "no events"
    return f"{rows}, {events}{group.remark}"


def leaves_below(tree: Tree, node: int) -> tuple[int, ...]:
    """Return the leaves of a node: in preorder, they follow it up to the last one on its right."""
    last = node
    while tree.right[last] >= 0:
        last = int(tree.right[last])
    return tuple(leaf for leaf in tree.leaves.tolist() if node <= leaf <= last)


def sum_of(parts: Iterable[Floats]) -> Floats:
    """Return the sum of arrays of one shape."""
    return np.asarray(np.sum(list(parts), axis=0))


def last_time(tree: Tree, counts: AtRiskCounts) -> float:
    """Return the last follow-up of a leaf; in files of version 1, when rows are known to be there.

    These have the event times of the leaf, and what is at risk at round times.
    """
    if counts.of_all_times:
        return counts.last_time
    ticks = round_times(tree.last_event)
    known = [*tree.event_times[counts.step], *ticks[counts.round_at_risk > 0]]
    return float(max(known, default=0.0))


def at_round_times(tree: Tree, counts: AtRiskCounts, times: Floats) -> Floats:
    """Return the weight at risk at some times; NaN at those that can be no tick of an axis."""
    known = counts.round_at_risk.astype(np.float64)
    multiples = np.asarray(times) / round_step(tree.last_event)
    nearest = np.minimum(np.rint(multiples), known.size - 1)
    is_known = np.abs(multiples - nearest) < 1e-6
    return np.where(is_known, known[nearest.astype(np.intp)], np.nan)
