"""Functions that show a tree take a fitted model, a search that chose one, or the tree."""

from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from surtree import (
    SurTree,
    SurTreeCV,
    UnseenCategoryWarning,
    audit_tree,
    confidence_band,
    leaf_curves,
    write_report,
)
from surtree.datasets import load_gbsg2
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)
from surtree.heuristics import GreedyTree
from surtree.plot import plot_audit, plot_curves, plot_path, plot_tree


def drawn(plot, model):
    return [text.get_text() for text in plot(model).texts]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def band(model):
    return [list(curve.y) for curve in confidence_band(model, 2)]


def medians(model):
    return [curve.median for curve in leaf_curves(model)]


EXPORTS = (export_dot, export_json, export_mermaid, export_python, export_sql, export_text)
SHOW = {
    **{export.__name__: export for export in EXPORTS},
    "plot_tree": partial(drawn, plot_tree),
    "plot_curves": partial(drawn, plot_curves),
    "leaf_curves": medians,
    "confidence_band": band,
}
shows = pytest.mark.parametrize("show", SHOW.values(), ids=SHOW)


@pytest.fixture(scope="module")
def table():
    return load_gbsg2()


@pytest.fixture(scope="module")
def models(table):
    return [
        GreedyTree(max_depth=2).fit(*table),
        SurTreeCV(max_depth=1, cv=2).fit(*table),
        GridSearchCV(SurTree(), {"max_depth": [1, 2]}, cv=2).fit(*table),
    ]


@shows
def test_a_model_is_shown_as_its_tree(show, models):
    for model in models:
        tree = getattr(model, "best_estimator_", model).tree_
        assert show(model) == show(tree)


@shows
def test_what_has_no_tree_is_refused(show, table):
    with pytest.raises(NotFittedError, match="SurTree instance is not fitted yet"):
        show(SurTree())
    with pytest.raises(NotFittedError, match="refit=False"):
        show(SurTreeCV(max_depth=1, cv=2, refit=False).fit(*table))
    for other in (LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), "tree", SurTree):
        with pytest.raises(TypeError, match="fitted model of surtree, or its tree_; "):
            show(other)


def test_a_report_of_a_search_over_hyperparameters_shows_its_best_model(models, tmp_path):
    search = models[-1]
    pages = [
        write_report(model, tmp_path / "page.html").read_text("utf-8")
        for model in (search, search.best_estimator_)
    ]
    assert pages[0] == pages[1]


def test_medians_are_read_off_the_curve_that_the_model_predicts_with(table):
    X, y = table
    model = SurTree(max_depth=1, leaf_curve="kaplan-meier").fit(X, y)
    by_leaf = dict(zip(model.apply(X).tolist(), model.predict_median(X).tolist(), strict=True))
    assert medians(model) == [by_leaf[1], by_leaf[2]]
    namespace = {}
    exec(export_python(model, value="median"), namespace)
    assert namespace["predict"](positive_nodes=5) == by_leaf[2]
    assert medians(model.tree_) == medians(model)
    assert export_sql(model, value="median") == export_sql(model.tree_, value="median")
    # As all parameters, the kind of curve takes effect when the model is fitted.
    model.set_params(leaf_curve="baseline")
    assert model.predict_median(X).tolist() == [by_leaf[leaf] for leaf in model.apply(X)]
    assert medians(model.fit(X, y)) != [by_leaf[1], by_leaf[2]]


def test_the_time_unit_of_a_model_is_on_its_axes(table):
    search = SurTreeCV(max_depth=1, cv=2).fit(*table)
    search.best_estimator_.time_unit_ = "fortnights"
    for plot in (plot_tree, plot_curves):
        assert "time (fortnights)" in drawn(plot, search)
        assert "time (fortnights)" not in drawn(plot, search.tree_)
        assert "time (days)" in drawn(partial(plot, time_unit="days"), search)


def test_scores_are_drawn_of_a_search_or_of_its_sizes(table):
    search = SurTreeCV(max_depth=1, cv=2, refit=False).fit(*table)
    lines = [
        [line.get_ydata().tolist() for line in plot_path(scores).lines]
        for scores in (search, search.sizes_)
    ]
    assert lines[0] == lines[1]
    with pytest.raises(NotFittedError):
        plot_path(SurTreeCV())
    with pytest.raises(TypeError, match="draws a fitted SurTreeCV, or its sizes_; got SurTree"):
        plot_path(SurTree())


def test_an_audit_takes_a_tree(table, models):
    X, y = table
    model = models[0]
    found, expected = audit_tree(model.tree_, X, y), audit_tree(model, X, y)
    assert found.name == "Tree"
    assert (found.loss, found.same_depth) == (expected.loss, expected.same_depth)
    names = list(X.columns)
    with pytest.raises(ValueError, match="but the tree was fitted with"):
        audit_tree(model.tree_, X[names[::-1]], y)
    with pytest.raises(TypeError, match="draws what audit_tree found; got GreedyTree"):
        plot_audit(model)


def test_an_audit_says_nothing_of_categories_in_rows_of_weight_zero():
    X = np.array([["I"], ["I"], ["II"], ["II"]], dtype=object)
    y = np.array([4.0, 3.0, 2.0, 1.0])
    model = SurTree(max_depth=1).fit(X, y)
    X, y = np.append(X, [["ii"]], axis=0), np.append(y, 2.5)
    audit_tree(model, X, y, sample_weight=[1, 1, 1, 1, 0])
    with pytest.warns(UnseenCategoryWarning, match="'ii' in 1 row"):
        audit_tree(model, X, y)
