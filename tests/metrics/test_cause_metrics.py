"""Metrics of competing risks, against loops over pairs and rows."""

import numpy as np
import pytest

from surtree import CompetingRisksTree
from surtree.data.causes import read_cause_target
from surtree.datasets import load_melanoma
from surtree.metrics import (
    brier_score,
    calibration,
    censoring_distribution,
    concordance_index_censored,
    concordance_index_ipcw,
    integrated_brier_score,
    normalized_integrated_brier_score,
)

X, Y = load_melanoma(backend="pandas")
ZEROS = np.zeros(len(Y))


def draw(seed, n=60):
    rng = np.random.default_rng(seed)
    cause, time = rng.integers(0, 4, n), rng.integers(1, 12, n).astype(float)
    cause[:3], time[-1], cause[-1] = (1, 2, 3), 13.0, 0
    return (cause, time), rng.integers(0, 5, n) / 4, rng.choice([1.0, 2.0], n)


def survival(y, cause):
    found = np.empty(len(y[1]), dtype=[("event", bool), ("time", float)])
    found["event"], found["time"] = y[0] == cause, y[1]
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tau", [None, 7.0])
def test_concordance_is_the_share_of_pairs(seed, tau):
    y, risk, weight = draw(seed)
    cause, time = y
    target = read_cause_target(y, len(time))
    uncensored = censoring_distribution(target)(np.nextafter(time, 0.0))
    for weighed in (False, True):
        good = total = 0.0
        for i in np.flatnonzero((cause == 2) & (time < (np.inf if tau is None else tau))):
            for j in range(len(time)):
                later = time[j] > time[i] or (time[j] == time[i] and cause[j] == 0)
                ended = time[j] <= time[i] and cause[j] not in (0, 2)
                if not (later or ended):
                    continue
                pair = 1.0 if weighed else weight[i] * weight[j]
                if weighed:
                    pair /= uncensored[i] * (uncensored[i] if later else uncensored[j])
                good += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
                total += pair
        if weighed:
            found = concordance_index_ipcw(y, y, risk, cause=2, tau=tau)
        elif tau is None:
            found = concordance_index_censored(*y, risk, cause=2, sample_weight=weight)
        else:
            continue
        assert found.cindex == pytest.approx(good / total)


def test_concordance_of_a_single_cause_is_the_usual_one():
    (cause, time), risk, weight = draw(1)
    y = np.minimum(cause, 1), time
    event = y[0] == 1
    one = concordance_index_censored(*y, risk, cause=1, sample_weight=weight)
    assert one == concordance_index_censored(event, time, risk, sample_weight=weight)
    same = survival(y, 1)
    weighed = concordance_index_ipcw(y, y, risk, cause=1, tau=10.0)
    assert weighed.cindex == pytest.approx(
        concordance_index_ipcw(same, same, risk, tau=10.0).cindex
    )


@pytest.mark.parametrize("seed", range(5))
def test_brier_scores_are_weighed_squared_errors(seed):
    y, risk, _ = draw(seed)
    cause, time = y
    uncensored = censoring_distribution(read_cause_target(y, len(time)))
    times = np.array([2.5, 6.0, 9.0])
    incidence = np.outer(risk, [0.2, 0.5, 0.9])
    expected = []
    for place, at in enumerate(times):
        total = 0.0
        for i in range(len(time)):
            happened = time[i] <= at
            if happened and cause[i] == 0:
                continue
            share = uncensored(np.nextafter(time[i], 0.0) if happened else at)
            total += (float(happened and cause[i] == 1) - incidence[i, place]) ** 2 / share
        expected.append(total / len(time))
    found = brier_score(y, y, incidence, times, cause=1)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_integrated_score_is_the_integral(seed):
    y, risk, _ = draw(seed)
    steps = np.array([1.0, 3.0, 5.0, 8.0])
    incidence = np.outer(risk, [0.1, 0.3, 0.6, 0.9])
    found = integrated_brier_score(y, y, incidence, steps, cause=1, interval=(1.5, 9.5))
    # Everything is constant between halves: event times are whole numbers.
    middles = np.arange(1.75, 9.5, 0.5)
    column = np.searchsorted(steps, middles, side="right") - 1
    scores = brier_score(y, y, incidence[:, column], middles, cause=1)
    assert found == pytest.approx(scores.mean())


def test_scores_of_a_single_cause_are_those_of_survival():
    (cause, time), risk, _ = draw(2)
    y = np.minimum(cause, 1), time
    same, times = survival(y, 1), np.array([2.0, 5.0])
    incidence = np.outer(risk, [0.5, 0.9])
    np.testing.assert_allclose(
        brier_score(y, y, incidence, times, cause=1),
        brier_score(same, same, 1 - incidence, times),
    )
    assert integrated_brier_score(y, y, incidence, times, cause=1) == pytest.approx(
        integrated_brier_score(same, same, 1 - incidence, times)
    )


def test_a_tree_saves_something_and_is_calibrated_on_its_own_rows():
    model = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(X, Y)
    incidence = model.predict_cumulative_incidence(X, 1)
    assert 0.05 < normalized_integrated_brier_score(Y, Y, incidence, cause=1) < 0.5
    found = calibration(Y, incidence, 2000.0, cause=1, n_groups=10)
    # Each group is a leaf, or several with the same incidence.
    np.testing.assert_allclose(found.predicted, found.observed, atol=1e-12)
    known = ~np.isnan(found.lower)
    assert (found.lower[known] < found.observed[known]).all()
    assert found.n_rows.sum() == len(Y)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: concordance_index_ipcw(Y, Y, np.ones(len(Y)), cause=5), "no event of cause 5"),
        (lambda: brier_score(Y, Y, np.ones((len(Y), 1)), [1e9], cause=1), "not before"),
        (lambda: brier_score(Y, Y, np.full((len(Y), 1), 2), [9.0], cause=1), "between 0 and"),
        (lambda: brier_score(Y, Y, np.ones((len(Y), 1)), [9.0], cause=5), "y_train has no event"),
        (
            lambda: integrated_brier_score(Y, Y, np.ones((len(Y), 1)), [9.0], cause=1, entry=ZEROS),
            "not defined for rows with entry times",
        ),
        (lambda: calibration(Y, np.ones(len(Y)), 100.0, cause=9), "no event of cause 9"),
        (lambda: calibration(Y, np.ones(len(Y)), 1e9, cause=1), "past the last time"),
    ],
)
def test_what_cannot_be_scored_is_refused(call, fault):
    with pytest.raises(ValueError, match=fault):
        call()
