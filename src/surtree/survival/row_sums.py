"""What each row adds to the leaf that it falls in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms, TermStack
from surtree._support.types import Floats
from surtree.survival.baseline import Baseline
from surtree.survival.exactness import unit_of

if TYPE_CHECKING:
    from surtree.survival.objective import Objective


class Sums(Protocol):
    """What rows, or rows that were merged, add to the leaf that they fall in: see `RowSums`."""

    @property
    def objective(self) -> Objective: ...
    @property
    def values(self) -> Floats: ...
    @property
    def core(self) -> Floats: ...
    @property
    def terms(self) -> tuple[Terms, ...]: ...
    @property
    def weight_terms(self) -> Terms: ...
    @property
    def counts(self) -> Mapping[str, Floats]: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def total(self) -> Floats: ...
    @property
    def constant(self) -> float: ...
    @property
    def unit(self) -> float: ...
    @property
    def scale(self) -> float: ...
    @property
    def is_uneven(self) -> bool: ...
    @property
    def node_values(self) -> TermStack: ...

    def take(self, rows: NDArray[Any]) -> Sums:
        """Return the sums of some rows, given by their positions or by a mask."""

    def risk_of_groups(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the risk of groups of rows; -1 is no group."""


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
    def core(self) -> Floats:
        return self.objective.core_values(self.values)

    @cached_property
    def terms(self) -> tuple[Terms, ...]:
        return tuple(map(Terms.of, self.values))

    @cached_property
    def total(self) -> Floats:
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
            unit = self.objective.exactness().unit(self.total, weight.total, self.baseline)
            # Rows that have the baseline of others may have more hazard.
            total = self.objective.core_values(self.total[:, None])
            if unit is not None and float(total.max()) < unit * 2.0**51:
                return unit
        return unit_of(max(Terms.of(values).total for values in np.abs(self.core)))

    @cached_property
    def weight_terms(self) -> Terms:
        return Terms.of(self.weight)

    @cached_property
    def _constant_terms(self) -> Terms:
        return Terms.of(self.constants)

    @cached_property
    def scale(self) -> float:
        """What gains and losses are compared with, to tell rounding from differences."""
        return float(self.objective.exactness().scale(self.total))

    @cached_property
    def is_uneven(self) -> bool:
        """Whether the lightest rows may vanish beside the heaviest in sums of doubles."""
        return self.objective.exactness().is_uneven(self.weight)

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
        return RowSums(
            self.objective,
            np.ascontiguousarray(self.values[:, rows]),
            {name: count[rows] for name, count in self.counts.items()},
            self.weight[rows],
            self.constants[rows],
        )

    def loss(self, prediction: Floats) -> float:
        return self.constant + Terms.of(self.objective.variable_loss(self.values, prediction)).total

    def risk_of_groups(self, group: NDArray[np.intp], n_groups: int) -> Floats:
        """Return the risk of groups of rows; -1 is no group."""
        return self.objective.risk(sums_of_groups(self, group, n_groups))

    def partition_loss(self, label: NDArray[np.intp]) -> float:
        sums = sums_of_groups(self, label, int(label.max()) + 1)
        return self.constant - float(self.objective.gain(sums).sum())


def sums_of_groups(sums: Sums, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Return the sums of groups of rows, of shape (n_sums, n_groups); -1 is no group."""
    rows = group >= 0
    terms = (each.take(rows) for each in sums.terms)
    return np.stack([each.total_by(group[rows], n_groups) for each in terms])
