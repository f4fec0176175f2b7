"""Cases that bounds and shortcuts of the core get wrong once a condition of theirs is left out.

Each is one in which random tables hardly ever are: a bin without events, a leaf that is almost
saturated, rows that are all rounded in one direction, hazards below the unit of all sums.
"""

from __future__ import annotations

import numpy as np
import pytest

from solver_checks import EXACT, SCREENED, draw_columns
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, Limits, Rounding, Switches
from surtree.solver.reference import solve as solve_slowly
from surtree.survival.objective import RelativeRisk
from surtree.survival.row_sums import RowSums
from surtree.survival.treatment import ArmContrasts


def ordered(bins) -> BinnedRows:
    """Return columns of numbers: a cut holds from one of them on."""
    lines = np.array(bins, dtype=np.uint16)
    n_bins = lines.max(axis=1).astype(np.int32) + 1
    column = np.repeat(np.arange(len(lines), dtype=np.int32), n_bins - 1)
    return BinnedRows(
        lines,
        n_bins,
        np.full(len(lines), -1, dtype=np.int32),
        column,
        np.concatenate([np.arange(1, n, dtype=np.int32) for n in n_bins]),
        n_bins[column] - 1,
        np.zeros(column.size, dtype=bool),
        np.zeros(column.size, dtype=np.uint64),
    )


def sums_of(events, hazard, objective=None) -> RowSums:
    """Return rows with these events and hazards."""
    events, hazard = np.asarray(events, dtype=float), np.asarray(hazard, dtype=float)
    n = events.shape[-1]
    values = np.stack([events, hazard]) if objective is None else hazard
    counts = {"samples": np.ones(n), "events": (events > 0).astype(float)}
    return RowSums(objective or RelativeRisk(), values, counts, np.ones(n), np.zeros(n))


def at_sizes(gains, n_sizes) -> np.ndarray:
    """Return a path of so many sizes; it ends where more splits bring nothing."""
    return gains[np.minimum(np.arange(n_sizes), gains.size - 1)]


@pytest.mark.parametrize("seed", range(45, 70))
def test_bounds_of_unfinished_searches_hold_with_limits_and_with_bins_without_events(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 16))
    binned = draw_columns(rng, n, int(rng.integers(1, 4)))
    event = (rng.random(n) < 0.4) & (binned.bins[0] != rng.integers(0, 3))
    event[0] |= not event.any()
    hazard = 10.0 ** rng.uniform(-2, 0, n)
    problem = Problem(binned, sums_of(event, hazard * event.sum() / hazard.sum()))
    limits = Limits(int(rng.integers(2, 5)), None, int(rng.integers(1, 4)))
    best = problem.solve(limits)
    for depth in (1, 2, 3):
        for stop_after in range(8):
            switches = Switches(kernel_depth=depth, stop_after=stop_after)
            found = problem.solve(limits, switches=switches)
            assert (found.gain_bounds >= at_sizes(best.gains, found.gains.size) - 1e-9).all()


def test_an_unfinished_search_for_effects_has_no_bound():
    # What differs between arms is not monotone: a part of the rows may gain more than all of them.
    rng = np.random.default_rng(0)
    event, arm = rng.random(24) < 0.6, np.arange(24) % 2
    inside = arm == np.arange(2)[:, None]
    values = np.stack([inside * event, inside * rng.exponential(size=24)], axis=1).reshape(4, 24)
    sums = sums_of(event, values, ArmContrasts.of(2))
    problem = Problem(ordered(rng.integers(0, 3, (4, 24))), sums)
    found = problem.solve(Limits(3), switches=Switches(kernel_depth=1, stop_after=1))
    assert found.status == "interrupted"
    assert np.isinf(found.gain_bounds[-1])


@pytest.mark.parametrize("switches", [Switches(kernel_depth=1), Switches(), Switches(bisect=1)])
def test_a_leaf_that_is_almost_saturated_is_still_split(switches):
    # Early deaths have a hazard close to zero: a leaf of them gains almost what each of them alone
    # does, and the little that is left is the best that the last splits can find.
    rng = np.random.default_rng(0)
    n, n_early = 240, 40
    early = np.arange(n) < n_early
    bins = rng.integers(0, 3, (4, n))
    bins[0] = early
    hazard = np.where(early, 1e-4 * 1.5 ** bins[1:].sum(axis=0), 1.0)
    events = np.where(early, 1.0, 0.0)
    problem = Problem(ordered(bins), sums_of(events, hazard))
    everything = Limits(4)
    gains = problem.solve(everything, switches=switches).gains
    own = np.log(1.0 / hazard[early])
    leaf = n_early * np.log(n_early / hazard[early].sum())
    assert 0.98 * own.sum() < leaf < own.sum()
    slow = problem.solve(everything, switches=Switches(kernel_depth=1, bounds=False)).gains
    assert slow[-1] > leaf + 0.5 * (own.sum() - leaf)
    np.testing.assert_allclose(gains, at_sizes(slow, gains.size), rtol=1e-12)


@pytest.mark.parametrize("seed", [7, 51, *range(5)])
def test_rows_with_hardly_any_hazard_count_for_limits_on_leaves(seed):
    # They left before the first event, in a table of large weights: less than the unit of all sums.
    # With them a leaf has enough rows, so that cuts on either side of them are not the same.
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 4, (3, 14))
    light = bins[0] == rng.integers(1, 3)
    event = (rng.random(14) < 0.5) & ~light
    event[np.flatnonzero(~light)[:1]] = True
    hazard = np.where(light, 1e-30, 10.0 ** rng.uniform(-2, 0, 14))
    binned, sums = ordered(bins), sums_of(event, hazard)
    limits = Limits(3, None, int(rng.integers(2, 5)))
    found = Problem(binned, sums).solve(limits).gains
    holds = binned.cut_first <= bins[binned.cut_column].T
    expected = np.asarray(solve_slowly(holds, sums, limits).gains)
    np.testing.assert_allclose(found, at_sizes(expected, found.size), rtol=1e-9, atol=1e-9)


def test_screening_knows_by_how_much_all_events_of_a_leaf_are_rounded():
    # Three questions find the light rows on the left, three others those on the right; the heavy
    # rows between them have neither. Events of the left are rounded down, those of the right up,
    # by almost half a unit of screening each: so the right looks better, and the left is.
    n, unit = 20_000, 2.0**20
    rng = np.random.default_rng(0)
    left, right = [1, 1, 1, 1, 1, 0], [1, 1, 0, 1, 1, 1]
    patterns = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    heavy = patterns[(patterns[:, :3].sum(axis=1) < 3) & (patterns[:, 3:].sum(axis=1) < 3)]
    asked = np.concatenate([np.tile(left, (n, 1)), np.tile(right, (n, 1)), heavy]).T
    # Other columns tell the light rows apart, which would be merged and rounded once.
    other = rng.integers(0, 10, (6, asked.shape[1]))
    binned = ordered(np.concatenate([asked, other]))
    events = np.concatenate([np.full(n, 1000.49), np.full(n, 1000.51), np.zeros(len(heavy))])
    events[: n // 4000] += 1000.0
    events[2 * n :] = (2.0**29.5 - events.sum()) / len(heavy)
    hazard = np.concatenate([np.full(2 * n, 1.0), events[2 * n :]])
    sums = sums_of(events * unit, hazard * unit)
    problem = Problem(binned, sums, Rounding(1.0))
    limits = Limits(3, 3)
    one, other = (problem.solve(limits, switches=how).gains for how in (EXACT, SCREENED))
    np.testing.assert_array_equal(one, other)
