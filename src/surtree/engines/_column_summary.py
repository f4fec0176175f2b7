"""What one pass learns of a column: its kind, its distinct values, and how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surtree._support.types import Floats
from surtree.data.table import Column, Kind, mixed_kinds
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._quantiles import RankBounds
from surtree.engines._tally import Tally, sums_by


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
        """Add the rows of a batch."""
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
