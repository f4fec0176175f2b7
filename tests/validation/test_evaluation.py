"""External validation, decision curves and drift against sums by hand."""

import numpy as np
import pandas as pd
import pytest

from surtree import SurTree, SurTreeCV, evaluate
from surtree.data.target import Target
from surtree.datasets import load_gbsg2
from surtree.heuristics import GreedyTree
from surtree.metrics import calibration, concordance_index_censored, decision_curve
from surtree.survival.aalen_johansen import observed_survival

X, Y = load_gbsg2()
HERE, THERE = (X.head(400), Y[:400]), (X.tail(286).reset_index(drop=True), Y[400:])


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=2).fit(*HERE)


def test_measures_are_those_of_the_rows(model):
    found = evaluate(model, *THERE, horizons=[500, 1000], n_bootstraps=50)
    risk = model.predict(THERE[0])
    expected = concordance_index_censored(THERE[1]["event"], THERE[1]["time"], risk).cindex
    one = found["concordance"]
    assert one.value == pytest.approx(expected)
    assert one.lower < one.value < one.upper
    assert (found.n_rows, found.n_events) == (286, int(THERE[1]["event"].sum()))
    survival = [curve(1000) for curve in model.predict_survival_function(THERE[0])]
    observed = observed_survival(Target(THERE[1]["event"], THERE[1]["time"]), None, 1000)
    difference = np.mean(survival) - observed.survival
    assert found["calibration_at_1000"].value == pytest.approx(difference)
    assert found.calibration == calibration(THERE[1], survival, 1000)
    assert found.decision == decision_curve(THERE[1], survival, 1000)
    again = evaluate(model, *THERE, horizons=[500, 1000], n_bootstraps=50)
    assert str(again) == str(found)


def test_each_leaf_is_compared_with_its_rows(model):
    found = evaluate(model, *THERE, horizons=[500, 1000], n_bootstraps=2)
    leaves = model.apply(THERE[0])
    hazard = model.tree_.baseline.at(THERE[1]["time"])
    assert sum(check.n_rows for check in found.leaves) == 286
    for check in found.leaves:
        inside = leaves == check.leaf
        y = THERE[1][inside]
        assert (check.n_rows, check.n_events) == (inside.sum(), y["event"].sum())
        theta = model.tree_.theta[check.leaf]
        # But for rows that left before the first event, whose hazard is a little above zero.
        assert check.expected == pytest.approx(theta * hazard[inside].sum(), rel=0.02)
        assert check.ratio == pytest.approx(check.n_events / check.expected)
        assert check.lower < check.ratio < check.upper
        curve = model.predict_survival_function(THERE[0][inside])[0]
        assert check.predicted == pytest.approx((curve(500), curve(1000)))
        observed = observed_survival(Target(y["event"], y["time"]), None, 1000)
        assert check.observed[-1] == observed.survival
    text = str(found)
    assert "observed / expected" in text
    assert all(check.rule in text for check in found.leaves)


def test_the_training_rows_have_as_many_events_as_expected(model):
    found = evaluate(model, *HERE, n_bootstraps=2)
    assert [check.ratio for check in found.leaves] == pytest.approx([1.0] * len(found.leaves))
    assert not any(column.has_changed for column in found.columns)
    assert "all columns have values as in training" in str(found)


def test_columns_that_have_changed(model):
    rows = THERE[0].copy()
    rows["positive_nodes"] = rows["positive_nodes"].astype(float)
    rows.loc[0, "positive_nodes"] = np.nan
    rows.loc[[1, 2], "positive_nodes"] = 1000.0
    rows["tumor_grade"] = rows["tumor_grade"].astype(object)
    rows.loc[3, "tumor_grade"] = "IV"
    found = evaluate(model, rows, THERE[1], n_bootstraps=2)
    drift = {column.name: column for column in found.columns}
    nodes = drift["positive_nodes"]
    assert nodes.asked
    assert (nodes.missing, nodes.had_missing) == (1 / 286, False)
    assert (nodes.below, nodes.above) == (0.0, 2 / 286)
    assert drift["tumor_grade"].unseen == 1 / 286
    assert str(nodes) == (
        "positive_nodes: 0.3% missing, where training had none, 0.7% above the greatest of training"
    )
    assert "categories that training never had" in str(found)
    assert found.columns[0] is nodes  # the most first


def test_missing_values_that_training_had_are_no_news():
    rows = HERE[0].astype({"age": float})
    rows.loc[0:20, "age"] = np.nan
    fitted = SurTree(max_depth=1).fit(rows, HERE[1])
    found = evaluate(fitted, rows, HERE[1], n_bootstraps=2)
    drift = {column.name: column for column in found.columns}["age"]
    assert drift.had_missing
    assert drift.missing > 0
    assert not drift.has_changed


def test_other_estimators_and_loaded_models(model, tmp_path):
    model.save(tmp_path / "model.json")
    loaded = evaluate(SurTree.load(tmp_path / "model.json"), *THERE, n_bootstraps=3)
    assert str(loaded) == str(evaluate(model, *THERE, n_bootstraps=3))
    for other in (SurTreeCV(max_depth=1, cv=3), GreedyTree(max_depth=2)):
        found = evaluate(other.fit(*HERE), *THERE, n_bootstraps=2)
        assert len(found.leaves) == other.tree_.n_leaves
        assert found.columns
    linear_model = pytest.importorskip("sksurv.linear_model", reason="pip install scikit-survival")
    numbers = pd.get_dummies(X, drop_first=True).astype(float)
    cox = linear_model.CoxPHSurvivalAnalysis(alpha=0.1).fit(numbers.head(400), HERE[1])
    found = evaluate(cox, numbers.tail(286), THERE[1], n_bootstraps=2)
    assert found["concordance"].value > 0.6
    assert (found.leaves, found.columns) == ((), ())


def test_weights_and_entry_times(model):
    weight = np.random.default_rng(0).integers(1, 4, 286).astype(float)
    found = evaluate(model, *THERE, weight, horizons=[800], n_bootstraps=2)
    rows = np.repeat(np.arange(286), weight.astype(int))
    copies = evaluate(model, THERE[0].iloc[rows], THERE[1][rows], horizons=[800], n_bootstraps=2)
    for name in ("concordance", "calibration_slope", "calibration_at_800"):
        assert found[name].value == pytest.approx(copies[name].value)
    for one, other in zip(found.leaves, copies.leaves, strict=True):
        assert (one.expected, one.ratio) == pytest.approx((other.expected, other.ratio))
        assert one.observed == pytest.approx(other.observed)
    late = evaluate(model, *THERE, entry=THERE[1]["time"] / 3, horizons=[800], n_bootstraps=2)
    assert not any(one.reason for one in late.measures if np.isnan(one.value))
    assert late["concordance"].value != found["concordance"].value
    assert late.decision is None
    assert late.leaves[0].expected < found.leaves[0].expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"n_bootstraps": 0}, "n_bootstraps must be"),
        ({"horizons": [-3]}, "times must be zero or later"),
    ],
)
def test_wrong_arguments(model, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(model, *THERE, **options)


# Decision curves


def test_net_benefit_without_censoring_is_a_count():
    rng = np.random.default_rng(0)
    time, survival = rng.exponential(size=300), rng.random(300)
    y = np.rec.fromarrays([np.ones(300, bool), time], names="event,time")
    curve = decision_curve(y, survival, 0.7, thresholds=[0.1, 0.5, 0.8])
    died = time <= 0.7
    for threshold, model, everyone in zip(
        curve.thresholds, curve.model, curve.treat_all, strict=True
    ):
        odds = threshold / (1 - threshold)
        treated = 1 - survival >= threshold
        assert model == pytest.approx(
            np.mean(treated & died) - odds * np.mean(treated & ~died), abs=1e-12
        )
        assert everyone == pytest.approx(np.mean(died) - odds * np.mean(~died), abs=1e-12)


def test_net_benefit_counts_censored_rows_by_their_curve():
    time = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0])
    event = np.array([True, False, True, False, True, False])
    y = np.rec.fromarrays([event, time], names="event,time")
    survival = np.array([0.2, 0.2, 0.2, 0.2, 0.9, 0.9])
    curve = decision_curve(y, survival, 2.5, thresholds=[0.5])
    alive = (3 / 4) * (2 / 3)  # of the four that are treated
    assert curve.model[0] == pytest.approx((4 / 6) * (1 - alive - alive))
    weighted = decision_curve(
        np.repeat(y, [2, 1, 1, 3, 1, 1]), np.repeat(survival, [2, 1, 1, 3, 1, 1]), 2.5
    )
    same = decision_curve(y, survival, 2.5, sample_weight=[2, 1, 1, 3, 1, 1])
    np.testing.assert_allclose(weighted.model, same.model)
    assert same.thresholds[-1] == 0.8  # the largest risk: nobody is treated above
    with pytest.raises(ValueError, match="thresholds must lie between 0 and 1"):
        decision_curve(y, survival, 2.5, thresholds=[1.0])


def test_calibration_has_limits_and_weights():
    curve = calibration(Y, np.full(len(Y), 0.7), 1000, n_groups=1)
    assert curve.lower[0] < curve.observed[0] < curve.upper[0]
    wide = calibration(Y, np.full(len(Y), 0.7), 1000, n_groups=1, level=0.99)
    assert wide.lower[0] < curve.lower[0]
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, len(Y))
    survival = rng.random(len(Y))
    one = calibration(Y, survival, 1000, n_groups=1, sample_weight=weight)
    rows = np.repeat(np.arange(len(Y)), weight)
    other = calibration(Y[rows], survival[rows], 1000, n_groups=1)
    for name in ("predicted", "observed", "lower", "upper", "n_rows"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name))
