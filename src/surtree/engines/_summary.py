"""The first passes: how rows are weighed, what values columns have, and who dies when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surtree._support.exact import Grid
from surtree._support.types import Floats
from surtree.data.table import Column, Kind, mixed_kinds
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._batches import Batch
from surtree.engines._quantiles import RankBounds
from surtree.engines._tally import Tally, sums_by
from surtree.engines.rows import TargetNames
from surtree.survival.baseline import RiskTable, from_each_on
from surtree.survival.follow_up import FollowUp, quartiles
from surtree.survival.kaplan_meier import EventCounts


@dataclass(eq=False)
class ColumnSummary:
    """The values of a column in the rows that count."""

    name: str  # what the column is called
    kind: Kind | None = None  # how its values are to be read; None while none was seen
    n_missing: float = 0.0  # rows without a value, and rows with infinity
    n_infinite: int = 0
    # How often each number counts; None where they are too many ...
    counts: Tally | None = None
    bounds: RankBounds | None = None  # ... and bounds of ranks instead
    # How often each category counts, and the parts of its weight.
    categories: dict[Any, Floats] = field(default_factory=dict)
    order: tuple[Any, ...] | None = None  # the categories of an ordered column

    def add(self, column: Column, repeats: Floats | None, parts: Floats) -> None:
        terms = np.concatenate(
            [np.ones((1, column.values.size)) if repeats is None else repeats[None], parts]
        )
        if column.has_missing:
            present = ~column.missing
            self.n_missing += float(terms[0][column.missing].sum())
            terms, values = terms[:, present], column.values[present]
            repeats = None if repeats is None else terms[0]
        else:
            values = column.values
        if column.ordered:
            self._order(column.categories)
        if not values.size:
            return
        self._is(column.kind)
        if column.kind == "categorical":
            self._add_categories(column, values, terms)
            return
        infinite = np.isinf(values)
        if infinite.any():
            self.n_infinite += int(infinite.sum())
            return
        counts = Tally.counts(values) if repeats is None else Tally.of(values, repeats[None])
        self._add_numbers(counts)

    def __iadd__(self, other: ColumnSummary) -> ColumnSummary:
        self.n_missing += other.n_missing
        self.n_infinite += other.n_infinite
        if other.order is not None:
            self._order(other.order)
        if other.kind is not None:
            self._is(other.kind)
        if other.counts is not None:
            self._add_numbers(other.counts)
        if other.bounds is not None:
            self._add_bounds(other.bounds)
        for label, sums in other.categories.items():
            self._add_category(label, sums)
        return self

    def _is(self, kind: Kind) -> None:
        if self.kind not in (None, kind):
            raise mixed_kinds(self.name, {str(self.kind), kind})
        self.kind = kind

    def _order(self, categories: tuple[Any, ...]) -> None:
        if self.order not in (None, categories):
            raise ValueError(
                f"Column {self.name!r} has ordered categories that differ from part to part of the "
                "table: give all parts the same type"
            )
        self.order = categories

    def _add_numbers(self, counts: Tally) -> None:
        if self.bounds is not None:
            self._add_bounds(RankBounds.of(counts))
            return
        self.counts = counts if self.counts is None else self.counts + counts
        if self.counts.size > memory_caps.MOST_VALUES:
            self.bounds, self.counts = RankBounds.of(self.counts), None

    def _add_bounds(self, bounds: RankBounds) -> None:
        if self.counts is not None:
            bounds, self.counts = bounds + RankBounds.of(self.counts), None
        self.bounds = bounds if self.bounds is None else self.bounds + bounds

    def _add_categories(self, column: Column, values: Any, terms: Floats) -> None:
        n = len(column.categories)
        sums = sums_by(values, terms, n)
        for code in np.unique(values).tolist():
            self._add_category(column.categories[code], sums[:, code])

    def _add_category(self, label: Any, sums: Floats) -> None:
        known = self.categories.get(label)
        self.categories[label] = sums if known is None else known + sums
        if len(self.categories) > memory_caps.MOST_CATEGORIES:
            raise ValueError(
                f"Column {self.name!r} has more than {memory_caps.MOST_CATEGORIES:,} categories: "
                "leave it out, or give it fewer"
            )


@dataclass(frozen=True)
class WeightSummary:
    """What all weights have in common."""

    n_counted: int = 0  # the rows that count
    most: float = 0.0  # the largest and the smallest weight of these
    least: float = np.inf
    are_whole: bool = True  # whether all weights are whole numbers

    @property
    def are_one(self) -> bool:
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
        return self.names.columns

    def start(self) -> WeightSummary:
        return WeightSummary()

    def add(self, partial: WeightSummary, batch: Batch) -> WeightSummary:
        weight = self.names.read(batch).weight
        if not weight.size:
            return partial
        whole = bool((weight == np.floor(weight)).all())
        summary = WeightSummary(weight.size, float(weight.max()), float(weight.min()), whole)
        return self.merge(partial, summary)

    def merge(self, one: WeightSummary, other: WeightSummary) -> WeightSummary:
        return WeightSummary(
            one.n_counted + other.n_counted,
            max(one.most, other.most),
            min(one.least, other.least),
            one.are_whole and other.are_whole,
        )


@dataclass(eq=False)
class Summary:
    """What is known of all rows before they are binned."""

    # The rows, those that count, and those of positive weight that are censored at time zero.
    n_rows: int
    n_counted: int
    n_left_out: int
    times: Tally  # for each time of a row: how many rows end there, and the parts of their weight
    entries: Tally  # for each entry time, the parts of the weight that enters
    deaths: dict[int, Tally]  # the same as `times` for rows with an event of each cause
    arms: dict[Any, int]  # how many rows that count each arm has, by its label
    # What is known of the columns that a tree may ask about.
    questions: list[ColumnSummary] = field(default_factory=list)

    @property
    def n_events(self) -> int:
        """How many rows count and have an event."""
        return int(sum(tally.sums[0].sum() for tally in self.deaths.values()))


@dataclass(frozen=True, eq=False)
class SummaryRisks:
    """Who is at risk and who dies over time, in rows that were summed up."""

    summary: Summary
    grid: Grid  # of the weights

    @property
    def total(self) -> float:
        """The weight of all rows that count."""
        return float(self.grid.join(self.summary.times.sums[1:].sum(axis=1)))

    @property
    def last_time(self) -> float:
        return float(self.summary.times.keys[-1])

    def table(self, cause: int | None = None) -> RiskTable:
        """Return how much weight was at risk, and how much died, at each time of an event."""
        died = self._died() if cause is None else self.summary.deaths[cause]
        at = np.searchsorted(self.summary.times.keys, died.keys)
        at_risk = self.grid.join(self._at_risk()[:, at])
        return RiskTable(died.keys, at_risk, self.grid.join(died.sums[1:]))

    def events(self, cause: int | None = None) -> float:
        died = self._died() if cause is None else self.summary.deaths[cause]
        return float(self.grid.join(died.sums[1:].sum(axis=1)))

    def follow_up(self) -> FollowUp:
        times, died = self.summary.times, self._died()
        censored = times.sums.copy()
        censored[:, np.searchsorted(times.keys, died.keys)] -= died.sums
        some = censored[0] > 0
        # At equal times events come first.
        at_risk = self._at_risk() - (times.sums - censored)[1:]
        counts = EventCounts(
            self.grid.join(at_risk[:, some]), self.grid.join(censored[1:][:, some])
        )
        return quartiles(times.keys[some], counts)

    def _died(self) -> Tally:
        return sum(self.summary.deaths.values(), Tally.empty(1 + self.grid.n_parts))

    def _at_risk(self) -> Floats:
        """Return the parts of the weight that is at risk at each time."""
        times, entries = self.summary.times, self.summary.entries
        at_risk = from_each_on(times.sums[1:])
        if entries.size:
            # Nothing waits after the last entry.
            waiting = np.append(from_each_on(entries.sums), np.zeros((len(at_risk), 1)), axis=1)
            first = np.searchsorted(entries.keys, times.keys, side="left")
            at_risk = at_risk - waiting[:, first]
        return at_risk


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
        return (*self.names.columns, *self.questions)

    def start(self) -> Summary:
        n_parts = self.grid.n_parts
        none = Tally.empty(1 + n_parts), Tally.empty(n_parts)
        return Summary(0, 0, 0, *none, {}, {}, [ColumnSummary(name) for name in self.questions])

    def add(self, partial: Summary, batch: Batch) -> Summary:
        rows = self.names.read(batch)
        target, parts = rows.target, self.grid.split(rows.weight)
        partial.n_rows += batch.n_rows
        partial.n_counted += rows.n
        partial.n_left_out += rows.n_left_out
        counted = np.concatenate([np.ones((1, rows.n)), parts])
        partial.times += Tally.of(target.time, counted)
        self._require_few(partial)
        ends = self.names.ends(target)
        for cause in np.unique(ends[target.event]).tolist():
            died = ends == cause
            _add(partial.deaths, cause, Tally.of(target.time[died], counted[:, died]))
        for label, number in self.names.arm_rows(target).items():
            partial.arms[label] = partial.arms.get(label, 0) + number
        if target.entry is not None:
            partial.entries += Tally.of(target.entry, parts)
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
        one.n_rows += other.n_rows
        one.n_counted += other.n_counted
        one.n_left_out += other.n_left_out
        one.times += other.times
        self._require_few(one)
        for cause, tally in other.deaths.items():
            _add(one.deaths, cause, tally)
        for label, number in other.arms.items():
            one.arms[label] = one.arms.get(label, 0) + number
        one.entries += other.entries
        for mine, others in zip(one.questions, other.questions, strict=True):
            mine += others
        return one


def _add(deaths: dict[int, Tally], cause: int, tally: Tally) -> None:
    deaths[cause] = deaths[cause] + tally if cause in deaths else tally
