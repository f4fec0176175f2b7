"""Thresholds of the user's own, and the median among quantiles."""

import numpy as np
import pandas as pd
import pytest

from surtree import Encoder, SurTree, SurTreeCV
from surtree.datasets import load_gbsg2
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.summary.findings import read_findings


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(30, 90, 200).astype(float), "x": rng.normal(size=200)})
    X.loc[:20, "age"] = np.nan
    y = np.empty(200, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(np.where(X["age"] > 65, 1.0, 3.0))
    y["event"] = rng.random(200) < 0.8
    return X, y


def thresholds_of(model, name):
    return sorted({cut.threshold for cut in model.encoder_.cuts_ if cut.name == name} - {None})


@pytest.mark.parametrize("estimator", [SurTree, SurTreeCV, GreedyTree, LocalSearchTree])
def test_a_column_has_the_given_thresholds_alone_and_the_others_quantiles(estimator):
    X, y = table()
    model = estimator(max_depth=2, thresholds={"age": [65, 50.5, 65]}).fit(X, y)
    model = getattr(model, "best_estimator_", model)
    assert thresholds_of(model, "age") == [50.5, 65.0]
    free = SurTree(max_depth=2).fit(X, y)
    assert thresholds_of(model, "x") == thresholds_of(free, "x")
    assert len(thresholds_of(free, "age")) == 10


def test_the_tree_is_the_best_over_these_thresholds():
    X, y = table()
    given = SurTree(2, thresholds={"age": [50, 65], "x": [0.0]}).fit(X, y)
    by_hand = pd.DataFrame({"age": np.select([X.age > 65, X.age > 50, X.age > 0], [2.0, 1, 0], 3)})
    by_hand["age"] = by_hand["age"].where(by_hand["age"] < 3)
    by_hand["x"] = (X["x"] > 0) * 1.0
    assert given.loss_ == pytest.approx(SurTree(2, min_support=0.0).fit(by_hand, y).loss_)
    assert all(cut.threshold in (50, 65, 0.0, None) for cut in given.tree_.cuts)


def test_given_thresholds_are_kept_however_few_rows_they_hold_for_and_dropped_if_none():
    X, y = table()
    X["age"] = X["age"].fillna(40)
    X.loc[5, "age"] = 99
    model = SurTree(1, thresholds={"age": [-1, 95, 200]}, min_support=0.1).fit(X[["age"]], y)
    assert [cut.rule for cut in model.encoder_.cuts_] == ["age > 95"]


def test_columns_without_names_are_x0_and_so_on():
    X, y = table()
    model = SurTree(1, thresholds={"x1": [0.25]}).fit(X.to_numpy(), y)
    assert thresholds_of(model, "x1") == [0.25]


def test_a_saved_model_keeps_its_thresholds(tmp_path):
    X, y = table()
    model = SurTree(2, thresholds={"age": np.array([50, 65])}).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    assert loaded.status_ == "optimal"
    assert loaded.thresholds == loaded.encoder_.thresholds == {"age": [50.0, 65.0]}
    assert loaded.apply(X).tolist() == model.apply(X).tolist()
    said = read_findings(loaded).certificate.questions
    assert said.startswith("up to 10 thresholds a column; thresholds that were given for 1 column")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([50], r"thresholds must be None, or a dictionary .*such as \{'age': \[50, 65\]\}"),
        ({"age": 50}, r"thresholds of 'age' must be finite numbers; got 50"),
        ({"age": [np.inf]}, r"thresholds of 'age' must be finite numbers"),
        ({"age": "50"}, r"thresholds of 'age' must be finite numbers"),
        ({"age": []}, r"thresholds of 'age' are none: give one, or leave the column out"),
        ({0: [50]}, r"thresholds must name columns by texts; got 0"),
        ({"Age": [50]}, r"given for 'Age', which is no column: did you mean 'age'\?"),
        ({"tumour": [50]}, r"given for 'tumour', which is no column: there are age, x"),
    ],
)
def test_what_is_refused(given, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        SurTree(thresholds=given).fit(X, y)


def test_categories_have_no_thresholds():
    X, y = load_gbsg2()
    with pytest.raises(ValueError, match=r"no column of numbers but of categories"):
        SurTree(thresholds={"tumor_grade": [1]}).fit(X, y)


@pytest.mark.parametrize("n_rows", [40, 41, 1000])
@pytest.mark.parametrize("n_thresholds", [1, 3, 9, 11])
def test_an_odd_number_of_quantiles_has_the_median(n_rows, n_thresholds):
    values = np.random.default_rng(n_rows).normal(size=n_rows)
    cuts = Encoder(n_thresholds=n_thresholds).fit(values[:, None]).cuts_
    above = [int((values > cut.threshold).sum()) for cut in cuts]
    assert {n_rows // 2, (n_rows + 1) // 2} & set(above)
