"""What each row adds to the sums of its leaf, in parts that add up without rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, TermStack
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.engines.summary import Summary, Weights
from surtree.engines.tally import group
from surtree.survival.baseline import Baseline
from surtree.survival.early_events import warn_of_early_end
from surtree.survival.objective import Objective
from surtree.survival.row_sums import RowSums

# No double but one has a logarithm closer to zero than this.
_LEAST_LOGARITHM = 2.0**-54
# Times are few where there are as many rows for each.
_FEW = 8


@dataclass(frozen=True, eq=False)
class RowValues:
    """What rows add to sums: lines of numbers, all of them whole numbers of some unit."""

    objective: Objective  # what a leaf is worth
    baseline: Baseline  # the hazard that all rows share
    weights: Weights  # what the weights of all rows have in common
    unit: float  # that of the sums of the core

    @classmethod
    def of(cls, objective: Objective, summary: Summary, weights: Weights) -> RowValues:
        """Return what rows add, given what is known of all of them."""
        baseline = summary.baseline(weights.grid)
        if summary.entries.size:
            table = summary.risk_table(weights.grid)
            warn_of_early_end(table, float(summary.entries.keys[-1]))
        n_parts = len(summary.entries.sums)
        events = weights.grid.join(summary.times.sums[2 + n_parts :].sum(axis=1))
        unit = objective.unit(
            np.array([float(events), 0.0]), summary.total_weight(weights.grid), baseline
        )
        assert unit is not None
        return cls(objective, baseline, weights, unit)

    @cached_property
    def hazard_grid(self) -> Grid:
        """The grid on which weighted hazards add up."""
        last, floor = float(self.baseline.cumulative_hazard[-1]), self.baseline.floor
        return Grid.covering(
            self.weights.n_counted,
            self.weights.most * max(last, floor),
            self.weights.least * floor,
        )

    @cached_property
    def constant_grid(self) -> Grid:
        """The grid on which the constants of the loss add up."""
        ends = np.array([float(self.baseline.cumulative_hazard[-1]), self.baseline.floor])
        return Grid.covering(
            self.weights.n_counted,
            self.weights.most * float(np.abs(np.log(ends)).max()),
            self.weights.least * _LEAST_LOGARITHM,
        )

    @cached_property
    def _borders(self) -> list[int]:
        n_weight = 0 if self.weights.are_one else max(len(self.weights.grid.units), 1)
        sizes = [1, 1, 1, self.hazard_grid.n_parts, self.constant_grid.n_parts]
        sizes += [1, n_weight, n_weight] if n_weight else []
        return [0, *np.cumsum(sizes).tolist()]

    @property
    def n_lines(self) -> int:
        """How many numbers a row adds."""
        return self._borders[-1]

    def of_rows(self, target: Target, weight: Floats) -> RowLines:
        """Return what rows add.

        The lines are rows, rows with events, exposure in units of the core, parts of the hazard
        and of the constant; and where rows have weights, events in units of the core, parts of
        the weight, and of that of the events.
        """
        event = target.event.astype(np.float64)
        times, place = group(target.time)
        if self.weights.are_one and target.entry is None and _FEW * times.size < event.size:
            # Rows of the same time add the same.
            known = Target(np.ones(times.size, dtype=bool), times)
            by_time = self._hazards(known, np.ones(times.size))
            n_always = 1 + self.hazard_grid.n_parts
            return LinesByTime(event, place, by_time[:n_always], by_time[n_always:])
        found = [np.ones((1, event.size)), event[None], self._hazards(target, weight)]
        if not self.weights.are_one:
            parts, died = self.weights.grid.split(weight), np.where(target.event, weight, 0.0)
            units = np.rint(died / self.unit) * self.unit
            found += [units[None], parts, np.where(target.event, parts, 0.0)]
        return RowLines(np.concatenate(found))

    def _hazards(self, target: Target, weight: Floats) -> Floats:
        """Return exposures, parts of hazards and of constants."""
        values, constants = self.objective.row_values(target, weight, self.baseline)
        # As the core rounds them: a row has at least one unit of exposure.
        exposure = np.maximum(1.0, np.rint(values[1] / self.unit)) * self.unit
        return np.concatenate(
            [exposure[None], self.hazard_grid.split(values[1]), self.constant_grid.split(constants)]
        )

    @property
    def events_line(self) -> int:
        """The line of the events in units of the core."""
        return 1 if self.weights.are_one else self._borders[5]

    def sums(self, lines: Floats) -> MergedSums:
        """Return what merged rows add, given the sums of the lines over the rows of each."""
        own = [slice(*ends) for ends in zip(self._borders, self._borders[1:], strict=False)]
        samples, events, _, hazard, constant, *weighted = own
        grid = self.weights.grid
        _, weight, died = weighted or (None, samples, events)
        kinds = (
            (grid, died),
            (self.hazard_grid, hazard),
            (self.constant_grid, constant),
            (Grid(), samples),
            (Grid(), events),
            (grid, weight),
        )
        node_values = TermStack(lines, kinds)
        died_in_all, hazard_of_all, constant_of_all, *_ = (
            float(total) for total in node_values.join(lines.sum(axis=1))
        )
        repeats = lines[weight][0] if self.weights.are_whole else lines[samples][0]
        return MergedSums(
            self.objective,
            *RowLines(lines).core(self.events_line),
            repeats,
            np.zeros(0),
            self.baseline,
            exact_total=np.array([died_in_all, hazard_of_all]),
            exact_constant=constant_of_all,
            exact_unit=self.unit,
            exact_node_values=node_values,
        )


class RowLines:
    """What each row of a batch adds."""

    def __init__(self, lines: Floats) -> None:
        self._lines = lines

    def whole(self) -> Floats:
        """Return the numbers of all rows, of shape (n_lines, n_rows)."""
        return self._lines

    def by(self, place: NDArray[np.intp], n_places: int) -> Floats:
        """Return the sums over the rows of each place, of shape (n_lines, n_places)."""
        return np.array([np.bincount(place, line, minlength=n_places) for line in self.whole()])

    def core(self, events: int) -> tuple[Floats, dict[str, Floats]]:
        """Return sums and counts as the core takes them, given the line of its events."""
        lines = self.whole()
        return lines[[events, 2]], {"samples": lines[0], "events": lines[1]}


class LinesByTime(RowLines):
    """The same where all but rows and events is a function of time."""

    def __init__(
        self, event: Floats, place: NDArray[np.intp], always: Floats, with_event: Floats
    ) -> None:
        self._event, self._place = event, place
        self._always, self._with_event = always, with_event

    def whole(self) -> Floats:
        """Return the numbers of all rows."""
        ones = np.ones((1, self._event.size))
        rest = (self._always[:, self._place], self._with_event[:, self._place] * self._event)
        return np.concatenate([ones, self._event[None], *rest])

    def by(self, place: NDArray[np.intp], n_places: int) -> Floats:
        """Return the sums over the rows of each place: how many of each time are enough."""
        n_times = self._always.shape[1]
        cell, n_cells = place * n_times + self._place, n_places * n_times
        n_rows = np.bincount(cell, minlength=n_cells).reshape(n_places, n_times)
        n_events = np.bincount(cell, self._event, minlength=n_cells).reshape(n_places, n_times)
        # Whole numbers of a unit, so that sums of products are exact.
        return np.concatenate(
            [
                n_rows.sum(axis=1, dtype=np.float64)[None],
                n_events.sum(axis=1)[None],
                np.einsum("lt,pt->lp", self._always, n_rows.astype(np.float64)),
                np.einsum("lt,pt->lp", self._with_event, n_events),
            ]
        )

    def core(self, events: int) -> tuple[Floats, dict[str, Floats]]:
        """Return sums and counts as the core takes them."""
        values = np.stack([self._event, self._always[0][self._place]])
        return values, {"samples": np.ones(self._event.size), "events": self._event}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Known:
    exact_total: Floats
    exact_constant: float
    exact_unit: float
    exact_node_values: TermStack


@dataclass(frozen=True, eq=False)
class MergedSums(_Known, RowSums):
    """What merged rows add to the sums of a leaf; each stands for all rows with the same bins.

    ``values`` are whole numbers of the unit of the core, ``weight`` is how often a merged row
    counts for quantiles, and all else that is added up over rows is known.
    """

    @property
    def total(self) -> Floats:
        """The sums over all rows."""
        return self.exact_total

    @property
    def constant(self) -> float:
        """The part of the loss that no tree changes."""
        return self.exact_constant

    @property
    def unit(self) -> float:
        """The unit of the sums of the core."""
        return self.exact_unit

    @property
    def is_uneven(self) -> bool:
        """Rows of uneven weights are not merged."""
        return False

    @property
    def node_values(self) -> TermStack:
        """What a tree adds up over the rows of each node."""
        return self.exact_node_values

    def risk_of_groups(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the risk of groups of merged rows; -1 is no group."""
        rows = group >= 0
        lines = self.node_values.lines[:, rows]
        sums = [np.bincount(group[rows], line, minlength=n_groups) for line in lines]
        return self.objective.risk(np.stack(self.node_values.join(np.array(sums))[:2]))
