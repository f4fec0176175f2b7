"""Functions of arrays that are compiled: bins, sums over them, who is at risk, hashes of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surtree import _core
from surtree._support.exact import Terms
from surtree._support.types import Floats

Positions = NDArray[np.intp]
Hashes = NDArray[np.uint64]


def bin_columns(values: Floats, thresholds: Floats) -> NDArray[np.uint16]:
    """Return how many thresholds of its column each value is above; one more than all for NaN."""
    return _core.bin_columns(values, np.ascontiguousarray(thresholds)).reshape(values.shape)


def sum_bins(
    bins: NDArray[Any], n_bins: int, weight: Terms | None
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64], Floats]:
    """Return, for each bin of a column, the number, the hash and the weight of its rows."""
    columns = np.atleast_2d(bins)
    if weight is None:
        return _core.sum_bins(columns, n_bins, np.empty((0, 0)))
    n_rows, low, high, parts = _core.sum_bins(columns, n_bins, np.ascontiguousarray(weight.parts))
    by_part = parts.reshape(-1, len(weight.parts), n_bins).swapaxes(0, 1)
    return n_rows, low, high, weight.grid.join(by_part).ravel()


def count_risk(
    order: Positions, time: Floats, event: NDArray[np.bool_], weight: Terms
) -> tuple[Floats, Floats, Floats]:
    """Return the distinct event times, the weight at risk at each, and that of the events."""
    times, *sums = _core.count_risk(
        order, np.ascontiguousarray(time), np.ascontiguousarray(event), _parts(weight)
    )
    at_risk, deaths = (weight.grid.join(each.reshape(len(weight.parts), -1)) for each in sums)
    return times, at_risk, deaths


def count_steps(order: Positions, time: Floats, times: Floats) -> Positions:
    """Return, for each row, how many of some times are not after its own."""
    return _core.count_steps(order, np.ascontiguousarray(time), np.ascontiguousarray(times))


def pair_weights(
    time: Positions, risk: Positions, first_weight: Floats, second_weight: Floats
) -> Floats:
    """Sum ``first_weight[:, i] * second_weight[j]`` over the pairs where ``i`` is before ``j``.

    Of those where ``i`` has the higher risk, of those of equal risk, and of all, for each kind of
    first weights. Times and risks are ranks.
    """
    sums = _core.pair_weights(time, risk, first_weight, second_weight)
    return sums.reshape(3, -1)


def hash_rows(words: Floats) -> Hashes:
    """Return a hash of each row, from the words (n_words, n_rows) that describe it."""
    return _core.hash_rows(words)


def sum_hashes(hashes: Hashes, n_tables: int, n_cells: int) -> Hashes:
    """Return the sum of hashes, that of their squares, and number and sum in cells of tables."""
    return _core.sum_hashes(hashes, n_tables, n_cells)


def count_groups(
    size: tuple[int, int],
    leaving: tuple[Positions, Positions, Floats, Terms],
    event: NDArray[np.bool_],
    censored: NDArray[np.bool_],
    censored_axis: tuple[float, int],
    entering: tuple[Positions, Positions, Floats, Terms] | None,
    round_times: Floats,
) -> tuple[tuple[Positions, Positions, Floats, Floats], Floats, tuple[Positions, Floats], Floats]:
    """Return what happens over time in each of some groups of rows.

    Rows are given by their group, step, time and weight; ``size`` is the numbers of groups and
    steps. Of all groups one after the other: the number of steps of each, the steps, what is at
    risk and what dies there; what is at risk at round times; when rows were censored; last times.
    """
    grid, n_parts = leaving[-1].grid, len(leaving[-1].parts)
    none = np.empty(0, dtype=np.intp)
    late = (none, none, np.empty(0), np.empty((n_parts, 0)))
    n_steps, step, at_risk, deaths, at_round, n_censored, times, last = _core.count_groups(
        *size,
        (*map(np.ascontiguousarray, leaving[:-1]), _parts(leaving[-1])),  # type: ignore[arg-type]
        np.ascontiguousarray(event),
        np.ascontiguousarray(censored),
        *censored_axis,
        late if entering is None else (*entering[:-1], _parts(entering[-1])),
        round_times,
    )
    at_risk, deaths = (grid.join(each.reshape(n_parts, -1)) for each in (at_risk, deaths))
    at_round = grid.join(at_round.reshape(n_parts, size[0], -1))
    return (n_steps, step, at_risk, deaths), at_round, (n_censored, times), last


def _parts(weight: Terms) -> Floats:
    return np.ascontiguousarray(weight.parts)
