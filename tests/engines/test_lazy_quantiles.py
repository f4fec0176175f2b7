"""Quantiles of columns that are not kept are those of all values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surtree._support.exact import quantile_positions
from surtree.cuts.thresholds import distinct_values, quantile_thresholds
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._quantiles import RankBounds, Selection
from surtree.engines._tally import Tally, group

values = st.lists(st.integers(-40, 40) | st.floats(-5, 5), min_size=1, max_size=60)


@given(
    batches=st.lists(values, min_size=1, max_size=8),
    n_thresholds=st.integers(1, 12),
    kept=st.integers(2, 9),
    seed=st.integers(0, 9),
)
def test_selection_finds_the_thresholds_of_all_values(batches, n_thresholds, kept, seed):
    rng = np.random.default_rng(seed)
    arrays = [np.array(batch, dtype=np.float64) for batch in batches]
    repeats = [rng.integers(1, 4, array.size).astype(np.float64) for array in arrays]
    distinct, counts = distinct_values(np.concatenate(arrays), np.concatenate(repeats))
    if distinct.size <= n_thresholds + 1:
        return
    tallies = [Tally.of(array, [n]) for array, n in zip(arrays, repeats, strict=True)]
    before, memory_caps.RANKS_KEPT = memory_caps.RANKS_KEPT, kept
    try:
        bounds = RankBounds.of(tallies[0])
        for tally in tallies[1:]:
            bounds = bounds + RankBounds.of(tally)
    finally:
        memory_caps.RANKS_KEPT = before
    ranks = np.searchsorted(distinct, bounds.values, side="right")
    true = np.concatenate(([0.0], np.cumsum(counts)))[ranks]
    assert (bounds.least <= true).all()
    assert (true <= bounds.most).all()
    assert bounds.n == counts.sum()
    places = quantile_positions(bounds.n, n_thresholds)
    intervals = bounds.around(np.concatenate((places, places + 1)))
    found = Selection.empty(len(intervals))
    for array, n in zip(arrays, repeats, strict=True):
        found = found + Selection.of(array, n, intervals)
    some = found.counts(intervals, (distinct[0], distinct[-1]))
    assert some.sums.sum() == counts.sum()
    # Beside each threshold are the same two values.
    expected = quantile_thresholds(distinct, counts, n_thresholds)
    assert np.isin(some.keys, distinct).all()
    if some.size > n_thresholds + 1:
        np.testing.assert_array_equal(
            quantile_thresholds(some.keys, some.sums[0], n_thresholds), expected
        )
        for threshold in expected:
            for side, step in (("right", -1), ("right", 0)):
                place, own = (
                    np.searchsorted(k, threshold, side) + step for k in (distinct, some.keys)
                )
                if place < distinct.size:
                    assert distinct[place] == some.keys[own]


@given(values, st.booleans())
def test_groups_are_those_of_numpy(some, whole):
    array = np.round(some) if whole else np.array(some, dtype=np.float64)
    keys, place = group(array)
    np.testing.assert_array_equal(keys, np.unique(array))
    np.testing.assert_array_equal(keys[place], array)
