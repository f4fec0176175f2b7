import time as clock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from surtree.data.target import Target
from surtree.metrics import (
    brier_score,
    calibration,
    censoring_distribution,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
    normalized_integrated_brier_score,
)
from surtree.metrics._kaplan_meier import kaplan_meier
from surtree.survival.step_function import StepFunction

SEEDS = st.integers(0, 2**32 - 1)


def survival_target(event, time):
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def draw(seed, n=60, n_times=12):
    """Rows whose times are tied: events with events, with censorings, and censorings."""
    rng = np.random.default_rng(seed)
    y = survival_target(rng.random(n) < 0.6, rng.integers(1, n_times + 1, n) / 2)
    y["time"][:3] = 0.5, n_times / 2, n_times / 2
    # Events first and last: there is a pair to compare, and censoring never takes all rows.
    y["event"] |= (y["time"] == 0.5) | (y["time"] == n_times / 2)
    return y


def apart(y):
    """Return the same rows, no row being censored when another has its event.

    Of such rows scikit-survival takes the event for one that may have been censored.
    """
    y = y.copy()
    y["time"][~y["event"]] += 0.01
    return y


def before(uncensored, time):
    """Return the share of rows that are not censored before a time."""
    return uncensored(np.nextafter(time, 0.0))


def draw_risk(seed, n=60):
    return np.random.default_rng(seed).integers(0, 8, n) / 8


def draw_survival(seed, times, n=60):
    """Few distinct curves that fall in steps, as the leaves of a tree have them."""
    rng = np.random.default_rng(seed)
    leaves = -np.sort(-rng.random((5, len(times))), axis=1)
    return leaves[rng.integers(0, 5, n)]


# Harrell's C


def all_pairs(event, time, risk, weight):
    """One pair after the other; of equal times the event comes before the censoring."""
    concordant = discordant = tied = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            if event[i] and (time[i], 0) < (time[j], int(not event[j])):
                pair = weight[i] * weight[j]
                concordant += pair * (risk[i] > risk[j])
                discordant += pair * (risk[i] < risk[j])
                tied += pair * (risk[i] == risk[j])
    return (concordant + 0.5 * tied) / (concordant + tied + discordant)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, n=st.integers(3, 30), weighted=st.booleans())
def test_concordance_is_what_all_pairs_say(seed, n, weighted):
    y, risk = draw(seed, n), draw_risk(seed, n)
    weight = np.random.default_rng(seed).integers(0, 3, n) + 0.25 if weighted else np.ones(n)
    index = concordance_index_censored(y["event"], y["time"], risk, sample_weight=weight).cindex
    assert index == pytest.approx(all_pairs(y["event"], y["time"], risk, weight), abs=1e-12)


@pytest.mark.parametrize("n_risks", [2, 16, 10**9])
def test_concordance_of_many_rows_with_few_and_many_risks(n_risks):
    rng = np.random.default_rng(0)
    event, time, risk = rng.random(400) < 0.5, rng.random(400), rng.integers(0, n_risks, 400)
    expected = all_pairs(event, time, risk, np.ones(400))
    assert concordance_index_censored(event, time, risk).cindex == pytest.approx(
        expected, abs=1e-12
    )


def test_concordance_of_a_perfect_a_reversed_and_an_empty_order():
    time = np.arange(1.0, 40.0)
    event = np.ones(39, dtype=bool)
    assert concordance_index_censored(event, time, -time).cindex == 1
    assert concordance_index_censored(event, time, time).cindex == 0
    assert concordance_index_censored(event, time, np.zeros(39)).cindex == 0.5
    assert (
        concordance_index_censored(event, time, -time, sample_weight=np.full(39, 0.1)).cindex <= 1
    )


def test_only_the_order_of_risks_matters_and_weight_two_is_a_row_twice():
    y, risk = draw(4), draw_risk(4)
    index = concordance_index_censored(y["event"], y["time"], risk).cindex
    assert concordance_index_censored(y["event"], y["time"], np.exp(7 * risk)).cindex == index
    assert concordance_index_censored(y["event"], y["time"], -risk).cindex == pytest.approx(
        1 - index
    )
    weight = np.arange(60) % 3
    weighted = concordance_index_censored(y["event"], y["time"], risk, sample_weight=weight).cindex
    twice = np.repeat(np.arange(60), weight)
    repeated = concordance_index_censored(y["event"][twice], y["time"][twice], risk[twice]).cindex
    assert weighted == pytest.approx(repeated, abs=1e-12)


def test_concordance_ties_in_time():
    # Two events of the same time are not compared; an event and a censoring are: 0 and 1 with 3.
    event, time, risk = [True, True, False, False], [1, 1, 2, 1], [3, 1, 2, 9]
    assert concordance_index_censored(event, time, risk) == (0.25, 1, 3, 0, 2)


def test_concordance_of_fifty_thousand_rows_takes_less_than_a_tenth_of_a_second():
    rng = np.random.default_rng(0)
    event, time, risk = rng.random(50_000) < 0.5, rng.random(50_000), rng.random(50_000)
    seconds = []
    for _ in range(5):
        start = clock.process_time()
        concordance_index_censored(event, time, risk)
        seconds.append(clock.process_time() - start)
    assert min(seconds) < 0.1


@pytest.mark.parametrize(
    ("event", "time", "risk", "message"),
    [
        ([False, False], [1, 2], [1, 2], "No comparable pair among 2 rows, of which 0 have an ev"),
        ([True, True], [2, 2], [1, 2], "No comparable pair among 2 rows, of which 2 have an ev"),
        ([False, True], [1, 2], [1, 2], "No comparable pair"),
        ([True, False], [1, 2], [1, 2, 3], "estimate has 3 rows, but there are 2 times"),
        ([True], [1, 2], [1, 2], "event_indicator has 1 rows, but there are 2 times"),
        ([True, False], [1, 2], [1, np.nan], "estimate must be finite; row 1 is nan"),
        ([True, False], [1, np.inf], [1, 2], "event_time must be finite; row 1 is inf"),
        ([2, 1], [1, 2], [1, 2], "event_indicator must be True .* found 2"),
        (
            [True, False],
            [1, 2],
            [[1], [2]],
            r"estimate must have one value a row, got the shape \(2,",
        ),
        ([], [], [], "event_time has no row"),
    ],
)
def test_concordance_of_bad_input(event, time, risk, message):
    with pytest.raises(ValueError, match=message):
        concordance_index_censored(event, time, risk)


def test_concordance_refuses_bad_weights():
    with pytest.raises(ValueError, match="negative weights"):
        concordance_index_censored([True, False], [1, 2], [1, 2], sample_weight=[1, -1])


# Against scikit-survival, with ties wherever both define the same thing


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_concordance_equals_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    y, risk = draw(seed), draw_risk(seed)
    expected = metrics.concordance_index_censored(y["event"], y["time"], risk)
    found = concordance_index_censored(y["event"], y["time"], risk)
    assert found[0] == pytest.approx(expected[0], abs=1e-12)
    assert found[1:] == expected[1:]


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, tau=st.sampled_from([None, 2.0, 3.25]))
def test_uno_equals_scikit_survival(seed, tau):
    metrics = pytest.importorskip("sksurv.metrics")
    train, test, risk = apart(draw(seed)), apart(draw(seed + 1)), draw_risk(seed)
    expected = metrics.concordance_index_ipcw(train, test, risk, tau=tau)
    found = concordance_index_ipcw(train, test, risk, tau=tau)
    assert found[0] == pytest.approx(expected[0], abs=1e-10)
    # Theirs also counts pairs after tau, which have no weight.
    assert found[1:] == expected[1:] or tau is not None


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_censoring_distribution_equals_scikit_survival(seed):
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    train, at = draw(seed), np.arange(1, 25) / 4
    expected = nonparametric.CensoringDistributionEstimator().fit(train).predict_proba(at)
    assert np.asarray(censoring_distribution(train)(at)) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_brier_scores_equal_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    train, test = apart(draw(seed)), apart(draw(seed + 1))
    times = np.array([0.5, 1.2, 2.0, 4.5, 5.75])
    survival = draw_survival(seed, times)
    scores = brier_score(train, test, survival, times)
    assert scores == pytest.approx(metrics.brier_score(train, test, survival, times)[1], abs=1e-10)
    # Their integral is the trapezoid over given times.
    integral = trapezoid(scores, times) / (times[-1] - times[0])
    assert integral == pytest.approx(
        metrics.integrated_brier_score(train, test, survival, times), abs=1e-10
    )


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, by_time=st.booleans())
def test_auc_equals_scikit_survival(seed, by_time):
    metrics = pytest.importorskip("sksurv.metrics")
    train, test = apart(draw(seed)), apart(draw(seed + 1))
    times = np.array([0.5, 1.2, 2.0, 4.5, 5.75])
    risk = 1 - draw_survival(seed, times) if by_time else draw_risk(seed)
    auc, mean = cumulative_dynamic_auc(train, test, risk, times)
    expected_auc, expected_mean = metrics.cumulative_dynamic_auc(train, test, risk, times)
    assert auc == pytest.approx(expected_auc, abs=1e-10)
    assert mean == pytest.approx(expected_mean, abs=1e-10)


def test_step_functions_of_scikit_survival_are_accepted():
    functions = pytest.importorskip("sksurv.functions")
    train, test, times = draw(0), draw(1), np.arange(1, 13) / 2
    survival = draw_survival(0, times)
    curves = [functions.StepFunction(times, row) for row in survival]
    at = [1.0, 2.5]
    assert brier_score(train, test, curves, at) == pytest.approx(
        brier_score(train, test, survival[:, [1, 4]], at)
    )
    assert integrated_brier_score(train, test, curves) == pytest.approx(
        integrated_brier_score(train, test, survival, times)
    )


# Censoring and Kaplan-Meier


def test_events_come_before_censorings_of_the_same_time():
    y = survival_target([True, False, False, True], [1, 1, 2, 3])
    # At 1 three rows are left after the event, of which one is censored; at 2 one of two.
    uncensored, survival = censoring_distribution(y), kaplan_meier(Target(y["event"], y["time"]))
    assert uncensored([0.5, 1, 2, 3]).tolist() == pytest.approx([1, 2 / 3, 1 / 3, 1 / 3])
    assert survival([0.5, 1, 2, 3]).tolist() == [1, 0.75, 0.75, 0]


def test_without_censoring_nothing_is_weighed():
    assert censoring_distribution(survival_target([True, True], [1, 2]))([0, 5]).tolist() == [1, 1]


def test_rows_with_entry_times_are_refused():
    target = Target(np.array([True]), np.array([2.0]), np.array([1.0]))
    with pytest.raises(ValueError, match="not defined for rows with entry times"):
        censoring_distribution(target)


def weighted_scores(y, survival, risk, **given):
    times, interval = [1.0, 2.5, 4.0], (1.0, 4.5)
    curves = [StepFunction(times, row, before=1.0) for row in survival]
    return [
        *brier_score(y, y, survival, times, **given),
        integrated_brier_score(y, y, curves, interval=interval, **given),
        normalized_integrated_brier_score(y, y, curves, interval=interval, **given),
        concordance_index_ipcw(y, y, risk, tau=5.0, **given).cindex,
        *cumulative_dynamic_auc(y, y, risk, times, **given)[0],
        cumulative_dynamic_auc(y, y, risk, times, **given)[1],
    ]


@pytest.mark.parametrize("late", [False, True])
def test_a_weight_of_two_is_the_row_twice(late):
    rng, y, risk = np.random.default_rng(7), draw(5), draw_risk(5)
    survival = np.sort(rng.uniform(size=(60, 3)))[:, ::-1]
    weight = rng.integers(1, 4, 60)
    entry = np.where(rng.uniform(size=60) < 0.5, 0.0, 0.4 * y["time"]) if late else None
    given = {"sample_weight": weight, "train_weight": weight, "entry": entry, "train_entry": entry}
    again = np.repeat(np.arange(60), weight)
    entries = None if entry is None else entry[again]
    assert weighted_scores(y, survival, risk, **given) == pytest.approx(
        weighted_scores(y[again], survival[again], risk[again], entry=entries, train_entry=entries),
        abs=1e-12,
    )


def test_entry_at_zero_changes_nothing():
    y, risk = draw(5), draw_risk(5)
    survival = np.sort(np.random.default_rng(7).uniform(size=(60, 3)))[:, ::-1]
    zero = np.zeros(60)
    assert weighted_scores(y, survival, risk, entry=zero, train_entry=zero) == pytest.approx(
        weighted_scores(y, survival, risk), abs=1e-12
    )


def test_rows_at_risk_and_events_together_weigh_as_much_as_everybody():
    # Survival of one half everywhere has a Brier score of one quarter, whoever enters when.
    rng, y = np.random.default_rng(3), draw(5)
    entry = np.where(rng.uniform(size=60) < 0.3, 0.0, rng.uniform(size=60) * y["time"])
    half = np.full((60, 2), 0.5)
    given = {"entry": entry, "train_entry": entry, "sample_weight": y["time"]}
    scores = brier_score(y, y, half, [1.0, 4.0], **given, train_weight=y["time"])
    assert scores == pytest.approx(0.25, abs=1e-12)


def late_rows(seed):
    rng, y = np.random.default_rng(seed), draw(seed)
    entry = np.where(rng.uniform(size=60) < 0.4, 0.0, 0.7 * rng.uniform(size=60) * y["time"])
    return y, entry, rng.choice([0.5, 1.0, 2.0], 60), np.round(rng.normal(size=60), 1)


def share_observed(y, entry, weight, time, *, after):
    """Rows at risk divided by survival, by loops over the rows."""
    at_risk = (entry <= time) & (time < y["time"])
    if not after:
        at_risk = (entry < time) & (time <= y["time"])
    survival = 1.0
    for step in np.unique(y["time"][y["event"]]):
        if step < time or (after and step == time):
            here = (entry < step) & (step <= y["time"])
            died = y["event"] & (y["time"] == step)
            survival *= 1 - weight[died].sum() / weight[here].sum()
    return weight[at_risk].sum() / (weight.sum() * survival)


def test_scores_of_late_entries_by_loops_over_rows_and_pairs():
    y, entry, weight, risk = late_rows(4)
    given = {"entry": entry, "train_entry": entry, "sample_weight": weight, "train_weight": weight}
    tau, time = 4.0, 3.0
    right = comparable = cases = auc = 0.0
    for i in np.flatnonzero(y["event"] & (y["time"] < tau)):
        inverse = 1 / share_observed(y, entry, weight, y["time"][i], after=False)
        for j in range(60):
            win = 1.0 if risk[i] > risk[j] else 0.5 * (risk[i] == risk[j])
            later = (y["time"][j], not y["event"][j]) > (y["time"][i], False)
            if later and entry[j] < y["time"][i]:
                comparable += weight[i] * weight[j] * inverse**2
                right += win * weight[i] * weight[j] * inverse**2
            if y["time"][i] <= time and entry[j] <= time < y["time"][j]:
                cases += weight[i] * weight[j] * inverse
                auc += win * weight[i] * weight[j] * inverse
    uno = concordance_index_ipcw(y, y, risk, tau=tau, **given)
    assert uno.cindex == pytest.approx(right / comparable)
    assert cumulative_dynamic_auc(y, y, risk, [time], **given)[0] == pytest.approx(auc / cases)
    survival, cost = np.random.default_rng(0).uniform(size=60), 0.0
    for i in range(60):
        if y["event"][i] and y["time"][i] <= time:
            share = share_observed(y, entry, weight, y["time"][i], after=False)
            cost += weight[i] * survival[i] ** 2 / share
        elif entry[i] <= time < y["time"][i]:
            share = share_observed(y, entry, weight, time, after=True)
            cost += weight[i] * (1 - survival[i]) ** 2 / share
    assert brier_score(y, y, survival, [time], **given) == pytest.approx(cost / weight.sum())


def test_the_integral_of_late_entries_is_the_mean_over_many_times():
    y, entry, weight, risk = late_rows(4)
    given = {"entry": entry, "train_entry": entry, "sample_weight": weight, "train_weight": weight}
    curves = [StepFunction([1.0, 3.0], [0.8, 0.8 * 0.5 ** np.exp(r)], before=1.0) for r in risk]
    times = np.linspace(1.5, 4.5, 20_001)[:-1] + 3 / 40_000
    mean = brier_score(y, y, curves, times, **given).mean()
    score = integrated_brier_score(y, y, curves, interval=(1.5, 4.5), **given)
    assert score == pytest.approx(mean, rel=1e-3)


def test_rows_that_nobody_is_at_risk_with_have_no_score_and_a_reason():
    y = survival_target([True, True, False, True, True], [0.5, 3, 4, 5, 6])
    alone = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    half = np.full((5, 1), 0.5)
    with pytest.raises(ValueError, match=r"All rows at risk at 0\.5 have their event then"):
        brier_score(y, y, half, [3.5], entry=alone, train_entry=alone)
    gap = survival_target([False, True, True, True, True], [1, 3, 4, 5, 6])
    entry = np.array([0.0, 2.0, 2.0, 2.0, 2.0])
    with pytest.raises(ValueError, match=r"No test row is at risk after the time 1\.5, before"):
        brier_score(gap, gap, half, [1.5], entry=entry, train_entry=entry)
    curves = [StepFunction([1.0], [0.5], before=1.0)] * 5
    with pytest.raises(ValueError, match="No training row is at risk between 1 and 2: choose"):
        integrated_brier_score(
            gap, gap, curves, interval=(0.5, 4.0), entry=entry, train_entry=entry
        )
    with pytest.raises(ValueError, match=r"starts at 0\.5, before the first training row enters"):
        integrated_brier_score(
            gap,
            gap,
            curves,
            interval=(0.5, 4),
            entry=0.7 + 0.6 * entry,
            train_entry=0.7 + 0.6 * entry,
        )


def test_targets_and_data_frames_are_accepted():
    y, risk = draw(3), draw_risk(3)
    expected = concordance_index_ipcw(y, y, risk).cindex
    target = Target(y["event"], y["time"])
    assert concordance_index_ipcw(target, pd.DataFrame(y), risk).cindex == expected


# Brier score


def integral_on_a_fine_grid(train, test, curves, start, end, n=20_000):
    """Formula of the paper, by the midpoint rule."""
    grid = start + (np.arange(n) + 0.5) * (end - start) / n
    uncensored = censoring_distribution(train)
    total = 0.0
    for (event, time), curve in zip(test, curves, strict=True):
        survival = curve(grid)
        alive = np.where(grid < time, (1 - survival) ** 2 / uncensored(grid), 0)
        dead = np.where(grid >= time, survival**2 / before(uncensored, time), 0) if event else 0
        total += np.mean(alive + dead)
    return total / len(test)


@pytest.mark.parametrize("seed", range(3))
def test_integrated_brier_score_is_the_integral_of_the_paper(seed):
    train, test, times = draw(seed), draw(seed + 9, n=20), np.array([0.7, 1.5, 3.1, 4.0])
    survival = draw_survival(seed, times, n=20)
    curves = [StepFunction(times, row, before=1.0) for row in survival]
    start, end = np.quantile(test["time"], [0.1, 0.9])
    expected = integral_on_a_fine_grid(train, test, curves, start, end)
    assert integrated_brier_score(train, test, curves) == pytest.approx(expected, abs=2e-4)
    exact = integrated_brier_score(train, test, curves)
    assert integrated_brier_score(train, test, survival, times) == pytest.approx(exact, abs=1e-14)
    assert integrated_brier_score(train, test, curves, interval=(start, end)) == exact


@pytest.mark.parametrize("seed", range(3))
def test_integrated_brier_score_is_the_sum_of_brier_scores_over_all_steps(seed):
    # Between neighbouring times of rows and of steps the Brier score is constant.
    train, test, times = draw(seed), draw(seed + 5), np.arange(2, 11) / 3
    survival = draw_survival(seed, times)
    curves = [StepFunction(times, row, before=1.0) for row in survival]
    knots = np.unique(np.concatenate([train["time"], test["time"], times, [0.8, 4.9]]))
    knots = knots[(knots >= 0.8) & (knots <= 4.9)]
    scores = brier_score(train, test, curves, knots[:-1])
    expected = np.sum(scores * np.diff(knots)) / 4.1
    found = integrated_brier_score(train, test, curves, interval=(0.8, 4.9))
    assert found == pytest.approx(expected, abs=1e-13)


class Curve:
    """A step function whose values can be set later than its address in memory."""

    def __init__(self):
        self.x = np.arange(1.0, 6.0)

    def __call__(self, times):
        return np.concatenate(([1.0], self.y))[np.searchsorted(self.x, times, side="right")]


def test_where_curves_are_in_memory_does_not_change_a_bit():
    y = draw(4)
    values = np.sort(np.random.default_rng(0).random((30, 5)))[:, ::-1]
    ascending = sorted((Curve() for _ in values), key=id)
    scores = set()
    for curves in (ascending, ascending[::-1]):
        for curve, own in zip(curves, values, strict=True):
            curve.y = own
        scores.add(integrated_brier_score(y, y, [*curves, *curves]))
    assert len(scores) == 1


def test_rows_after_the_last_training_time_are_left_out():
    train, test = draw(0), draw(1)
    later = np.concatenate([test, survival_target([True, False], [50, 60])])
    curve = StepFunction([1.0, 3.0], [0.7, 0.4], before=1.0)
    assert integrated_brier_score(train, later, [curve] * 62) == integrated_brier_score(
        train, test, [curve] * 60
    )


def test_normalized_score_of_the_root_a_better_and_a_worse_prediction():
    y = draw(2)
    root = kaplan_meier(Target(y["event"], y["time"]))
    assert normalized_integrated_brier_score(y, y, [root] * 60) == pytest.approx(0, abs=1e-12)
    truth = [StepFunction([time], [0.0], before=1.0) for time in y["time"]]
    assert normalized_integrated_brier_score(y, y, truth) > 0.5
    wrong = [StepFunction([time], [1.0], before=0.0) for time in y["time"]]
    assert normalized_integrated_brier_score(y, y, wrong) < 0


def test_normalized_score_is_one_minus_the_ratio():
    train, test = draw(0), draw(1)
    curves = [StepFunction([1.0, 3.0], [0.7, 0.4], before=1.0)] * 60
    root = [kaplan_meier(Target(train["event"], train["time"]))] * 60
    ratio = integrated_brier_score(train, test, curves) / integrated_brier_score(train, test, root)
    assert normalized_integrated_brier_score(train, test, curves) == pytest.approx(1 - ratio)


@pytest.mark.parametrize(
    ("survival", "times", "message"),
    [
        (np.full((60, 2), 0.5), [1.0, 6.0], "6 is not before the last time of the test rows, 6"),
        (np.full((60, 2), 0.5), [2.0, 1.0], "times must be zero or later, and ascend"),
        (np.full((60, 2), 0.5), [1.0, 1.0], "and ascend without repetition"),
        (np.full((60, 2), 0.5), [1.0], r"60 rows and a column for each of 1 times; .* \(60, 2\)"),
        (np.full((59, 1), 0.5), [1.0], r"a row for each of 60 rows .* \(59, 1\)"),
        (np.full((60, 1), 1.5), [1.0], r"between 0 and 1; found 1\.5\. Are these risks"),
        (np.full((60, 1), np.nan), [1.0], "between 0 and 1; found nan"),
        ([lambda t: 3 + 0 * t] * 60, [1.0], "between 0 and 1; found 3"),
    ],
)
def test_brier_score_of_bad_input(survival, times, message):
    with pytest.raises(ValueError, match=message):
        brier_score(draw(0), draw(1), survival, times)


def test_times_past_the_training_rows_are_refused():
    train = survival_target([True, False], [1, 2])
    with pytest.raises(ValueError, match="3 is past the last time of the training rows, 2"):
        brier_score(train, draw(1), np.full(60, 0.5), 3.0)
    with pytest.raises(ValueError, match="interval ends at 5, past the last time of the training"):
        integrated_brier_score(train, draw(1), np.full((60, 1), 0.5), [1.0], interval=(1, 5))
    with pytest.raises(ValueError, match="All test rows are later than the last training time"):
        integrated_brier_score(train, survival_target([True], [9]), [[0.5]], [1.0])
    with pytest.raises(ValueError, match="ended, at 2: set tau to this time or less"):
        concordance_index_ipcw(train, draw(1), draw_risk(1))
    assert 0 <= concordance_index_ipcw(train, draw(1), draw_risk(1), tau=2).cindex <= 1


def test_integrated_brier_score_of_bad_input():
    y, curve = draw(0), StepFunction([1.0], [0.5], before=1.0)
    with pytest.raises(ValueError, match="say at which times its columns step"):
        integrated_brier_score(y, y, np.full((60, 3), 0.5))
    with pytest.raises(ValueError, match="predicted has 3 functions for 60 rows"):
        integrated_brier_score(y, y, [curve] * 3)
    with pytest.raises(ValueError, match="must be step functions"):
        integrated_brier_score(y, y, [lambda t: np.exp(-t)] * 60)
    with pytest.raises(ValueError, match="starts and ends at 1: give one that has a length"):
        integrated_brier_score(y, survival_target([True] * 3, [1] * 3), [curve] * 3)
    with pytest.raises(ValueError, match="between 0 and 1; found 2"):
        integrated_brier_score(y, y, [StepFunction([1.0], [2.0], before=1.0)] * 60)
    early = survival_target([True, True, False], [1, 9, 9])
    with pytest.raises(ValueError, match="makes no error over the interval"):
        normalized_integrated_brier_score(
            early, survival_target([False] * 2, [8, 9]), [curve] * 2, interval=(0.1, 0.9)
        )


# Time-dependent AUC and Uno's C


def test_auc_of_perfect_reversed_and_constant_risks():
    y, times = draw(0), [1.0, 3.0]
    for risk, expected in ((-y["time"], 1.0), (y["time"], 0.0), (np.zeros(60), 0.5)):
        auc, mean = cumulative_dynamic_auc(y, y, risk, times)
        assert auc.tolist() == pytest.approx([expected] * 2)
        assert mean == pytest.approx(expected)


def test_auc_of_bad_input():
    y, risk = draw(0), draw_risk(0)
    with pytest.raises(ValueError, match=r"No test row has its event by the time 0\.1"):
        cumulative_dynamic_auc(y, y, risk, [0.1, 1.0])
    with pytest.raises(ValueError, match=r"value for each of 60 rows, .* got the shape \(60, 3\)"):
        cumulative_dynamic_auc(y, y, np.zeros((60, 3)), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"missing \(NaN\) in 1 rows"):
        cumulative_dynamic_auc(y, y, np.where(np.arange(60) == 3, np.nan, risk), [1.0])
    with pytest.raises(ValueError, match="is not before the last time of the test rows"):
        cumulative_dynamic_auc(y, y, risk, [1.0, 99.0])


def test_uno_without_censoring_is_harrell():
    y, risk = draw(7), draw_risk(7)
    y["event"] = True
    assert concordance_index_ipcw(y, y, risk).cindex == pytest.approx(
        concordance_index_censored(y["event"], y["time"], risk).cindex, abs=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, tau=st.sampled_from([None, 2.0, 3.25]))
def test_uno_is_what_all_pairs_say(seed, tau):
    train, test, risk = draw(seed, 20), draw(seed + 1, 15), draw_risk(seed, 15)
    uncensored = censoring_distribution(train)
    concordant = comparable = 0.0
    for (event, time), one in zip(test, risk, strict=True):
        if not event or (tau is not None and time >= tau):
            continue
        for (other_event, other_time), other in zip(test, risk, strict=True):
            # Of equal times the event comes before the censoring.
            if time < other_time or (time == other_time and not other_event):
                weight = before(uncensored, time) ** -2
                comparable += weight
                concordant += weight * (1.0 if one > other else (one == other) / 2)
    found = concordance_index_ipcw(train, test, risk, tau=tau).cindex
    assert found == pytest.approx(concordant / comparable, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, time=st.sampled_from([0.5, 1.2, 3.0, 5.75]))
def test_auc_is_what_all_pairs_say(seed, time):
    train, test, risk = draw(seed, 20), draw(seed + 1, 15), draw_risk(seed, 15)
    uncensored = censoring_distribution(train)
    right = total = 0.0
    for case in np.flatnonzero(test["event"] & (test["time"] <= time)):
        for control in np.flatnonzero(test["time"] > time):
            weight = 1 / before(uncensored, test["time"][case])
            total += weight
            right += weight * (np.sign(risk[case] - risk[control]) + 1) / 2
    auc, mean = cumulative_dynamic_auc(train, test, risk, [time])
    assert [auc[0], mean] == pytest.approx([right / total] * 2, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, time=st.sampled_from([0.5, 1.2, 3.0, 5.75]))
def test_brier_score_is_what_the_rows_say_one_by_one(seed, time):
    train, test = draw(seed, 20), draw(seed + 1, 15)
    survival = draw_survival(seed, np.array([time]), 15)[:, 0]
    uncensored = censoring_distribution(train)
    cost = 0.0
    for (event, last), predicted in zip(test, survival, strict=True):
        if last > time:
            cost += (1 - predicted) ** 2 / uncensored(time)
        elif event:
            cost += predicted**2 / before(uncensored, last)
    assert brier_score(train, test, survival, time)[0] == pytest.approx(cost / 15, abs=1e-12)


def test_rows_that_all_are_censored():
    y, curve = survival_target([False] * 4, [1, 2, 3, 4]), StepFunction([1.0], [0.5], before=1.0)
    with pytest.raises(ValueError, match="No comparable pair among 4 rows, of which 0 have an ev"):
        concordance_index_censored(y["event"], y["time"], np.arange(4))
    with pytest.raises(ValueError, match="No comparable pair among 4 rows, of which 0 have an ev"):
        concordance_index_ipcw(y, y, np.arange(4))
    with pytest.raises(ValueError, match="No test row has its event by the time 2"):
        cumulative_dynamic_auc(y, y, np.arange(4), [2.0])
    # Rows that are seen alive say something about predicted survival.
    assert brier_score(y, y, [curve] * 4, [2.0])[0] == pytest.approx(2 * 0.25 / 0.5 / 4)
    assert calibration(y, [curve] * 4, 2.0).observed.tolist() == [1.0]


def test_uno_without_a_comparable_pair():
    train, censored = draw(0), survival_target([False, False], [1, 2])
    with pytest.raises(ValueError, match="No comparable pair among 2 rows, of which 0 have an ev"):
        concordance_index_ipcw(train, censored, [1, 2])
    with pytest.raises(ValueError, match="No comparable pair among 60 rows"):
        concordance_index_ipcw(train, train, draw_risk(0), tau=0.25)


# Calibration


def test_calibration_groups_rows_with_like_predictions():
    y = survival_target([True, True, False, True, True, False], [1, 2, 2, 3, 4, 5])
    predicted = [0.2, 0.2, 0.2, 0.2, 0.7, 0.9]
    groups = calibration(y, predicted, horizon=2.5, n_groups=2)
    assert groups.horizon == 2.5
    assert groups.predicted.tolist() == pytest.approx([0.2, 0.8])
    # Kaplan-Meier by hand: 3/4 after the first event, 2/3 of it after the second.
    assert groups.observed.tolist() == pytest.approx([0.5, 1.0])
    assert groups.n_rows.tolist() == [4, 2]


def test_calibration_of_functions_has_no_more_groups_than_curves():
    y = draw(5)
    low, high = (StepFunction([1.0, 3.0], values, 1.0) for values in ([0.3, 0.1], [0.9, 0.8]))
    curves = [low if row % 3 else high for row in range(60)]
    groups = calibration(y, curves, horizon=3)
    assert groups.predicted.tolist() == pytest.approx([0.1, 0.8])
    assert groups.n_rows.tolist() == [40, 20]


def test_a_calibrated_prediction_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    rate = rng.choice([0.2, 1.0, 3.0], 6000)
    time, censoring = rng.exponential(1 / rate), rng.exponential(3, 6000)
    y = survival_target(time <= censoring, np.minimum(time, censoring))
    groups = calibration(y, np.exp(-rate * 0.5), horizon=0.5, n_groups=3)
    assert groups.observed == pytest.approx(groups.predicted, abs=0.03)


def test_calibration_does_not_guess_where_nobody_is_left():
    y = survival_target([True, False, True, True], [1, 2, 5, 9])
    groups = calibration(y, [0.1, 0.1, 0.9, 0.9], horizon=6, n_groups=2)
    assert np.isnan(groups.observed[0])
    assert groups.observed[1] == 0.5


def test_calibration_of_bad_input():
    y = draw(0)
    with pytest.raises(ValueError, match=r"horizon 7 is past the last time, 6"):
        calibration(y, np.full(60, 0.5), horizon=7)
    with pytest.raises(ValueError, match="n_groups must be at least 1; got 0"):
        calibration(y, np.full(60, 0.5), horizon=2, n_groups=0)
