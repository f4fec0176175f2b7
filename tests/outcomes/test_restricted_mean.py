"""Restricted means and differences of arms: sums that anybody can check, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    arm_differences,
    restricted_means,
)
from surtree.datasets import load_gbsg2, load_rossi

NOBODY = [[0]]


def one_leaf(y):
    return SurTree(max_depth=0).fit(NOBODY * len(y[0]), y)


def test_the_mean_of_rows_without_censoring_is_their_mean():
    time = np.array([1.0, 2.0, 4.0, 7.0])
    (mean,) = restricted_means(one_leaf(([True] * 4, time)), horizon=5)
    assert mean.value == pytest.approx(np.minimum(time, 5).mean())
    assert mean.standard_error == pytest.approx(np.minimum(time, 5).std() / 2)
    assert (mean.name, mean.channel) == ("all rows", None)


def test_time_lost_to_all_causes_and_time_without_an_event_are_the_horizon():
    rng = np.random.default_rng(0)
    cause, time = rng.integers(0, 3, 80), rng.exponential(size=80).round(2) + 0.01
    by_cause = CompetingRisksTree(max_depth=0).fit(NOBODY * 80, (cause, time))
    (without,) = restricted_means(one_leaf((cause > 0, time)), horizon=1.5)
    lost = restricted_means(by_cause, horizon=1.5)
    assert [one.channel for one in lost] == [1, 2]
    assert sum(one.value for one in lost) + without.value == pytest.approx(1.5)


def test_errors_are_the_spread_over_bootstrap_samples():
    rng = np.random.default_rng(1)
    event, time = rng.random(300) < 0.7, rng.exponential(size=300) + 0.01
    cause = np.where(event, rng.integers(1, 3, 300), 0)
    model = CompetingRisksTree(max_depth=0).fit(NOBODY * 300, (cause, time))
    draws = []
    for _ in range(300):
        rows = rng.integers(0, 300, 300)
        drawn = CompetingRisksTree(max_depth=0).fit(NOBODY * 300, (cause[rows], time[rows]))
        draws.append([one.value for one in restricted_means(drawn, horizon=1)])
    errors = [one.standard_error for one in restricted_means(model, horizon=1)]
    np.testing.assert_allclose(errors, np.std(draws, axis=0), rtol=0.12)


def test_all_rows_follow_the_leaves():
    means = restricted_means(SurTree(max_depth=1).fit(*load_gbsg2()), 1000)
    assert [one.name for one in means] == ["leaf A", "leaf B", "all rows"]
    assert means[0].value > means[2].value > means[1].value
    narrow = restricted_means(SurTree(max_depth=1).fit(*load_gbsg2()), 1000, level=0.5)
    assert narrow[0].limits[0] > means[0].limits[0]


def test_arms_are_compared_in_leaves_and_in_all_rows():
    X, y = load_rossi()
    arm = X.pop("financial_aid")
    model = EffectTree(max_depth=1).fit(X, y, arm)
    of_arm = {(one.name, one.channel): one for one in restricted_means(model, 40)}
    for one in arm_differences(model, 40):
        pair = of_arm[one.name, one.arm], of_arm[one.name, one.reference]
        assert one.mean == pytest.approx(pair[0].value - pair[1].value)
        width = np.hypot(pair[0].standard_error, pair[1].standard_error) * 1.959964
        assert one.mean_limits[1] - one.mean == pytest.approx(width, rel=1e-6)


def test_numbers_needed_to_treat():
    frame = pd.DataFrame({"x": np.zeros(200)})
    arm = np.repeat([0, 1], 100)
    time = np.full(200, 2.0)
    event = np.zeros(200, dtype=bool)
    event[:50] = event[100:125] = True
    time[event] = 1.0
    model = EffectTree(max_depth=0, reference=0).fit(frame, (event, time), arm)
    (one,) = arm_differences(model, 2)
    assert one.survival == pytest.approx(0.25)
    assert one.needed_to_treat == pytest.approx(4)
    error = np.sqrt(0.5 * 0.5 / 100 + 0.75 * 0.25 / 100) * 1.959964
    low, high = 1 / (0.25 + error), 1 / (0.25 - error)
    assert one.needed_text == f"4 ({low:.0f} to {high:.0f})"
    swapped = EffectTree(max_depth=0, reference=1).fit(frame, (event, time), arm)
    assert arm_differences(swapped, 2)[0].needed_text == f"4 to harm ({low:.0f} to {high:.0f})"


def test_what_is_refused():
    model = SurTree(max_depth=1).fit(*load_gbsg2())
    with pytest.raises(ValueError, match=r"at most 2612.*leaf B ends; got 5000"):
        restricted_means(model, 5000)
    with pytest.raises(ValueError, match="above zero"):
        restricted_means(model, 0)
    with pytest.raises(ValueError, match="fit an EffectTree"):
        arm_differences(model)
    with pytest.raises(ValueError, match="level must lie"):
        restricted_means(model, level=95)
    with pytest.raises(ValueError, match="keeps no at-risk counts"):
        restricted_means(model.path_[0].tree)


def test_one_more_row_of_weight_two_is_two_rows():
    y = [True, False, True], [1.0, 2.0, 3.0]
    twice = [True, True, False, True], [1.0, 1.0, 2.0, 3.0]
    weighted = SurTree(max_depth=0).fit(NOBODY * 3, y, [2.0, 1.0, 1.0])
    assert restricted_means(weighted, 2.5)[0].value == pytest.approx(
        restricted_means(one_leaf(twice), 2.5)[0].value
    )
