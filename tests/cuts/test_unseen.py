"""Categories that training never had count as missing values, everywhere, and with one warning."""

from __future__ import annotations

import json
import pickle
import re
import warnings
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import (
    EventStratifiedKFold,
    SurTree,
    SurTreeCV,
    Tree,
    UnseenCategoryWarning,
    audit_tree,
)
from surtree.datasets import load_gbsg2
from surtree.export import export_json, export_python, export_sql
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

MODELS = {
    "SurTree": SurTree(max_depth=3, max_categories=3, min_support=0.0),
    "GreedyTree": GreedyTree(max_depth=3, max_categories=3, min_support=0.0),
    "LocalSearchTree": LocalSearchTree(max_depth=3, n_restarts=3, min_support=0.0),
    "ConditionalInferenceTree": ConditionalInferenceTree(alpha=0.9, min_split=2, min_bucket=1),
}
KNOWN = ("a", "A", "b c", "it's", "3")
NEVER = ("never", "B C", "aa", "ß", "3.5", "NULL")


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[str | None]], list[float]]:
    """Draw one to three columns of text, some with missing values, and a time for each row."""
    n = draw(st.integers(6, 24))
    table: dict[str, list[str | None]] = {}
    for name in draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=3, unique=True)):
        cell: st.SearchStrategy[Any] = st.sampled_from(KNOWN)
        if draw(st.booleans()):
            cell |= st.none()
        table[name] = draw(st.lists(cell, min_size=n, max_size=n))
    return table, draw(st.permutations([float(k + 1) for k in range(n)]))


def quietly(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        return call(*arguments)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(drawn=tables(), data=st.data())
def test_an_unseen_category_goes_where_a_missing_value_goes(name, drawn, data):
    table, time = drawn
    X = pd.DataFrame(table, dtype=object)
    model = MODELS[name].fit(X, np.array(time))
    tree = model.tree_
    # Unseen cells here and there, and the same rows with missing cells instead.
    hidden = {c: data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))) for c in X}
    never = {c: data.draw(st.sampled_from(NEVER)) for c in X}
    missing = X.mask(pd.DataFrame(hidden), None).astype(object).where(lambda x: x.notna(), None)
    unseen = X.copy()
    for column, rows in hidden.items():
        unseen.loc[rows, column] = never[column]
    expected = model.apply(missing)

    asked = {cut.name for cut in tree.cuts}
    counts = {
        column: int(np.sum([cell == never[column] for cell in unseen[column]]))
        for column in X
        if column in asked and any(hidden[column])
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model.apply(unseen).tolist() == expected.tolist()
    if not counts:
        assert not caught
    else:
        (warning,) = caught
        assert warning.category is UnseenCategoryWarning
        said = re.findall(r"in (\d+) rows? of column '(\w)'", str(warning.message))
        assert {column: int(count) for count, column in said} == counts
        for column in counts:
            assert repr(never[column]) in str(warning.message)

    # The same in every program that the tree is taken along to.
    namespace: dict[str, Any] = {}
    exec(export_python(tree), namespace)
    rows = unseen.to_dict(orient="records")
    assert [namespace["predict"](row) for row in rows] == expected.tolist()
    arrow = pa.table({column: pa.array(unseen[column], pa.string()) for column in unseen})
    with duckdb.connect(":memory:") as connection:
        connection.register("rows", arrow)
        found = connection.sql(f"SELECT {export_sql(tree)} FROM rows").fetchall()
    assert [leaf for (leaf,) in found] == expected.tolist()
    loaded = Tree.from_dict(json.loads(export_json(tree)))
    assert [cut.known for cut in loaded.cuts] == [cut.known for cut in tree.cuts]


@settings(max_examples=40, deadline=None)
@given(drawn=tables(), data=st.data())
def test_blanks_around_texts_change_nothing(drawn, data):
    table, time = drawn
    pad = st.tuples(st.integers(0, 2), st.integers(0, 2))
    padded = {}
    for name, cells in table.items():
        pads = data.draw(st.lists(pad, min_size=len(cells), max_size=len(cells)))
        blank = data.draw(st.sampled_from((None, "", "   ")))
        padded[name] = [
            blank if cell is None else " " * left + cell + " " * right
            for cell, (left, right) in zip(cells, pads, strict=True)
        ]
    plain, loose = (pd.DataFrame(cells, dtype=object) for cells in (table, padded))
    model = MODELS["SurTree"].fit(plain, np.array(time))
    tree, leaf = model.tree_, model.apply(plain).tolist()
    assert model.apply(loose).tolist() == leaf
    for frame in (
        loose,
        loose.astype("category"),
        loose.convert_dtypes(),
        pl.DataFrame(padded, schema=dict.fromkeys(padded, pl.String)),
        pl.DataFrame(padded, schema=dict.fromkeys(padded, pl.Categorical)),
        pa.table({name: pa.array(cells, pa.string()) for name, cells in padded.items()}),
        pa.table(
            {n: pa.array(cells, pa.string()).dictionary_encode() for n, cells in padded.items()}
        ),
    ):
        again = MODELS["SurTree"].fit(frame, np.array(time))
        assert again.tree_ == tree
        assert again.apply(frame).tolist() == leaf
    namespace: dict[str, Any] = {}
    exec(export_python(tree), namespace)
    assert [namespace["predict"](row) for row in loose.to_dict(orient="records")] == leaf
    with duckdb.connect(":memory:") as connection:
        rows = pa.table({name: pa.array(cells, pa.string()) for name, cells in padded.items()})
        connection.register("rows", rows)
        found = connection.sql(f"SELECT {export_sql(tree)} FROM rows").fetchall()
    assert [number for (number,) in found] == leaf


@pytest.fixture(scope="module")
def gbsg2():
    X, y = load_gbsg2(backend="pandas")
    return SurTree(max_depth=3).fit(X, y), X, y


def patients(X, grades):
    """Return one woman, as often as there are grades, each with another one."""
    one = X[(X["positive_nodes"] <= 3) & (X["tumor_size"] > 22.5)].head(1)
    return pd.concat([one] * len(grades)).assign(tumor_grade=grades)


def test_a_typo_does_not_get_the_best_prognosis(gbsg2):
    model, X, _ = gbsg2
    rows = patients(X, ["III", "iii", "IV", "unknown", None])
    with pytest.warns(UnseenCategoryWarning) as caught:
        risk = model.predict(rows)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "Categories that training never had count as missing values: 'IV', 'iii', 'unknown' in 3 "
        "rows of column 'tumor_grade'"
    )
    assert caught[0].filename == __file__
    assert (risk[1:4] == risk[4]).all()
    assert risk[4] > 0.5


@pytest.mark.parametrize(
    "method",
    ["predict", "apply", "decision_path", "predict_median", "predict_survival_function",
     "predict_cumulative_hazard_function"],
)  # fmt: skip
def test_every_prediction_warns_once(gbsg2, method):
    model, X, _ = gbsg2
    with pytest.warns(UnseenCategoryWarning, match="'iii' in 1 row of column") as caught:
        getattr(model, method)(patients(X, ["iii", "I"]))
    assert len(caught) == 1


def test_scores_losses_and_audits_warn_once(gbsg2):
    model, X, y = gbsg2
    typed = (X["tumor_grade"] == "I") & (X["age"] < 50)
    X, n_rows = X.assign(tumor_grade=X["tumor_grade"].astype(object).mask(typed, "one")), sum(typed)
    without = X.assign(tumor_grade=X["tumor_grade"].where(X["tumor_grade"] != "one", None))
    for call in (model.score, model.loss, lambda X, y: audit_tree(model, X, y).loss):
        with pytest.warns(UnseenCategoryWarning, match=f"'one' in {n_rows} rows of") as caught:
            value = call(X, y)
        assert len(caught) == 1
        assert value == pytest.approx(call(without, y))


def test_an_audit_of_rows_with_unseen_categories_never_finds_a_worse_optimum(gbsg2):
    _, X, y = gbsg2
    rng = np.random.default_rng(0)
    odd = X.assign(
        tumor_grade=X["tumor_grade"].astype(object).where(rng.random(len(X)) < 0.7, "other"),
        hormone_therapy=X["hormone_therapy"].astype(object).where(rng.random(len(X)) < 0.7, "?"),
    )
    for depth in (1, 2, 3):
        small = SurTree(max_depth=depth).fit(X, y)
        found = quietly(audit_tree, small, odd, y)
        assert found.loss >= found.same_depth.loss - 1e-9
        assert found.loss == pytest.approx(found.tree.total_loss)


def test_only_columns_that_the_tree_asks_about_matter(gbsg2):
    model, X, y = gbsg2
    assert "menopause" not in {cut.name for cut in model.tree_.cuts}
    model.predict(X.head(3).assign(menopause="never asked"))
    other = SurTree(max_depth=1).fit(X[["menopause"]], y)
    with pytest.warns(UnseenCategoryWarning, match="'never asked' in 1 row of column 'menopause'"):
        other.predict(pd.DataFrame({"menopause": ["never asked"]}))


def test_nothing_is_said_where_training_had_the_category(gbsg2):
    model, X, _ = gbsg2
    model.predict(X)
    # A category that counts as one of many is known all the same.
    X = pd.DataFrame({"site": [*"aaabbbcccddd", "e", "f", "g"]})
    lumped = SurTree(max_depth=1, max_categories=2, min_support=0).fit(X, np.arange(15.0) + 1)
    lumped.predict(X)
    # One that its type lists has a place in the order, if not in the table.
    grades = pd.CategoricalDtype(["I", "II", "III", "IV"], ordered=True)
    X = pd.DataFrame({"grade": pd.Series(["I", "II", "III"] * 4, dtype=grades)})
    model = SurTree(max_depth=1, min_support=0).fit(X, np.tile([9.0, 5.0, 1.0], 4))
    assert model.predict(pd.DataFrame({"grade": ["IV"]})) == model.predict(X[2:3])


def test_cross_validation_says_nothing_and_treats_rare_categories_as_missing():
    rng = np.random.default_rng(3)
    sites = np.where(np.arange(90) < 87, rng.choice(list("abc"), 90), ["p", "q", "r"] * 30)
    X = pd.DataFrame({"site": sites, "size": rng.normal(size=90)})
    y = rng.exponential(np.where(sites == "a", 5.0, 1.0)) + 0.1
    search = SurTreeCV(max_depth=2, cv=5, min_support=0.0, shrinkage=0.0).fit(X, y)
    chosen = {"max_depth": 2, "max_splits": 3, "shrinkage": 0.0}
    size = search.cv_results_["params"].index(chosen)
    for fold, (train, test) in enumerate(EventStratifiedKFold(5).split(y, y)):
        fitted = SurTree(max_depth=2, min_support=0.0).fit(X.iloc[train], y[train])
        loss = quietly(fitted.loss, X.iloc[test], y[test]) / len(test)
        assert -search.cv_results_[f"split{fold}_test_score"][size] == pytest.approx(loss)


@pytest.mark.parametrize(
    "frame",
    [
        lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype=object)}),
        lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype="string")}),
        lambda cells: pd.DataFrame({"x": pd.Categorical(cells)}),
        lambda cells: pl.DataFrame({"x": cells}),
        lambda cells: pl.DataFrame({"x": cells}, schema={"x": pl.Categorical}),
        lambda cells: pa.table({"x": cells}),
        lambda cells: pa.table({"x": pa.array(cells).dictionary_encode()}),
    ],
)
def test_every_library_knows_what_is_unseen(frame):
    model = SurTree(max_depth=1).fit(frame(["a", "a", "b", "b", " c"]), [5.0, 4.0, 2.0, 1.0, 3.0])
    with pytest.warns(UnseenCategoryWarning, match="'A', 'd' in 3 rows of column 'x'"):
        leaf = model.apply(frame(["A", "d ", "d", None, "c"]))
    assert leaf[:4].tolist() == [leaf[3]] * 4


def test_codes_and_booleans():
    X = pd.DataFrame({"code": pd.Categorical([1, 1, 2, 2, 3, 3])})
    model = SurTree(max_depth=2, min_support=0).fit(X, [6.0, 5.0, 2.0, 1.0, 4.0, 3.0])
    with pytest.warns(UnseenCategoryWarning, match="4, 5 in 2 rows of column 'code'"):
        leaf = model.apply(pd.DataFrame({"code": pd.Categorical([4, 5, None, 1])}))
    assert leaf[0] == leaf[1] == leaf[2]
    with pytest.warns(UnseenCategoryWarning, match=r"4\.0 in 1 row of column 'code'"):
        assert model.apply(pd.DataFrame({"code": [4.0, np.nan]}))[0] == leaf[2]
    truth = SurTree(max_depth=1).fit(pd.DataFrame({"x": [True, True, False]}), [3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="held booleans in the training table"):
        truth.predict(pd.DataFrame({"x": [0, 2]}))


def test_a_file_knows_the_categories_once_a_column(gbsg2, tmp_path):
    model, X, _ = gbsg2
    model.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    rows = patients(X, ["I", "iii", None])
    assert quietly(loaded.apply, rows).tolist() == quietly(model.apply, rows).tolist()
    with pytest.warns(UnseenCategoryWarning, match="'iii' in 1 row"):
        loaded.predict(rows)
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        known = {id(cut.known) for cut in again.tree_.cuts if cut.name == "tumor_grade"}
        assert len(known) == 1
    saved = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert saved["known"]["4"] == ["I", "II", "III"]
    assert not any("known" in part for part in (*saved["trees"], *saved["cuts"]))


def test_a_file_without_the_categories_is_read_and_knows_none(gbsg2):
    tree = gbsg2[0].tree_
    saved = {name: part for name, part in tree.to_dict().items() if name != "known"}
    loaded = Tree.from_dict({**saved, "cuts": [{**cut, "other": None} for cut in saved["cuts"]]})
    assert loaded == tree
    assert all(cut.known is None for cut in loaded.cuts)


@pytest.mark.parametrize("known", [["I"], ["II", "III"], [True, "I"], [1, "II"], [[]], "III"])
def test_categories_of_a_file_that_cannot_be_those_of_a_column(gbsg2, known):
    saved = gbsg2[0].tree_.to_dict()
    (column,) = (c for c, names in saved["known"].items() if names == ["I", "II", "III"])
    with pytest.raises((ValueError, TypeError)):
        Tree.from_dict({**saved, "known": {**saved["known"], column: known}})
