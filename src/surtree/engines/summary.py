"""The first passes: how rows are weighed, what values columns have, and who dies when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from surtree._support.exact import Grid
from surtree._support.types import Floats
from surtree.engines.batches import Batch
from surtree.engines.column_summary import ColumnSummary
from surtree.engines.rows import TargetNames
from surtree.engines.tally import Tally
from surtree.survival.baseline import Baseline, RiskTable, estimate
from surtree.survival.follow_up import FollowUp, quartiles
from surtree.survival.kaplan_meier import EventCounts


@dataclass(frozen=True)
class Weights:
    """What all weights have in common."""

    n_counted: int = 0  # the rows that count
    most: float = 0.0  # the largest and the smallest weight of these
    least: float = np.inf
    are_whole: bool = True  # whether all weights are whole numbers

    @property
    def are_one(self) -> bool:
        """Whether all weights are one."""
        return self.most == self.least == 1

    @property
    def grid(self) -> Grid:
        """The grid on which weights add up without rounding."""
        if self.are_whole and self.most * self.n_counted <= 2.0**53:
            return Grid()
        return Grid.covering(self.n_counted, self.most, self.least)


@dataclass(frozen=True)
class WeightPass:
    """The pass over the weights, where there are some."""

    names: TargetNames  # the columns of the target and the weights
    title = "weights"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.names.columns

    def start(self) -> Weights:
        """Return what is known before the first row."""
        return Weights()

    def add(self, partial: Weights, batch: Batch) -> Weights:
        """Look at the weights of a batch."""
        weight = self.names.read(batch).weight
        if not weight.size:
            return partial
        whole = bool((weight == np.floor(weight)).all())
        found = Weights(weight.size, float(weight.max()), float(weight.min()), whole)
        return self.merge(partial, found)

    def merge(self, one: Weights, other: Weights) -> Weights:
        """Return what the weights of both have in common."""
        return Weights(
            one.n_counted + other.n_counted,
            max(one.most, other.most),
            min(one.least, other.least),
            one.are_whole and other.are_whole,
        )


@dataclass(eq=False)
class Summary:
    """What is known of all rows before they are binned."""

    # The rows, those that count, those of positive weight that are censored at time zero, and those
    # that count and have an event.
    n_rows: int
    n_counted: int
    n_left_out: int
    n_events: int
    # For each time of a row: how many rows end there, how many of them with an event, and the parts
    # of the weight of both.
    times: Tally
    entries: Tally  # for each entry time, the parts of the weight that enters
    # What is known of the columns that a tree may ask about.
    questions: list[ColumnSummary] = field(default_factory=list)

    def risk_table(self, grid: Grid) -> RiskTable:
        """Return how much weight was at risk, and how much died, at each event time."""
        at_risk, _, dying = self._parts()
        is_event = self.times.sums[1] > 0
        return RiskTable(
            self.times.keys[is_event],
            grid.join(at_risk[:, is_event]),
            grid.join(dying[:, is_event]),
        )

    def follow_up(self, grid: Grid) -> FollowUp:
        """Return the quartiles of follow-up."""
        at_risk, leaving, dying = self._parts()
        is_censored = self.times.sums[0] > self.times.sums[1]
        # At equal times events come first.
        counts = EventCounts(
            grid.join((at_risk - dying)[:, is_censored]),
            grid.join((leaving - dying)[:, is_censored]),
        )
        return quartiles(self.times.keys[is_censored], counts)

    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """Return the parts of the weight that is at risk, that ends and that dies at each time."""
        n_parts = len(self.entries.sums)
        sums = self.times.sums[2:]
        leaving, dying = np.array(sums[:n_parts]), np.array(sums[n_parts:])
        at_risk = from_each_on(leaving)
        if self.entries.size:
            # Nothing waits after the last entry.
            waiting = np.append(from_each_on(self.entries.sums), np.zeros((n_parts, 1)), axis=1)
            first = np.searchsorted(self.entries.keys, self.times.keys, side="left")
            at_risk = at_risk - waiting[:, first]
        return at_risk, leaving, dying

    def total_weight(self, grid: Grid) -> float:
        """Return the weight of all rows that count."""
        n_parts = len(self.entries.sums)
        return float(grid.join(self.times.sums[2 : 2 + n_parts].sum(axis=1)))

    def baseline(self, grid: Grid) -> Baseline:
        """Return the Nelson-Aalen estimate."""
        return estimate(self.risk_table(grid), self.total_weight(grid), float(self.times.keys[-1]))


def from_each_on(parts: Floats) -> Floats:
    """Return the sum from each place of a line, the last axis, to its end."""
    return np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]


@dataclass(frozen=True)
class SummaryPass:
    """The pass that learns the values of columns, and who dies when."""

    names: TargetNames  # the columns of the target
    questions: tuple[str, ...]  # the columns that a tree may ask about
    grid: Grid  # of the weights
    repeated: bool  # whether a row of weight k counts as k rows for quantiles
    most_times: int  # the most distinct times that there is room for
    title = "values and times"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*self.names.columns, *self.questions)

    def start(self) -> Summary:
        """Return what is known before the first row."""
        n_parts = max(len(self.grid.units), 1)
        none = Tally.empty(2 + 2 * n_parts), Tally.empty(n_parts)
        return Summary(0, 0, 0, 0, *none, [ColumnSummary(name) for name in self.questions])

    def add(self, partial: Summary, batch: Batch) -> Summary:
        """Add the rows of a batch."""
        rows = self.names.read(batch)
        event = rows.target.event.astype(np.float64)
        parts = self.grid.split(rows.weight)
        partial.n_rows += batch.n_rows
        partial.n_counted += rows.n
        partial.n_left_out += rows.n_left_out
        partial.n_events += int(event.sum())
        lines: Sequence[Floats] = [np.ones(rows.n), event, *parts, *(parts * event)]
        partial.times += Tally.of(rows.target.time, lines)
        self._require_few(partial)
        if rows.target.entry is not None:
            partial.entries += Tally.of(rows.target.entry, list(parts))
        repeats = rows.weight if self.repeated else None
        for summary in partial.questions:
            summary.add(rows.column(summary.name), repeats, parts)
        return partial

    def _require_few(self, partial: Summary) -> None:
        if partial.times.size > self.most_times:
            raise ValueError(
                f"Column {self.names.y[-1]!r} has more than {self.most_times:,} distinct times, "
                "which is all that memory_limit has room for: round the times, as to days"
            )

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Return what is known of the rows of both."""
        one.n_rows += other.n_rows
        one.n_counted += other.n_counted
        one.n_left_out += other.n_left_out
        one.n_events += other.n_events
        one.times += other.times
        self._require_few(one)
        one.entries += other.entries
        for mine, others in zip(one.questions, other.questions, strict=True):
            mine += others
        return one
