"""The baseline and the row sums, against loops that follow the definitions word by word."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surtree.data.target import Target
from surtree.survival.baseline import Baseline, nelson_aalen, risk_table
from surtree.survival.kaplan_meier import median_time
from surtree.survival.objective import RELATIVE_RISK


def make_target(events, times, entries=None):
    entry = None if entries is None else np.array(entries, dtype=float)
    return Target(np.array(events, dtype=bool), np.array(times, dtype=float), entry)


@st.composite
def observed_rows(draw):
    n = draw(st.integers(1, 12))
    first = draw(st.sampled_from([0, 1]))
    times = draw(st.lists(st.integers(first, 8), min_size=n, max_size=n))
    events = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    weight = draw(st.lists(st.sampled_from([1.0, 2.0, 3.0, 0.25]), min_size=n, max_size=n))
    entries = None
    if first == 1 and draw(st.booleans()):
        entries = [draw(st.integers(0, time - 1)) for time in times]
    return make_target(events, times, entries), np.array(weight)


def cumulative_hazard_by_hand(target, weight, time):
    total = 0.0
    for moment in sorted(set(target.time[target.event])):
        if moment > time:
            break
        deaths = at_risk = 0.0
        for i in range(len(weight)):
            entered = target.entry is None or target.entry[i] < moment
            if entered and target.time[i] >= moment:
                at_risk += weight[i]
            if target.event[i] and target.time[i] == moment:
                deaths += weight[i]
        total += deaths / at_risk
    return total


@given(observed_rows())
def test_the_baseline_follows_the_definition(rows):
    target, weight = rows
    baseline = nelson_aalen(target, weight)
    assert baseline.times.tolist() == sorted(set(target.time[target.event]))
    for time in np.arange(0, 9.5, 0.5):
        expected = cumulative_hazard_by_hand(target, weight, time)
        assert baseline.at(time) == pytest.approx(expected, rel=1e-12)


@given(observed_rows(), observed_rows())
def test_steps_are_the_event_times_that_a_row_reached(rows, others):
    # Also for rows that the baseline was not made of.
    baseline = nelson_aalen(*rows)
    for target, _ in (rows, others):
        reached = [int((baseline.times <= time).sum()) for time in target.time]
        assert baseline.steps(target).tolist() == reached


@given(observed_rows())
def test_row_hazard_is_what_lies_between_entry_and_exit(rows):
    target, weight = rows
    baseline = nelson_aalen(target, weight)
    hazard = baseline.row_hazard(target)
    for i in range(len(weight)):
        exposure = cumulative_hazard_by_hand(target, weight, target.time[i])
        if target.entry is not None:
            exposure -= cumulative_hazard_by_hand(target, weight, target.entry[i])
        assert hazard[i] == pytest.approx(max(exposure, baseline.floor), rel=1e-9)


def test_a_row_before_the_first_event_has_the_authors_hazard():
    target = make_target([False, True, True], [1, 2, 3])
    baseline = nelson_aalen(target, np.ones(3))
    assert baseline.floor == 1 / 4
    assert baseline.row_hazard(target).tolist() == [1 / 4, 1 / 2, 3 / 2]


def test_the_floor_never_raises_the_hazard_of_an_event():
    # One over the total weight plus one is one half, far above the first step.
    target = make_target([True, True], [1, 2])
    baseline = nelson_aalen(target, np.array([0.01, 0.99]))
    assert baseline.floor == pytest.approx(0.01)
    assert baseline.row_hazard(target)[0] == pytest.approx(0.01)


@given(observed_rows())
def test_weight_two_is_the_row_twice(rows):
    target, _ = rows
    entry = None if target.entry is None else np.tile(target.entry, 2)
    doubled = Target(np.tile(target.event, 2), np.tile(target.time, 2), entry)
    twice = nelson_aalen(target, np.full(target.time.size, 2.0))
    assert twice == nelson_aalen(doubled, np.ones(doubled.time.size))


def test_risk_sets_honour_entry_and_ties():
    target = make_target([True, True, False, True], [2, 2, 2, 4], [0, 1, 0, 2])
    table = risk_table(target, np.ones(4))
    assert table.times.tolist() == [2, 4]
    assert table.at_risk.tolist() == [3, 1]
    assert table.deaths.tolist() == [2, 1]


def test_fractional_weights_never_leave_fewer_at_risk_than_die():
    target = make_target([True] * 3, [1, 2, 3], [0.9, 1.9, 2.9])
    weight = np.array([0.1, 0.2, 0.3])
    table = risk_table(target, weight)
    assert np.all(table.deaths <= table.at_risk)
    np.testing.assert_allclose(table.at_risk, weight)


@given(observed_rows())
def test_row_sums_are_weighted(rows):
    target, weight = rows
    baseline = nelson_aalen(target, weight)
    sums = RELATIVE_RISK.row_sums(target, weight, baseline)
    hazard = baseline.row_hazard(target)
    assert sums.values[0].tolist() == (weight * target.event).tolist()
    np.testing.assert_allclose(sums.values[1], weight * hazard)
    assert sums.counts["samples"].tolist() == [1] * weight.size
    assert sums.counts["events"].tolist() == target.event.tolist()
    expected = -sum(
        w * np.log(h) for w, d, h in zip(weight, target.event, hazard, strict=True) if d
    )
    assert sums.constant == pytest.approx(expected, abs=1e-12)


@given(observed_rows())
def test_the_loss_of_a_leaf_is_what_the_gain_leaves(rows):
    target, weight = rows
    sums = RELATIVE_RISK.row_sums(target, weight, nelson_aalen(target, weight))
    theta = np.full(weight.size, RELATIVE_RISK.predict(sums.total))
    expected = sums.constant - RELATIVE_RISK.gain(sums.total)
    assert sums.loss(theta) == pytest.approx(expected, abs=1e-9)
    for other in (0.9 * theta, 1.1 * theta):
        assert sums.loss(other) > expected


def test_the_loss_follows_the_equation_row_by_row():
    target = make_target([True, False, True], [1, 2, 3])
    weight, theta = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.5, 2.5])
    baseline = Baseline(np.array([1.0, 3.0]), np.array([0.2, 0.7]), 0.1)
    sums = RELATIVE_RISK.row_sums(target, weight, baseline)
    expected = 0.0
    for w, d, h, t in zip(weight, target.event, [0.2, 0.2, 0.7], theta, strict=True):
        expected += w * (h * t - d * np.log(h) - d * np.log(t) - d)
    assert sums.loss(theta) == pytest.approx(expected)


def test_a_leaf_without_an_event_gains_nothing_and_reports_half_an_event():
    assert RELATIVE_RISK.gain([[0.0, 2.0], [3.0, 1.0]]).tolist() == [0.0, 2 * np.log(2)]
    assert RELATIVE_RISK.predict([[0.0, 2.0], [4.0, 1.0]]).tolist() == [0.125, 2.0]


def test_the_median_is_the_first_time_with_at_most_half_left():
    times = np.array([1.0, 2.0, 3.0])
    assert median_time(times, np.array([0.9, 0.5, 0.1])) == 2.0
    # Three quarters of two thirds, as a product-limit curve multiplies them.
    assert median_time(times, np.array([0.75, 0.5000000000000001, 0.1])) == 2.0
    assert median_time(times, np.array([0.9, 0.8, 0.6])) == np.inf


def test_a_baseline_is_read_only_and_leaves_the_callers_arrays_alone():
    times = np.array([1.0, 2.0])
    baseline = Baseline(times, np.array([0.5, 1.5]), 0.1)
    for value in (baseline, pickle.loads(pickle.dumps(baseline))):
        with pytest.raises(ValueError, match="read-only"):
            value.times[0] = 5.0
    times[0] = 0.5
    assert baseline.times[0] == 0.5


def test_baselines_are_equal_by_content():
    one = Baseline(np.array([1.0, 2.0]), np.array([0.5, 1.5]), 0.1)
    assert one == pickle.loads(pickle.dumps(one))
    assert one != Baseline(np.array([1.0, 2.0]), np.array([0.5, 1.6]), 0.1)
    assert one != Baseline(one.times, one.cumulative_hazard, 0.2)
    assert one != "a baseline"
