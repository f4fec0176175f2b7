"""The arguments of exports, and what they refuse."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from golden import golden_tree
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree import export_text as sklearn_export_text

from surtree import SurTree
from surtree.datasets import load_gbsg2, load_lung
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)

EXPORTS = (export_dot, export_json, export_mermaid, export_python, export_sql, export_text)
NAMED = tuple(export for export in EXPORTS if export is not export_json)


@pytest.fixture(scope="module")
def lung():
    X, y = load_lung()
    return SurTree(max_depth=3).fit(X, y), X, y


@pytest.mark.parametrize("export", NAMED)
def test_columns_can_have_other_names(export):
    tree = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).tree_
    assert "x0" in export(tree)
    renamed = export(tree, feature_names=["weeks"])
    assert "weeks" in renamed
    assert "x0" not in renamed


@pytest.mark.parametrize("export", NAMED)
def test_too_few_names_are_refused(export):
    with pytest.raises(ValueError, match=r"feature_names has 2 names, but .* column 4"):
        export(golden_tree(), feature_names=["a", "b"])


@pytest.mark.parametrize("export", EXPORTS)
def test_a_single_leaf(export):
    tree = SurTree(max_depth=0).fit([[0], [1]], [1.0, 2.0]).tree_
    text = export(tree)
    assert "CASE" not in text
    assert "->" not in text
    if export is export_sql:
        assert text == "0"


class TestText:
    @pytest.mark.parametrize(
        "options", [{}, {"spacing": 5}, {"max_depth": 0}, {"max_depth": 1}, {"max_depth": 2}]
    )
    def test_layout_is_that_of_scikit_learn(self, options):
        X, y = np.arange(8.0)[:, None], np.array([80.0, 70.0, 60.0, 50.0, 4.0, 3.0, 2.0, 1.0])
        greedy = DecisionTreeRegressor(max_depth=3).fit(X, y)
        tree = SurTree(max_depth=3, min_support=0).fit(X, y).tree_
        theirs = sklearn_export_text(greedy, feature_names=["x0"], decimals=1, **options)
        ours = export_text(tree, **options)
        expected = [line.split("value")[0] for line in theirs.splitlines()]
        assert [line.split("leaf")[0] for line in ours.splitlines()] == expected

    def test_decimals_never_change_a_threshold(self):
        text = export_text(golden_tree(), decimals=0)
        assert "age <= 0.30000000000000004" in text
        assert "theta: 1, " in text
        assert "theta: 1.0000, " in export_text(golden_tree(), decimals=4)

    def test_weights_are_shown_when_asked_for(self):
        X, y = load_gbsg2()
        weight = np.where(np.arange(len(y)) % 2, 1.0, 2.0)
        tree = SurTree(max_depth=1).fit(X, y, weight).tree_
        assert "weights" not in export_text(tree)
        text = export_text(tree, show_weights=True)
        for leaf in tree.leaves:
            assert f"weights: [{tree.weight[leaf]:.2f}, {tree.events[leaf]:.2f}]" in text

    @pytest.mark.parametrize("options", [{"max_depth": -1}, {"spacing": 0}, {"decimals": -1}])
    def test_options_out_of_range(self, options):
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be a whole number"):
            export_text(golden_tree(), **options)

    def test_a_line_break_in_a_name_does_not_break_a_line(self):
        tree = SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).tree_
        for export in (export_text, export_dot, export_mermaid):
            plain = export(tree, feature_names=["a\\nb"])
            assert export(tree, feature_names=["a\nb"]) == plain
            assert "a\nb" not in plain


class TestValues:
    def rows(self, model, X, value, **options):
        with closing(sqlite3.connect(":memory:")) as connection:
            X.to_sql("rows", connection)
            query = export_sql(model.tree_, value=value, **options)
            found = [row[0] for row in connection.execute(f"SELECT {query} FROM rows")]
        namespace = {}
        exec(export_python(model.tree_, value=value, **options), namespace)
        assert found == [namespace["predict"](row) for row in X.to_dict(orient="records")]
        return found

    def test_risk(self, lung):
        model, X, _ = lung
        assert self.rows(model, X, "risk") == model.predict(X).tolist()

    @pytest.mark.parametrize("leaf_curve", ["baseline", "kaplan-meier"])
    def test_median(self, lung, leaf_curve):
        fitted, X, y = lung
        model = SurTree(**(fitted.get_params() | {"leaf_curve": leaf_curve})).fit(X, y)
        found = self.rows(model, X, "median", leaf_curve=leaf_curve)
        assert found == model.predict_median(X).tolist()

    def test_a_median_that_is_not_reached_is_unknown(self):
        X, y = load_gbsg2()
        model = SurTree(max_depth=2).fit(X, y)
        median = model.predict_median(X)
        assert np.isinf(median).any()
        expected = [None if np.isinf(value) else value for value in median]
        assert self.rows(model, pd.DataFrame(X), "median") == expected

    def test_values_of_the_user(self, lung):
        model, X, _ = lung
        words = {int(leaf): f"group {leaf}'s" for leaf in model.tree_.leaves}
        assert self.rows(model, X, words) == [words[leaf] for leaf in model.apply(X)]
        numbers = {int(leaf): np.float64(leaf / 3) for leaf in model.tree_.leaves}
        assert self.rows(model, X, numbers) == [numbers[leaf] for leaf in model.apply(X)]

    @pytest.mark.parametrize("export", [export_sql, export_python])
    def test_what_is_no_value(self, export):
        with pytest.raises(ValueError, match="value must be one of"):
            export(golden_tree(), value="theta")
        with pytest.raises(ValueError, match=r"nothing for the leaves \[3, 6, 8, 9, 10\]"):
            export(golden_tree(), value={2: "x"})
        with pytest.raises(TypeError, match="a number, a text or None"):
            export(golden_tree(), value={leaf: ["x"] for leaf in range(11)})
        with pytest.raises(ValueError, match="is finite"):
            export(golden_tree(), value=dict.fromkeys(range(11), float("inf")))


def test_one_row_is_not_called_rows():
    tree = SurTree(max_depth=1).fit([[0], [1], [1]], [3.0, 2.0, 1.0]).tree_
    for text in (export_dot(tree), export_mermaid(tree)):
        assert "1 row, 1 event" in text
        assert "2 rows, 2 events" in text
        assert "1 rows" not in text


def test_sql_has_no_column_without_a_name():
    tree = SurTree(max_depth=1).fit(pd.DataFrame({"": [0, 0, 1, 1]}), [4.0, 3.0, 2.0, 1.0]).tree_
    with pytest.raises(ValueError, match=r"Column 0 .* has an empty name.*pass feature_names"):
        export_sql(tree)
    assert '"dose" > 0' in export_sql(tree, feature_names=["dose"])


def test_sql_refuses_what_it_cannot_hold():
    with pytest.raises(ValueError, match="character 0"):
        export_sql(golden_tree(), feature_names=["a\0", "b", "c", "d", "e"])


@pytest.mark.parametrize("name", ["two words", "class", "", "1st"])
def test_python_refuses_names_that_no_function_has(name):
    with pytest.raises(ValueError, match="name must be"):
        export_python(golden_tree(), name=name)


def test_a_column_that_a_row_lacks_is_named():
    namespace = {}
    exec(export_python(golden_tree(), name="leaf_of"), namespace)
    with pytest.raises(KeyError, match="age"):
        namespace["leaf_of"]({})


def test_json_is_json(lung):
    model, _, _ = lung
    assert json.loads(export_json(model.tree_))["format"] == "surtree.tree"


def test_marks_are_harmless_in_pictures():
    names = ['a"b', "<script>", "c\\n", "#35;", "`x`"]
    dot = export_dot(golden_tree(), feature_names=names)
    assert r'label="a\"b > 0.3' in dot
    assert r'label="c\\n is one of' in dot
    mermaid = export_mermaid(golden_tree(), feature_names=names)
    assert '["a#34;b #62; 0.3' in mermaid
    assert '["#60;script#62; is True' in mermaid
    assert '["#35;35#59; is one of' in mermaid
    assert '["#96;x#96; is missing"]' in mermaid
