"""Bootstrap validation against loops by hand, other packages and a known truth."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from surtree import (
    CompetingRisksTree,
    SurTree,
    SurTreeCV,
    SuspiciousColumnWarning,
    confidence_band,
    evaluate,
    leaf_curves,
    validate,
)
from surtree.data.causes import read_cause_target
from surtree.data.target import Target
from surtree.datasets import load_gbsg2, load_lung, load_melanoma
from surtree.metrics import (
    calibration,
    calibration_slope,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    normalized_integrated_brier_score,
    smooth_calibration,
)
from surtree.outcomes.measures import JudgedTimes, cause_metrics, one_event_metrics, pool
from surtree.validation._corrections import correct
from surtree.validation._stability import jaccard
from surtree.validation.results import Repetitions

X, Y = load_gbsg2()


def by_hand(model, sample, horizon, interval):
    """Harrell's and Uno's C, Brier score and slope on some rows, for a model that is fitted."""
    x, y = X.iloc[sample], Y[sample]
    risk, curves = model.predict(x), model.predict_survival_function(x)
    return [
        concordance_index_censored(y["event"], y["time"], risk).cindex,
        concordance_index_ipcw(y, y, risk, tau=interval[1]).cindex,
        normalized_integrated_brier_score(y, y, curves, interval=interval),
        calibration_slope(y, [curve(horizon) for curve in curves]),
    ]


def values(found, what="value"):
    return np.array([getattr(measure, what) for measure in found.measures])


def test_measures_are_those_of_a_loop_by_hand():
    found = validate(SurTree(max_depth=2), X, Y, n_bootstraps=3, random_state=5, horizons=[1000])
    interval = tuple(np.quantile(Y["time"], [0.1, 0.9]))
    everyone = np.arange(len(Y))
    whole = SurTree(max_depth=2).fit(X, Y)
    expected = by_hand(whole, everyone, 1000, interval)
    np.testing.assert_allclose(values(found, "apparent")[:4], expected)
    draws = found.repetitions
    for k, seed in enumerate(np.random.SeedSequence(5).spawn(3)):
        sample = np.random.default_rng(seed).integers(0, len(Y), len(Y))
        # Copies of a row, where validate gives it a weight: the tree is the same.
        model = SurTree(max_depth=2).fit(X.iloc[sample], Y[sample])
        outside = np.setdiff1d(everyone, sample)
        for rows, measured in (
            (sample, draws.resampled),
            (everyone, draws.original),
            (outside, draws.held_out),
        ):
            expected = by_hand(model, rows, 1000, interval)
            np.testing.assert_allclose(measured[k, :4], expected, rtol=1e-9)
        at_1000 = [curve(1000) for curve in model.predict_survival_function(X)]
        np.testing.assert_allclose(draws.predicted[k], at_1000, rtol=1e-9)
        np.testing.assert_array_equal(np.flatnonzero(draws.unseen[k]), outside)
    by_optimism = validate(
        SurTree(max_depth=2), X, Y, n_bootstraps=3, random_state=5, method="optimism"
    )
    optimism = (by_optimism.repetitions.resampled - by_optimism.repetitions.original).mean(axis=0)
    np.testing.assert_allclose(values(by_optimism, "optimism"), optimism)
    assert by_optimism["brier"].value == by_optimism["brier"].apparent - optimism[2]


def test_the_632_plus_rule_by_hand():
    found = validate(SurTree(max_depth=3), X, Y, n_bootstraps=5, horizons=[600])
    apparent, held_out = values(found, "apparent"), found.repetitions.held_out
    unseen = held_out.mean(axis=0)
    unseen[3] = np.median(held_out[:, 3])
    for place, nothing in {0: 0.5, 1: 0.5, 3: 0.0}.items():
        overfit = (apparent[place] - unseen[place]) / (apparent[place] - nothing)
        assert 0 < overfit < 1
        weight = 0.632 / (1 - 0.368 * overfit)
        expected = (1 - weight) * apparent[place] + weight * unseen[place]
        assert values(found)[place] == pytest.approx(expected)
    # The Brier score and calibration in the large have no value without information.
    for place in (2, 4):
        expected = 0.368 * apparent[place] + 0.632 * unseen[place]
        assert values(found)[place] == pytest.approx(expected)


DISTANCES = ("ici", "e50", "e90")
METRICS = one_event_metrics(JudgedTimes(np.array([1.0]), (0.0, 1.0)))[:5]


def repeated(held_out, **others):
    """Repetitions of which only the measures count."""
    nothing = np.empty((len(held_out), 0))
    arrays = {"resampled": held_out, "original": held_out} | others
    return Repetitions(
        held_out=held_out,
        predicted=nothing,
        unseen=nothing,
        rows=nothing,
        whole=nothing,
        model=None,
        models=(),
        **arrays,
    )


def test_intervals_come_from_rows_outside_the_samples():
    rng = np.random.default_rng(0)
    held_out = np.array([0.6, 0.6, 0.1, 0.8, 0.0]) + 0.05 * rng.normal(size=(4000, 5))
    apparent = np.array([0.7, 0.7, 0.2, 1.0, 0.0])
    found = correct("632+", apparent, repeated(held_out), 0.9, METRICS)
    width = np.array([one.upper - one.lower for one in found.intervals])
    # Outside are 36.8% of all rows, drawn without replacement; with so many samples, the Monte
    # Carlo error is next to nothing.
    expected = 2 * 1.645 * 0.05 * np.sqrt(0.368 / 0.632)
    np.testing.assert_allclose(width[:4], expected, rtol=0.05)
    # That of a mean follows from simulating the bootstrap of a mean.
    sample = rng.integers(0, 500, (4000, 500))
    rows = rng.normal(size=500)
    counts = np.stack([np.bincount(one, minlength=500) for one in sample])
    outside = counts == 0
    off = counts @ rows / 500 - outside @ rows / outside.sum(axis=1)
    held_out[:, 4] = off
    one = correct("632+", apparent, repeated(held_out), 0.9, METRICS).intervals[4]
    assert one.upper - one.lower == pytest.approx(2 * 1.645 * rows.std() / np.sqrt(500), rel=0.05)


def test_few_samples_have_a_monte_carlo_error_that_intervals_include():
    rng = np.random.default_rng(1)
    apparent = np.array([0.7, 0.7, 0.2, 1.0, 0.0])
    centre = np.array([0.6, 0.6, 0.1, 0.8, 0.0])
    runs = [
        correct("632+", apparent, repeated(centre + 0.05 * rng.normal(size=(20, 5))), 0.9, METRICS)
        for _ in range(400)
    ]
    errors = np.mean([run.errors for run in runs], axis=0)
    spread = np.std([run.values for run in runs], axis=0)
    np.testing.assert_allclose(errors, spread, rtol=0.15)
    sampling = 0.05 * np.sqrt(0.368 / 0.632)
    width = np.mean([run.intervals[0].upper - run.intervals[0].lower for run in runs])
    assert width == pytest.approx(2 * 1.645 * np.hypot(sampling, errors[0]), rel=0.1)


def test_a_wild_sample_does_not_decide_the_slope():
    rng = np.random.default_rng(2)
    held_out = np.array([0.6, 0.6, 0.1, 0.8, 0.0]) + 0.05 * rng.normal(size=(20, 5))
    apparent = np.array([0.7, 0.7, 0.2, 1.0, 0.0])
    tame = correct("632+", apparent, repeated(held_out), 0.9, METRICS)
    held_out[3, 3] = -50.0
    wild = correct("632+", apparent, repeated(held_out), 0.9, METRICS)
    assert abs(wild.values[3] - tame.values[3]) < 0.05
    assert wild.intervals[3].upper - wild.intervals[3].lower < 0.4


def test_folds_predict_rows_that_they_have_not_seen():
    groups = np.arange(len(Y)) // 3
    seen = []

    class Spy(SurTree):
        def fit(self, X, y, sample_weight=None, entry=None):
            seen.append(set(X.index))
            return super().fit(X, y, sample_weight, entry)

    found = validate(
        Spy(max_depth=1), X, Y, method="folds", n_folds=4, n_bootstraps=2, groups=groups
    )
    assert len(seen) == 1 + 2 * 4
    for repetition in (seen[1:5], seen[5:]):
        held_out = [set(X.index) - rows for rows in repetition]
        assert sorted(row for part in held_out for row in part) == sorted(X.index)
        for part in held_out:  # patients are not torn apart
            assert {3 * (row // 3) + k for row in part for k in range(3)} & set(X.index) == part
    # By hand: each row by the tree of the other folds.
    risk = np.empty(len(Y))
    for rows in seen[1:5]:
        train = sorted(rows)
        test = sorted(set(X.index) - rows)
        risk[test] = SurTree(max_depth=1).fit(X.iloc[train], Y[train]).predict(X.iloc[test])
    expected = concordance_index_censored(Y["event"], Y["time"], risk).cindex
    assert found.repetitions.held_out[0, 0] == pytest.approx(expected)
    concordance = found["concordance"]
    assert concordance.value == pytest.approx(found.repetitions.held_out[:, 0].mean())
    assert concordance.lower < concordance.value < concordance.upper
    assert len(found.repetitions.resampled) == 200
    assert "2 repetitions of folds" in str(found)


def test_calibration_at_a_horizon_is_predicted_less_observed():
    found = validate(SurTree(max_depth=0), X, Y, n_bootstraps=2, horizons=[500, 1500])
    # A single leaf predicts what was observed, but for the difference of the two estimates.
    apparent = values(found, "apparent")
    assert np.abs(apparent[4:6]).max() < 0.01
    assert np.isnan(apparent[3])  # all predictions are equal: there is no slope
    assert found.names[4:6] == ("calibration_at_500", "calibration_at_1500")


def test_backends_and_jobs_change_nothing():
    def run(**options):
        return validate(SurTreeCV(max_depth=1, cv=3), X, Y, n_bootstraps=4, **options)

    alone = run()
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend):
            found = run(n_jobs=2)
        for name in ("resampled", "original", "held_out", "predicted"):
            np.testing.assert_array_equal(
                getattr(found.repetitions, name), getattr(alone.repetitions, name)
            )
        assert repr(found) == repr(alone)  # four samples have no intervals, and NaN is not NaN
    assert repr(run(random_state=1)) != repr(alone)


def test_groups_are_drawn_whole():
    seen = []

    class Spy(SurTree):
        def fit(self, X, y, sample_weight=None, entry=None):
            weight = np.ones(len(X)) if sample_weight is None else sample_weight
            seen.append(dict(zip(X["row"], weight, strict=True)))
            return super().fit(X[["age"]], y, sample_weight, entry)

        def apply(self, X):
            return super().apply(X[["age"]])

    lung, y = load_lung(backend="pandas")
    groups = np.arange(len(y)) // 4
    rows = lung.assign(row=np.arange(len(y)))
    with pytest.warns(SuspiciousColumnWarning, match="'row' has another whole number in every row"):
        validate(Spy(max_depth=1), rows, y, groups=groups, n_bootstraps=3)
    for counts in seen[1:]:
        by_group = [[counts.get(4 * g + k, 0) for k in range(4)] for g in range(len(y) // 4)]
        assert all(len(set(four)) == 1 for four in by_group)
        assert max(map(max, by_group)) > 1


def test_estimators_of_others():
    linear_model = pytest.importorskip("sksurv.linear_model", reason="pip install scikit-survival")
    tree = pytest.importorskip("sksurv.tree")
    numbers = pd.get_dummies(X, drop_first=True).astype(float)
    for model in (linear_model.CoxPHSurvivalAnalysis(alpha=0.1), tree.SurvivalTree(max_depth=4)):
        found = validate(model, numbers, Y, n_bootstraps=20)
        assert np.isfinite(values(found)).all()
        assert (found.columns, found.leaves) == ((), ())
        assert 0.55 < found["concordance"].value < found["concordance"].apparent
        lower, upper = found.survival_interval(numbers.head(3), [500, 1000])
        assert lower.shape == (3, 2)
        assert (lower < upper).all()
    assert found["concordance"].optimism > 0.02  # a deep greedy tree
    with pytest.raises(ValueError, match="SurvivalTree takes no entry: leave it out"):
        validate(tree.SurvivalTree(), numbers, Y, entry=np.zeros(len(Y)))


def test_a_pipeline_is_asked_by_its_last_step():
    columns = ["age", "positive_nodes"]
    pipeline = make_pipeline(
        FunctionTransformer(lambda table: table[columns]), SurTree(max_depth=1)
    )
    found = validate(pipeline, X, Y, n_bootstraps=20)
    alone = validate(SurTree(max_depth=1), X[columns], Y, n_bootstraps=20)
    np.testing.assert_allclose(values(found), values(alone))
    np.testing.assert_array_equal(
        evaluate(pipeline.fit(X, Y), X, Y, n_bootstraps=2)["brier"].value,
        alone["brier"].apparent,
    )
    assert found.survival_interval(X.head(3), [500])[0].shape == (3, 1)


def test_weights_and_entry_times():
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(Y))
    found = validate(SurTree(max_depth=1), X, Y, weight, Y["time"] / 2, n_bootstraps=3)
    assert np.isfinite(values(found)).all()
    assert found.calibration is not None
    assert found.decision is None  # it has no form for late entries
    weighted = validate(SurTree(max_depth=1), X, Y, weight, n_bootstraps=3)
    assert np.isfinite(weighted["concordance"].value)
    assert weighted.decision is not None


def test_rows_of_weight_zero_do_not_count():
    weight = np.ones(len(Y))
    weight[::3] = 0.0
    kept = np.flatnonzero(weight)
    groups = np.arange(len(Y)) // 2
    found = validate(SurTree(max_depth=1), X, Y, weight, n_bootstraps=3, groups=groups)
    alone = validate(
        SurTree(max_depth=1), X.iloc[kept], Y[kept], n_bootstraps=3, groups=groups[kept]
    )
    assert str(found) == str(alone)
    # Equal weights are none, so there are Brier scores.
    twice = validate(
        SurTree(max_depth=1), X.iloc[kept], Y[kept], 2.0 * weight[kept], n_bootstraps=3
    )
    assert np.isfinite(values(twice)).all()


def test_it_stops_when_asked_and_says_so():
    seen = []

    def enough(step):
        seen.append(step.done)
        return step.done == 3

    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=50, progress=enough)
    assert seen == [1, 2, 3]
    assert (found.n_repetitions, found.n_asked) == (3, 50)
    assert "stopped early: 50 repetitions were asked for" in str(found)
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
    # Where they are cut, by the trees themselves.
    trees = [one.tree for one in found.repetitions.models]
    cuts = [cut for tree in trees for cut in tree.cuts if cut.name == "positive_nodes"]
    assert len(use.thresholds) >= len(cuts)
    assert {cut.threshold for cut in cuts} == set(use.thresholds)
    low, high = use.middle
    assert use.thresholds[0] <= low <= high <= use.thresholds[-1]
    assert np.mean([low <= t <= high for t in use.thresholds]) >= 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstraps": 0}, "n_bootstraps must be a whole number, 1 or more; got 0"),
        ({"level": 1.5}, "level must lie between 0 and 1"),
        ({"groups": [1, 2]}, "X has 686 rows and groups has 2"),
        ({"groups": [1] * 686}, "groups has a single label"),
        ({"horizons": [-1.0]}, "times must be zero or later"),
        ({"progress": 3}, "progress must be a function or None"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"method": "jackknife"}, "method must be one of"),
        ({"n_folds": 1}, "n_folds must be a whole number, 2 or more; got 1"),
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
        apparent.append(found["concordance"].apparent - truth)
        corrected.append(found["concordance"].value - truth)
    # Of a tree that fits its rows far too well, most of the optimism is seen.
    assert np.mean(apparent) > 0.08
    assert abs(np.mean(corrected)) < 0.3 * np.mean(apparent)


def test_rows_and_target_must_be_equally_many():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[5, 686\]"):
        validate(SurTree(max_depth=1), X.head(5), Y)


# Stability and intervals


def test_leaves_that_samples_reproduce():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (400, 3)).astype(float)
    y = rng.exponential(np.where(x[:, 0] > 0, 0.2, 1.0))
    clear = validate(SurTree(max_depth=1), x, y, n_bootstraps=20)
    assert [leaf.jaccard for leaf in clear.leaves] == [1.0, 1.0]
    assert {leaf.words for leaf in clear.leaves} == {"reproduced"}
    noise = validate(SurTree(max_depth=1), x, rng.exponential(size=400), n_bootstraps=10)
    assert all(0.3 < leaf.jaccard < 0.9 for leaf in noise.leaves)
    # The agreement by hand, from the sets of rows.
    whole = SurTree(max_depth=1).fit(x, y)
    for leaf in clear.leaves:
        assert leaf.survival == pytest.approx(
            leaf_curves(whole)[leaf.leaf - 1].survival(clear.horizons[-1])
        )
        assert leaf.lower <= leaf.survival <= leaf.upper


def test_agreement_is_that_of_sets_of_rows():
    rng = np.random.default_rng(3)
    for _ in range(20):
        one, other = rng.integers(0, 4, 50), rng.integers(0, 3, 50)
        weight = rng.integers(1, 4, 50).astype(float)
        found = jaccard(one, other, 4, weight)
        for leaf in range(4):
            shares = [
                weight[(one == leaf) & (other == k)].sum()
                / weight[(one == leaf) | (other == k)].sum()
                for k in range(3)
            ]
            assert found[leaf] == pytest.approx(max(shares))


def test_instability_is_the_mean_difference():
    found = validate(SurTree(max_depth=2), X, Y, n_bootstraps=4)
    draws = found.repetitions
    assert found.instability == pytest.approx(np.abs(draws.predicted - draws.whole).mean())
    single = validate(SurTree(max_depth=0), X, Y, n_bootstraps=4)
    assert single.instability < 0.3 * found.instability


def test_intervals_are_quantiles_of_the_trees_of_samples():
    found = validate(SurTree(max_depth=2), X, Y, n_bootstraps=20)
    lower, upper = found.survival_interval(X.head(5), [400, 1200], level=0.5)
    survival = []
    for seed in np.random.SeedSequence(0).spawn(20):
        sample = np.random.default_rng(seed).integers(0, len(Y), len(Y))
        model = SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X.iloc[sample], Y[sample])
        curves = model.predict_survival_function(X.head(5))
        survival.append([curve([400, 1200]) for curve in curves])
    expected = np.quantile(survival, [0.25, 0.75], axis=0)
    curves = SurTree(max_depth=2).fit(X, Y).predict_survival_function(X.head(5))
    predicted = np.array([curve([400, 1200]) for curve in curves])
    # They are widened to hold what the model says.
    assert (predicted < expected[0]).any()
    np.testing.assert_allclose(lower, np.minimum(expected[0], predicted), rtol=1e-9)
    np.testing.assert_allclose(upper, np.maximum(expected[1], predicted), rtol=1e-9)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        found.survival_interval(X, [400], level=2)
    # Nothing is claimed where nobody was observed.
    lower, upper = found.survival_interval(X.head(2), [1000, 2600, 9999])
    assert np.isfinite(lower[:, :2]).all()
    assert np.isnan(lower[:, 2]).all()
    assert np.isnan(upper[:, 2]).all()


@pytest.mark.parametrize("method", ["632+", "optimism", "folds"])
def test_the_printout_says_how_figures_were_obtained(method):
    found = validate(SurTree(max_depth=1), X, Y, method=method, n_bootstraps=2)
    heading, first, *_ = str(found).splitlines()
    assert heading.endswith("Monte Carlo error")
    assert first.endswith(f"{found['concordance'].monte_carlo_error:.3f}")
    assert "\ncorrected: " in str(found)
    assert "\nintervals: " in str(found)
    start, end = np.quantile(Y["time"], [0.1, 0.9])
    assert f"Uno's C: events before {end:.4g}" in str(found)
    assert f"integrated from {start:.4g} to {end:.4g}" in str(found)


def test_models_of_folds_give_no_limits():
    found = validate(SurTree(max_depth=1), X, Y, method="folds", n_bootstraps=2)
    with pytest.raises(ValueError, match=r"folds share most of their rows.*method='632\+'"):
        found.survival_interval(X.head(1), [500])


def test_intervals_cover_a_truth_where_those_of_leaves_do_not():
    def draw(seed, n):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(n, 4))
        rate = np.exp(np.where(table[:, 0] > 0, 0.7, -0.3) + 0.5 * (table[:, 1] > 0.5))
        time, end = rng.exponential(1 / rate), rng.uniform(0, 3, n)
        return (
            table,
            np.rec.fromarrays([time <= end, np.minimum(time, end)], names="event,time"),
            np.exp(-0.5 * rate),
        )

    covered, covered_by_leaves = [], []
    for seed in range(4):
        x, y, _ = draw(seed, 300)
        far, _, truth = draw(100 + seed, 500)
        model = SurTree(max_depth=2, shrinkage=1.0)
        lower, upper = validate(model, x, y, n_bootstraps=40).survival_interval(far, [0.5], 0.9)
        covered.append((lower[:, 0] <= truth) & (truth <= upper[:, 0]))
        model.fit(x, y)
        bands = {
            leaf: [limit(0.5) for limit in confidence_band(model, leaf, 0.9)]
            for leaf in model.tree_.leaves.tolist()
        }
        limits = np.array([bands[leaf] for leaf in model.apply(far).tolist()])
        covered_by_leaves.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    assert np.mean(covered) > 0.85
    assert np.mean(covered_by_leaves) < 0.75


def test_calibration_and_net_benefit_are_of_rows_that_trees_have_not_seen():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(200, 12))
    y = rng.exponential(size=200)
    found = validate(SurTree(max_depth=3), noise, y, n_bootstraps=30)
    # There is nothing to know: whatever is predicted, half of the rows live to the median.
    assert found.calibration.predicted[-1] - found.calibration.predicted[0] > 0.5
    assert np.abs(found.calibration.observed - 0.5).max() < 0.15
    assert found.calibration.n_rows.sum() == pytest.approx(200)
    half = np.flatnonzero(np.isclose(found.decision.thresholds, 0.5))[0]
    assert found.decision.model[half] < 0.03  # in sample it would be above 0.2


def test_of_many_rows_some_are_kept(monkeypatch):
    monkeypatch.setattr("surtree.validation._resampling._MOST_KEPT", 1000)
    found = validate(SurTree(max_depth=1), X, Y, n_bootstraps=10)
    assert found.repetitions.predicted.shape == (10, 100)
    rows = found.repetitions.rows
    model = SurTree(max_depth=1).fit(X, Y)
    expected = [curve(found.horizons[0]) for curve in model.predict_survival_function(X.iloc[rows])]
    np.testing.assert_allclose(found.repetitions.whole, expected)


def test_a_model_keeps_its_validation(tmp_path):
    for model in (SurTree(max_depth=2), SurTreeCV(max_depth=1, cv=3)):
        model.fit(X, Y)
        assert model.validation_ is None
        model.validation_ = validate(model, X, Y, n_bootstraps=3)
        model.save(tmp_path / "model.json")
        loaded = SurTree.load(tmp_path / "model.json").validation_
        assert str(loaded) == str(model.validation_)
        assert loaded.calibration == model.validation_.calibration
        assert loaded.decision == model.validation_.decision
        assert loaded.columns == model.validation_.columns
        assert repr(loaded.leaves) == repr(model.validation_.leaves)
        with pytest.raises(ValueError, match="The models of the samples are not in the file"):
            loaded.survival_interval(X, [100])


def test_a_damaged_validation_is_refused(tmp_path):
    model = SurTree(max_depth=1).fit(X, Y)
    model.validation_ = validate(model, X, Y, n_bootstraps=2)
    model.save(tmp_path / "model.json")
    saved = json.loads((tmp_path / "model.json").read_text())
    for change, message in (
        ({"level": 3}, "level is 3, not a number from 0 to 1"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"measures": []}, "its validation has no measure"),
        ({"interval": [1.0]}, "the interval of its validation is not two times"),
        (
            {"calibration": saved["validation"]["calibration"] | {"lower": [0.1]}},
            "lists of different lengths",
        ),
    ):
        broken = saved | {"validation": saved["validation"] | change}
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        with pytest.raises(ValueError, match=message):
            SurTree.load(tmp_path / "broken.json")
    edited = saved | {"validation": saved["validation"] | {"level": 0.8}}
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    assert SurTree.load(tmp_path / "edited.json").validation_ is None


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


def test_metrics_of_causes_are_those_of_their_channels():
    rows, y = load_melanoma(backend="pandas")
    target = read_cause_target(y)
    model = CompetingRisksTree(max_depth=2).fit(rows, y)
    predicted = model.tree_.outcome.predicted(model.apply(rows), target)
    assert predicted.causes == (1, 2)
    weight = np.linspace(0.5, 2.0, len(y))
    times = JudgedTimes(np.array([1000.0, 2000.0]), (500.0, 3000.0))
    found = {m.name: m.score(predicted, target, weight).value for m in cause_metrics(times, (1, 2))}
    given = {"sample_weight": weight, "train_weight": weight}
    for cause in (1, 2):
        risk = model.predict(rows, cause)
        curves = model.predict_cumulative_incidence(rows, cause)
        expected = {
            "concordance": model.score(rows, y, weight, cause),
            "concordance_ipcw": concordance_index_ipcw(
                y, y, risk, cause=cause, tau=3000.0, **given
            ).cindex,
            "brier": normalized_integrated_brier_score(
                y, y, curves, cause=cause, interval=(500.0, 3000.0), **given
            ),
        }
        for time in (1000.0, 2000.0):
            groups = calibration(y, curves, time, cause=cause, n_groups=1, sample_weight=weight)
            expected[f"calibration_at_{time:g}"] = (groups.predicted - groups.observed)[0]
            at = np.array([curve(time) for curve in curves])
            (auc,), _ = cumulative_dynamic_auc(y, y, at, time, cause=cause, **given)
            expected[f"auc_at_{time:g}"] = auc
            smooth = smooth_calibration(y, at, time, cause=cause, sample_weight=weight)
            expected |= {f"{kind}_at_{time:g}": getattr(smooth, kind) for kind in DISTANCES}
            assert 0.5 < found.pop(f"cause_{cause}_c_at_{time:g}") < 1
        for name, value in expected.items():
            assert found.pop(f"cause_{cause}_{name}") == pytest.approx(value, rel=1e-12)
    assert not found


def test_rows_of_several_models_keep_their_channels():
    rows, y = load_melanoma(backend="pandas")
    trees = [CompetingRisksTree(max_depth=depth).fit(rows, y).tree_ for depth in (1, 2)]
    target = read_cause_target(y)
    parts = [tree.outcome.predicted(tree.apply(rows), target) for tree in trees]
    which = np.arange(len(y)) % 2
    pooled = pool(parts, which)
    for cause in (1, 2):
        expected = np.where(which, *(part.of(cause).at(2000.0) for part in reversed(parts)))
        np.testing.assert_array_equal(pooled.of(cause).at(2000.0), expected)
        taken = pooled.take(np.array([5, 3])).of(cause)
        np.testing.assert_array_equal(taken.risk, pooled.of(cause).risk[[5, 3]])
