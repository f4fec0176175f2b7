"""Smooth calibration and the area under the curve of causes, against simple sums."""

import numpy as np
import pytest

from surtree import CompetingRisksTree, SurTree, evaluate, validate
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.metrics import cumulative_dynamic_auc, smooth_calibration


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    hazard = np.exp(rng.normal(size=1500))
    time, end = rng.exponential(1 / hazard), rng.exponential(2.0, 1500)
    return (time <= end, np.minimum(time, end)), np.exp(-0.5 * hazard)


def test_right_predictions_are_near_the_curve_and_wrong_ones_are_not(drawn):
    y, right = drawn
    good, bad = (smooth_calibration(y, one, 0.5) for one in (right, right**2))
    assert good.ici < 0.015
    # A hazard twice as large is a known distance away.
    assert bad.ici == pytest.approx(np.abs(right - right**2).mean(), abs=0.015)
    assert bad.e50 <= bad.e90 <= np.abs(bad.observed - bad.predicted).max()


def test_a_weight_of_two_is_the_row_twice(drawn):
    (event, time), survival = drawn
    weight = np.random.default_rng(1).integers(1, 4, time.size)
    rows = np.repeat(np.arange(time.size), weight)
    weighted = smooth_calibration((event, time), survival, 0.5, sample_weight=weight)
    repeated = smooth_calibration((event[rows], time[rows]), survival[rows], 0.5)
    for field in ("ici", "e50", "e90"):
        assert getattr(weighted, field) == pytest.approx(getattr(repeated, field), rel=1e-9)


def test_one_prediction_for_all_is_compared_with_the_hazard_of_all_rows(drawn):
    y, _ = drawn
    smooth = smooth_calibration(y, np.full(1500, 0.6), 0.5)
    assert np.ptp(smooth.observed) == 0
    assert smooth.ici == pytest.approx(smooth.e90, rel=1e-12)
    assert smooth.e90 == abs(smooth.observed[0] - 0.6)


def test_few_leaves_have_a_straight_line():
    X, y = load_gbsg2()
    model = SurTree(max_depth=1).fit(X, y)
    smooth = smooth_calibration(y, model.predict_survival_function(X), 1000)
    assert np.unique(smooth.observed).size == 2


def test_what_is_refused(drawn):
    y, survival = drawn
    with pytest.raises(ValueError, match="No row has the event by 1e-09"):
        smooth_calibration(y, survival, 1e-9)
    with pytest.raises(ValueError, match="past the last time"):
        smooth_calibration(y, survival, 1e9)
    causes = (np.array([1, 2, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(ValueError, match="no event of cause 3"):
        smooth_calibration(causes, [0.1, 0.2, 0.3, 0.4], 2, cause=3)


def test_the_area_of_a_cause_without_censoring_is_a_share_of_pairs():
    rng = np.random.default_rng(2)
    cause, time = rng.integers(1, 3, 60), rng.exponential(size=60)
    risk = rng.normal(size=60).round(1)
    (auc,), _ = cumulative_dynamic_auc((cause, time), (cause, time), risk, 0.7, cause=1)
    is_case = (cause == 1) & (time <= 0.7)
    above = risk[is_case, None] - risk[~is_case]
    assert auc == pytest.approx((above > 0).mean() + (above == 0).mean() / 2)


def test_measures_at_every_horizon_are_those_of_the_metrics():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2).fit(X, y)
    survival = model.predict_survival_function(X)
    shown = evaluate(model, X, y, horizons=[500, 1000], n_bootstraps=25)
    for time in (500, 1000):
        at = np.array([curve(time) for curve in survival])
        smooth = smooth_calibration(y, at, time)
        for kind in ("ici", "e50", "e90"):
            measure = shown[f"{kind}_at_{time}"]
            assert measure.value == pytest.approx(getattr(smooth, kind), rel=1e-12)
            assert np.isnan(measure.lower)
            assert "never below zero" in measure.reason
        (auc,), _ = cumulative_dynamic_auc(y, y, 1 - at, time)
        measure = shown[f"auc_at_{time}"]
        assert measure.value == pytest.approx(auc)
        assert measure.lower < auc < measure.upper
        assert 0.5 < shown[f"c_at_{time}"].value < 1


def test_validation_has_them_of_each_cause():
    X, y = load_melanoma()
    result = validate(CompetingRisksTree(max_depth=1), X, y, n_bootstraps=25, horizons=[1500])
    for cause in (1, 2):
        assert result.of_cause("auc_at_1500", cause).apparent > 0.5
        assert 0 <= result.of_cause("ici_at_1500", cause).value < 0.2
        assert np.isnan(result.of_cause("ici_at_1500", cause).lower)
