"""Cuts from what is known of the columns, and bins of rows that come in batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.exact import Grid, Terms, quantile_positions
from surtree._support.types import Floats
from surtree.cuts.candidates import CandidateCuts, bins_above, candidate_cuts
from surtree.cuts.categories import MOST_FOR_SUBSETS
from surtree.cuts.encoder import MAX_BINS, Encoder
from surtree.cuts.thresholds import given_for
from surtree.data.table import Column
from surtree.engines._quantiles import Intervals
from surtree.engines._summary import ColumnSummary
from surtree.engines._tally import Tally

Bins = NDArray[np.uint16]
# The risk of groups of values of a column, given the group of each value and their number.
Risk = Callable[[NDArray[np.intp], int], Floats]


@dataclass(frozen=True, eq=False)
class DistinctColumn:
    """The distinct values of a column, each of them a row."""

    index: int  # the position of the column in the table
    column: Column  # the values, and a missing one if there are some
    counts: Floats  # how often each counts for quantiles
    weight: Floats  # the weight of each

    @classmethod
    def of(cls, index: int, summary: ColumnSummary, counts: Tally | None, grid: Grid) -> Any:
        """Return the distinct values that a summary has; None if there are none."""
        if summary.kind is None:
            return None
        missing = np.array([summary.n_missing] if summary.n_missing else [])
        if summary.kind == "categorical":
            order = summary.order or tuple(sorted(summary.categories))
            code_of = {label: code for code, label in enumerate(order)}
            labels = sorted(summary.categories, key=code_of.__getitem__)
            codes = np.array([code_of[label] for label in labels], dtype=np.int32)
            sums = np.column_stack([summary.categories[label] for label in labels])
            column = Column(
                summary.name,
                "categorical",
                np.append(codes, np.full(missing.size, -1, dtype=np.int32)),
                order,
                summary.order is not None,
            )
            weight = grid.join(sums[1:])
            return cls(
                index,
                column,
                np.append(sums[0], missing),
                np.append(weight, np.ones(missing.size)),
            )
        assert counts is not None
        values = np.append(counts.keys, np.full(missing.size, np.nan))
        column = Column(summary.name, summary.kind, values)
        return cls(index, column, np.append(counts.sums[0], missing), np.ones(values.size))

    def candidates(self, encoder: Encoder, risk: Risk | None = None) -> CandidateCuts:
        """Return the candidate cuts of the column, its distinct values being the rows."""
        given = given_for(encoder.thresholds, self.column)
        return candidate_cuts(
            self.index,
            self.column,
            Terms.of(self.weight),
            self.counts,
            n_thresholds=None if encoder.n_thresholds is None else int(encoder.n_thresholds),
            max_categories=int(encoder.max_categories),
            given=given,
            category_cuts=encoder.category_cuts,
            risk=risk,
        )


@dataclass(frozen=True, eq=False)
class Binner:
    """How the values of a column become bins."""

    name: str  # what the column is called
    n_bins: int  # the number of bins of values; missing values come after them
    edges: Floats | None = None  # the least value of each bin of numbers but the first
    bin_of: dict[Any, int] | None = None  # the bin of each category

    @classmethod
    def of(cls, distinct: DistinctColumn, candidates: CandidateCuts) -> Binner:
        column, n_bins = distinct.column, candidates.n_bins
        present = ~column.missing
        bins = np.asarray(candidates.bins)[present]
        if column.kind == "categorical":
            labels = [column.categories[code] for code in column.values[present].tolist()]
            return cls(column.name, n_bins, bin_of=dict(zip(labels, bins.tolist(), strict=True)))
        first = np.searchsorted(bins, np.arange(1, n_bins))  # values ascend, and so do their bins
        # No row of a boolean column may have one of the two values.
        edges = np.append(column.values[present], np.inf)[first]
        return cls(column.name, n_bins, edges=edges)

    def bins(self, column: Column) -> Bins:
        if self.edges is not None:
            bins = bins_above(column.values, self.edges).astype(np.uint16, copy=False)
            if column.has_missing:
                bins[column.missing] = self.n_bins
            return bins
        assert self.bin_of is not None
        if column.kind != "categorical":  # a batch without any value
            return np.full(column.values.size, self.n_bins, dtype=np.uint16)
        # A category of a row that does not count may be unknown; no row here has it.
        known = [self.bin_of.get(label, self.n_bins) for label in column.categories]
        moved = np.array([*known, self.n_bins], dtype=np.uint16)
        return np.asarray(moved[column.values])


@dataclass(frozen=True, eq=False)
class RenumberedBinner:
    """A binner whose bins were renumbered."""

    binner: Binner  # the binner
    new_bins: Bins  # the new number of each of its bins
    n_bins: int  # how many there are now

    @property
    def name(self) -> str:
        return self.binner.name

    def bins(self, column: Column) -> Bins:
        return self.new_bins[self.binner.bins(column)]


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """The columns that have values, their candidate cuts, and how rows are binned by them."""

    encoder: Encoder  # it says which cuts are wanted
    columns: list[DistinctColumn]  # the distinct values of each

    @cached_property
    def candidates(self) -> list[CandidateCuts]:
        """The candidates of each column, its distinct values being the rows."""
        return [column.candidates(self.encoder) for column in self.columns]

    @cached_property
    def binners(self) -> tuple[Binner, ...]:
        """How the values of each column become bins."""
        return tuple(map(Binner.of, self.columns, self.candidates))

    @cached_property
    def by_risk(self) -> tuple[int, ...]:
        """Which columns have cuts that depend on the risk of categories."""
        return tuple(
            number
            for number, (distinct, binner) in enumerate(
                zip(self.columns, self.binners, strict=True)
            )
            if distinct.column.kind == "categorical"
            and not distinct.column.ordered
            and self.encoder.category_cuts == "subsets"
            and binner.n_bins > MOST_FOR_SUBSETS
        )

    def ranked(
        self, number: int, risk: Callable[[NDArray[np.intp], int], Floats]
    ) -> tuple[CandidateCuts, NDArray[np.uint16]]:
        """Return the candidates of a column of many categories, whose risk is known now."""
        first = self.candidates[number]
        first_bins = np.asarray(first.bins)

        def of_values(group: NDArray[np.intp], n_groups: int) -> Floats:
            of_bin = np.full(first.n_bins + 1, -1)
            of_bin[first_bins] = group
            return risk(of_bin, n_groups)

        ranked = self.columns[number].candidates(self.encoder, of_values)
        moved = np.full(first.n_bins + 1, ranked.n_bins, dtype=np.uint16)
        moved[first_bins] = ranked.bins
        return ranked, moved


def wanted_intervals(summary: ColumnSummary, encoder: Encoder) -> Intervals:
    """Return where the values lie that the cuts of a long column are made from."""
    assert summary.bounds is not None
    given = (encoder.thresholds or {}).get(summary.name)
    if given is not None:
        return summary.bounds.beside(np.array(list(given), dtype=np.float64))
    if encoder.n_thresholds is None:
        raise ValueError(
            f"Column {summary.name!r} has more than {MAX_BINS:,} distinct values, and at most "
            f"{MAX_BINS:,} bins are possible: choose a lower n_thresholds, or round the column"
        )
    ranks = quantile_positions(summary.bounds.n, int(encoder.n_thresholds))
    return summary.bounds.around(np.unique(np.concatenate((ranks, ranks + 1))))
