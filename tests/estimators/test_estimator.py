"""SurTree as a user meets it: what fit finds, what it predicts, and scikit-learn around it."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surtree import SurTree
from surtree.data.target import read_target
from surtree.metrics import concordance_index_censored
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.solver.reference import solve as reference_solve
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK


def make_rows(n=200, seed=0, censoring=True):
    generator = np.random.default_rng(seed)
    X = generator.uniform(size=(n, 3)).round(3)
    scale = np.where(X[:, 0] > 0.5, 1.0, 4.0) * np.where(X[:, 2] > 0.7, 1.0, 3.0)
    time = generator.exponential(scale) + 1e-3
    limit = generator.uniform(0.1, 8, size=n) if censoring else np.full(n, np.inf)
    y = np.empty(n, dtype=[("died", bool), ("years", float)])
    y["died"], y["years"] = time <= limit, np.minimum(time, limit)
    return X, y


X, Y = make_rows()

# Here the risk is in the pair of columns: neither of them tells anything alone.
PAIR = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (10, 1))
PAIR_TIME = 1.0 + (PAIR[:, 0] == PAIR[:, 1])


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=2).fit(X, Y)


def test_the_tree_is_the_one_that_the_reference_finds(model):
    target = read_target(Y, len(Y))
    sums = RELATIVE_RISK.row_sums(target, np.ones(len(Y)), nelson_aalen(target, np.ones(len(Y))))
    holds = model.encoder_.transform(X).astype(bool)
    best = reference_solve(holds, sums, Limits(max_depth=2))
    losses = [size.loss for size in model.path_]
    np.testing.assert_allclose(losses, sums.constant - best.gains, rtol=1e-9)
    assert model.loss_ == model.tree_.total_loss == losses[-1]


def test_an_optimal_tree_has_no_gap(model):
    assert model.status_ == "optimal"
    assert model.lower_bound_ == model.loss_
    assert model.gap_ == 0.0


def test_the_path_has_the_best_tree_of_every_size(model):
    assert [size.splits for size in model.path_] == [0, 1, 2, 3]
    losses = [size.loss for size in model.path_]
    assert losses == sorted(losses, reverse=True)
    for size in model.path_:
        assert size.tree.n_splits <= size.splits
        assert size.tree.total_loss == size.loss
        assert size.lower_bound == size.loss
    assert model.path_[-1].tree is model.tree_


def test_each_size_is_what_a_fit_with_that_limit_finds(model):
    for size in model.path_:
        limited = SurTree(max_depth=2, max_splits=size.splits).fit(X, Y)
        assert limited.loss_ == pytest.approx(size.loss, rel=1e-12)
        assert len(limited.path_) == size.splits + 1


def test_a_split_that_brings_nothing_is_not_made():
    model = SurTree(max_depth=2).fit(PAIR, PAIR_TIME)
    assert [size.tree.n_splits for size in model.path_] == [0, 0, 2, 3]
    assert model.path_[0].tree is model.path_[1].tree
    assert model.path_[0].loss == model.path_[1].loss
    pruned = SurTree(max_depth=2, ccp_alpha=1e6).fit(PAIR, PAIR_TIME)
    assert pruned.path_[0].tree is pruned.path_[1].tree is pruned.tree_


def test_only_the_chosen_tree_keeps_risk_counts(model):
    assert len(model.tree_.risk) == model.tree_.n_leaves
    assert all(size.tree.risk == () for size in model.path_[:-1])
    assert all(size.tree.baseline is model.tree_.baseline for size in model.path_)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 3.0, 10.0, 1e6])
def test_ccp_alpha_picks_the_size_with_the_smallest_penalised_loss(model, alpha):
    pruned = SurTree(max_depth=2, ccp_alpha=alpha).fit(X, Y)
    penalised = [size.loss + alpha * size.splits for size in model.path_]
    best = int(np.argmin(penalised))
    assert pruned.tree_.n_splits == best
    assert pruned.loss_ == model.path_[best].loss
    assert pruned.lower_bound_ == model.path_[best].lower_bound
    assert len(pruned.path_) == len(model.path_)
    assert pruned.path_[best].tree is pruned.tree_


def test_prediction_is_the_theta_of_the_leaf(model):
    leaf_of_row = model.apply(X)
    assert set(leaf_of_row) == set(model.tree_.leaves)
    np.testing.assert_array_equal(model.predict(X), model.tree_.theta[leaf_of_row])
    assert np.bincount(leaf_of_row).max() == model.tree_.n_samples[model.tree_.leaves].max()


def test_decision_path_ends_in_the_leaf(model):
    visited = model.decision_path(X)
    assert visited.shape == (len(X), model.tree_.n_nodes)
    last = [row.indices.max() for row in visited]
    assert last == model.apply(X).tolist()
    assert visited.sum(axis=0).tolist()[0] == model.tree_.n_samples.tolist()


def test_the_shape_of_the_tree(model):
    assert model.get_depth() == model.tree_.depth == 2
    assert model.get_n_leaves() == model.tree_.n_leaves == 4


def test_importances_are_of_the_users_columns(model):
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[1] == min(model.feature_importances_)


@pytest.mark.parametrize("leaf_curve", ["baseline", "kaplan-meier"])
@pytest.mark.parametrize(
    ("method", "before"),
    [("predict_survival_function", 1.0), ("predict_cumulative_hazard_function", 0.0)],
)
def test_step_functions_and_arrays_say_the_same(method, before, leaf_curve):
    model = SurTree(max_depth=2, leaf_curve=leaf_curve).fit(X, Y)
    functions = getattr(model, method)(X)
    array = getattr(model, method)(X, return_array=True)
    assert functions.shape == (len(X),)
    assert array.shape == (len(X), len(model.unique_times_))
    for function, line in zip(functions, array, strict=True):
        np.testing.assert_array_equal(function(model.unique_times_), line)
        assert function(0) == before
    # Rows of a leaf share their function.
    assert len({id(function) for function in functions}) == model.get_n_leaves()


def test_the_leaf_curve_is_the_one_that_was_asked_for():
    root = {
        kind: SurTree(max_depth=0, leaf_curve=kind).fit(X, Y["years"])
        for kind in ("baseline", "kaplan-meier")
    }
    baseline = root["baseline"].tree_.baseline
    expected = {
        "baseline": np.exp(-root["baseline"].tree_.theta[0] * baseline.cumulative_hazard),
        # Without censoring, the share of the rows that are left after each of the times.
        "kaplan-meier": 1 - np.arange(1, 201) / 200,
    }
    for kind, model in root.items():
        survival = model.predict_survival_function(X[:1], return_array=True)[0]
        np.testing.assert_allclose(survival, expected[kind], atol=1e-12)


def test_unique_times_are_the_distinct_event_times(model):
    np.testing.assert_array_equal(model.unique_times_, np.unique(Y["years"][Y["died"]]))


@pytest.mark.parametrize("leaf_curve", ["baseline", "kaplan-meier"])
def test_the_median_is_where_the_curve_crosses_one_half(leaf_curve):
    y = Y.copy()
    y["died"][X[:, 0] <= 0.5] &= np.arange((X[:, 0] <= 0.5).sum()) % 9 == 0
    model = SurTree(max_depth=1, leaf_curve=leaf_curve).fit(X, y)
    median = model.predict_median(X)
    assert np.isinf(median).any()
    assert np.isfinite(median).any()
    for function, time in zip(model.predict_survival_function(X), median, strict=True):
        if np.isinf(time):
            assert function.y[-1] > 0.5
        else:
            assert function(time) <= 0.5 < function(time - 1e-9)


def test_the_loss_on_the_training_rows_is_the_loss_of_the_tree(model):
    assert (model.tree_.events[model.tree_.leaves] > 0).all()
    assert model.loss(X, Y) == pytest.approx(model.loss_, rel=1e-12)


def test_a_leaf_without_an_event_adds_one_half_to_the_loss():
    y = Y.copy()
    y["died"][X[:, 0] <= 0.4] = False
    model = SurTree(max_depth=2).fit(X, y)
    empty = int((model.tree_.events[model.tree_.leaves] == 0).sum())
    assert empty >= 1
    assert model.loss(X, y) == pytest.approx(model.loss_ + 0.5 * empty, rel=1e-12)


def test_the_loss_of_new_rows_follows_the_equation(model):
    X_new, y_new = make_rows(30, seed=5)
    entry = y_new["years"] / 2
    weight = np.arange(30.0)
    baseline = model.tree_.baseline

    def cumulative_hazard(time):
        return sum(
            (
                step
                for t, step in zip(
                    baseline.times, np.diff(baseline.cumulative_hazard, prepend=0), strict=True
                )
                if t <= time
            ),
            0.0,
        )

    expected = 0.0
    for row in range(30):
        died, years = y_new[row]
        exposure = cumulative_hazard(years) - cumulative_hazard(entry[row])
        hazard = max(exposure, baseline.floor)
        theta = model.predict(X_new[[row]])[0]
        expected += weight[row] * (
            hazard * theta - died * np.log(hazard) - died * np.log(theta) - died
        )
    assert model.loss(X_new, y_new, weight, entry) == pytest.approx(expected)


def test_the_score_is_harrells_c(model):
    risk = model.predict(X)
    assert model.score(X, Y) == concordance_index_censored(Y["died"], Y["years"], risk).cindex
    weight = np.arange(1.0, len(Y) + 1)
    expected = concordance_index_censored(Y["died"], Y["years"], risk, sample_weight=weight).cindex
    assert model.score(X, Y, sample_weight=weight) == expected
    assert model.score(X, Y) > 0.6


def test_a_weight_of_two_is_the_row_twice():
    weight = np.ones(len(Y))
    weight[::3] = 2
    weighted = SurTree(max_depth=2).fit(X, Y, sample_weight=weight)
    repeated = SurTree(max_depth=2).fit(*(np.repeat(a, weight.astype(int), axis=0) for a in (X, Y)))
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-9)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    assert weighted.tree_.risk == repeated.tree_.risk


def test_a_weight_of_zero_is_no_row():
    weight = np.ones(len(Y))
    weight[:50] = 0
    y = Y.copy()
    y["years"][:50] = 1e-6
    weighted = SurTree(max_depth=2, min_samples_leaf=40).fit(X, y, sample_weight=weight)
    dropped = SurTree(max_depth=2, min_samples_leaf=40).fit(X[50:], y[50:])
    assert weighted.tree_ == dropped.tree_
    assert weighted.tree_.n_samples[0] == 150


def test_entry_times_change_the_risk_sets():
    entry = 0.5 * Y["years"]
    model = SurTree(max_depth=2).fit(X, Y, entry=entry)
    target = read_target(Y, len(Y), entry)
    assert model.tree_.baseline == nelson_aalen(target, np.ones(len(Y)))
    assert model.tree_.baseline != SurTree(max_depth=0).fit(X, Y).tree_.baseline
    assert model.loss(X, Y, entry=entry) == pytest.approx(model.loss_, rel=1e-12)


def test_minimum_leaf_sizes_are_kept():
    model = SurTree(max_depth=3, min_samples_leaf=30, min_events_leaf=20).fit(X, Y)
    leaves = model.tree_.leaves
    assert model.get_n_leaves() > 1
    assert model.tree_.n_samples[leaves].min() >= 30
    assert model.tree_.n_events[leaves].min() >= 20


def test_limits_and_threads_reach_the_solver(monkeypatch):
    seen = {}

    def solve(*arguments, **options):
        seen.update(options)
        return original(*arguments, **options)

    original = Problem.solve
    monkeypatch.setattr(Problem, "solve", solve)
    SurTree(max_depth=1, time_limit=30.0, n_jobs=2, memory_limit=10_000).fit(X, Y)
    # Reading the table was on the clock as well.
    assert 20 < seen.pop("time_limit") < 30
    options = {"n_jobs": 2, "memory_limit": 10_000, "progress": None, "known_gains": None}
    assert seen == options


def test_a_search_that_ended_early_reports_its_gap(monkeypatch):
    def solve(*arguments, **options):
        found = original(*arguments, **options)
        return replace(found, status="time_limit", gain_bounds=found.gain_bounds + 5.0)

    original = Problem.solve
    monkeypatch.setattr(Problem, "solve", solve)
    model = SurTree(max_depth=1).fit(X, Y)
    assert model.status_ == "time_limit"
    assert model.lower_bound_ == pytest.approx(model.loss_ - 5.0)
    assert model.gap_ == pytest.approx(5.0 / model.loss_)
    # Also a size that took over the tree of the one before has a bound of its own.
    sizes = SurTree(max_depth=2).fit(PAIR, PAIR_TIME).path_
    assert sizes[1].tree is sizes[0].tree
    assert sizes[1].lower_bound == pytest.approx(sizes[1].loss - 5.0)


@pytest.mark.parametrize(("slack", "is_proven"), [(1e-14, True), (1e-9, False)])
def test_a_gap_of_rounding_is_a_proof_though_smaller_sizes_are_open(monkeypatch, slack, is_proven):
    def solve(*arguments, **options):
        found = original(*arguments, **options)
        bounds = np.full(found.gains.size, found.gains[-1] * (1 + slack))
        bounds[0] = found.gains[0]
        return replace(found, status="time_limit", gain_bounds=bounds)

    original = Problem.solve
    monkeypatch.setattr(Problem, "solve", solve)
    model = SurTree(max_depth=2).fit(X, Y)
    assert model.status_ == ("optimal" if is_proven else "time_limit")
    assert (model.gap_ == 0) is is_proven
    assert (model.lower_bound_ == model.loss_) is is_proven
    assert model.path_[1].lower_bound < model.path_[1].loss


def test_a_solver_that_is_wrong_is_found_out(monkeypatch):
    def solve(*arguments, **options):
        found = original(*arguments, **options)
        return replace(found, gains=found.gains + 1e-5)

    original = Problem.solve
    monkeypatch.setattr(Problem, "solve", solve)
    with pytest.raises(RuntimeError, match="its rows add up to"):
        SurTree(max_depth=1).fit(X, Y)


def test_a_plain_array_of_times_means_that_all_rows_have_an_event():
    model = SurTree(max_depth=1).fit(X, Y["years"])
    everyone = Y.copy()
    everyone["died"] = True
    assert model.tree_ == SurTree(max_depth=1).fit(X, everyone).tree_


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_of_every_library_give_the_same_tree(library, model):
    data = {"age": X[:, 0], "dose": X[:, 1], "size": X[:, 2]}
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    fitted = SurTree(max_depth=2).fit(make(data), Y)
    assert fitted.feature_names_in_.tolist() == ["age", "dose", "size"]
    assert fitted.n_features_in_ == 3
    assert fitted.loss_ == model.loss_
    np.testing.assert_array_equal(fitted.predict(make(data)), model.predict(X))
    assert {cut.name for cut in fitted.tree_.cuts} <= set(data)


def test_missing_values_and_categories_are_part_of_the_tree():
    group = np.array([None, "A", "B"], dtype=object)[np.arange(len(Y)) % 3]
    y = Y.copy()
    y["years"][group == None] /= 50  # noqa: E711
    frame = pd.DataFrame({"group": group, "noise": X[:, 1]})
    model = SurTree(max_depth=1).fit(frame, y)
    assert model.tree_.cuts[0].name == "group"
    risk = model.predict(pd.DataFrame({"group": [None, "A", "B"], "noise": 0.5}))
    assert risk[0] > risk[1] == risk[2]


def test_a_value_that_was_never_missing_follows_the_heavier_side(model):
    missing = np.full((1, 3), np.nan)
    node = 0
    tree = model.tree_
    while not tree.is_leaf[node]:
        left, right = tree.left[node], tree.right[node]
        node = right if tree.weight[right] > tree.weight[left] else left
    assert model.apply(missing).tolist() == [node]


def test_before_fit_nothing_is_known():
    for name in ("unique_times_", "feature_importances_", "tree_"):
        assert not hasattr(SurTree(), name)
    for call in (SurTree().get_depth, SurTree().get_n_leaves, lambda: SurTree().predict(X)):
        with pytest.raises(NotFittedError):
            call()


def test_fit_changes_no_parameter(model):
    fitted = clone(model).set_params(max_splits=2)
    before = fitted.get_params()
    fitted.fit(X, Y)
    assert fitted.get_params() == before
    assert clone(fitted).fit(X, Y).tree_ == fitted.tree_


def test_copies_and_pickles_predict_the_same(model):
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.tree_ == model.tree_
        assert again.path_ == model.path_
        assert again.path_[-1].tree is again.tree_
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        with pytest.raises(ValueError, match="read-only"):
            again.tree_.theta[0] = 1.0


def test_pickles_are_small():
    generator = np.random.default_rng(3)
    n = 7000
    columns = generator.uniform(size=(n, 4))
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"] = generator.uniform(size=n) > 0.1
    y["time"] = generator.exponential(np.exp(columns @ [1, -1, 2, 0.5]))
    model = SurTree(max_depth=4, n_thresholds=4, leaf_curve="kaplan-meier").fit(columns, y)
    assert model.get_n_leaves() == 16
    assert len(pickle.dumps(model)) < 200_000


def test_grid_search_prefers_the_tree_that_orders_rows_best():
    search = GridSearchCV(SurTree(), {"max_depth": [0, 2], "min_samples_leaf": [1, 10]}, cv=3)
    search.fit(X, Y)
    assert search.best_params_["max_depth"] == 2
    assert search.best_score_ > 0.6
    assert search.predict(X).shape == (len(X),)


def test_grid_search_takes_weights_and_entry_times():
    search = GridSearchCV(SurTree(), {"max_depth": [1]}, cv=3)
    entry = 0.5 * Y["years"]
    search.fit(X, Y, sample_weight=np.full(len(Y), 2.0), entry=entry)
    expected = SurTree(max_depth=1).fit(X, Y, np.full(len(Y), 2.0), entry)
    assert search.best_estimator_.tree_ == expected.tree_


def test_parameters_may_be_numpys_numbers():
    limits = {"max_depth": 2, "max_splits": 2, "min_samples_leaf": 5, "min_events_leaf": 3}
    rest = {"n_thresholds": 4, "max_categories": 5, "n_jobs": 1}
    plain = limits | rest
    from_numpy = {name: np.int64(value) for name, value in plain.items()}
    fitted = SurTree(**from_numpy, ccp_alpha=np.float32(0.5), time_limit=np.int32(60)).fit(X, Y)
    assert fitted.tree_ == SurTree(**plain, ccp_alpha=0.5, time_limit=60).fit(X, Y).tree_


def test_pipelines_and_their_output_setting():
    frame = pd.DataFrame(X, columns=["age", "dose", "size"])
    scale = ColumnTransformer([("scaled", StandardScaler(), ["age", "size"])])
    pipeline = make_pipeline(scale, SurTree(max_depth=1)).set_output(transform="pandas")
    assert cross_val_score(pipeline, frame, Y, cv=3).mean() > 0.55
    pipeline.fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["scaled__age", "scaled__size"]
