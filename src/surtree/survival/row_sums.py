"""What each row adds to the leaf that it falls in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms, TermStack
from surtree._support.types import Floats
from surtree.survival.baseline import Baseline
from surtree.survival.bounds import unit_of

if TYPE_CHECKING:
    from surtree.survival.objective import Objective


@dataclass(frozen=True, eq=False)
class RowSums:
    """What each row adds to the leaf that it falls in."""

    objective: Objective  # what a leaf gains from its sums
    values: Floats  # what rows add to the sums
    counts: Mapping[str, Floats]  # what rows add to the counts that limit leaves, by name
    weight: Floats  # the weight of each row, above zero
    constants: Floats  # the part of the loss of each row that no tree changes
    # The hazard that all rows share, if these are all rows that it was estimated from.
    baseline: Baseline | None = None

    @cached_property
    def terms(self) -> tuple[Terms, ...]:
        """The values, a line each, as terms of exact sums."""
        return tuple(map(Terms.of, self.values))

    @cached_property
    def total(self) -> Floats:
        """The sums over all rows."""
        return np.array([terms.total for terms in self.terms])

    @cached_property
    def constant(self) -> float:
        """The part of the loss that no tree changes: no tree gains more."""
        return self._constant_terms.total

    @cached_property
    def unit(self) -> float:
        """The unit of the sums of the core: the total of each is less than 2**51 of it."""
        if self.baseline is not None:
            samples = self.counts["samples"]
            weight = self.weight_terms if (samples == 1).all() else Terms.of(samples * self.weight)
            unit = self.objective.unit(self.total, weight.total, self.baseline)
            # Rows that have the baseline of others may have more hazard.
            total = self.objective.core_values(self.total[:, None])
            if unit is not None and float(total.max()) < unit * 2.0**51:
                return unit
        lines = np.abs(self.objective.core_values(self.values))
        return unit_of(max(Terms.of(line).total for line in lines))

    @cached_property
    def weight_terms(self) -> Terms:
        """The weights, as terms of exact sums."""
        return Terms.of(self.weight)

    @cached_property
    def _constant_terms(self) -> Terms:
        return Terms.of(self.constants)

    @cached_property
    def scale(self) -> float:
        """What gains and losses are compared with, to tell rounding from differences."""
        return float(self.objective.scale(self.total))

    @cached_property
    def is_uneven(self) -> bool:
        """Whether the lightest rows may vanish beside the heaviest in sums of doubles."""
        return self.objective.is_uneven(self.weight)

    @cached_property
    def node_values(self) -> TermStack:
        """What a tree adds up over the rows of each node.

        The kinds are the sums of the objective, the constant, rows, rows with events, and weight.
        """
        counts = np.stack([np.ones(self.weight.size), self.counts["events"]])
        whole = (Terms(Grid(), count[None]) for count in counts)
        kinds = [*self.terms, self._constant_terms, *whole, self.weight_terms]
        return TermStack.of(kinds, merges=True)

    def take(self, rows: NDArray[Any]) -> RowSums:
        """Return the sums of some rows, given by their positions or by a mask."""
        return RowSums(
            self.objective,
            np.ascontiguousarray(self.values[:, rows]),
            {name: count[rows] for name, count in self.counts.items()},
            self.weight[rows],
            self.constants[rows],
        )

    def loss(self, prediction: Floats) -> float:
        """Return the loss of all rows, given what a tree predicts for each of them."""
        return self.constant + Terms.of(self.objective.variable_loss(self.values, prediction)).total

    def risk_of_groups(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the risk of groups of rows."""
        rows = group >= 0
        sums = [terms.take(rows).total_by(group[rows], n_groups) for terms in self.terms]
        return self.objective.risk(np.stack(sums))

    def partition_loss(self, label: NDArray[np.intp]) -> float:
        """Return the loss of all rows, given the number of the leaf of each of them."""
        n_leaves = int(label.max()) + 1
        sums = np.stack([terms.total_by(label, n_leaves) for terms in self.terms])
        return self.constant - float(self.objective.gain(sums).sum())
