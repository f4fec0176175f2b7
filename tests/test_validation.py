"""Bootstrap validation against loops by hand, other packages and a known truth."""

import joblib
import numpy as np
import pandas as pd
import pytest

from surtree import SurTree, SurTreeCV, validate
from surtree.data.target import Target
from surtree.datasets import load_gbsg2, load_lung
from surtree.metrics import (
    calibration_slope,
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)

X, Y = load_gbsg2()


def by_hand(model, sample, horizon, interval):
    """Harrell's and Uno's C, Brier score and slope on some rows, for a model that is fitted."""
    x, y = X.iloc[sample], Y[sample]
    risk, curves = model.predict(x), model.predict_survival_function(x)
    return [
        concordance_index_censored(y["event"], y["time"], risk).cindex,
        concordance_index_ipcw(y, y, risk).cindex,
        normalized_integrated_brier_score(y, y, curves, interval=interval),
        calibration_slope(y, [curve(horizon) for curve in curves]),
    ]


def test_measures_are_those_of_a_loop_by_hand():
    found = validate(SurTree(max_depth=2), X, Y, n_bootstraps=3, random_state=5, horizons=[1000])
    interval = tuple(np.quantile(Y["time"], [0.1, 0.9]))
    everyone = np.arange(len(Y))
    whole = SurTree(max_depth=2).fit(X, Y)
    np.testing.assert_allclose(found.apparent[:4], by_hand(whole, everyone, 1000, interval))
    for k, seed in enumerate(np.random.SeedSequence(5).spawn(3)):
        sample = np.random.default_rng(seed).integers(0, len(Y), len(Y))
        # Copies of a row, where validate gives it a weight: the tree is the same.
        model = SurTree(max_depth=2).fit(X.iloc[sample], Y[sample])
        expected = by_hand(model, sample, 1000, interval)
        np.testing.assert_allclose(found.resampled[k, :4], expected, rtol=1e-9)
        expected = by_hand(model, everyone, 1000, interval)
        np.testing.assert_allclose(found.original[k, :4], expected, rtol=1e-9)
    np.testing.assert_allclose(found.optimism, (found.resampled - found.original).mean(axis=0))
    assert found["brier"] == found.apparent[2] - found.optimism[2]


def test_calibration_at_a_horizon_is_predicted_less_observed():
    found = validate(SurTree(max_depth=0), X, Y, n_bootstraps=2, horizons=[500, 1500])
    # A single leaf predicts what was observed, but for the difference of the two estimates.
    assert np.abs(found.apparent[-2:]).max() < 0.01
    assert np.isnan(found.apparent[3])  # all predictions are equal: there is no slope
    assert found.names[-2:] == ("calibration_at_500", "calibration_at_1500")


def test_backends_and_jobs_change_nothing():
    def run(**options):
        return validate(SurTreeCV(max_depth=1, cv=3), X, Y, n_bootstraps=4, **options)

    alone = run()
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend):
            found = run(n_jobs=2)
        np.testing.assert_array_equal(found.resampled, alone.resampled)
        np.testing.assert_array_equal(found.original, alone.original)
        assert found.columns == alone.columns
    assert not np.array_equal(run(random_state=1).resampled, alone.resampled)


def test_groups_are_drawn_whole():
    seen = []

    class Spy(SurTree):
        def fit(self, X, y, sample_weight=None, entry=None):
            weight = np.ones(len(X)) if sample_weight is None else sample_weight
            seen.append(dict(zip(X["row"], weight, strict=True)))
            return super().fit(X[["age"]], y, sample_weight, entry)

        def predict(self, X):
            return super().predict(X[["age"]])

        def predict_survival_function(self, X, **options):
            return super().predict_survival_function(X[["age"]], **options)

    lung, y = load_lung(backend="pandas")
    groups = np.arange(len(y)) // 4
    validate(Spy(max_depth=1), lung.assign(row=np.arange(len(y))), y, groups=groups, n_bootstraps=3)
    for counts in seen[1:]:
        by_group = [[counts.get(4 * g + k, 0) for k in range(4)] for g in range(len(y) // 4)]
        assert all(len(set(four)) == 1 for four in by_group)
        assert max(map(max, by_group)) > 1


def test_estimators_of_others():
    linear_model = pytest.importorskip("sksurv.linear_model", reason="pip install scikit-survival")
    tree = pytest.importorskip("sksurv.tree")
    numbers = pd.get_dummies(X, drop_first=True).astype(float)
    for model in (linear_model.CoxPHSurvivalAnalysis(alpha=0.1), tree.SurvivalTree(max_depth=4)):
        found = validate(model, numbers, Y, n_bootstraps=5)
        assert np.isfinite(found.corrected).all()
        assert found.columns == ()
        assert 0.55 < found["concordance"] < found.apparent[0]
    assert found.optimism[0] > 0.02  # a deep greedy tree
    with pytest.raises(ValueError, match="SurvivalTree takes no entry: leave it out"):
        validate(tree.SurvivalTree(), numbers, Y, entry=np.zeros(len(Y)))


def test_weights_and_entry_times():
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(Y))
    found = validate(SurTree(max_depth=1), X, Y, weight, Y["time"] / 2, n_bootstraps=3)
    # Measures that such rows do not have are not numbers; the others are.
    assert np.isnan(found.corrected[:3]).all()
    assert np.isfinite(found.corrected[3:]).all()
    weighted = validate(SurTree(max_depth=1), X, Y, weight, n_bootstraps=3)
    assert np.isfinite(weighted["concordance"])


def test_it_stops_when_asked_and_says_so():
    seen = []

    def enough(step):
        seen.append(step.done)
        return step.done == 3

    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=50, progress=enough)
    assert seen == [1, 2, 3]
    assert (found.n_repetitions, found.n_asked) == (3, 50)
    assert "stopped early: 50 samples were asked for" in str(found)
    whole = validate(SurTree(max_depth=1), X, Y, n_bootstraps=3)
    assert "stopped early" not in str(whole)


def test_ctrl_c_keeps_what_is_done():
    def interrupt(step):
        if step.done == 2:
            raise KeyboardInterrupt

    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=9, progress=interrupt)
    assert found.n_repetitions == 2


def test_samples_without_a_model_are_counted():
    rng = np.random.default_rng(1)
    y = np.zeros(30, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(size=30)
    y["event"][:2] = True
    found = validate(SurTree(max_depth=1), rng.normal(size=(30, 2)), y, n_bootstraps=40)
    assert found.n_failed > 0
    assert found.n_repetitions + found.n_failed == 40
    assert f"{found.n_failed} samples had no model" in str(found)


def test_columns_that_come_back():
    found = validate(SurTree(max_depth=2), X, Y, n_bootstraps=20)
    use = found.columns[0]
    assert use.name == "positive_nodes"
    assert use.anywhere == 1.0
    assert sum(use.first for use in found.columns) == pytest.approx(1.0)
    assert "positive_nodes" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstraps": 0}, "n_bootstraps must be a whole number, 1 or more; got 0"),
        ({"level": 1.5}, "level must lie between 0 and 1"),
        ({"groups": [1, 2]}, "groups must have a label for each of 686 rows"),
        ({"horizons": [-1.0]}, "times must be zero or later"),
        ({"progress": 3}, "progress must be a function or None"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        validate(SurTree(max_depth=1), X, Y, **options)


def test_the_corrected_concordance_is_nearer_to_the_truth():
    def draw(rng, n):
        table = rng.normal(size=(n, 8))
        risk = np.where(table[:, 0] > 0, 2.0, 1.0) * np.where(table[:, 1] > 0.5, 1.5, 1.0)
        time, end = rng.exponential(1 / risk), rng.exponential(1.5, n)
        y = np.rec.fromarrays([time <= end, np.minimum(time, end)], names="event,time")
        return table, y

    far_x, far_y = draw(np.random.default_rng(99), 20_000)
    apparent, corrected = [], []
    for seed in range(6):
        x, y = draw(np.random.default_rng(seed), 200)
        model = SurTree(max_depth=3).fit(x, y)
        truth = model.score(far_x, far_y)
        found = validate(SurTree(max_depth=3), x, y, n_bootstraps=20)
        apparent.append(found.apparent[0] - truth)
        corrected.append(found["concordance"] - truth)
    # Of a tree that fits its rows far too well, more than a third of the optimism is seen.
    assert np.mean(apparent) > 0.08
    assert abs(np.mean(corrected)) < 0.6 * np.mean(apparent)


# The calibration slope


def test_the_slope_is_that_of_a_cox_model():
    linear_model = pytest.importorskip("sksurv.linear_model", reason="pip install scikit-survival")
    rng = np.random.default_rng(1)
    x = rng.normal(size=300) / 2
    time = np.round(rng.exponential(np.exp(-x)) * 5) / 5 + 0.2  # with ties
    y = np.rec.fromarrays([rng.random(300) < 0.6, time], names="event,time")
    cox = linear_model.CoxPHSurvivalAnalysis(ties="breslow").fit(x[:, None], y)
    survival = np.exp(-np.exp(x))
    assert calibration_slope(y, survival) == pytest.approx(cox.coef_[0], rel=1e-6)
    weight = rng.integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weight)
    repeated = calibration_slope(y[rows], survival[rows])
    assert calibration_slope(y, survival, sample_weight=weight) == pytest.approx(repeated, rel=1e-9)


def test_a_slope_with_entry_times_leaves_out_who_is_not_there_yet():
    event, time = np.array([True, True, True, False]), np.array([2.0, 3.0, 5.0, 6.0])
    survival = np.array([0.2, 0.6, 0.4, 0.7])
    late = Target(event, time, np.array([0.0, 2.5, 0.0, 0.0]))
    x = np.log(-np.log(survival))
    slopes = np.linspace(-3, 3, 6001)
    # The partial likelihood by hand: row 1 is not at risk when row 0 has its event.
    at_risk = [[0, 2, 3], [1, 2, 3], [2, 3]]
    value = sum(
        slopes * x[row] - np.log(np.exp(np.outer(slopes, x[others])).sum(axis=1))
        for row, others in zip(range(3), at_risk, strict=True)
    )
    assert calibration_slope(late, survival) == pytest.approx(slopes[value.argmax()], abs=1e-3)


def test_a_slope_needs_events_and_differences():
    assert np.isnan(calibration_slope([1.0, 2.0, 3.0], [0.5, 0.5, 0.5]))
    nobody = np.rec.fromarrays([[False, False], [1.0, 2.0]], names="event,time")
    assert np.isnan(calibration_slope(nobody, [0.2, 0.5]))
