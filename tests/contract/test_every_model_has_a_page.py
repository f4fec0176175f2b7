"""Every estimator has a page and a picture in notebooks; none of them raises a TypeError."""

import inspect

import numpy as np
import pytest
from matplotlib import pyplot

import surtree
import surtree.heuristics
from surtree import PointsTable, SurTreeBayes, SurvivalEstimator, validate, write_report
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.plot import plot_card

QUICK = {"n_estimators": 2, "n_stages": 3, "max_depth": 1, "cv": 3}
ESTIMATORS = [
    each
    for room in (surtree, surtree.heuristics)
    for each in vars(room).values()
    if inspect.isclass(each)
    and issubclass(each, SurvivalEstimator)
    and not inspect.isabstract(each)
    and each is not surtree.TreeEstimator
]


@pytest.fixture(scope="module")
def table():
    X, y = load_gbsg2(backend="pandas")
    return X.head(200), y[:200]


def fitted(estimator, table):
    known = estimator().get_params()
    model = estimator(**{name: value for name, value in QUICK.items() if name in known})
    given = {}
    if "treatment" in inspect.signature(estimator.fit).parameters:
        given["treatment"] = np.arange(200) % 2
    if "Competing" in estimator.__name__:
        return model.fit(*load_melanoma())
    return model.fit(*table, **given)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_a_page_and_a_notebook_show_what_it_is(estimator, table, tmp_path):
    model = fitted(estimator, table)
    page = write_report(model, tmp_path / "page.html").read_text("utf-8")
    assert "<h1>" in page
    assert estimator.__name__ in page
    shown = model._repr_html_() if hasattr(model, "_repr_html_") else model._html_repr()
    assert shown.startswith("<")
    assert len(repr(model)) < 400


def test_an_average_keeps_what_is_known_of_it(table, tmp_path):
    for model in (SurTreeBayes(2, 3), PointsTable(n_stages=3)):
        model.fit(*table)
        model.validation_ = validate(model, *table, n_bootstraps=3)
        model.time_unit_, model.horizons_ = "days", [365.0, 730.0]
        model.save(tmp_path / "model.json")
        again = surtree.load(tmp_path / "model.json")
        assert str(again.validation_) == str(model.validation_)
        assert (again.time_unit_, again.horizons_) == ("days", [365.0, 730.0])
        assert (again.n_rows_, again.n_events_) == (200, int(table[1]["event"].sum()))
        assert again.follow_up_ == model.follow_up_
        pages = [
            write_report(one, tmp_path / "page.html").read_text("utf-8") for one in (model, again)
        ]
        assert pages[0] == pages[1]
        text = (tmp_path / "model.json").read_text("utf-8")
        (tmp_path / "edited.json").write_text(text.replace('"days"', '"weeks"'))
        assert surtree.load(tmp_path / "edited.json").validation_ is None
        assert model.fit(*table).validation_ is None


def test_column_costs_are_refused_where_there_is_no_tree(table, tmp_path):
    model = PointsTable(n_stages=3).fit(*table)
    with pytest.raises(ValueError, match="column_costs are those of a tree"):
        write_report(model, tmp_path / "page.html", column_costs=object())


def test_a_card_is_drawn(table):
    model = PointsTable().fit(*table)
    ax = plot_card(model)
    assert len(ax.patches) == sum(len(column.points) for column in model.card_)
    assert [round(bar.get_width()) for bar in ax.patches] == [
        points for column in model.card_ for points in column.points
    ]
    with pytest.raises(TypeError, match="draws a fitted PointsTable; got SurTreeBayes"):
        plot_card(SurTreeBayes(1, 1).fit(*table))
    pyplot.close("all")


def test_a_cox_model_that_comes_first_is_on_the_page(table, tmp_path):
    model = SurTreeBayes(1, 2, cox="offset").fit(*table)
    page = write_report(model, tmp_path / "page.html").read_text("utf-8").replace("<wbr>", "")
    assert "The Cox model that comes first" in page
    for name, _, ratio in model.cox_.rows():
        assert name.split()[0] in page
        assert ratio in page
    assert "under the Cox model alone" in page
    plain = write_report(SurTreeBayes(1, 2).fit(*table), tmp_path / "page.html")
    assert "The Cox model that comes first" not in plain.read_text("utf-8")
