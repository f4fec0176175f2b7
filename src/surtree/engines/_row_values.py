"""What each row adds to the sums of its leaf, in parts that add up without rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms, TermStack
from surtree._support.types import Floats
from surtree.data.target import Target
from surtree.engines._batches import Batch
from surtree.engines._summary import SummaryRisks, WeightSummary
from surtree.engines._tally import group, sums_by
from surtree.engines.rows import CountedRows, TargetNames
from surtree.survival.baseline import Baseline
from surtree.survival.exactness import Extent, unit_of
from surtree.survival.objective import Objective
from surtree.survival.row_sums import sums_of_groups


@dataclass(eq=False)
class Extents:
    """The extents and totals of what rows add: sums of the core, of the objective, constants."""

    n_core: int  # how many of them are sums of the core
    most: Floats  # the largest size of each
    least: Floats  # the smallest size of each, zeros left out
    # Numbers that add up to the total of each without rounding.
    terms: list[list[float]] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """The unit of the core."""
        return unit_of(max(math.fsum(terms) for terms in self.terms[: self.n_core]))

    def excess(self, objective: Objective) -> float:
        """Return the part of the constants that depends on all rows."""
        sums = slice(self.n_core, -1)
        hazard = math.fsum(chain.from_iterable(self.terms[sums][1::2]))
        return objective.excess(hazard, float(self.least[sums][0::2].min()))

    def of_sums(self, excess: float) -> list[Extent]:
        """Return the extents of the sums, and of the constants with the part of all rows."""
        most, least = self.most[self.n_core :].copy(), self.least[self.n_core :].copy()
        if excess > 0:
            most[-1] += excess * float(most[:-1][0::2].max())
            least[-1] = min(least[-1], excess * float(least[:-1][0::2].min()))
        return [
            (high, low if high > 0 else 0.0)
            for high, low in zip(most.tolist(), least.tolist(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ExtentPass:
    """The pass over the target, where an objective does not know the extents of its sums."""

    names: TargetNames  # the columns of the target
    objective: Objective
    baseline: Baseline
    title = "sizes of sums"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names.columns

    def start(self) -> Extents:
        n_sums = len(self.objective.sum_names)
        n_core = len(self.objective.core_values(np.empty((n_sums, 0))))
        n = n_core + n_sums + 1
        return Extents(n_core, np.zeros(n), np.full(n, np.inf), [[] for _ in range(n)])

    def add(self, partial: Extents, batch: Batch) -> Extents:
        rows = self.names.read(batch)
        values, constants = self.objective.row_values(rows.target, rows.weight, self.baseline)
        core = self.objective.core_values(values)
        sizes = np.abs(np.concatenate([core, values, constants[None]]))
        positive = np.where(sizes > 0, sizes, np.inf)
        np.maximum(partial.most, sizes.max(axis=1, initial=0.0), out=partial.most)
        np.minimum(partial.least, positive.min(axis=1, initial=np.inf), out=partial.least)
        for terms, size in zip(partial.terms, sizes, strict=True):
            terms += Terms.of(size).parts.sum(axis=1).tolist()
        return partial

    def merge(self, one: Extents, other: Extents) -> Extents:
        np.maximum(one.most, other.most, out=one.most)
        np.minimum(one.least, other.least, out=one.least)
        for terms, more in zip(one.terms, other.terms, strict=True):
            terms += more
        return one


# Outcomes are few where there are as many rows for each.
_FEW = 8


@dataclass(frozen=True, eq=False)
class RowValues:
    """What rows add to sums: numbers that are all whole numbers of some unit."""

    objective: Objective  # what a leaf is worth
    baseline: Baseline  # the hazard that all rows share
    weights: WeightSummary  # what the weights of all rows have in common
    unit: float  # that of the sums of the core
    grids: tuple[Grid, ...]  # those on which the sums and the constants of the loss add up
    excess: float  # the part of the constants that depends on all rows
    count_names: tuple[str, ...]  # the counts that limit leaves

    @classmethod
    def of(
        cls,
        objective: Objective,
        example: Target,
        risks: SummaryRisks,
        weights: WeightSummary,
        extents: Extents | None,
    ) -> RowValues:
        baseline = objective.baseline_of(risks)
        excess, exactness = 0.0, objective.exactness()
        if extents is None:
            of_sums = exactness.extents((weights.most, weights.least), baseline)
            total = np.zeros(len(objective.sum_names))
            causes = sorted(risks.summary.deaths)
            total[0::2] = [risks.events(cause) for cause in causes]
            unit = exactness.unit(total, risks.total, baseline)
        else:
            excess = extents.excess(objective)
            of_sums, unit = extents.of_sums(excess), extents.unit
        assert of_sums is not None
        assert unit is not None
        of_weights = (weights.most, weights.least)  # events have the weights of their rows
        grids = tuple(
            weights.grid if extent == of_weights else Grid.covering(weights.n_counted, *extent)
            for extent in of_sums
        )
        names = tuple(objective.row_counts(example, np.ones(1)))
        return cls(objective, baseline, weights, unit, grids, excess, names)

    @cached_property
    def _sums(self) -> list[slice]:
        """Which parts are those of each sum, of the constant and of the weight."""
        parts = []
        n_parts = len(self.count_names) + len(self._core)
        for name, grid in zip((*self.objective.sum_names, ""), self.grids, strict=True):
            if self._is_count(name):
                index = self.count_names.index(name)
                parts.append(slice(index, index + 1))
                continue
            parts.append(slice(n_parts, n_parts + grid.n_parts))
            n_parts += grid.n_parts
        if self.weights.are_one:
            return [*parts, slice(0, 1)]  # samples
        return [*parts, slice(n_parts, n_parts + self.weights.grid.n_parts)]

    @cached_property
    def _core(self) -> list[int]:
        """Which sums of the core are no counts."""
        values = self.objective.core_values(np.eye(len(self.objective.sum_names)))
        names = self.objective.sum_names
        counts = np.array([self._is_count(name) for name in names])
        is_count = (values[:, counts] == 1).any(axis=1) & (np.abs(values).sum(axis=1) == 1)
        return np.flatnonzero(~is_count).tolist()

    def _is_count(self, name: str) -> bool:
        """Return whether a sum is a count too, where all weights are one."""
        return self.weights.are_one and name in self.count_names

    @property
    def n_parts(self) -> int:
        """How many numbers a row adds."""
        return int(max(part.stop for part in self._sums))

    @cached_property
    def core_parts(self) -> list[int]:
        values = self.objective.core_values(np.eye(len(self.objective.sum_names)))
        first = len(self.count_names)
        return [
            first + self._core.index(row)
            if row in self._core
            else self._sums[int(np.argmax(values[row]))].start
            for row in range(len(values))
        ]

    def of_rows(self, rows: CountedRows) -> RowParts:
        target, weight = rows.target, rows.weight
        if self.weights.are_one and target.entry is None:
            # Rows of the same outcome add the same.
            ends, end = group(rows.names.ends(target))
            time = group(target.time)[1]
            mark = (time * ends.size + end) * rows.names.n_arms + rows.names.arms(target)
            outcomes, position = group(mark)
            if _FEW * outcomes.size < rows.n:
                first = np.empty(outcomes.size, dtype=np.intp)
                first[position] = np.arange(rows.n)
                parts = self._parts(target.take(first), weight[first])
                return RowParts(self, parts, position)
        return RowParts(self, self._parts(target, weight), None)

    def _parts(self, target: Target, weight: Floats) -> Floats:
        """Return what rows add: counts, sums of the core, of the objective, constant, weight."""
        values, constants = self.objective.row_values(target, weight, self.baseline)
        if self.objective.has_excess:
            constants = self.objective.with_excess(values, constants, self.excess)
        units = np.rint(self.objective.core_values(values) / self.unit)
        # As the core rounds them: a row has at least one unit of exposure.
        units[1::2] = np.maximum(1.0, units[1::2])
        parts = [*self.objective.row_counts(target, weight).values()]
        parts += [units[row] * self.unit for row in self._core]
        names = (*self.objective.sum_names, "")
        for name, grid, terms in zip(names, self.grids, [*values, constants], strict=True):
            parts += [] if self._is_count(name) else list(grid.split(terms))
        parts += [] if self.weights.are_one else list(self.weights.grid.split(weight))
        return np.stack(parts)

    def counts(self, parts: Floats) -> dict[str, Floats]:
        """Return the counts that limit leaves, by name."""
        return dict(zip(self.count_names, parts, strict=False))

    def sums(self, parts: Floats) -> MergedSums:
        *sums, weight = self._sums
        samples, events = (self.count_names.index(name) for name in ("samples", "events"))
        kinds = (
            *zip(self.grids, sums, strict=True),
            (Grid(), slice(samples, samples + 1)),
            (Grid(), slice(events, events + 1)),
            (self.weights.grid, weight),
        )
        node_values = TermStack((Terms(Grid(), parts),), kinds)
        total = np.array(node_values.join(parts.sum(axis=1)), dtype=np.float64)
        n_sums = len(self.objective.sum_names)
        return MergedSums(
            self,
            self.objective,
            parts[self.core_parts],
            self.counts(parts),
            parts[weight.start if self.weights.are_whole else samples],
            total[:n_sums],
            float(total[n_sums]),
            self.unit,
            node_values,
        )


@dataclass(frozen=True, eq=False)
class RowParts:
    """What each row of a batch adds, or each distinct outcome."""

    made_by: RowValues
    parts: Floats  # of shape (n_parts, n_rows), or (n_parts, n_outcomes)
    outcome: NDArray[np.intp] | None  # the outcome of each row, where rows are not told apart

    def whole(self) -> Floats:
        """Return the numbers of all rows, of shape (n_parts, n_rows)."""
        return self.parts if self.outcome is None else self.parts[:, self.outcome]

    def by(self, index: NDArray[np.intp], size: int) -> Floats:
        """Return the sums over the rows of each index, of shape (n_parts, size)."""
        if self.outcome is None:
            return sums_by(index, self.parts, size)
        n_outcomes = self.parts.shape[1]
        n_rows = np.bincount(index * n_outcomes + self.outcome, minlength=size * n_outcomes)
        # Whole numbers of a unit, so that sums of products are exact.
        of_outcomes = n_rows.reshape(size, n_outcomes).astype(np.float64)
        return np.asarray(np.einsum("po,io->pi", self.parts, of_outcomes))

    def core(self) -> tuple[Floats, dict[str, Floats]]:
        """Return sums and counts as the core takes them."""
        chosen = [*self.made_by.core_parts, *range(len(self.made_by.count_names))]
        parts = self.parts[chosen]
        parts = parts if self.outcome is None else parts[:, self.outcome]
        n_sums = len(self.made_by.core_parts)
        return parts[:n_sums], self.made_by.counts(parts[n_sums:])


@dataclass(frozen=True, eq=False)
class MergedSums:
    """What merged rows add to the sums of a leaf; each stands for all rows with the same bins."""

    made_by: RowValues
    objective: Objective
    core: Floats  # whole numbers of the unit of the core
    counts: Mapping[str, Floats]
    weight: Floats  # how often a merged row counts for quantiles
    total: Floats
    constant: float
    unit: float
    node_values: TermStack
    is_uneven = False  # rows of uneven weights are not merged

    @cached_property
    def values(self) -> Floats:
        """What merged rows add to the sums of the objective."""
        return np.stack(self.node_values.join(self.node_values.lines)[: self.total.size])

    @property
    def terms(self) -> tuple[Terms, ...]:
        return tuple(map(self._terms_of, range(self.total.size)))

    @property
    def weight_terms(self) -> Terms:
        return self._terms_of(-1)

    def _terms_of(self, kind: int) -> Terms:
        grid, own = self.node_values.kinds[kind]
        return Terms(grid, self.node_values.lines[own])

    @cached_property
    def scale(self) -> float:
        """What gains and losses are compared with, to tell rounding from differences."""
        return float(self.objective.exactness().scale(self.total))

    def take(self, rows: NDArray[Any]) -> MergedSums:
        return self.made_by.sums(self.node_values.lines[:, rows])

    def risk_of_groups(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the risk of groups of merged rows; -1 is no group."""
        return self.objective.risk(sums_of_groups(self, group, n_groups))
