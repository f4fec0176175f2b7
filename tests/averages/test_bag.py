"""SurTreeBag: its trees are optimal on their samples, and it is their average."""

import json
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from surtree import (
    BeyondFollowUpWarning,
    SurTree,
    SurTreeBag,
    SurTreeCV,
    UnseenCategoryWarning,
    leaf_curves,
)
from surtree.data.bootstrap import draw_counts, read_groups, spawn_generators
from surtree.data.target import read_target
from surtree.datasets import load_gbsg2
from surtree.metrics import concordance_index_censored
from surtree.survival.objective import RELATIVE_RISK

X, Y = load_gbsg2(backend="pandas")
SMALL = {"n_estimators": 6, "max_depth": 2}
CURVES = ("baseline", "kaplan-meier", "shrunk")


@pytest.fixture(scope="module")
def bag():
    return SurTreeBag(**SMALL).fit(X, Y)


def samples_of(bag, n_rows):
    """Return how often each row was drawn in each sample."""
    generators = spawn_generators(bag.random_state, bag.n_estimators)
    return [draw_counts(random, np.arange(n_rows)) for random in generators]


def assert_same(one, other):
    assert one.trees_ == other.trees_
    for name in ("oob_risk_", "oob_score_", "oob_loss_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for method in ("predict", "predict_median"):
        np.testing.assert_array_equal(getattr(one, method)(X), getattr(other, method)(X))
    for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
        arrays = [getattr(model, method)(X, return_array=True) for model in (one, other)]
        np.testing.assert_array_equal(*arrays)


# What the trees are


@pytest.mark.parametrize("leaf_curve", CURVES)
def test_each_tree_is_the_optimum_of_its_sample(leaf_curve):
    # Columns of 0 and 1 have the same cuts in every sample.
    answers = (X[["age", "tumor_size", "positive_nodes"]] > [50, 25, 3]).astype(int)
    limits = {"max_depth": 2, "min_samples_leaf": 20, "shrinkage": 3.0, "leaf_curve": leaf_curve}
    bag = SurTreeBag(4, **limits).fit(answers, Y)
    assert bag.status_ == "optimal"
    for tree, counts in zip(bag.trees_, samples_of(bag, len(Y)), strict=True):
        alone = SurTree(**limits).fit(answers, Y, sample_weight=counts)
        assert tree.total_loss == alone.loss_
        np.testing.assert_array_equal(tree.theta, alone.tree_.theta)
        np.testing.assert_array_equal(tree.apply(answers), alone.apply(answers))
        np.testing.assert_array_equal(
            [curve.survival.y for curve in leaf_curves(tree)],
            [curve.survival.y for curve in leaf_curves(alone)],
        )


def test_limits_and_penalties_hold_in_every_tree():
    assert {tree.n_splits for tree in SurTreeBag(5, max_splits=2).fit(X, Y).trees_} == {2}
    assert {tree.n_splits for tree in SurTreeBag(5, ccp_alpha=1e3).fit(X, Y).trees_} == {0}
    for tree in SurTreeBag(5, max_depth=2, min_events_leaf=40).fit(X, Y).trees_:
        assert tree.n_events[tree.leaves].min() >= 40


def test_samples_differ_and_the_first_ones_do_not_depend_on_their_number(bag):
    assert len({tree.total_loss for tree in bag.trees_}) == 6
    larger = clone(bag).set_params(n_estimators=8).fit(X, Y)
    assert larger.trees_[:6] == bag.trees_
    assert clone(bag).set_params(random_state=1).fit(X, Y).trees_ != bag.trees_


def test_random_state_none_is_different_every_time():
    one, other = (SurTreeBag(2, max_depth=1, random_state=None).fit(X, Y) for _ in range(2))
    assert one.trees_ != other.trees_
    shared = np.random.RandomState(3)
    first = SurTreeBag(2, max_depth=1, random_state=shared).fit(X, Y)
    again = SurTreeBag(2, max_depth=1, random_state=np.random.RandomState(3)).fit(X, Y)
    assert first.trees_ == again.trees_


def test_searches_that_are_out_of_time_are_told_of():
    bag = SurTreeBag(2, max_depth=6, n_thresholds=50, time_limit=1e-3).fit(X, Y)
    assert bag.status_ == "time_limit"
    assert np.isfinite(bag.predict(X)).all()


def test_a_sample_without_an_event_is_drawn_again():
    generator = np.random.default_rng(0)
    y = np.zeros(30, dtype=[("event", bool), ("time", float)])
    y["time"] = generator.uniform(1, 9, 30)
    y["event"][17] = True
    bag = SurTreeBag(20, max_depth=1).fit(generator.normal(size=(30, 2)), y)
    assert all(tree.n_events[0] == 1 for tree in bag.trees_)
    # The row with the event is in every sample, and no other row can be compared.
    assert np.isnan(bag.oob_risk_[17])
    assert np.isnan(bag.oob_score_)
    assert np.isfinite(bag.oob_loss_)


# What it predicts


def test_risk_is_the_mean_of_its_trees(bag):
    risks = [tree.theta[tree.apply(X)] for tree in bag.trees_]
    np.testing.assert_allclose(bag.predict(X), np.mean(risks, axis=0), rtol=1e-14)
    np.testing.assert_array_equal(bag.apply(X).T, [tree.apply(X) for tree in bag.trees_])
    shares = [tree.importances(X.shape[1]) for tree in bag.trees_]
    np.testing.assert_allclose(bag.feature_importances_, np.mean(shares, axis=0))


@pytest.mark.parametrize("leaf_curve", CURVES)
@pytest.mark.parametrize("name", ["survival", "cumulative_hazard"])
def test_curves_are_means_of_those_of_its_trees(name, leaf_curve):
    bag = SurTreeBag(**SMALL, leaf_curve=leaf_curve).fit(X, Y)
    rows, times = X.head(5), np.array([0.0, 100.0, 1000.0, 2000.0, Y["time"].max()])
    functions = getattr(bag, f"predict_{name}_function")(rows)
    for row in range(5):
        expected = np.zeros(times.size)
        for tree in bag.trees_:
            leaf = tree.apply(rows)[row]
            (curve,) = (curve for curve in leaf_curves(tree) if curve.leaf == leaf)
            # The curve of a tree ends with its own sample, and is used until the end of all rows.
            known = np.minimum(times, tree.baseline.last_time)
            expected += getattr(curve, name)(known) / len(bag.trees_)
        np.testing.assert_allclose(functions[row](times), expected, rtol=1e-12)
    values = getattr(bag, f"predict_{name}_function")(rows, return_array=True)
    np.testing.assert_array_equal(values, [function.y for function in functions])
    np.testing.assert_array_equal(bag.unique_times_, np.unique(Y["time"][Y["event"]]))
    with pytest.warns(BeyondFollowUpWarning):
        assert np.isnan(functions[0](Y["time"].max() + 1))


def test_medians_are_read_off_the_mean_curves(bag):
    survival = bag.predict_survival_function(X)
    medians = bag.predict_median(X)
    assert np.isinf(medians).any()
    assert np.isfinite(medians).any()
    for curve, median in zip(survival, medians, strict=True):
        assert np.isinf(median) == (curve.y[-1] > 0.5)
        if np.isfinite(median):
            assert curve(median) <= 0.5 < curve(np.nextafter(median, 0))


def test_score_and_loss_are_those_of_the_risk(bag):
    risk = bag.predict(X)
    assert bag.score(X, Y) == concordance_index_censored(Y["event"], Y["time"], risk).cindex
    one_tree = SurTree(max_depth=0).fit(X, Y)
    sums = RELATIVE_RISK.row_sums(read_target(Y, len(Y)), np.ones(len(Y)), one_tree.tree_.baseline)
    assert bag.loss(X, Y) == sums.loss(risk)
    weight = np.arange(len(Y)) % 3
    assert bag.loss(X, Y, weight) == pytest.approx(
        bag.loss(X[weight == 1], Y[weight == 1]) + 2 * bag.loss(X[weight == 2], Y[weight == 2])
    )


def test_one_tree_alone_is_a_tree():
    bag = SurTreeBag(1, max_depth=2).fit(X, Y)
    (tree,) = bag.trees_
    np.testing.assert_array_equal(bag.predict(X), tree.theta[tree.apply(X)])


def test_many_trees_are_better_than_one():
    bag = SurTreeBag(50, max_depth=3).fit(X, Y)
    tree = SurTreeCV(max_depth=3).fit(X, Y)
    assert bag.oob_loss_ < tree.held_out_.mean("loss")
    assert bag.oob_score_ > tree.held_out_.mean("concordance")


def test_scorers_of_scikit_learn_and_scikit_survival_take_it():
    metrics = pytest.importorskip("sksurv.metrics", reason="pip install scikit-survival")
    assert cross_val_score(SurTreeBag(**SMALL), X, Y, cv=3).min() > 0.6
    scorer = metrics.as_integrated_brier_score_scorer(SurTreeBag(**SMALL), times=[500.0, 1500.0])
    search = GridSearchCV(scorer, {"estimator__max_depth": [0, 2]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"estimator__max_depth": 2}


# Out of bag


def test_out_of_bag_risk_is_that_of_trees_without_the_row(bag):
    drawn = np.array(samples_of(bag, len(Y))) > 0
    risks = np.array([tree.theta[tree.apply(X)] for tree in bag.trees_])
    risks[drawn] = np.nan
    with np.errstate(invalid="ignore"):
        expected = np.nansum(risks, axis=0) / (~drawn).sum(axis=0)
    np.testing.assert_allclose(bag.oob_risk_, expected, rtol=1e-14)
    known = np.isfinite(bag.oob_risk_)
    assert 0 < known.sum() < len(Y)
    y, risk = Y[known], bag.oob_risk_[known]
    assert bag.oob_score_ == concordance_index_censored(y["event"], y["time"], risk).cindex
    target = read_target(y, len(y))
    sums = RELATIVE_RISK.row_sums(target, np.ones(len(y)), bag.baseline_)
    assert bag.oob_loss_ == sums.loss(risk) / len(y)
    assert bag.oob_score_ < bag.score(X, Y)


def test_groups_are_drawn_whole():
    patient = np.arange(len(Y)) // 3
    bag = SurTreeBag(**SMALL).fit(X, Y, groups=[f"patient {number}" for number in patient])
    unknown = np.isnan(bag.oob_risk_)
    assert 0 < unknown.sum() < len(Y)
    shares = pd.Series(unknown).groupby(patient).mean()
    assert set(shares) == {0.0, 1.0}
    with pytest.raises(ValueError, match="X has 686 rows and groups has 685"):
        SurTreeBag(**SMALL).fit(X, Y, groups=patient[:-1])


def test_groups_of_one_row_are_rows(bag):
    assert_same(SurTreeBag(**SMALL).fit(X, Y, groups=np.arange(len(Y))), bag)


def test_counts_of_groups():
    group = read_groups(["b", "a", "b", "c"], 4)
    for random in spawn_generators(5, 20):
        counts = draw_counts(random, group)
        assert counts[0] == counts[2]
        assert counts[1:].sum() == 3


# What rows may be


def test_rows_of_weight_zero_are_absent():
    weight = np.where(np.arange(len(Y)) % 4 == 0, 0.0, 2.5)
    there = weight > 0
    bag = SurTreeBag(**SMALL).fit(X, Y, sample_weight=weight)
    alone = SurTreeBag(**SMALL).fit(X[there], Y[there], sample_weight=weight[there])
    assert bag.trees_ == alone.trees_
    assert np.isnan(bag.oob_risk_[~there]).all()
    np.testing.assert_array_equal(bag.oob_risk_[there], alone.oob_risk_)
    assert (bag.oob_score_, bag.oob_loss_) == (alone.oob_score_, alone.oob_loss_)


def test_weights_count():
    weight = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    bag = SurTreeBag(**SMALL).fit(X, Y, sample_weight=weight)
    for tree, counts in zip(bag.trees_, samples_of(bag, len(Y)), strict=True):
        assert tree.weight[0] == pytest.approx((counts * weight).sum())
    risk = bag.oob_risk_[np.isfinite(bag.oob_risk_)]
    known = np.isfinite(bag.oob_risk_)
    assert (
        bag.oob_score_
        == concordance_index_censored(
            Y["event"][known], Y["time"][known], risk, sample_weight=weight[known]
        ).cindex
    )


def test_entry_times_count(bag):
    entry = np.where(np.arange(len(Y)) % 2, 0.5 * Y["time"], 0.0)
    late = SurTreeBag(**SMALL).fit(X, Y, entry=entry)
    assert late.trees_ != bag.trees_
    expected = SurTree(max_depth=0).fit(X, Y, entry=entry).tree_.baseline
    assert late.baseline_ == expected
    assert late.loss(X, Y, entry=entry) < late.loss(X, Y)


def test_tables_of_any_library_and_missing_values():
    table = X.copy()
    table.loc[::7, "age"] = np.nan
    table["tumor_grade"] = table["tumor_grade"].astype(object)
    table.loc[::5, "tumor_grade"] = None
    bags = [SurTreeBag(**SMALL).fit(frame, Y) for frame in (table, pl.from_pandas(table))]
    assert bags[0].trees_ == bags[1].trees_
    np.testing.assert_array_equal(bags[0].predict(table), bags[1].predict(pl.from_pandas(table)))
    assert list(bags[0].feature_names_in_) == list(table.columns)


def test_unseen_categories_are_warned_of_once():
    bag = SurTreeBag(20, max_depth=3).fit(X[["tumor_grade", "age"]], Y)
    new = X[["tumor_grade", "age"]].head(3).assign(tumor_grade="IV")
    with pytest.warns(UnseenCategoryWarning, match="'IV' in 3 rows") as caught:
        bag.predict(new)
    assert len(caught) == 1
    assert caught[0].filename == __file__


# Where it runs, and where it is kept


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_threads_and_processes_find_the_same(bag, backend):
    with joblib.parallel_config(backend=backend):
        assert_same(clone(bag).set_params(n_jobs=2).fit(X, Y), bag)


def test_a_dask_cluster_finds_the_same(bag):
    distributed = pytest.importorskip("distributed", reason="pip install dask[distributed]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert_same(clone(bag).fit(X, Y), bag)


def test_progress_is_reported_tree_by_tree(bag):
    seen = []
    watched = clone(bag).set_params(progress=seen.append, n_jobs=2).fit(X, Y)
    assert [(step.done, step.total) for step in seen] == [(k, 6) for k in range(1, 7)]
    assert_same(watched, bag)


def test_pickles_and_clones(bag):
    assert_same(pickle.loads(pickle.dumps(bag)), bag)
    assert clone(bag).get_params() == bag.get_params()


@pytest.mark.parametrize("leaf_curve", CURVES)
def test_saved_and_loaded_is_the_same(leaf_curve, tmp_path):
    bag = SurTreeBag(**SMALL, leaf_curve=leaf_curve).fit(X, Y)
    bag.save(tmp_path / "bag.json")
    again = SurTreeBag.load(tmp_path / "bag.json")
    assert_same(again, bag)
    assert again.get_params() == bag.get_params()
    assert again.status_ == "optimal"
    assert list(again.feature_names_in_) == list(bag.feature_names_in_)
    assert again.baseline_ == bag.baseline_


def test_a_random_state_that_is_no_number_is_not_saved(tmp_path):
    bag = SurTreeBag(2, max_depth=1, random_state=np.random.RandomState(0)).fit(X.to_numpy(), Y)
    bag.save(tmp_path / "bag.json")
    again = SurTreeBag.load(tmp_path / "bag.json")
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict(X.to_numpy()), bag.predict(X.to_numpy()))


def test_an_edited_file_says_so(bag, tmp_path):
    path = tmp_path / "bag.json"
    bag.save(path)
    saved = json.loads(path.read_text())
    saved["oob_score"] = 0.99
    path.write_text(json.dumps(saved))
    again = SurTreeBag.load(path)
    assert again.status_ == "edited"
    assert np.isnan([again.oob_score_, again.oob_loss_]).all()
    assert np.isnan(again.oob_risk_).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: saved["trees"].pop(), "5 trees"),
        (lambda saved: saved["trees"][2]["nodes"]["left"].pop(), r"trees\[2\]"),
        (lambda saved: saved["parameters"].update(shrinkage=2.0), "another shrinkage"),
        (lambda saved: saved["parameters"].update(leaf_curve="shrunk"), "another leaf_curve"),
        (lambda saved: saved["parameters"].update(max_depth=-1), "max_depth"),
        (lambda saved: saved["parameters"].update(colour="red"), "colour"),
        (lambda saved: saved["columns"].reverse(), "calls the column"),
        (lambda saved: saved["oob_risk"].append("high"), "oob_risk"),
        (lambda saved: saved["baseline"].update(floor=-1.0), "floor"),
        (lambda saved: saved.pop("trees"), "'trees' is not there"),
    ],
)
def test_a_damaged_file_is_refused(bag, tmp_path, change, message):
    path = tmp_path / "bag.json"
    bag.save(path)
    saved = json.loads(path.read_text())
    change(saved)
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=f"is damaged: .*{message}"):
        SurTreeBag.load(path)


def test_files_of_trees_and_bags_are_told_apart(bag, tmp_path):
    bag.save(tmp_path / "bag.json")
    SurTree(max_depth=1).fit(X, Y).save(tmp_path / "tree.json")
    with pytest.raises(ValueError, match=r"'surtree.bag', not 'surtree.model'"):
        SurTree.load(tmp_path / "bag.json")
    with pytest.raises(ValueError, match=r"'surtree.model', not 'surtree.bag'"):
        SurTreeBag.load(tmp_path / "tree.json")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_depth": 21}, "max_depth"),
        ({"random_state": "today"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": 3}, "progress"),
        ({"shrinkage": -1.0}, "shrinkage"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        SurTreeBag(**wrong).fit(X, Y)
