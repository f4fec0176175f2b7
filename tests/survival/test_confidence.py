"""Confidence limits of relative risks, curves and medians, against closed forms and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surtree import SurTree
from surtree.datasets import load_gbsg2
from surtree.survival.confidence import (
    log_log_band,
    median_limits,
    poisson_limits,
    profile_limits,
)
from surtree.survival.kaplan_meier import EventCounts
from surtree.tree.leaf_curve import median_limits as leaf_median_limits
from surtree.tree.leaf_curve import survival_band, theta_limits

LEVELS = st.floats(0.5, 0.999)


# R: poisson.test(3, 2), poisson.test(0, 10), poisson.test(120, 100.5), level 0.9 in the last.
@pytest.mark.parametrize(
    ("events", "expected", "level", "limits"),
    [
        (3, 2.0, 0.95, (0.309336061, 4.383636535)),
        (0, 10.0, 0.95, (0.0, 0.368887945)),
        (120, 100.5, 0.9, (1.02057403, 1.38949077)),
    ],
)
def test_exact_limits_are_those_of_rs_poisson_test(events, expected, level, limits):
    assert poisson_limits(events, expected, level) == pytest.approx(limits, rel=1e-6)


@given(st.integers(0, 500), st.floats(0.01, 1000), LEVELS)
def test_exact_limits_leave_as_much_on_either_side(events, expected, level):
    lower, upper = poisson_limits(events, expected, level)
    tail = (1 - level) / 2
    assert stats.poisson.cdf(events, upper * expected) == pytest.approx(tail)
    if events == 0:
        assert lower == 0
    else:
        assert stats.poisson.sf(events - 1, lower * expected) == pytest.approx(tail)


@given(st.integers(0, 200), st.floats(0.01, 500), st.floats(1e-3, 50), LEVELS)
def test_with_a_prior_the_limits_are_quantiles_of_the_posterior(events, expected, prior, level):
    posterior = stats.gamma(events + prior, scale=1 / (expected + prior))
    found = poisson_limits(events, expected, level, prior)
    assert found == pytest.approx(posterior.interval(level))


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e6), st.sampled_from([0.0, 1.0, 8.0]), LEVELS)
def test_profile_limits_are_where_the_likelihood_has_fallen(events, expected, prior, level):
    shape, rate = events + prior, expected + prior
    mode, fallen = shape / rate, stats.chi2(1).ppf(level)
    lower, upper = profile_limits(events, expected, level, prior)
    assert lower < mode < upper
    for limit in (lower, upper):
        if limit > 0:  # tiny ones underflow
            ratio = limit / mode
            drop = 2 * shape * (ratio - 1 - np.log(ratio))
            assert drop == pytest.approx(fallen, rel=1e-6)


def test_without_events_the_profile_has_an_upper_limit():
    assert profile_limits(0.0, 10.0) == (0.0, pytest.approx(stats.chi2(1).ppf(0.95) / 20))
    assert profile_limits(1e-90, 1.0)[0] == 0.0
    for events in np.logspace(-320, 1, 1000):  # the limits are found whatever the rounding
        lower, upper = profile_limits(float(events), 3.0)
        assert lower <= events / 3 <= upper < 10


@pytest.mark.parametrize("limits", [poisson_limits, profile_limits])
def test_a_level_is_a_probability(limits):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        limits(3, 2.0, 95)


def test_limits_of_many_events_agree():
    exact, profile = poisson_limits(10_000, 9_000.0), profile_limits(10_000, 9_000.0)
    assert profile == pytest.approx(exact, rel=1e-3)


def test_the_exact_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    draws = rng.poisson(1.5 * 4.0, 4000)
    inside = [low <= 1.5 <= high for low, high in (poisson_limits(n, 4.0, 0.9) for n in draws)]
    assert np.mean(inside) >= 0.9 - 0.01


def test_the_median_is_between_the_times_at_which_the_band_is_at_one_half():
    times = np.array([1.0, 2.0, 3.0, 4.0])
    lower, upper = np.array([0.6, 0.5, 0.2, np.nan]), np.array([0.9, 0.8, 0.6, np.nan])
    assert median_limits(times, (lower, upper)) == (2.0, np.inf)
    unknown = np.full(4, np.nan)
    assert np.isnan(median_limits(times, (unknown, unknown))).all()
    assert median_limits(times, (np.full(4, 0.9), np.ones(4))) == (np.inf, np.inf)


def test_a_band_is_unknown_where_survival_is_one_or_zero():
    counts = EventCounts(np.array([5.0, 4.0, 2.0, 0.0]), np.array([0.0, 1.0, 2.0, 0.0]))
    for limit in log_log_band(counts):
        assert np.isnan(limit).tolist() == [True, False, True, True]


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


def test_limits_of_a_leaf_follow_from_its_sums(table):
    tree = SurTree(max_depth=3).fit(*table).tree_
    for leaf in tree.leaves:
        found = theta_limits(tree, leaf)
        assert found == poisson_limits(tree.n_events[leaf], tree.hazard[leaf])
        assert found[0] <= tree.theta[leaf] <= found[1]
    shrunk = SurTree(max_depth=3, shrinkage=3.0).fit(*table).tree_
    leaf = int(shrunk.leaves[0])
    sums = shrunk.events[leaf], shrunk.hazard[leaf]
    assert theta_limits(shrunk, leaf, 0.8) == poisson_limits(*sums, 0.8, 3.0)


def test_weights_have_the_limits_of_the_profile(table):
    X, y = table
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.2, 3, len(y))
    tree = SurTree(max_depth=2, shrinkage=2.0).fit(X, y, weight).tree_
    assert tree.weighted
    leaf = int(tree.leaves[1])
    expected = profile_limits(tree.events[leaf], tree.hazard[leaf], 0.95, 2.0)
    assert theta_limits(tree, leaf) == expected


def test_the_band_of_a_baseline_curve_comes_from_the_limits_of_theta(table):
    tree = SurTree(max_depth=3).fit(*table).tree_
    (leaf,) = tree.leaves[tree.n_events[tree.leaves] == 0]
    for node in tree.leaves:
        low, high = theta_limits(tree, node, 0.9)
        lower, upper = survival_band(tree, node, level=0.9)
        np.testing.assert_allclose(lower, np.exp(-high * tree.baseline.cumulative_hazard))
        np.testing.assert_allclose(upper, np.exp(-low * tree.baseline.cumulative_hazard))
        # Limits of the median are those of a curve with the limits of theta.
        limits = leaf_median_limits(tree, node, level=0.9)
        times = np.append(tree.baseline.times, np.inf)
        assert limits == tuple(
            times[np.argmax(np.append(limit, 0) <= 0.5)] for limit in (lower, upper)
        )
    # Without events: survival may be one, but no less than the upper limit of theta has it.
    lower, upper = survival_band(tree, leaf)
    assert (upper == 1).all()
    assert 0.5 < lower[-1] < 0.9


def test_a_shrunk_band_is_that_of_the_shrunk_counts(table):
    tree = SurTree(max_depth=3, shrinkage=4.0, leaf_curve="shrunk").fit(*table).tree_
    added, n_times = 4.0 * tree.share_at_risk, tree.baseline.times.size
    for leaf, risk in zip(tree.leaves, tree.risk, strict=True):
        own = risk.at_events(n_times)
        shrunk = EventCounts(own.at_risk + added, own.deaths + added * tree.baseline.hazard)
        known = (np.cumsum(own.deaths) > 0) & (own.at_risk > 0)
        for found, expected in zip(survival_band(tree, leaf), log_log_band(shrunk), strict=True):
            np.testing.assert_allclose(found[known], expected[known])
            assert np.isnan(found[~known]).all()
    assert min(risk.last_time for risk in tree.risk) < tree.baseline.times[-1]
