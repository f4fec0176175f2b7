"""scikit-survival's estimates agree with ours, and its metrics and scorers take our predictions."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from surtree import SurTree
from surtree.data.target import Target
from surtree.survival.baseline import nelson_aalen
from surtree.tree.curves import confidence_band, leaf_curves

pytest.importorskip("sksurv", reason="compares with scikit-survival, which is not installed")

from sksurv.metrics import (
    as_concordance_index_ipcw_scorer,
    as_cumulative_dynamic_auc_scorer,
    as_integrated_brier_score_scorer,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)
from sksurv.nonparametric import kaplan_meier_estimator, nelson_aalen_estimator
from sksurv.util import Surv

TIMES = np.array([2.0, 4.0, 6.0, 8.0])


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(8)
    X = generator.uniform(size=(400, 3))
    scale = np.where(X[:, 0] > 0.5, 3.0, 9.0) * np.where(X[:, 1] > 0.3, 1.0, 2.0)
    # Whole numbers, so that events and censorings share times.
    time = np.ceil(generator.exponential(scale))
    censoring = np.ceil(generator.uniform(1, 14, size=400))
    return X, Surv.from_arrays(time <= censoring, np.minimum(time, censoring))


@pytest.fixture(scope="module", params=["baseline", "kaplan-meier"])
def model(request, rows):
    return SurTree(max_depth=2, leaf_curve=request.param).fit(*rows)


def test_nelson_aalen_agrees(rows):
    event, time = rows[1]["event"], rows[1]["time"]
    baseline = nelson_aalen(Target(event, time, None), np.ones(time.size))
    x, y = nelson_aalen_estimator(event, time)
    np.testing.assert_allclose(baseline.at(x), y, rtol=1e-12)


def test_leaf_curves_agree_with_the_estimates_from_the_leafs_rows(rows):
    X, y = rows
    model = SurTree(max_depth=2).fit(X, y)
    leaf_of_row = model.apply(X)
    assert model.get_n_leaves() == 4
    for curve in leaf_curves(model.tree_, "kaplan-meier"):
        inside = y[leaf_of_row == curve.leaf]
        x, survival, band = kaplan_meier_estimator(
            inside["event"], inside["time"], conf_type="log-log"
        )
        np.testing.assert_allclose(curve.survival(x), survival, rtol=1e-12)
        lower, upper = confidence_band(model.tree_, curve.leaf, kind="kaplan-meier")
        known = (survival > 0) & (survival < 1)  # theirs says one and zero elsewhere
        assert np.isnan(lower(x)[~known]).all()
        np.testing.assert_allclose(lower(x)[known], band[0][known], rtol=1e-9)
        np.testing.assert_allclose(upper(x)[known], band[1][known], rtol=1e-9)
        x, cumulative_hazard = nelson_aalen_estimator(inside["event"], inside["time"])
        np.testing.assert_allclose(curve.cumulative_hazard(x), cumulative_hazard, rtol=1e-12)


def test_kaplan_meier_with_entry_agrees(rows):
    X, y = rows
    entry = np.random.default_rng(1).uniform(0, 0.9, size=len(y)) * y["time"]
    model = SurTree(max_depth=0).fit(X, y, entry=entry)
    (curve,) = leaf_curves(model.tree_, "kaplan-meier")
    x, survival = kaplan_meier_estimator(y["event"], y["time"], time_enter=entry)
    np.testing.assert_allclose(curve.survival(x), survival, rtol=1e-12)


def test_risks_are_what_the_concordance_metrics_take(rows, model):
    X, y = rows
    risk = model.predict(X)
    harrell = concordance_index_censored(y["event"], y["time"], risk)[0]
    assert harrell == pytest.approx(model.score(X, y), abs=0.02)
    assert harrell > 0.6
    assert concordance_index_ipcw(y, y, risk, tau=10)[0] > 0.6
    assert cumulative_dynamic_auc(y, y, risk, TIMES)[1] > 0.6


def test_curves_are_what_the_brier_score_takes(rows, model):
    X, y = rows
    functions = model.predict_survival_function(X)
    estimates = np.stack([function(TIMES) for function in functions])
    columns = np.searchsorted(model.unique_times_, TIMES, side="right") - 1
    array = model.predict_survival_function(X, return_array=True)
    np.testing.assert_array_equal(estimates, array[:, columns])
    root = SurTree(max_depth=0).fit(X, y)
    no_tree = root.predict_survival_function(X, return_array=True)[:, columns]
    assert integrated_brier_score(y, y, estimates, TIMES) < integrated_brier_score(
        y, y, no_tree, TIMES
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: as_concordance_index_ipcw_scorer(model, tau=7),
        lambda model: as_integrated_brier_score_scorer(model, times=TIMES[:3]),
        lambda model: as_cumulative_dynamic_auc_scorer(model, times=TIMES[:3]),
    ],
    ids=["concordance_index_ipcw", "integrated_brier_score", "cumulative_dynamic_auc"],
)
def test_scorers_tune_the_tree(rows, wrap):
    X, y = rows
    search = GridSearchCV(wrap(SurTree()), {"estimator__max_depth": [0, 2]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"estimator__max_depth": 2}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
