"""Whatever shows or judges a tree takes a pipeline whose last step is a model of surtree."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from surtree import (
    SurTree,
    SurTreeCV,
    audit_tree,
    column_costs,
    force_questions,
    leaf_curves,
    write_report,
)
from surtree.datasets import load_gbsg2
from surtree.export import (
    export_dot,
    export_json,
    export_leaves,
    export_mermaid,
    export_methods,
    export_python,
    export_sql,
    export_text,
)
from surtree.heuristics import GreedyTree
from surtree.plot import plot_curves, plot_path, plot_tree

X, Y = load_gbsg2()
NUMBERS = ["age", "tumor_size", "positive_nodes"]
EXPORTS = (
    export_dot,
    export_json,
    export_leaves,
    export_mermaid,
    export_methods,
    export_python,
    export_sql,
    export_text,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def columns():
    """Return transformers that make an array, which has no names."""
    return make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["tumor_grade"]), ("passthrough", NUMBERS)
    )


def seen_by(pipe, table):
    """Return the table that the last step sees, with the names that people know."""
    made = pipe[:-1].transform(table)
    return pd.DataFrame(made, columns=pipe[:-1].get_feature_names_out())


@pytest.fixture(scope="module")
def pipe():
    return make_pipeline(columns(), SurTree(max_depth=2)).fit(X, Y)


@pytest.fixture(scope="module")
def named(pipe):
    """Return the same model, fitted to a table with names."""
    return SurTree(max_depth=2).fit(seen_by(pipe, X), Y)


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.__name__)
def test_exports_of_a_pipeline_have_the_names_after_its_transformers(export, pipe, named):
    assert export(pipe) == export(named)
    assert not hasattr(pipe[-1], "feature_names_in_")  # the model itself is as it was


def test_pictures_and_pages_take_a_pipeline(pipe, named, tmp_path):
    for plot in (plot_tree, plot_curves):
        drawn, expected = ([text.get_text() for text in plot(one).texts] for one in (pipe, named))
        assert drawn == expected
        assert any("passthrough__positive_nodes" in text for text in drawn)
    assert [one.median for one in leaf_curves(pipe)] == [one.median for one in leaf_curves(named)]
    pages = [write_report(one, tmp_path / "page.html").read_text("utf-8") for one in (pipe, named)]
    assert pages[0] == pages[1]


def test_a_search_at_the_end_of_a_pipeline_shows_what_it_knows(tmp_path):
    pipe = make_pipeline(columns(), SurTreeCV(max_depth=1, cv=2)).fit(X, Y)
    search = SurTreeCV(max_depth=1, cv=2).fit(seen_by(pipe, X), Y)
    pages = [write_report(one, tmp_path / "page.html").read_text("utf-8") for one in (pipe, search)]
    assert pages[0] == pages[1]
    assert export_methods(pipe) == export_methods(search)
    lines = [[line.get_ydata().tolist() for line in plot_path(one).lines] for one in (pipe, search)]
    assert lines[0] == lines[1]


def test_a_grid_search_over_a_pipeline_shows_its_best_model(pipe, named):
    grid = GridSearchCV(make_pipeline(columns(), SurTree()), {"surtree__max_depth": [2]}, cv=2)
    assert export_text(grid.fit(X, Y)) == export_text(named)
    inside = make_pipeline(columns(), GridSearchCV(SurTree(), {"max_depth": [2]}, cv=2)).fit(X, Y)
    assert export_text(inside) == export_text(named)


def test_pipelines_within_pipelines_have_the_names_of_the_last_transformer(named):
    inner = make_pipeline(StandardScaler(), GreedyTree(max_depth=1))
    pipe = make_pipeline(columns(), inner).fit(X, Y)
    assert "passthrough__positive_nodes" in export_text(pipe)


def test_columns_that_no_transformer_can_name_are_numbered():
    pipe = make_pipeline(FunctionTransformer(np.asarray), SurTree(max_depth=1)).fit(X[NUMBERS], Y)
    assert "x2" in export_text(pipe)
    alone = Pipeline([("model", SurTree(max_depth=1))]).fit(X[NUMBERS], Y)
    assert "positive_nodes" in export_text(alone)


def test_an_audit_of_a_pipeline_transforms_the_table(pipe, named):
    found, expected = audit_tree(pipe, X, Y), audit_tree(named, seen_by(pipe, X), Y)
    assert str(found) == str(expected)
    assert "passthrough__positive_nodes" in str(found.optimum.tree)
    framed = make_pipeline(columns(), SurTree(max_depth=2)).set_output(transform="pandas")
    assert str(audit_tree(framed.fit(X, Y), X, Y)) == str(expected)


def test_questions_about_a_pipeline_say_what_to_pass(pipe):
    for ask in (column_costs, lambda *given: force_questions(*given, first="age")):
        with pytest.raises(TypeError, match=r"pipeline\[:-1\]\.transform\(X\)"):
            ask(pipe, X, Y)
    table = pipe[:-1].transform(X)
    assert column_costs(pipe[-1], table, Y).loss == pipe[-1].loss_


def test_pipelines_without_a_tree_are_refused():
    with pytest.raises(NotFittedError):
        plot_tree(make_pipeline(StandardScaler(), SurTree()))
    other = make_pipeline(StandardScaler(), LinearRegression()).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(TypeError, match="Pipeline has no such tree"):
        plot_tree(other)
