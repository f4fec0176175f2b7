"""Candidate cuts of a column, and the filter that keeps those that divide the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surtree._support.compiled import bin_columns, sum_bins
from surtree._support.exact import Terms
from surtree._support.types import Floats
from surtree.cuts._quantile_block import QuantileColumn, neighbours
from surtree.cuts.categories import (
    MOST_FOR_SUBSETS,
    CategoryCuts,
    all_subsets,
    rank_by_risk,
    single_bins,
    singles_and_prefixes,
)
from surtree.cuts.cut import Cut
from surtree.cuts.thresholds import distinct_values, first_of_each, quantile_thresholds, readable
from surtree.data.table import Column

Positions = NDArray[np.intp]
Bins = NDArray[np.uint16] | NDArray[np.intp]

# Up to this number of edges, comparing all values with each is faster than a binary search.
_FEW = 24
# Columns of up to so many cells are counted together.
_CELLS_TOGETHER = 1_000_000


@dataclass(frozen=True, eq=False)
class CutSupport:
    """The set of rows for which each cut holds."""

    n_rows: NDArray[np.int64]  # the number of rows
    # A hash of the set of rows: the sum of random numbers, one for each row.
    key: NDArray[np.uint64]
    weight: Floats  # the weight of the rows


@dataclass(frozen=True, eq=False)
class CandidateCuts:
    """The bins of a column, and cuts that each hold for some of them."""

    bins: Bins  # the bin of each row; ``n_bins`` where the value is missing
    n_bins: int  # the number of bins that hold values
    # Whether each cut holds for the bins above a threshold, for a single bin, or for any set.
    kind: Literal["above", "single", "set"]
    first: Positions  # each cut holds for the bins from its first to its last, both included
    last: Positions
    gaps: NDArray[np.uint64]  # ... but those with a bit here (up to 64 bins)
    # ... and, where this is True, for missing values. The cut "is missing" holds for no other bin:
    # its last is before its first.
    missing: NDArray[np.bool_]
    cut: Callable[[int], Cut]  # makes the `Cut` at a position
    # Whether the user chose the cuts: they are kept however few rows they hold for.
    given: bool = False
    held: CutSupport | None = None  # the rows for which each cut holds, where they are known

    def support_of(
        self,
        n: NDArray[np.int64],
        low: NDArray[np.uint64],
        high: NDArray[np.uint64],
        weight: Floats | None = None,
    ) -> CutSupport:
        """Return the rows for which each cut holds, by the rows of each bin: number, hash, weight.

        That of missing values is the last bin.
        """
        counts = self.over_bins(np.array((n.view(np.uint64), low, high)))
        n_rows = counts[0].view(np.int64)
        return CutSupport(
            n_rows,
            counts[1:],
            n_rows.astype(np.float64) if weight is None else self.over_bins(weight[None])[0],
        )

    def over_bins(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Sum over the bins of each cut, for each kind of sum."""
        before = np.zeros((len(sums), sums.shape[1] + 1), dtype=sums.dtype)
        np.cumsum(sums, axis=1, out=before[:, 1:])
        held = before[:, self.last + 1] - before[:, self.first]
        for number in range(self.n_bins if self.gaps.any() else 0):
            held = held - self._has_gap(number) * sums[:, number : number + 1]
        return held + self.missing * sums[:, -1:] if self.missing.any() else held

    def hold_for(self, row: int) -> NDArray[np.bool_]:
        number = self.bins[row]
        if number == self.n_bins:
            return self.missing
        inside = np.asarray((self.first <= number) & (number <= self.last))
        return inside & ~self._has_gap(int(number)) if self.gaps.any() else inside

    def _has_gap(self, number: int) -> NDArray[np.bool_]:
        """Return which cuts leave out a bin between their first and their last."""
        return (self.gaps >> np.uint64(number) & np.uint64(1)).astype(bool)


def candidate_cuts(
    index: int,
    column: Column,
    weight: Terms,
    repeats: Floats | None,
    *,
    n_thresholds: int | None,
    max_categories: int,
    given: Floats | None = None,
    category_cuts: CategoryCuts = "one",
    risk: Callable[[Positions, int], Floats] | None = None,
) -> CandidateCuts:
    plain = Cut(column=index, name=column.name, known=column.known)
    if column.kind == "boolean":
        candidates = _boolean_cuts(plain, column)
    elif given is not None:
        candidates = _given_cuts(plain, column, given)
    elif column.kind == "numeric":
        candidates = _numeric_cuts(plain, column, repeats, n_thresholds)
    elif column.ordered:
        candidates = _ordered_cuts(plain, column, repeats, n_thresholds)
    else:
        candidates = _category_cuts(plain, column, weight, max_categories, category_cuts, risk)
    return _with_missing(plain, candidates) if column.has_missing else candidates


def quantile_cuts(index: int, name: str, values: Floats, column: QuantileColumn) -> CandidateCuts:
    """Return the candidate cuts of a numeric column whose quantiles are known."""

    def cut(number: int) -> Cut:
        threshold = float(column.thresholds[number])
        shown = readable(threshold, *neighbours(values)(threshold))
        seen = (float(np.nanmin(values)), float(np.nanmax(values)))
        return Cut(column=index, name=name, threshold=shown, seen=seen)

    n_bins = column.thresholds.size + 1
    candidates = _cuts_above(column.bins, n_bins, cut)
    if column.has_missing:
        return _with_missing(Cut(column=index, name=name), candidates)
    return replace(candidates, held=CutSupport(column.n_rows, column.key, column.weight))


def _boolean_cuts(plain: Cut, column: Column) -> CandidateCuts:
    bins = np.where(column.missing, 2, column.values).astype(np.uint16)
    return _cuts_above(bins, 2, lambda _: replace(plain, categories=(True,)))


def _numeric_cuts(
    plain: Cut, column: Column, repeats: Floats | None, n_thresholds: int | None
) -> CandidateCuts:
    distinct, counts = _distinct(column, repeats)
    thresholds = quantile_thresholds(distinct, counts, n_thresholds)
    if len(distinct) == 2 and thresholds[0] < distinct[1]:  # as in a column of 0 and 1
        above, firsts = np.array([1]), np.array([0])
    else:
        above = np.searchsorted(distinct, thresholds, side="right")
        # Thresholds between the same two values make the same cut: keep the first.
        above = above[above < len(distinct)]
        firsts = first_of_each(above) if above.size else above
        above = above[firsts]
    bins = bins_above(column.values, distinct[above])
    if column.has_missing:
        bins[column.missing] = len(above) + 1
    plain = replace(plain, seen=(float(distinct[0]), float(distinct[-1])))

    def cut(number: int) -> Cut:
        lower, upper = distinct[above[number] - 1], distinct[above[number]]
        threshold = readable(float(thresholds[firsts[number]]), float(lower), float(upper))
        return replace(plain, threshold=threshold)

    return _cuts_above(bins, len(above) + 1, cut)


def _given_cuts(plain: Cut, column: Column, given: Floats) -> CandidateCuts:
    distinct, _ = _distinct(column, None)
    above = np.searchsorted(distinct, given, side="right")
    divides = (above > 0) & (above < len(distinct))
    above, thresholds = above[divides], given[divides]
    firsts = first_of_each(above) if above.size else above
    bins = bins_above(column.values, distinct[above[firsts]])
    if column.has_missing:
        bins[column.missing] = len(firsts) + 1
    plain = replace(plain, seen=(float(distinct[0]), float(distinct[-1])))
    candidates = _cuts_above(
        bins, len(firsts) + 1, lambda k: replace(plain, threshold=float(thresholds[firsts[k]]))
    )
    return replace(candidates, given=True)


def _ordered_cuts(
    plain: Cut, column: Column, repeats: Floats | None, n_thresholds: int | None
) -> CandidateCuts:
    distinct, counts = _distinct(column, repeats)
    few = n_thresholds is None or len(distinct) <= n_thresholds + 1
    thresholds = quantile_thresholds(
        distinct.astype(np.float64), counts, None if few else n_thresholds
    )
    # Codes are whole numbers, so all thresholds between two of them are the same.
    below = np.unique(np.floor(thresholds).astype(np.intp))
    bins = np.searchsorted(below, column.values, side="left")
    bins[column.missing] = len(below) + 1

    def cut(number: int) -> Cut:
        return replace(plain, categories=column.categories[below[number] + 1 :])

    return _cuts_above(bins, len(below) + 1, cut)


def _category_cuts(
    plain: Cut,
    column: Column,
    weight: Terms,
    max_categories: int,
    category_cuts: CategoryCuts,
    risk: Callable[[Positions, int], Floats] | None,
) -> CandidateCuts:
    # That of missing values is the first.
    frequency = weight.total_by(column.values + 1, len(column.categories) + 1)[1:]
    present = np.flatnonzero(frequency)
    single = present
    if len(present) > max_categories:
        most_frequent = present[np.argsort(-frequency[present], kind="stable")]
        single = np.sort(most_frequent[: max_categories - 1])
    is_pooled = len(single) < len(present)
    n_bins = len(single) + is_pooled
    narrow = np.uint16 if n_bins < 2**16 - 1 else np.intp
    bin_of = np.full(len(column.categories), len(single), dtype=narrow)
    bin_of[single] = np.arange(len(single))
    bins = bin_of[column.values]
    # The category of each bin; -1 for all that have no bin of their own.
    code = np.append(single, -1) if is_pooled else single
    sets = single_bins(n_bins)
    # Every subset of up to three categories, or its complement, is a single one.
    if category_cuts == "subsets" and 3 < n_bins <= MOST_FOR_SUBSETS:
        sets = all_subsets(n_bins)
    elif category_cuts == "subsets" and n_bins > MOST_FOR_SUBSETS and risk is not None:
        rank = rank_by_risk(risk(np.where(column.missing, -1, bins.astype(np.intp)), n_bins))
        bins, code, sets = (
            rank[bins].astype(narrow),
            code[np.argsort(rank)],
            singles_and_prefixes(rank),
        )
    if column.has_missing:
        bins[column.missing] = n_bins

    def cut(number: int) -> Cut:
        held = code[sets.members(number)]
        negated = -1 in held
        listed = np.sort(np.setdiff1d(code, held) if negated else held)
        return replace(
            plain, categories=tuple(column.categories[k] for k in listed), negated=negated
        )

    kind: Literal["single", "set"] = "single" if len(sets.first) == n_bins else "set"
    return CandidateCuts(bins, n_bins, kind, *sets, np.zeros(len(sets.first), dtype=bool), cut)


def _distinct(column: Column, repeats: Floats | None) -> tuple[Floats, Floats]:
    if not column.has_missing:
        return distinct_values(column.values, repeats)
    present = ~column.missing
    return distinct_values(column.values[present], None if repeats is None else repeats[present])


def bins_above(values: Floats, edges: Floats) -> Bins:
    """Return how many of the edges, which ascend, each value is not below."""
    if len(edges) > _FEW:
        return np.searchsorted(edges, values, side="right")
    bins: Bins = bin_columns(values[None], np.nextafter(edges, -np.inf)[None])[0]
    return bins


def _cuts_above(bins: Bins, n_bins: int, cut: Callable[[int], Cut]) -> CandidateCuts:
    """Return a cut below every bin but the first; it holds for the bins from there up."""
    return CandidateCuts(bins, n_bins, "above", *_places_above(n_bins), cut)


@lru_cache(maxsize=64)
def _places_above(
    n_bins: int,
) -> tuple[Positions, Positions, NDArray[np.uint64], NDArray[np.bool_]]:
    """Return first and last bin of each of these cuts, without gaps and missing values."""
    n_cuts = n_bins - 1
    shared = (
        np.arange(1, n_bins),
        np.full(n_cuts, n_cuts),
        np.zeros(n_cuts, dtype=np.uint64),
        np.zeros(n_cuts, dtype=bool),
    )
    for array in shared:
        array.flags.writeable = False
    return shared


def _with_missing(plain: Cut, candidates: CandidateCuts) -> CandidateCuts:
    """Return every cut twice, with missing values on either side, and the cut "is missing"."""
    n_bins = candidates.n_bins
    n = sum_bins(candidates.bins, n_bins + 1, None)[0]
    held = candidates.over_bins(n[None])[0]
    # Skip cuts that do not separate observed values: with missing values they repeat "is missing".
    useful = np.flatnonzero((held > 0) & (held < n[:n_bins].sum()))

    def cut(number: int) -> Cut:
        if number == 2 * len(useful):
            return replace(plain, missing=True)
        return replace(candidates.cut(useful[number // 2]), missing=number % 2 == 1)

    return replace(
        candidates,
        first=np.append(np.repeat(candidates.first[useful], 2), n_bins),
        last=np.append(np.repeat(candidates.last[useful], 2), n_bins - 1),
        gaps=np.append(np.repeat(candidates.gaps[useful], 2), np.uint64(0)),
        missing=np.append(np.tile([False, True], len(useful)), True),
        cut=cut,
    )


def filter_cuts(
    columns: Sequence[CandidateCuts], weight: Terms, min_support: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Keep cuts with enough rows on both sides that split the rows as no earlier one does."""
    rows = AllRows(weight.n, weight.total, _key_of_all(weight.n))
    return keep_cuts(_with_support(columns, weight), rows, min_support)


def _with_support(columns: Sequence[CandidateCuts], weight: Terms) -> list[CandidateCuts]:
    """Return columns with the rows that each cut holds for; short columns are counted together."""
    weighed = None if weight.are_ones else weight
    unknown = [k for k, one in enumerate(columns) if one.held is None]
    together = [k for k in unknown if columns[k].bins.dtype == np.uint16]
    if weight.n * len(together) > _CELLS_TOGETHER:
        together = []
    out = list(columns)
    for group in [together, *([k] for k in unknown if k not in together)]:
        if not group:
            continue
        bins = columns[group[0]].bins[None]
        if len(group) > 1:
            bins = np.array([columns[k].bins for k in group])
        n_bins = max(columns[k].n_bins for k in group) + 1
        sums: list[Any] = [each.reshape(len(group), -1) for each in sum_bins(bins, n_bins, weighed)]
        for position, k in enumerate(group):
            used = slice(columns[k].n_bins + 1)
            n, low, high, of_bins = (each[position, used] for each in sums)
            held = columns[k].support_of(n, low, high, None if weighed is None else of_bins)
            out[k] = replace(columns[k], held=held)
    return out


@dataclass(frozen=True, eq=False)
class AllRows:
    """What all rows are together."""

    n: int  # how many there are
    weight: float  # their weight
    key: NDArray[np.uint64]  # the hash of their set


def keep_cuts(
    columns: Sequence[CandidateCuts], rows: AllRows, min_support: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Do what `filter_cuts` does, where it is known which rows each cut holds for."""
    total = rows.weight
    supports = [candidates.held for candidates in columns if candidates.held is not None]
    n_held = np.concatenate([support.n_rows for support in supports])
    held = np.concatenate([support.weight for support in supports])
    kept = (n_held > 0) & (n_held < rows.n)
    if min_support > 0:
        given = np.repeat([one.given for one in columns], [one.first.size for one in columns])
        kept &= given | (np.minimum(held, total - held) / total > min_support)
    # A cut and its complement are the same split: key both by the hash of the side without row 0.
    opposite = np.concatenate([candidates.hold_for(0) for candidates in columns])
    key = np.concatenate([support.key for support in supports], axis=1)
    names = np.where(opposite, rows.key - key, key)
    positions = np.flatnonzero(kept)
    # The sort is stable: of equal names the first cut comes first.
    order = positions[np.lexsort(names[:, positions])]
    low, high = names[:, order]
    kept[order[1:][(low[1:] == low[:-1]) & (high[1:] == high[:-1])]] = False
    return kept, held > total / 2


def _key_of_all(n_rows: int) -> NDArray[np.uint64]:
    """Return the hash of the set of all rows, as a column."""
    _, low, high, _ = sum_bins(np.zeros(n_rows, dtype=np.uint16), 1, None)
    return np.stack((low, high))
