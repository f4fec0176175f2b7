"""Rows that are too many to be merged: tables over triples of columns, enough for depth three."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.engines._batches import Batch
from surtree.engines._encode import RenumberedBinner
from surtree.engines._row_values import RowValues
from surtree.engines.rows import CountedRows, TargetNames
from surtree.solver.core import Problem, TripleTables
from surtree.solver.problem import BinnedRows, Forest, Limits, Rounding, TreeTopology
from surtree.survival.treatment import ArmHazards, arm_values


@dataclass(frozen=True, eq=False)
class ArmValues:
    """What rows add to a model of their arms, in place of `RowValues`, and of some rows."""

    objective: ArmHazards
    unit: float
    rows: CountedRows | None = None
    count_names = ("samples",)
    n_parts = 1

    def of_rows(self, rows: CountedRows) -> ArmValues:
        return replace(self, rows=rows)

    def core(self) -> tuple[Floats, dict[str, Floats]]:
        """Return sums and counts as the core takes them."""
        assert self.rows is not None
        arm = self.rows.names.arms(self.rows.target)
        inside = (arm == np.arange(self.objective.n_channels)[:, None]).astype(np.float64)
        return self.objective.core_values(arm_values(inside)), {"samples": np.ones(arm.size)}

    def by(self, index: NDArray[np.intp], size: int) -> Floats:
        return np.bincount(index, minlength=size)[None].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Binning:
    """How the rows of a batch get the bins that the core knows."""

    names: TargetNames  # the columns of the target
    binners: tuple[
        RenumberedBinner, ...
    ]  # how those columns that have cuts become bins of the core
    binned: BinnedRows  # the cuts; no rows
    values: RowValues | ArmValues  # what rows add

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names.columns, *(binner.name for binner in self.binners))

    @property
    def rounding(self) -> Rounding:
        return Rounding(self.values.unit)

    def bins(self, rows: CountedRows) -> NDArray[np.uint16]:
        """Return the bins of rows, of shape (n_columns, n_rows)."""
        bins = np.empty((len(self.binners), rows.n), dtype=np.uint16)
        for column_bins, binner in zip(bins, self.binners, strict=True):
            column_bins[:] = binner.bins(rows.column(binner.name))
            # The core trusts the bins that it is given, and rows may have changed since.
            if column_bins.max(initial=0) >= binner.n_bins:
                raise ValueError(f"Column {binner.name!r} has values that it did not have before")
        return bins


class TableSums:
    """Tables of some rows, and the sums over all of these."""

    def __init__(
        self,
        binning: Binning,
        limits: Limits,
        sums: Floats | None = None,
        total: Floats | None = None,
    ) -> None:
        self._made_with = binning, limits
        values = binning.values
        self.tables = TripleTables(
            binning.binned, values.objective, binning.rounding, limits, values.count_names
        )
        if sums is not None:
            self.tables.merge(sums)
        self.total = np.zeros(values.n_parts) if total is None else total

    def __reduce__(self) -> tuple[Any, ...]:
        return TableSums, (*self._made_with, self.tables.sums, self.total)


@dataclass(frozen=True, eq=False)
class TablesPass:
    """The pass that adds rows to tables over triples of columns."""

    binning: Binning  # how rows get their bins
    limits: Limits  # of the trees
    title = "tables over columns"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.binning.columns

    def start(self) -> TableSums:
        return TableSums(self.binning, self.limits)

    def add(self, partial: TableSums, batch: Batch) -> TableSums:
        rows = self.binning.names.read(batch)
        values = self.binning.values.of_rows(rows)
        partial.tables.add(self.binning.bins(rows), *values.core())
        partial.total += values.by(np.zeros(rows.n, dtype=np.intp), 1)[:, 0]
        return partial

    def merge(self, one: TableSums, other: TableSums) -> TableSums:
        one.tables.merge(other.tables.sums)
        one.total += other.total
        return one


@dataclass(frozen=True, eq=False)
class NodesPass:
    """The pass that adds up the nodes of some trees."""

    binning: Binning  # how rows get their bins
    topologies: list[TreeTopology]  # the trees
    title = "nodes of trees"
    is_ordered = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.binning.columns

    @property
    def forest(self) -> Forest:
        """The nodes of all trees."""
        return Forest.of(self.topologies)

    def start(self) -> Floats:
        return np.zeros((self.binning.values.n_parts, self.forest.cut.size))

    def add(self, partial: Floats, batch: Batch) -> Floats:
        binning = self.binning
        rows = binning.names.read(batch)
        if not rows.n:
            return partial
        values = binning.values
        assert isinstance(values, RowValues)
        parts = values.of_rows(rows)
        binned = replace(binning.binned, bins=binning.bins(rows))
        none = values.sums(np.zeros((values.n_parts, rows.n)))
        problem = Problem(binned, none, binning.rounding)
        for begin, topology in zip(self.forest.begin, self.topologies, strict=False):
            sums = parts.by(problem.find_leaves(topology).astype(np.intp), topology.cut.size)
            # In preorder, children come after their parents.
            for node in reversed(np.flatnonzero(topology.left >= 0)):
                sums[:, node] = sums[:, topology.left[node]] + sums[:, topology.right[node]]
            partial[:, begin : begin + topology.cut.size] += sums
        return partial

    def merge(self, one: Floats, other: Floats) -> Floats:
        one += other
        return one
