"""The same rows with fewer cuts: quantiles of a column, or cuts near a few places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surtree._solver import Structure
from surtree.encoding import Encoded
from surtree.thresholds import quantile_places

Chosen = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Restricted:
    """A problem with some of the cuts of another one.

    Parameters
    ----------
    encoded : Encoded
        The rows; bins that no cut tells apart are one.
    cut : array of int
        Of each cut its number in the other problem.
    """

    encoded: Encoded
    cut: NDArray[np.int32]

    def original(self, structure: Structure) -> Structure:
        """Return a tree with the numbers that its cuts have in the other problem."""
        cut, is_split = structure.cut.copy(), structure.cut >= 0
        cut[is_split] = self.cut[cut[is_split]]
        return Structure(cut, structure.left, structure.right)


def restrict(encoded: Encoded, chosen: Chosen) -> Restricted:
    """Leave out the cuts of ordered columns that are not chosen.

    Parameters
    ----------
    encoded : Encoded
        The rows.
    chosen : array of bool of shape (n_cuts,)
        The cuts to keep; those of a column that is not ordered must be kept.
    """
    n_lines, n_rows = encoded.bins.shape
    bins = np.empty((n_lines, n_rows), dtype=np.uint16)
    n_bins, missing_bin = encoded.n_bins.copy(), encoded.missing_bin.copy()
    first, last = encoded.cut_first.copy(), encoded.cut_last.copy()
    for line in range(n_lines):
        cuts = np.flatnonzero(encoded.cut_column == line)
        if chosen[cuts].all():
            bins[line] = encoded.bins[line]
            continue
        missing = encoded.missing_bin[line]
        is_missing = encoded.cut_first[cuts] == missing
        starts = np.unique(encoded.cut_first[cuts][chosen[cuts] & ~is_missing])
        place = np.searchsorted(starts, np.arange(encoded.n_bins[line]), side="right")
        n_values = starts.size + 1
        if missing >= 0:
            place[missing] = missing_bin[line] = n_values
        n_bins[line] = n_values + (missing >= 0)
        bins[line] = place.astype(np.uint16)[encoded.bins[line]]
        first[cuts] = place[encoded.cut_first[cuts]]
        last[cuts] = np.where(is_missing, n_values, n_values - 1)
    kept = np.flatnonzero(chosen).astype(np.int32)
    return Restricted(
        Encoded(
            bins=bins,
            n_bins=n_bins,
            missing_bin=missing_bin,
            cut_column=encoded.cut_column[kept],
            cut_first=first[kept],
            cut_last=last[kept],
            cut_missing=encoded.cut_missing[kept],
        ),
        kept,
    )


def is_ordered(encoded: Encoded, line: int) -> bool:
    """Tell whether all cuts of a column divide low values from high ones."""
    cuts = encoded.cut_column == line
    missing = encoded.missing_bin[line]
    highest = (encoded.n_bins[line] if missing < 0 else missing) - 1
    above = encoded.cut_last[cuts] == highest
    return bool((above | (encoded.cut_first[cuts] == missing)).all())


def thresholds_of(encoded: Encoded, line: int) -> NDArray[np.int32]:
    """Return the bins at which the cuts of an ordered column begin to hold, ascending."""
    first = encoded.cut_first[encoded.cut_column == line]
    return np.unique(first[first != encoded.missing_bin[line]])


def longest(encoded: Encoded) -> int:
    """Return the largest number of thresholds of a column."""
    return max((len(thresholds_of(encoded, line)) for line in range(len(encoded.bins))), default=0)


def at_thresholds(encoded: Encoded, line: int, first: NDArray[np.int32]) -> Chosen:
    """Return which cuts of an ordered column are at these thresholds, or ask for missing values."""
    wanted = np.append(first, encoded.missing_bin[line])
    at: Chosen = (encoded.cut_column == line) & np.isin(encoded.cut_first, wanted)
    return at


def quantiles(encoded: Encoded, counts: NDArray[np.float64], n_thresholds: int) -> Chosen:
    """Choose the cuts that an `Encoder` with so many thresholds would find.

    Parameters
    ----------
    encoded : Encoded
        The rows, with every threshold.
    counts : array of float of shape (n_rows,)
        How often each row counts.
    n_thresholds : int
        The most thresholds of a column.

    Returns
    -------
    array of bool of shape (n_cuts,)
    """
    chosen = np.ones(encoded.cut_first.size, dtype=bool)
    for line in range(len(encoded.bins)):
        first = thresholds_of(encoded, line)
        if first.size <= n_thresholds or not is_ordered(encoded, line):
            continue
        missing = encoded.missing_bin[line]
        per_bin = np.bincount(encoded.bins[line], counts, minlength=encoded.n_bins[line])
        ends = np.cumsum(per_bin if missing < 0 else per_bin[:missing])
        places = quantile_places(float(ends[-1]), n_thresholds)
        # A threshold is above the bin of the row at its place.
        above = np.searchsorted(ends, places, side="right") + 1
        near = first[np.minimum(np.searchsorted(first, above), first.size - 1)]
        chosen[encoded.cut_column == line] = False
        chosen |= at_thresholds(encoded, line, np.unique(near))
    return chosen
