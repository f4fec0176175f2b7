"""The pass that finds how large and how small the values of rows are, and their totals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.engines._batches import Batch
from surtree.engines.rows import TargetNames
from surtree.survival.baseline import Baseline
from surtree.survival.exactness import Extent, unit_of
from surtree.survival.objective import Objective


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
