"""The average over all trees as an estimator: SurTreeBayes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning

import surtree
from surtree import SurTree, SurTreeBayes, UnseenCategoryWarning
from surtree.datasets import load_gbsg2, load_rossi


@pytest.fixture(scope="module")
def gbsg2():
    return load_gbsg2()


def test_one_stage_without_questions_is_the_average_risk(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(0, 1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), SurTree(0).fit(X, y).predict(X), rtol=1e-12)
    assert model.stage_evidence_.tolist() == pytest.approx([0.0], abs=1e-12)
    assert model.first_questions_ == {}


def test_stages_are_the_recurrence_written_out(gbsg2):
    # One column with one threshold: two leaves, or one.
    X, y = gbsg2
    x = (X["positive_nodes"] > 3).to_numpy()
    model = SurTreeBayes(1, 3).fit(x[:, None], y)
    baseline = model.baseline_
    hazard = np.maximum(baseline.at(y["time"]), baseline.floor)
    event, risk = y["event"].astype(float), np.ones(len(x))

    def log_evidence(e, h, a):
        return gammaln(e + a) - gammaln(a) + a * np.log(a) - (e + a) * np.log(h + a)

    for stage in range(3):
        expected = risk * hazard * event.sum() / (risk * hazard).sum()
        sums = [(event[side].sum(), expected[side].sum()) for side in (~x, x)]
        mean, logs = [], []
        for a in (1.0, 3.0, 9.0, 27.0):
            one = log_evidence(event.sum(), expected.sum(), a) + np.log(0.5)
            two = sum(log_evidence(*side, a) for side in sums) + np.log(0.5)
            logs.append(np.logaddexp(one, two))
            share = np.exp(two - logs[-1])
            whole = (event.sum() + a) / (expected.sum() + a)
            mean.append([share * (e + a) / (h + a) + (1 - share) * whole for e, h in sums])
        weight = np.exp(logs - np.logaddexp.reduce(logs))
        low, high = weight @ np.array(mean)
        risk *= np.where(x, high, low) * event.sum() / (risk * hazard).sum()
        assert np.isfinite(model.stage_evidence_[stage])
    np.testing.assert_allclose(model.predict(x[:, None]), risk, rtol=1e-12)


def test_threads_and_the_order_of_rows_change_nothing(gbsg2):
    X, y = gbsg2
    one = SurTreeBayes(2, 3).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    other = SurTreeBayes(2, 3, n_jobs=2).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.column_probability_, other.column_probability_)


def test_a_weight_of_two_is_the_row_twice(gbsg2):
    X, y = gbsg2
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    settings = {"thresholds": {"positive_nodes": [3, 9], "age": [50]}, "min_samples_leaf": 1}
    columns = ["positive_nodes", "age", "hormone_therapy"]
    once = SurTreeBayes(2, 3, **settings).fit(X[columns], y, sample_weight=weight)
    twice = SurTreeBayes(2, 3, **settings).fit(X[columns].iloc[rows], y[rows])
    np.testing.assert_allclose(once.predict(X[columns]), twice.predict(X[columns]), rtol=1e-12)


@pytest.fixture
def coarse():
    """Two columns and times of few values: 92 distinct rows."""
    X, y = load_gbsg2(backend="pandas")
    X = np.round(X[["positive_nodes", "age"]].to_numpy() / [10, 20])
    return X, y["event"], np.ceil(y["time"] / 400)


def _coarse_fit(*given, **also):
    settings = {"n_thresholds": None, "min_samples_leaf": also.pop("min_samples_leaf", 1)}
    return SurTreeBayes(2, 3, **settings).fit(*given, **also)


def test_equal_rows_may_be_merged_to_the_last_bit(coarse):
    X, event, time = coarse
    rows, weight = np.unique(np.column_stack([X, event, time]), axis=0, return_counts=True)
    assert len(rows) < 100
    merged = _coarse_fit(rows[:, :2], (rows[:, 2] > 0, rows[:, 3]), sample_weight=weight)
    _require_equal(_coarse_fit(X, (event, time)), merged, X)


def test_rows_may_be_cut_in_two_by_their_weights_to_the_last_bit(coarse):
    X, event, time = coarse
    share = np.random.default_rng(0).integers(1, 8, size=len(X)) / 8
    rows, weight = np.tile(np.arange(len(X)), 2), np.concatenate([share, 1 - share])
    halves = _coarse_fit(X[rows], (event[rows], time[rows]), sample_weight=weight)
    _require_equal(_coarse_fit(X, (event, time)), halves, X)


def test_rows_may_be_cut_in_two_in_time_to_the_last_bit(coarse):
    X, event, time = coarse
    rows = np.concatenate([np.arange(len(X)), np.flatnonzero(time > 1)])
    is_later = np.arange(rows.size) >= len(X)
    end = np.where(is_later | (time[rows] == 1), time[rows], 1.0)
    pieces = _coarse_fit(
        X[rows],
        (event[rows] & (end == time[rows]), end),
        entry=np.where(is_later, 1.0, 0.0),
        id=rows,
        min_samples_leaf=5,
    )
    _require_equal(_coarse_fit(X, (event, time), min_samples_leaf=5), pieces, X)


def _require_equal(one, other, X):
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.stage_evidence_, other.stage_evidence_)
    np.testing.assert_array_equal(one.column_probability_, other.column_probability_)


def test_predictions_go_together(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(2, 2).fit(X, y)
    survival = model.predict_survival_function(X.head(5), times=[365, 1000])
    hazard = model.predict_cumulative_hazard_function(X.head(5), times=[365, 1000])
    np.testing.assert_allclose(survival, np.exp(-hazard))
    risk = model.predict(X.head(5))
    np.testing.assert_allclose(hazard, np.outer(risk, model.baseline_.at([365, 1000])))
    curves = model.predict_survival_function(X.head(5))
    np.testing.assert_allclose([curve(1000) for curve in curves], survival[:, 1])
    at_steps = model.predict_survival_function(X.head(5), return_array=True)
    assert at_steps.shape == (5, model.unique_times_.size)
    for median, curve in zip(model.predict_median(X.head(5)), curves, strict=True):
        assert median == np.inf or curve(median) <= 0.5


def test_it_predicts_new_rows_better_than_the_tree_that_is_the_best_on_the_rows_seen(gbsg2):
    X, y = gbsg2
    gains = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:200], order[200:]
        losses = [
            model.fit(X.iloc[train], y[train]).loss(X.iloc[test], y[test])
            for model in (SurTree(2), SurTreeBayes())
        ]
        gains.append(losses[0] - losses[1])
    assert min(gains) > 0


def test_a_column_that_explains_nothing_is_hardly_asked(gbsg2):
    X, y = gbsg2
    noise = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    asked = dict(zip(noise, SurTreeBayes(2, 1).fit(noise, y).column_probability_, strict=True))
    assert asked["positive_nodes"] > 0.99
    assert asked["noise"] < 0.1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_saved_model_predicts_to_the_last_bit(tmp_path, depth):
    X, y = load_rossi()
    model = SurTreeBayes(depth, 2, n_thresholds=4).fit(X, y)
    model.save(tmp_path / "model.json")
    again = surtree.load(tmp_path / "model.json")
    assert isinstance(again, SurTreeBayes)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.first_questions_ == model.first_questions_
    assert again.status_ == "optimal"


def test_an_edited_file_says_so_and_a_damaged_one_is_refused(tmp_path, gbsg2):
    X, y = gbsg2
    path = tmp_path / "model.json"
    SurTreeBayes(1, 1, n_thresholds=2).fit(X, y).save(path)
    saved = json.loads(path.read_text())
    saved["stages"][0]["scale"] = 2.0
    path.write_text(json.dumps(saved))
    assert SurTreeBayes.load(path).status_ == "edited"
    saved["stages"][0]["tables"][0].append(1.0)
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=r"damaged.*cells"):
        SurTreeBayes.load(path)


def test_a_time_limit_keeps_the_stages_that_were_done(gbsg2):
    X, y = gbsg2
    with pytest.warns(ConvergenceWarning, match=r"after \d+ stages? of 100000"):
        model = SurTreeBayes(2, 100_000, time_limit=0.5).fit(X, y)
    assert model.status_ == "time_limit"
    assert 1 <= model.n_stages_ < 100_000
    with pytest.raises(ValueError, match="the first stage"):
        SurTreeBayes(2, time_limit=1e-9).fit(X, y)


def test_a_hook_stops_it(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(2, 10, progress=lambda now: now.done == 2).fit(X, y)
    assert (model.status_, model.n_stages_) == ("interrupted", 2)


def test_drawn_trees_average_to_the_first_stage(gbsg2):
    X, y = gbsg2
    model = SurTreeBayes(2, 1).fit(X, y)
    trees = SurTreeBayes(2, n_jobs=2).draw_trees(400, X, y)
    risk = np.array([tree.theta[tree.apply(X.head(40))] for tree in trees])
    error = risk.std(axis=0) / np.sqrt(len(trees))
    # Draws are random; the largest of 40 deviations is rarely above four.
    assert (abs(risk.mean(axis=0) - model.predict(X.head(40))) < 5 * error).all()
    for tree in trees[:20]:
        a = tree.objective.shrinkage
        np.testing.assert_allclose(tree.theta, (tree.events + a) / (tree.hazard + a), rtol=1e-12)
        assert tree.depth <= 2
        assert tree.n_samples.min() >= 5
    assert {tree.objective.shrinkage for tree in trees} <= {1.0, 3.0, 9.0, 27.0}
    again = model.draw_trees(10, X, y)
    assert [str(tree) for tree in again] == [str(tree) for tree in trees[:10]]
    with pytest.raises(ValueError, match="n_trees"):
        model.draw_trees(0, X, y)
    with pytest.raises(ValueError, match="cox=None"):
        SurTreeBayes(cox="offset").draw_trees(1, X, y)
    with pytest.raises(ValueError, match="time_limit"):
        SurTreeBayes(time_limit=1e-9).draw_trees(10_000, X, y)


def test_missing_values_and_new_categories_have_a_bin():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "group": random.choice(["a", "b", "c", "d"], size=200, p=[0.1, 0.5, 0.2, 0.2]),
            "dose": np.where(random.random(200) < 0.2, np.nan, random.normal(size=200)),
        }
    )
    y = random.random(200) < 0.7, random.exponential(np.where(X["group"] == "a", 0.1, 1.0))
    model = SurTreeBayes(2, 4).fit(X, y)
    new = pd.DataFrame({"group": ["a", "b", "z"], "dose": [np.nan, 0.0, 0.0]})
    with pytest.warns(UnseenCategoryWarning):
        risk = model.predict(new)
    # An unknown group is not the rare one that stands out.
    assert risk[0] > 2 * risk[2]
    assert np.isfinite(risk).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((5, 2)), ([True] * 5, [1.0, 2, 3, 4, 5])),
        (np.zeros((1, 1)), ([True], [1.0])),
        (np.arange(6.0)[:, None], ([False] * 5 + [True], [1.0, 1, 1, 1, 1, 1])),
    ],
    ids=["constant columns", "one row", "one event"],
)
def test_small_tables_work(X, y):
    risk = SurTreeBayes().fit(X, y).predict(X)
    assert np.isfinite(risk).all()
    assert (risk > 0).all()


def test_bad_parameters_are_named(gbsg2):
    X, y = gbsg2
    for settings, words in (
        ({"max_depth": 4}, "max_depth"),
        ({"n_stages": 0}, "n_stages"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"n_jobs": 0}, "n_jobs"),
    ):
        with pytest.raises(ValueError, match=words):
            SurTreeBayes(**settings).fit(X, y)
    wide = np.random.default_rng(0).normal(size=(300, 120))
    with pytest.raises(ValueError, match=r"GiB.*n_stages"):
        SurTreeBayes(3).fit(wide, (np.ones(300, dtype=bool), np.arange(1.0, 301.0)))


def test_averages_of_one_question_take_no_room_for_pairs_of_columns(tmp_path):
    wide = np.random.default_rng(0).normal(size=(60, 800))
    y = np.ones(60, dtype=bool), np.arange(1.0, 61.0)
    with pytest.raises(ValueError, match=r"GiB.*teacher=SurTreeBayes\(1\)"):
        SurTreeBayes().fit(wide, y)
    model = SurTreeBayes(1, 2).fit(wide, y)
    assert model.stages_[0].mean.values.shape == (1, 1 + 800 * 11)
    model.save(tmp_path / "model.json")
    again = SurTreeBayes.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(wide), model.predict(wide))
