"""Columns are called what people call them, and what cannot be used is refused with a remedy."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import surtree
from surtree import EventStratifiedKFold, SurTree, SurTreeBayes, SurTreeCV, audit_tree, write_report
from surtree.datasets import load_gbsg2
from surtree.export import export_python, export_sql, export_text
from surtree.heuristics import GreedyTree

TABLE, Y = load_gbsg2()
X = TABLE[["age", "tumor_size", "positive_nodes"]]
NUMBERS = [5, 3, 7]
LEVELS = pd.MultiIndex.from_tuples([("person", "age"), ("tumor", "size"), ("nodes", "")])


def labelled(labels):
    return X.set_axis(labels, axis="columns")


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (NUMBERS, ["5", "3", "7"]),
        (LEVELS, ["person_age", "tumor_size", "nodes"]),
        ([1, 2, 3], ["1", "2", "3"]),  # none of them is a position
        ([0.5, 1.5, 2.5], ["0.5", "1.5", "2.5"]),
        (pd.MultiIndex.from_tuples([("a_b", "c"), ("a", "b_c"), ("d", "e")]), None),
    ],
)
def test_rules_say_the_names_of_columns_that_are_no_texts(labels, texts):
    frame = labelled(labels)
    texts = list(map(str, frame.columns)) if texts is None else texts
    model = SurTree(max_depth=2).fit(frame, Y)
    named = SurTree(max_depth=2).fit(X.set_axis(texts, axis="columns"), Y)
    assert str(model.tree_) == str(named.tree_)
    assert model.tree_ == named.tree_
    assert model.encoder_.cuts_ == named.encoder_.cuts_
    for export in (export_text, export_sql, export_python):
        assert export(model) == export(named)
    # scikit-learn wants texts there, or nothing.
    for one in (model, model.encoder_):
        assert not hasattr(one, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), named.predict(X.set_axis(texts, axis=1)))
    model.encoder_.transform(frame)


def test_columns_that_are_numbered_from_zero_have_no_names():
    for frame in (labelled([0, 1, 2]), labelled(range(3))):
        assert "x2 <=" in str(SurTree(max_depth=1).fit(frame, Y).tree_)


@pytest.mark.parametrize("labels", [NUMBERS, [0, 1, 2], LEVELS])
def test_other_labels_than_those_of_training_are_refused(labels):
    frame = labelled(labels)
    model = SurTree(max_depth=1).fit(frame, Y)
    for other in (frame[frame.columns[::-1]], labelled([5, 3, 8])):
        with pytest.raises(ValueError, match=r"of X \(counted from 0\) is .* was fitted with"):
            model.predict(other)
    with pytest.raises(ValueError, match="X has 4 features, but SurTree is expecting 3"):
        model.predict(pd.concat([frame, frame[frame.columns[:1]].set_axis([9], axis=1)], axis=1))
    np.testing.assert_array_equal(model.predict(frame.to_numpy()), model.predict(frame))
    # A fit forgets what the last one knew.
    again = model.fit(X.to_numpy(), Y)
    assert "x2 <=" in str(again.tree_)
    again.predict(labelled([5, 3, 8]))


@pytest.mark.parametrize(
    "model", [SurTree(max_depth=1), SurTreeBayes(1, 2)], ids=["tree", "average"]
)
def test_files_and_pickles_keep_names_that_are_no_texts(model, tmp_path):
    frame = labelled(NUMBERS)
    fitted = clone(model).fit(frame, Y)
    fitted.save(tmp_path / "model.json")
    again = surtree.load(tmp_path / "model.json")
    assert again.status_ == "optimal"
    for one in (again, pickle.loads(pickle.dumps(fitted))):
        assert not hasattr(one, "feature_names_in_")
        np.testing.assert_array_equal(one.predict(frame), fitted.predict(frame))
        with pytest.raises(ValueError, match=r"is 7, but \w+ was fitted with 5 there"):
            one.predict(frame[[7, 3, 5]])
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_searches_pages_and_audits_know_these_names(tmp_path):
    frame = labelled(NUMBERS)

    def scorer(model, held_out, y):
        return model.score(held_out, y)  # as the user passed it, without a warning

    search = SurTreeCV(max_depth=1, cv=EventStratifiedKFold(2), scoring=scorer).fit(frame, Y)
    page = write_report(search, tmp_path / "page.html").read_text("utf-8")
    assert re.search(r"\b7 (&lt;=|≤)", page)
    greedy = GreedyTree(max_depth=1).fit(frame, Y)
    assert audit_tree(greedy, frame, Y).optimum.tree.cuts[0].name == "7"
    warm = SurTree(max_depth=1).fit(frame[[7, 5, 3]], Y, init=search)
    assert warm.tree_.cuts[0].name == "7"


@pytest.mark.parametrize(
    ("library", "choose"),
    [
        (lambda frame: frame, "X[model.feature_names_in_]"),
        (pl.from_pandas, "X.select(model.feature_names_in_.tolist())"),
        (pa.Table.from_pandas, "X.select(model.feature_names_in_.tolist())"),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_extra_or_reordered_columns_are_refused_with_what_to_type(library, choose):
    model = SurTree(max_depth=1).fit(X, Y)
    for other in (X.assign(weight=1.0), X[X.columns[::-1]]):
        table = library(other)
        with pytest.raises(ValueError, match="The feature names should match") as raised:
            model.predict(table)
        assert str(raised.value).endswith(f"\nPass {choose}")
        chosen = eval(choose, {"X": table, "model": model})
        np.testing.assert_array_equal(model.predict(chosen), model.predict(X))
    # That is no remedy where a column is not there.
    with pytest.raises(ValueError, match="now missing") as raised:
        model.predict(library(X.drop(columns="age")))
    assert "feature_names_in_" not in str(raised.value)


def test_a_dict_of_columns_is_refused_without_printing_it():
    columns = {name: X[name].to_numpy() for name in X}
    model = SurTree(max_depth=1).fit(X, Y)
    for ask in (lambda: SurTree().fit(columns, Y), lambda: model.predict(columns)):
        with pytest.raises(ValueError, match="X is a dict of 3 columns: make a data frame of it"):
            ask()


def test_periods_are_refused_as_dates_are():
    for periods in (pd.period_range("2000", periods=len(X), freq="M"), [pd.Period("2001")]):
        cells = pd.Series(periods, index=X.index[: len(periods)])
        for column in (cells, cells.astype(object)):
            with pytest.raises(ValueError, match="Column 'since' holds dates or times: turn it"):
                SurTree().fit(X.assign(since=column), Y)
