"""Sums of doubles to the last bit: the exact sum, rounded once, whatever the order of the terms.

A sum of doubles rounds after every addition, so that its last bits depend on the order of the
terms. Whole numbers of one unit have no such rounding, up to 2**53 of them. So each term is cut
into parts, whole numbers of a coarse unit and of ever finer ones; the parts of each unit are added
up without rounding, in any order and in any partition of the rows; and the sums of the parts are
put together in the end, rounded once. The result is that of `math.fsum`, for many sums at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats

# Whole numbers up to here are exact in double precision, and so are their sums.
_MOST_WHOLE = 2.0**53
# No double has bits below this power of two.
_LAST_BIT = -1074
# As many terms are worked on at once.
AT_ONCE = 2**18
# Where there are fractions, some are among the first terms.
_A_FEW = 16
# Up to so many sums are put together one by one.
_FEW_SUMS = 100


@dataclass(frozen=True)
class Grid:
    """Units, powers of two from coarse to fine, that terms are cut into parts by."""

    # Descending. Without any, terms are their own parts: whole numbers, whose sums are exact.
    units: tuple[float, ...] = ()

    @property
    def n_parts(self) -> int:
        return max(len(self.units), 1)

    @classmethod
    def of(cls, values: Floats) -> Grid:
        """Return a grid for the terms that an array holds."""
        low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
        most = max(high, -low)
        # Where terms are not finite, a sum that rounds is as good as another.
        if not math.isfinite(most) or (
            most * values.size <= _MOST_WHOLE and _are_whole(values[:_A_FEW]) and _are_whole(values)
        ):
            return cls()
        size = values if low >= 0 else np.abs(values)
        least = float(size.min()) or float(np.where(size > 0, size, most).min())
        return cls.covering(values.size, most, least)

    @classmethod
    def covering(cls, n_terms: int, most: float, least: float) -> Grid:
        """Return a grid on which every bit of some terms has its place.

        Any such grid gives the same sums: it may be made from bounds, before the terms are known.
        """
        if most == 0:
            return cls()
        # Sums of parts stay below 2**52 units, and terms below 2**51: `split` needs the latter.
        spare = int(n_terms).bit_length()
        last = max(math.frexp(least)[1] - 53, _LAST_BIT)
        exponents = [math.frexp(most)[1] + spare - 51]
        while exponents[-1] > last:
            # What is left of a term is at most half of a unit.
            exponents.append(max(exponents[-1] + spare - 52, last))
        return cls(tuple(math.ldexp(1.0, max(exponent, _LAST_BIT)) for exponent in exponents))

    def split(self, values: Any) -> Floats:
        """Return the parts of each term, of shape (n_parts, ...), from coarse to fine."""
        rest = np.asarray(values, dtype=np.float64)
        if not self.units:
            return rest[None]
        parts = np.empty((len(self.units), *rest.shape))
        for part, unit in zip(parts[:-1], self.units, strict=False):
            # Beside a number of 2**52 units there is no room for fractions of one.
            shift = 1.5 * 2.0**52 * unit
            np.add(rest, shift, out=part)
            part -= shift
            rest = rest - part
        parts[-1] = rest
        return parts

    def join(self, sums: Floats) -> Floats:
        """Return the sum of sums of parts, given as (n_parts, ...), rounded once."""
        if len(sums) == 1:
            return np.asarray(sums[0])
        if sums[0].size <= _FEW_SUMS:
            totals = map(math.fsum, sums.reshape(len(sums), -1).T.tolist())
            return np.fromiter(totals, np.float64).reshape(sums.shape[1:])
        parts = self._carried(sums)
        # As `math.fsum` does: add from the coarsest part on, until something is lost by rounding.
        total, lost, rest = parts[0], np.zeros_like(parts[0]), np.zeros_like(parts[0])
        for part in parts[1:]:
            rest = np.where((rest == 0) & (lost != 0), part, rest)
            new = np.where(lost == 0, total + part, total)
            lost = np.where(lost == 0, part - (new - total), lost)
            total = new
        # A tie was rounded to even, although there is more on one side of it.
        twice = 2.0 * lost
        up = total + twice
        is_tie = (lost * np.sign(rest) > 0) & (up - total == twice)
        return np.asarray(np.where(is_tie, up, total))

    def _carried(self, sums: Floats) -> list[Floats]:
        """Return the same sums, each at most half a unit of the one before."""
        parts = list(sums)
        for number in range(len(parts) - 1, 0, -1):
            shift = 1.5 * 2.0**52 * self.units[number - 1]
            carry = (parts[number] + shift) - shift
            parts[number] = parts[number] - carry
            parts[number - 1] = parts[number - 1] + carry
        return parts


class Terms:
    """Terms to be added up, in any groups: a grid that covers them, and what it makes of them."""

    def __init__(self, grid: Grid, parts: Floats, values: Floats | None = None) -> None:
        self.grid = grid
        self._parts = parts
        self._values = values  # of many terms, in place of the parts, which take more memory

    @classmethod
    def of(cls, values: Floats) -> Terms:
        """Return the terms that an array holds."""
        grid = Grid.of(values)
        if grid.units and values.size > AT_ONCE:
            return cls(grid, np.empty((0, 0)), values)
        return cls(grid, grid.split(values))

    @property
    def parts(self) -> Floats:
        """The parts of the terms, of shape (n_parts, n)."""
        return self._parts if self._values is None else self.grid.split(self._values)

    @property
    def n(self) -> int:
        return self.parts.shape[1] if self._values is None else self._values.size

    @cached_property
    def total(self) -> float:
        if self._values is None:
            return math.fsum(self._parts.sum(axis=1).tolist())  # what `Grid.join` returns
        # Sums of parts are exact, in batches too.
        return math.fsum(sum(self.take(rows).parts.sum(axis=1) for rows in slices(self.n)).tolist())

    @cached_property
    def are_ones(self) -> bool:
        """Whether all terms are one."""
        return not self.grid.units and bool((self.parts == 1).all())

    def take(self, rows: slice | NDArray[Any]) -> Terms:
        """Return some of the terms, given by a slice, by their positions or by a mask."""
        if self._values is not None:
            return Terms(self.grid, self.grid.split(self._values[rows]))
        return Terms(self.grid, _stack([part[rows] for part in self.parts]))

    def parts_by(self, group: NDArray[Any], n_groups: int) -> Floats:
        """Return the sums of the parts of each group, of shape (n_parts, n_groups)."""
        sums = [np.bincount(group, weights=part, minlength=n_groups) for part in self.parts]
        # Of no rows, bincount returns integers.
        return _stack(sums).astype(np.float64, copy=False)

    def total_by(self, group: NDArray[Any], n_groups: int) -> Floats:
        """Return the sum of the terms of each group."""
        return self.grid.join(self.parts_by(group, n_groups))


@dataclass(frozen=True, eq=False)
class TermStack:
    """Several kinds of terms, their parts as the lines of one array."""

    terms: tuple[Terms, ...]  # no two of them equal
    kinds: tuple[tuple[Grid, slice], ...]  # for each kind, its grid and its lines

    @classmethod
    def of(cls, kinds: Sequence[Terms], *, merges: bool = False) -> TermStack:
        """Return the stack of some terms."""
        distinct: dict[int, Terms] = {}  # by their first line
        slices, n_lines = [], 0
        for terms in kinds:
            alike = (
                first
                for first, other in distinct.items()
                if not (other.grid.units or terms.grid.units)
                and np.array_equal(other.parts, terms.parts)
            )
            first = next(alike, n_lines) if merges else n_lines
            if first == n_lines:
                distinct[first] = terms
                n_lines += terms.grid.n_parts
            slices.append((terms.grid, slice(first, first + terms.grid.n_parts)))
        return cls(tuple(distinct.values()), tuple(slices))

    @cached_property
    def lines(self) -> Floats:
        """The parts of all terms."""
        return np.concatenate([terms.parts for terms in self.terms])

    def batches(self) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of the terms and their lines: those of many terms take much memory."""
        for rows in slices(self.terms[0].n):
            whole = rows == slice(0, self.terms[0].n)
            yield (
                rows,
                self.lines
                if whole
                else np.concatenate([terms.take(rows).parts for terms in self.terms]),
            )

    def join(self, sums: Floats) -> list[Floats]:
        """Return the sums of each kind, from the sums of the lines, (n_lines, ...)."""
        return [grid.join(sums[lines]) for grid, lines in self.kinds]


def slices(n: int) -> list[slice]:
    """Return slices of so many terms that are worked on at once."""
    return [slice(first, min(first + AT_ONCE, n)) for first in range(0, max(n, 1), AT_ONCE)]


def _are_whole(values: Floats) -> bool:
    return bool((np.rint(values) == values).all())


def _stack(lines: list[NDArray[Any]]) -> NDArray[Any]:
    """Stack arrays; a single one is not copied."""
    return np.stack(lines) if len(lines) > 1 else lines[0][None]


# Losses of one tree agree to this, however they are added up, so "optimal" promises no more.
SAME_LOSS = 1e-9
# Gains and scores this close are a tie, as in the core.
TIE = 1e-12


def repeats(weight: Floats) -> Floats | None:
    """Return how often each row counts for quantiles; None if each counts once.

    If all weights are whole numbers, a row of weight k counts as k rows. Other weights do not move
    quantiles.
    """
    whole = bool((weight == np.floor(weight)).all())
    return weight if whole and not (weight == 1).all() else None


def quantile_positions(n_values: float, n_thresholds: int) -> Floats:
    """Return where thresholds stand in a sorted list: each after the value at its position."""
    return np.round((np.arange(n_thresholds) + 0.5) * (n_values - 2) / n_thresholds)
