"""SurTreeCV: the scores of every size are those of separate fits, and the rules choose by them."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surtree import EventStratifiedKFold, HeldOutScores, SurTree, SurTreeCV
from surtree._support.json_file import digest
from surtree.data.table import read_table
from surtree.data.target import Target
from surtree.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    normalized_integrated_brier_score,
)
from surtree.model_selection._scoring import HeldOut
from surtree.solver.core import Problem
from surtree.validation.sizes import candidate_sizes
from surtree.validation.verdict import prediction_verdicts


def make_rows(n=240, seed=0):
    """Numbers, categories and missing values; censored, with risks that a deep tree tells."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": generator.uniform(size=n).round(2),
            "dose": generator.uniform(size=n).round(2),
            "grade": generator.choice(["I", "II", "III", "rare"], size=n, p=[0.5, 0.3, 0.18, 0.02]),
        }
    )
    X.loc[generator.uniform(size=n) < 0.1, "dose"] = np.nan
    risky = (X["age"] > 0.4) & (X["grade"] != "I")
    scale = np.select([risky & (X["dose"] > 0.5), risky, X["age"] > 0.4], [0.3, 1.5, 4.0], 8.0)
    time = generator.exponential(scale) + 1e-3
    limit = generator.uniform(0.1, 8, size=n)
    y = np.empty(n, dtype=[("died", bool), ("years", float)])
    y["died"], y["years"] = time <= limit, np.minimum(time, limit)
    return X, y


X, Y = make_rows()
FOLDS = list(EventStratifiedKFold(3).split(X, Y))
WEIGHT = np.tile([1.0, 2.0, 0.5], 80)
ENTRY = 0.4 * Y["years"]


SHRINKAGES = (0.0, 3.0)


def separate_fits(score, folds=FOLDS, **parameters):
    """Scores of every shrinkage, size and fold, from a fit of its own for each."""
    sizes = candidate_sizes(3, None)
    return [
        [
            score(
                SurTree(max_depth=depth, max_splits=splits, shrinkage=shrinkage, **parameters).fit(
                    X.iloc[train], Y[train]
                ),
                train,
                test,
            )
            for train, test in folds
        ]
        for shrinkage in SHRINKAGES
        for depth, splits in sizes
    ]


def held_out_scores(search):
    return np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)], axis=1)


# Scores


def loss_of_fold(model, train, test):
    return -model.loss(X.iloc[test], Y[test]) / len(test)


def concordance_of_fold(model, train, test):
    return concordance_index_censored(
        Y["died"][test], Y["years"][test], model.predict(X.iloc[test])
    ).cindex


def ipcw_of_fold(model, train, test):
    risk, last = model.predict(X.iloc[test]), Y["years"][train].max()
    return concordance_index_ipcw(Y[train], Y[test], risk, tau=last).cindex


def brier_of_fold(model, train, test):
    curves = model.predict_survival_function(X.iloc[test])
    return normalized_integrated_brier_score(Y[train], Y[test], curves)


SCORES = [
    ("loss", loss_of_fold),
    ("concordance", concordance_of_fold),
    ("concordance_ipcw", ipcw_of_fold),
    ("integrated_brier", brier_of_fold),
]


@pytest.mark.parametrize("leaf_curve", ["baseline", "kaplan-meier"])
@pytest.mark.parametrize(("scoring", "score"), SCORES)
def test_every_size_has_the_score_of_a_fit_of_its_own(scoring, score, leaf_curve):
    search = SurTreeCV(
        max_depth=3, cv=FOLDS, scoring=scoring, leaf_curve=leaf_curve, shrinkage=SHRINKAGES
    ).fit(X, Y)
    expected = separate_fits(score, leaf_curve=leaf_curve)
    np.testing.assert_allclose(held_out_scores(search), expected, rtol=1e-12)
    assert list(search.sizes_by_shrinkage_) == list(SHRINKAGES)
    by_shrinkage = [sizes.held_out for sizes in search.sizes_by_shrinkage_.values()]
    np.testing.assert_array_equal(np.concatenate(by_shrinkage), held_out_scores(search))
    # Three splits of depth two and of depth three are different trees.
    by_depth = search.sizes_.held_out[search.sizes_.max_splits == 3]
    assert by_depth.shape == (2, 3)
    assert (by_depth[0] != by_depth[1]).any()


def bootstrap_folds():
    """Training rows drawn with replacement; of the others, some held out more than once."""
    random = np.random.default_rng(0)
    for _ in range(3):
        train = random.integers(0, len(Y), len(Y))
        test = np.setdiff1d(np.arange(len(Y)), train)
        yield train, random.choice(test, 2 * len(test))


def concordance_as_passed(model, X, y):
    return concordance_index_censored(y["died"], y["years"], model.predict(X)).cindex


@pytest.mark.parametrize(
    ("scoring", "score"), [*SCORES, (concordance_as_passed, concordance_of_fold)]
)
def test_rows_that_a_fold_names_twice_count_twice(scoring, score):
    folds = list(bootstrap_folds())
    search = SurTreeCV(
        max_depth=3, cv=folds, scoring=scoring, min_samples_leaf=3, shrinkage=SHRINKAGES
    ).fit(X, Y)
    expected = separate_fits(score, folds, min_samples_leaf=3)
    np.testing.assert_allclose(held_out_scores(search), expected, rtol=1e-12)


def test_rows_that_a_fold_names_twice_are_rows_of_twice_the_weight():
    train, test = next(bootstrap_folds())
    search = SurTreeCV(max_depth=3, shrinkage=0.0, cv=[(train, test)]).fit(X, Y)
    once, weight = np.unique(train, return_counts=True)
    model = SurTree(max_depth=3).fit(X.iloc[once], Y[once], weight)
    assert search.sizes_.training_loss[-1, 0] == pytest.approx(model.loss_ / len(train), rel=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_scorers_are_given_rows_as_often_as_a_fold_names_them(frame):
    table = frame({name: X[name].to_list() for name in X})
    train, test = next(bootstrap_folds())

    def score(model, X, y):
        ages = X["age"].to_pylist() if isinstance(X, pa.Table) else X["age"].to_list()
        assert ages == table_ages
        assert y.tolist() == Y[test].tolist()
        return 0.0

    table_ages = X["age"].iloc[test].tolist()
    SurTreeCV(max_depth=1, cv=[(train, test)], scoring=score).fit(table, Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library_and_any_scorer(frame):
    table = frame({name: X[name].to_list() for name in X})

    def score(model, X, y):
        assert type(X) is type(table)
        return model.score(X, y)

    search = SurTreeCV(max_depth=3, cv=FOLDS, scoring=score, shrinkage=SHRINKAGES).fit(table, Y)
    np.testing.assert_allclose(held_out_scores(search), separate_fits(concordance_of_fold))
    assert search.sizes_.scoring == "score"


def test_a_scorer_is_given_what_a_fit_of_that_size_returns():
    seen = []
    parameters = {"min_samples_leaf": 5, "n_thresholds": 4, "leaf_curve": "kaplan-meier"}
    SurTreeCV(
        max_depth=3,
        cv=FOLDS,
        scoring=lambda model, X, y: seen.append(model) or 0.0,
        shrinkage=SHRINKAGES,
        **parameters,
    ).fit(X, Y)
    n_candidates = len(SHRINKAGES) * len(candidate_sizes(3, None))
    assert len(seen) == 3 * n_candidates
    for model in seen[:n_candidates]:
        again = clone(model).fit(X.iloc[FOLDS[0][0]], Y[FOLDS[0][0]])
        assert again.get_params() == model.get_params()
        assert set(vars(again)) == set(vars(model))
        assert again.tree_ == model.tree_
        assert [size.loss for size in again.path_] == [size.loss for size in model.path_]
        assert (again.loss_, again.gap_, again.status_) == (model.loss_, 0.0, "optimal")
        assert model.feature_names_in_.tolist() == ["age", "dose", "grade"]


def test_events_later_than_all_training_rows_do_not_count_in_unos_c():
    late = int(np.argmax(Y["years"]))
    y = Y.copy()
    y["died"][late] = True
    train = np.setdiff1d(np.arange(len(y)), [late])
    folds = [(train[::2], np.append(train[1::2], late)), (train[1::2], train[::2])]
    search = SurTreeCV(max_depth=1, cv=folds, scoring="concordance_ipcw").fit(X, y)
    assert 0.5 < search.best_score_ < 1


def test_scorers_of_scikit_learn():
    # Whole times, all of them events, so that scikit-learn's own metrics apply.
    search = SurTreeCV(max_depth=1, cv=FOLDS, scoring="neg_median_absolute_error")
    by_name = search.fit(X, Y["years"]).best_score_
    made = make_scorer(lambda y, risk: -np.median(np.abs(y - risk)))
    assert clone(search).set_params(scoring=made).fit(X, Y["years"]).best_score_ == by_name


@pytest.mark.parametrize(
    ("folds", "weight"),
    [
        (FOLDS, WEIGHT),
        (list(bootstrap_folds()), np.where(np.arange(len(Y)) % 7 == 0, 0.0, WEIGHT)),
    ],
)
def test_weights_and_entry_times_are_split_with_the_rows(folds, weight):
    search = SurTreeCV(max_depth=1, shrinkage=0.0, cv=folds).fit(X, Y, weight, ENTRY)
    for k, (train, test) in enumerate(folds):
        model = SurTree(max_depth=1).fit(X.iloc[train], Y[train], weight[train], ENTRY[train])
        loss = model.loss(X.iloc[test], Y[test], weight[test], ENTRY[test])
        found = search.cv_results_[f"split{k}_test_score"][-1]
        assert found == pytest.approx(-loss / weight[test].sum(), rel=1e-12)
        training = search.cv_results_[f"split{k}_train_score"][-1]
        assert training == pytest.approx(-model.loss_ / weight[train].sum(), rel=1e-12)
    expected = SurTree(**search.best_params_).fit(X, Y, weight, ENTRY)
    assert search.tree_ == search.best_estimator_.tree_ == expected.tree_


def test_weights_count_in_harrells_c():
    weighted = SurTreeCV(max_depth=1, cv=FOLDS, scoring="concordance").fit(X, Y, WEIGHT)
    train, test = FOLDS[0]
    model = SurTree(max_depth=1).fit(X.iloc[train], Y[train], WEIGHT[train])
    assert weighted.cv_results_["split0_test_score"][-1] == pytest.approx(
        model.score(X.iloc[test], Y[test], WEIGHT[test])
    )


def test_rows_of_weight_zero_are_absent():
    weight = np.where(np.arange(len(Y)) % 4 == 0, 0.0, 1.0)
    search = SurTreeCV(max_depth=2).fit(X, Y, weight)
    absent = SurTreeCV(max_depth=2).fit(X[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(search.sizes_.held_out, absent.sizes_.held_out)
    assert search.tree_ == absent.tree_
    given = SurTreeCV(max_depth=1, cv=FOLDS, scoring="integrated_brier").fit(X, Y, weight)
    kept = [
        tuple(np.searchsorted(np.flatnonzero(weight), part[weight[part] > 0]) for part in fold)
        for fold in FOLDS
    ]
    absent = SurTreeCV(max_depth=1, cv=kept, scoring="integrated_brier")
    absent.fit(X[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(given.sizes_.held_out, absent.sizes_.held_out)


def test_what_is_held_out_does_not_change_the_models_of_a_fold():
    train, test = FOLDS[0]
    shuffled = np.random.default_rng(0).permutation(test)
    other_y = Y.copy()
    other_y[test] = Y[shuffled]
    other_x = X.copy()
    other_x.iloc[test] = X.iloc[shuffled].to_numpy()
    other_x.loc[test, "age"] *= 100
    other_x.loc[test, "grade"] = "unheard of"

    def trees(X, y):
        seen = []
        search = SurTreeCV(
            max_depth=3,
            shrinkage=0.0,
            cv=[(train, test)],
            scoring=lambda model, X, y: seen.append((model.tree_, model.encoder_.cuts_)) or 0.0,
        )
        search.fit(X, y)
        return seen

    expected = trees(X, Y)
    assert len(expected) == len(candidate_sizes(3, None))
    assert trees(X, other_y) == expected
    assert trees(other_x, Y) == expected
    # What it is fitted on does.
    changed = Y.copy()
    changed[train] = Y[train[::-1]]
    assert trees(X, changed) != expected


# Sizes and rules


def test_sizes_are_all_pairs_that_differ():
    assert candidate_sizes(0, None) == [(0, 0)]
    assert candidate_sizes(2, None) == [(0, 0), (1, 1), (2, 2), (2, 3)]
    assert candidate_sizes(3, 4) == [(0, 0), (1, 1), (2, 2), (2, 3), (3, 3), (3, 4)]
    # Every other pair within the limits finds the tree of one of these.
    for depth in range(4):
        for splits in range(2**depth):
            fewer = min(depth, splits), splits
            assert fewer in candidate_sizes(3, None)
            wide = SurTree(max_depth=depth, max_splits=splits).fit(X, Y)
            narrow = SurTree(max_depth=fewer[0], max_splits=splits).fit(X, Y)
            assert wide.tree_ == narrow.tree_


def with_error(sizes, standard_error, rule="best"):
    """Return means of -4, -2, -2 and -1, the last one with a standard error."""
    held_out = np.repeat([[-4.0], [-2.0], [-2.0], [-1.0]], 3, axis=1)
    held_out[3] += np.array([-1.0, 0.0, 1.0]) * standard_error * np.sqrt(3)
    return replace(sizes, held_out=held_out, rule=rule)


@pytest.fixture(scope="module")
def scores():
    return with_error(SurTreeCV(max_depth=2, cv=FOLDS).fit(X, Y).sizes_, 0.5)


def test_the_best_size_and_the_smallest_within_a_standard_error(scores):
    assert scores.mean.tolist() == pytest.approx([-4, -2, -2, -1])
    assert scores.standard_error.tolist() == pytest.approx([0, 0, 0, 0.5])
    for error, smallest in ((0.5, 3), (0.99, 3), (1.01, 1), (2.99, 1), (3.01, 0)):
        by_rule = with_error(scores, error, "1se")
        assert (by_rule.best, by_rule.one_standard_error, by_rule.chosen) == (3, smallest, smallest)
        assert replace(by_rule, rule="best").chosen == 3


def test_of_equal_scores_the_smaller_tree_is_taken(scores):
    # Not equal to the last bit: one and the same partition may be added up in another order.
    equal = np.repeat([[-1.1], [-0.1], [-0.1 + 1e-16], [-0.1]], 3, axis=1)
    assert replace(scores, held_out=equal).best == 1


def test_the_table_says_which_size_is_best_and_which_is_chosen(scores):
    lines = str(replace(scores, training_loss=np.ones((4, 3)))).splitlines()
    assert lines[0] == "splits  depth  training loss  held-out loss  std. error"
    assert lines[1] == "     0      0         1.0000         4.0000      0.0000"
    assert lines[4] == "     3      2         1.0000         1.0000      0.5000  best, chosen"
    by_concordance = str(
        replace(scores, held_out=-scores.held_out, scoring="concordance", rule="1se")
    )
    assert "held-out concordance" in by_concordance
    assert by_concordance.splitlines()[1].endswith("4.0000      0.0000  best, chosen")


def test_lines_of_a_depth(scores):
    sizes = SurTreeCV(max_depth=3, cv=FOLDS).fit(X, Y).sizes_
    for depth, n_sizes in ((0, 1), (1, 2), (2, 4), (3, 8)):
        line = sizes.of_depth(depth)
        assert sizes.max_splits[line].tolist() == list(range(n_sizes))
        assert sizes.max_depth[line].max() == depth


def test_the_rule_of_one_standard_error_finds_the_true_size():
    right = 0
    for seed in range(10):
        generator = np.random.default_rng(seed)
        columns = generator.uniform(size=(2000, 4))
        scale = np.where(
            columns[:, 0] > 0.5,
            np.where(columns[:, 1] > 0.3, 1.0, 4.0),
            np.where(columns[:, 2] > 0.6, 16.0, 64.0),
        )
        time, limit = generator.exponential(scale), generator.exponential(3 * scale)
        y = np.empty(2000, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = time <= limit, np.minimum(time, limit) + 1e-9
        search = SurTreeCV(max_depth=3, rule="1se", refit=False).fit(columns, y)
        right += abs(search.best_params_["max_splits"] - 3) <= 1
    assert right >= 9


# As scikit-learn users expect it


def test_results_are_those_of_a_grid_search():
    search = SurTreeCV(max_depth=3, cv=FOLDS, scoring="concordance", shrinkage=SHRINKAGES)
    search.fit(X, Y)
    pairs = [
        {"max_depth": [d], "max_splits": [k], "shrinkage": [shrinkage]}
        for shrinkage in SHRINKAGES
        for d, k in candidate_sizes(3, None)
    ]
    grid = GridSearchCV(SurTree(), pairs, cv=FOLDS).fit(X, Y)
    for name in (
        *(f"split{k}_test_score" for k in range(3)),
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
        "param_max_depth",
        "param_max_splits",
        "param_shrinkage",
    ):
        np.testing.assert_allclose(search.cv_results_[name], grid.cv_results_[name].astype(float))
    assert search.cv_results_["params"] == grid.cv_results_["params"]
    assert set(grid.cv_results_) == set(search.cv_results_)
    assert (search.cv_results_["mean_fit_time"] > 0).all()
    assert search.best_params_ == grid.best_params_
    assert search.best_score_ == pytest.approx(grid.best_score_)
    assert search.best_index_ == grid.best_index_
    assert search.n_splits_ == 3
    np.testing.assert_array_equal(search.predict(X), grid.predict(X))
    assert pd.DataFrame(search.cv_results_).shape[0] == len(pairs)


def test_it_predicts_as_its_best_estimator_does():
    search = SurTreeCV(max_depth=2, leaf_curve="kaplan-meier").fit(X, Y)
    best = search.best_estimator_
    assert best.get_params()["leaf_curve"] == "kaplan-meier"
    for method in ("predict", "apply", "predict_median"):
        np.testing.assert_array_equal(getattr(search, method)(X), getattr(best, method)(X))
    for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
        np.testing.assert_array_equal(
            getattr(search, method)(X, return_array=True),
            getattr(best, method)(X, return_array=True),
        )
    assert search.score(X, Y) == best.score(X, Y)
    assert search.loss(X, Y) == best.loss(X, Y)
    assert search.get_depth() == best.get_depth()
    np.testing.assert_array_equal(search.feature_importances_, best.feature_importances_)
    again = pickle.loads(pickle.dumps(search))
    assert again.tree_ == search.tree_
    assert again.sizes_ == search.sizes_


def test_pipelines_and_outer_cross_validation():
    numbers = X[["age", "dose"]]
    pipeline = make_pipeline(StandardScaler(), SurTreeCV(max_depth=2, cv=3))
    scores = cross_val_score(pipeline, numbers, Y, cv=EventStratifiedKFold(3))
    assert scores.mean() > 0.55
    outer = GridSearchCV(SurTreeCV(max_depth=2, cv=3), {"rule": ["best", "1se"]}, cv=3)
    assert outer.fit(X, Y).best_params_["rule"] in ("best", "1se")


def test_fit_changes_no_parameter():
    search = SurTreeCV(max_depth=2, cv=4, rule="1se", max_splits=2, n_thresholds=5)
    before = search.get_params()
    search.fit(X, Y)
    assert search.get_params() == before
    assert clone(search).fit(X, Y).tree_ == search.tree_
    assert search.best_estimator_.n_thresholds == 5
    assert search.sizes_.max_splits.max() == 2


def test_without_refit_there_is_nothing_to_predict_with():
    search = SurTreeCV(max_depth=1, cv=3).fit(X, Y)
    search.set_params(refit=False).fit(X, Y)
    assert search.best_params_["max_splits"] in (0, 1)
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(NotFittedError, match=r"fitted with refit=False, .* SurTree"):
        search.predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SurTreeCV().predict(X)


def test_splitters_and_masks():
    by_splitter = SurTreeCV(max_depth=1, cv=KFold(3)).fit(X, Y)
    masks = []
    for train, test in KFold(3).split(X):
        masks.append((np.isin(np.arange(len(Y)), train), np.isin(np.arange(len(Y)), test)))
    by_masks = SurTreeCV(max_depth=1, cv=iter(masks)).fit(X, Y)
    np.testing.assert_array_equal(by_splitter.sizes_.held_out, by_masks.sizes_.held_out)
    by_number = SurTreeCV(max_depth=1, cv=3).fit(X, Y)
    by_folds = SurTreeCV(max_depth=1, cv=EventStratifiedKFold(3)).fit(X, Y)
    np.testing.assert_array_equal(by_number.sizes_.held_out, by_folds.sizes_.held_out)


# Where folds run


def test_threads_and_processes_find_the_same():
    alone = SurTreeCV(max_depth=2, cv=4).fit(X, Y)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend):
            found = SurTreeCV(max_depth=2, cv=4, n_jobs=2).fit(X, Y)
        np.testing.assert_array_equal(found.sizes_.held_out, alone.sizes_.held_out)
        assert found.tree_ == alone.tree_


def test_a_dask_cluster_runs_the_folds():
    distributed = pytest.importorskip("distributed", reason="pip install dask[distributed]")

    def on_a_worker(model, X, y):
        return float(distributed.get_worker() is not None) + model.score(X, y)

    seen = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        found = SurTreeCV(max_depth=2, cv=4, progress=seen.append).fit(X, Y)
        scored = SurTreeCV(max_depth=1, cv=4, scoring=on_a_worker).fit(X, Y)
    alone = SurTreeCV(max_depth=2, cv=4).fit(X, Y)
    np.testing.assert_array_equal(found.sizes_.held_out, alone.sizes_.held_out)
    assert found.tree_ == alone.tree_
    assert [step.done for step in seen] == [1, 2, 3, 4]
    # Outside of a worker, asking for it is an error.
    assert scored.best_score_ > 1.5
    with pytest.raises(ValueError, match="No worker"):
        SurTreeCV(max_depth=1, cv=4, scoring=on_a_worker).fit(X, Y)


def test_progress_is_reported_fold_by_fold(capsys):
    for n_jobs in (None, 2):
        seen = []
        search = SurTreeCV(max_depth=2, cv=4, progress=seen.append, n_jobs=n_jobs).fit(X, Y)
        assert [(step.done, step.total) for step in seen] == [(k, 4) for k in range(1, 5)]
        assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
        assert seen[0].eta == pytest.approx(3 * seen[0].seconds)
        assert seen[1].eta == pytest.approx(seen[1].seconds)
        assert seen[-1].eta == 0
        np.testing.assert_array_equal(
            search.sizes_.held_out, SurTreeCV(max_depth=2, cv=4).fit(X, Y).sizes_.held_out
        )
    assert capsys.readouterr() == ("", "")


def test_progress_does_not_wait_for_the_last_fold():
    scored, done = [], []
    SurTreeCV(
        max_depth=1,
        shrinkage=0.0,
        cv=4,
        scoring=lambda model, X, y: scored.append(model) or 0.0,
        progress=lambda step: done.append(len(scored)),
    ).fit(X, Y)
    assert done == [2, 4, 6, 8]


# How searches end


def ends_as(status, monkeypatch):
    def solve(*arguments, **options):
        assert options["n_jobs"] is None
        return replace(original(*arguments, **options), status=status)

    original = Problem.solve
    monkeypatch.setattr(Problem, "solve", solve)


def test_a_search_that_ran_out_of_time_is_not_called_optimal(monkeypatch):
    assert SurTreeCV(max_depth=1, cv=3).fit(X, Y).status_ == "optimal"
    ends_as("time_limit", monkeypatch)
    assert SurTreeCV(max_depth=1, cv=3, refit=False).fit(X, Y).status_ == "time_limit"


def test_an_interrupt_ends_all_folds(monkeypatch):
    ends_as("interrupted", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        SurTreeCV(max_depth=1, cv=3).fit(X, Y)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number, from 0 to 20; got -1"),
        ({"min_events_leaf": -1}, "min_events_leaf must be"),
        ({"leaf_curve": "cox"}, "leaf_curve must be one of"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"progress": "bar"}, "progress must be a function or None; got 'bar'"),
        ({"rule": "2se"}, "rule must be one of .*'1se'.*; got '2se'"),
        (
            {"scoring": "auc of some kind"},
            "scoring must be one of 'loss', .* got 'auc of some kind",
        ),
        ({"scoring": None}, "scoring must be one of 'loss', .* got None"),
        ({"cv": None}, "cv must be a number of folds, a splitter or pairs"),
        ({"cv": True}, "cv must be a number of folds, a splitter or pairs .* got True"),
        ({"cv": 1}, "cv must be a whole number, 2 or more; got 1"),
        ({"cv": []}, "cv has no folds"),
        ({"cv": [([0, 1], [240])]}, "A fold of cv names rows that X has not: index 240"),
        ({"cv": [(np.zeros(9, dtype=bool), [0])]}, "A fold of cv names rows that X has not"),
        ({"cv": 500}, "n_splits=500 greater than the number of samples: n_samples=240"),
        ({"cv": [FOLDS[0]], "rule": "1se"}, "rule='1se' needs two folds or more"),
        ({"cv": [([], [0, 1])]}, "A fold of cv has 0 rows to fit on and 2 held-out rows"),
        ({"scoring": lambda *_: np.nan, "cv": 3}, "gave 36 of 36 scores that are not finite"),
        ({"shrinkage": -1}, "shrinkage must be 0 or a number from 1e-06 to 1000; got -1"),
        ({"shrinkage": [0, "a"]}, "shrinkage must be 0 or a number .* got 'a'"),
        ({"shrinkage": []}, r"shrinkage must be a number or several to choose from; got \[\]"),
        ({"shrinkage": "auto"}, "shrinkage must be a number or several .* got 'auto'"),
        ({"shrinkage": None}, "shrinkage must be a number or several .* got None"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    with pytest.raises(ValueError, match=message):
        SurTreeCV(**({"max_depth": 2} | parameters)).fit(X, Y)


def test_a_single_fold_has_no_standard_error():
    search = SurTreeCV(max_depth=1, cv=[FOLDS[0]]).fit(X, Y)
    assert np.isnan(search.sizes_.standard_error).all()
    assert str(search.sizes_).endswith("std. error: a single fold has none")


def test_rows_that_cannot_be_used():
    censored = Y.copy()
    censored["died"] = False
    with pytest.raises(ValueError, match="All 240 rows are censored"):
        SurTreeCV().fit(X, censored)
    censored["died"][:4] = True
    with pytest.raises(ValueError, match="cv=10: 4 of 240 rows have an event, so 10 folds"):
        SurTreeCV().fit(X, censored)
    censored["died"][1:4] = False
    with pytest.raises(ValueError, match=r"cv=3: 1 of 240 rows has an event, .* at least two rows"):
        SurTreeCV(cv=3).fit(X, censored)
    with pytest.raises(ValueError, match="240, 239"):
        SurTreeCV().fit(X, Y[:-1])


@pytest.mark.parametrize("scoring", ["concordance_ipcw", "integrated_brier"])
def test_metrics_against_censoring_count_weights_and_entry_times(scoring):
    # Twice the weight is twice the rows, which a prior would tell.
    search = SurTreeCV(max_depth=1, cv=3, scoring=scoring, shrinkage=0.0)
    plain = search.fit(X, Y).best_score_
    assert search.fit(X, Y, np.full(len(Y), 2.0)).best_score_ == pytest.approx(plain)
    late = np.where(np.arange(len(Y)) % 3, 0.0, ENTRY)
    for given in ({"sample_weight": WEIGHT}, {"entry": late}):
        assert abs(search.fit(X, Y, **given).best_score_ - plain) > 1e-6


def test_an_error_says_in_which_fold_it_happened():
    y = Y.copy()
    y["died"][FOLDS[1][0]] = False
    with pytest.raises(ValueError, match="are censored") as caught:
        SurTreeCV(max_depth=1, cv=FOLDS).fit(X, y)
    assert caught.value.__notes__ == ["This happened in fold 2 of the cross-validation."]


def test_trees_share_the_answers_of_held_out_rows_but_not_where_missing_values_go():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    tree = SurTree(max_depth=1).fit(X, [4.0, 3.0, 2.0, 1.0]).tree_
    assert tree.cuts[0].missing is None
    weights = (np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
    trees = [replace(tree, weight=weight) for weight in weights]
    table = read_table(BaseEstimator(), np.array([[0.0], [np.nan], [1.0]]), reset=True)
    target = Target(np.ones(3, dtype=bool), np.ones(3))
    held_out = HeldOut(table, target, np.ones(3), target, np.ones(3), None, None)
    assert [held_out.leaves(tree).tolist() for tree in trees] == [[1, 1, 2], [1, 2, 2]]
    assert [held_out.leaves(tree).tolist() for tree in trees] == [
        tree.apply([[0.0], [np.nan], [1.0]]).tolist() for tree in trees
    ]


def test_a_saved_search_is_the_model_that_it_chose(tmp_path):
    search = SurTreeCV(max_depth=2, cv=3, leaf_curve="kaplan-meier").fit(X, Y)
    search.save(tmp_path / "model.json")
    model = SurTree.load(tmp_path / "model.json")
    assert {name: model.get_params()[name] for name in search.best_params_} == search.best_params_
    assert (model.status_, model.loss_) == (search.status_, search.best_estimator_.loss_)
    np.testing.assert_array_equal(model.predict(X), search.predict(X))
    np.testing.assert_array_equal(model.predict_median(X), search.predict_median(X))
    assert model.held_out_ == search.held_out_
    assert model.sizes_ == search.sizes_


# Shrinkage and held-out scores


def test_shrinkage_is_chosen_with_the_size():
    search = SurTreeCV(max_depth=2, cv=FOLDS, shrinkage=[10, 0, 1]).fit(X, Y)
    assert search.cv_results_["param_shrinkage"].tolist() == [0.0] * 4 + [1.0] * 4 + [10.0] * 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    best = search.cv_results_["params"][search.best_index_]
    assert search.best_params_ == best
    assert search.sizes_.shrinkage == best["shrinkage"] == search.best_estimator_.shrinkage
    one = SurTreeCV(max_depth=2, cv=FOLDS, shrinkage=best["shrinkage"]).fit(X, Y)
    assert one.tree_ == search.tree_


def test_the_rule_of_one_standard_error_keeps_the_best_shrinkage():
    best = SurTreeCV(max_depth=3, cv=FOLDS).fit(X, Y)
    small = SurTreeCV(max_depth=3, cv=FOLDS, rule="1se").fit(X, Y)
    assert small.sizes_.shrinkage == best.sizes_.shrinkage
    assert small.best_params_["max_splits"] <= best.best_params_["max_splits"]
    assert small.best_index_ == small.cv_results_["params"].index(small.best_params_)


def test_equal_scores_go_to_the_smallest_size_and_the_least_shrinkage():
    search = SurTreeCV(max_depth=2, cv=FOLDS, scoring=lambda *_: 1.0, shrinkage=(3, 1)).fit(X, Y)
    assert search.best_params_ == {"max_depth": 0, "max_splits": 0, "shrinkage": 1.0}


def assert_scores(scores, k, model, train, test):
    single = SurTree(max_depth=0).fit(X.iloc[train], Y[train])
    assert scores.loss[k] == pytest.approx(-loss_of_fold(model, train, test))
    assert scores.loss_without_tree[k] == pytest.approx(-loss_of_fold(single, train, test))
    assert scores.concordance[k] == pytest.approx(concordance_of_fold(model, train, test))
    assert scores.brier[k] == pytest.approx(brier_of_fold(model, train, test))


def test_a_fold_is_scored_with_the_size_that_the_others_choose_less_half_of_its_own_score():
    search = SurTreeCV(max_depth=3, cv=FOLDS).fit(X, Y)
    table, sizes = held_out_scores(search), []
    for k, (train, test) in enumerate(FOLDS):
        weight = np.where(np.arange(3) == k, -0.5, 1.0)
        sizes.append(search.cv_results_["params"][int(np.argmax(table @ weight))])
        model = SurTree(**sizes[-1]).fit(X.iloc[train], Y[train])
        assert_scores(search.held_out_, k, model, train, test)
    assert any(size != search.best_params_ for size in sizes)
    scores = search.held_out_
    assert scores.corrected
    assert scores.mean("loss") > -search.best_score_
    independent = scores.brier.std(ddof=1) / np.sqrt(3)
    assert scores.standard_error("brier") == pytest.approx(independent * np.sqrt(1 + 3 / 2))
    assert search.best_estimator_.held_out_ is scores
    assert SurTree().fit(X, Y).held_out_ is None


@pytest.mark.parametrize("cv", [ShuffleSplit(3, test_size=0.5, random_state=0), FOLDS[:1]])
def test_folds_that_share_held_out_rows_or_a_single_one_are_not_corrected(cv):
    search = SurTreeCV(max_depth=2, cv=cv).fit(X, Y)
    scores = search.held_out_
    folds = cv if isinstance(cv, list) else list(cv.split(X))
    for k, (train, test) in enumerate(folds):
        model = SurTree(**search.best_params_).fit(X.iloc[train], Y[train])
        assert_scores(scores, k, model, train, test)
    assert not scores.corrected
    assert not scores.beats_no_tree
    assert "not corrected for the choice of size" in str(scores)
    (verdict,) = prediction_verdicts(None, scores, search.tree_.n_splits)
    assert verdict.heading == "Not known to be better than no tree"


def test_repeated_folds_are_corrected_by_those_of_the_same_repetition():
    repeated = [
        fold for seed in (1, 2) for fold in EventStratifiedKFold(3, random_state=seed).split(X, Y)
    ]
    both = SurTreeCV(max_depth=3, cv=repeated).fit(X, Y).held_out_
    assert both.corrected
    for first in (0, 3):
        alone = SurTreeCV(max_depth=3, cv=repeated[first : first + 3]).fit(X, Y).held_out_
        np.testing.assert_allclose(both.loss[first : first + 3], alone.loss)


@pytest.mark.parametrize("rule", ["best", "1se"])
def test_two_folds_are_corrected_under_every_rule(rule):
    scores = SurTreeCV(max_depth=2, cv=2, rule=rule).fit(X, Y).held_out_
    assert scores.corrected
    assert np.isfinite(scores.loss).all()


def test_noise_looks_less_good_once_corrected():
    gains = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        columns = generator.normal(size=(100, 6))
        y = (np.ones(100, dtype=bool), generator.exponential(size=100))
        search = SurTreeCV(max_depth=2, cv=5).fit(columns, y)
        scores = search.held_out_
        chosen = search.best_score_ + scores.mean("loss_without_tree")
        gains.append((chosen, scores.mean("loss_without_tree") - scores.mean("loss")))
    chosen, corrected = np.mean(gains, axis=0)
    assert chosen > 0.005
    assert corrected < 0


def test_a_score_that_cannot_be_computed_is_nan_and_null_in_a_file(tmp_path):
    person, is_second = np.arange(len(Y)) // 2, np.arange(len(Y)) % 2 > 0
    start, y = np.where(is_second, 100.0, 0.0), Y.copy()
    y["years"] = np.where(is_second, 100 + Y["years"], np.minimum(Y["years"], 100))
    parts = SurTreeCV(max_depth=1, cv=3).fit(X, y, entry=start, id=person)
    scores = parts.held_out_
    assert np.isnan(scores.brier).all()
    assert np.isnan(scores.mean("brier"))
    assert np.isfinite(scores.concordance).all()
    assert scores.missing == [
        "reduction of the Brier score: not estimable: 160 of 160 rows are parts of persons with "
        "several rows: "
        "a score that weighs rows against censoring needs one prediction for each person"
    ]
    assert scores.missing[0] in str(scores)
    parts.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json").held_out_
    assert str(loaded) == str(scores)
    np.testing.assert_array_equal(loaded.loss, scores.loss)


def test_an_edited_file_has_no_held_out_scores(tmp_path):
    path = tmp_path / "model.json"
    SurTreeCV(max_depth=1, cv=3).fit(X, Y).save(path)
    assert SurTree.load(path).held_out_ is not None
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"time_unit": null', '"time_unit": "days"'), encoding="utf-8")
    edited = SurTree.load(path)
    assert (edited.status_, edited.held_out_, edited.sizes_) == ("edited", None, None)


def test_a_tree_beats_none_by_more_than_its_clear_number_of_standard_errors():
    ones = np.ones(4)
    noise = np.array([-1.0, 1.0, -1.0, 1.0])  # a standard error of 0.88
    for saved, beats in ((1.05, False), (1.07, True), (-1.0, False)):
        scores = HeldOutScores(ones - saved + noise, ones, ones, ones, corrected=True)
        assert scores.beats_no_tree == beats


def test_scores_in_a_file_of_an_earlier_version_are_not_said_to_be_corrected(tmp_path):
    path = tmp_path / "model.json"
    SurTreeCV(max_depth=1, cv=3).fit(X, Y).save(path)
    saved = json.loads(path.read_text(encoding="utf-8"))
    del saved["held_out"]["corrected"], saved["held_out"]["causes"], saved["digest"]
    saved["digest"] = digest(saved)
    path.write_text(json.dumps(saved), encoding="utf-8")
    assert SurTree.load(path).held_out_.corrected is False


def test_a_search_without_a_model_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="refit=False"):
        SurTreeCV(max_depth=1, cv=2, refit=False).fit(X, Y).save(tmp_path / "model.json")
    with pytest.raises(NotFittedError):
        SurTreeCV().save(tmp_path / "model.json")
