"""One survival for a row: every place that states one says the same, whatever the kind of curve."""

import io
import json
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from surtree import SurTree, Tree, confidence_band, leaf_curves, write_report
from surtree._support.parameters import LEAF_CURVES
from surtree.cli._summary import model_json
from surtree.datasets import load_gbsg2
from surtree.export import (
    export_dot,
    export_json,
    export_mermaid,
    export_python,
    export_sql,
    export_text,
)
from surtree.plot import plot_curves, plot_tree
from surtree.survival.step_function import StepFunction
from surtree.tree.leaf_curve import median_limits

HORIZON = 1000
LEAF = 3


@pytest.fixture(scope="module")
def table():
    return load_gbsg2(backend="pandas")


@pytest.fixture(scope="module", params=LEAF_CURVES)
def model(request, table):
    return SurTree(max_depth=3, shrinkage=2.0, leaf_curve=request.param).fit(*table)


@pytest.fixture(scope="module")
def row(model, table):
    """One row, in the first leaf."""
    X, _ = table
    return X[model.apply(X) == LEAF].head(1)


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture
def predicted(surtree, files, model, row):
    model.save(files / "m.json")
    row.to_csv(files / "row.csv", index=False)
    result = surtree("predict", files / "m.json", files / "row.csv", "--survival", HORIZON)
    return pd.read_csv(io.StringIO(result.stdout))


@pytest.fixture
def shown(surtree, files, model):
    """What ``surtree show`` writes in each format."""
    model.save(files / "m.json")

    def show(*options):
        return surtree("show", files / "m.json", *options).stdout

    return show


@pytest.fixture
def page(model, tmp_path):
    text = write_report(model, tmp_path / "page.html", horizons=[HORIZON]).read_text("utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data = json.loads(data.group(1))
    figures = {term: text for term, text, _ in data["nodes"][LEAF]["figures"]}
    return data["leaves"][str(LEAF)] | {"median": figures["median survival"]}


def in_the_line_of_the_leaf(text, pattern):
    """Return the number that a pattern finds in the first leaf of a text."""
    return float(re.search(pattern, text).group(1))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def column_of(ax, heading):
    """Return the cells of the table beside a tree that stand below a heading, from above."""
    (head,) = (text for text in ax.texts if text.get_text() == heading)
    cells = [
        text
        for text in ax.texts
        if text.get_position()[0] == head.get_position()[0] and text is not head
    ]
    return [cell.get_text() for cell in sorted(cells, key=lambda cell: -cell.get_position()[1])]


def test_every_median_is_the_same(model, row, predicted, shown, page):
    tree, kind = model.tree_, model.leaf_curve
    drawn = tree.outcome.together(tree.outcome.group(LEAF))
    namespace = {}
    exec(export_python(model, value="median"), namespace)
    exec(shown("--format", "python", "--value", "median").replace("predict", "cli"), namespace)
    values = row.to_dict(orient="records")[0]
    database = sqlite3.connect(":memory:")
    row.to_sql("patients", database, index=False)

    def by_sql(expression):
        ((found,),) = database.execute(f"SELECT {expression} FROM patients").fetchall()
        return found

    # The first leaf that is printed is the one of the row; its median stands after theta.
    drawn_line = r" \d\.\d+ +(\d+)"
    named = rf"median (\d+) \({kind}\)"
    found = {
        "predict_median": model.predict_median(row)[0],
        "tree": tree.median(LEAF),
        "leaf_curves": leaf_curves(model)[0].median,
        "leaf_curves of the tree": leaf_curves(tree)[0].median,
        "print": in_the_line_of_the_leaf(str(tree), drawn_line),
        "show": in_the_line_of_the_leaf(shown(), drawn_line),
        "text": in_the_line_of_the_leaf(export_text(model), rf"median \({kind}\): (\d+)"),
        "show text": in_the_line_of_the_leaf(
            shown("--format", "text"), rf"median \({kind}\): (\d+)"
        ),
        "dot": in_the_line_of_the_leaf(export_dot(model), named),
        "Mermaid": in_the_line_of_the_leaf(export_mermaid(model), named),
        "SQL": by_sql(export_sql(model, value="median")),
        "show SQL": by_sql(shown("--format", "sql", "--value", "median")),
        "Python": namespace["predict"](values),
        "show Python": namespace["cli"](values),
        "JSON": Tree.from_dict(json.loads(export_json(model))).median(LEAF),
        "--json": model_json(model)["leaves"][0]["median"],
        "predict": predicted["median"][0],
        "leaves of plots and report": drawn.median,
        "plot_tree": float(column_of(plot_tree(model, precision=6), "median\nsurvival")[0]),
        "plot_curves": in_the_line_of_the_leaf(
            "\n".join(texts(plot_curves(model, precision=6))),
            r"leaf A: relative risk [\d.]+, median (\d+)",
        ),
        "report": float(page["median"]),
    }
    assert found == dict.fromkeys(found, found["predict_median"])
    assert np.isfinite(found["predict_median"])


def test_every_survival_is_the_same(model, row, predicted, page):
    tree = model.tree_
    (function,) = model.predict_survival_function(row)
    at_steps = model.predict_survival_function(row, return_array=True)[0]
    place = np.searchsorted(model.unique_times_, HORIZON, side="right") - 1
    drawn = tree.outcome.together(tree.outcome.group(LEAF))
    lines = {
        plot.__name__: plot(model).child_axes[0].lines[line]
        for plot, line in ((plot_tree, 2), (plot_curves, 0))
    }
    found = {
        "function": function(HORIZON),
        "array": at_steps[place],
        "leaf_curves": leaf_curves(tree)[0].survival(HORIZON),
        "predict": predicted[f"survival_{HORIZON}"][0],
        "leaves of plots and report": StepFunction(drawn.times, drawn.values, 1.0)(HORIZON),
        **{
            name: line.get_ydata()[np.searchsorted(line.get_xdata(), HORIZON, side="right") - 1]
            for name, line in lines.items()
        },
    }
    for place, value in found.items():
        assert value == pytest.approx(found["function"], rel=1e-12), place
    assert page["horizons"][0]["survival"] == pytest.approx(found["function"], abs=5e-5)


def test_every_limit_is_the_same(model, page):
    tree = model.tree_
    drawn = tree.outcome.together(tree.outcome.group(LEAF))
    lower, upper = (limit(HORIZON) for limit in confidence_band(model, LEAF))
    assert lower < leaf_curves(model)[0].survival(HORIZON) < upper
    for expected, limit in zip((lower, upper), drawn.band, strict=True):
        assert StepFunction(drawn.times, limit, 1.0)(HORIZON) == expected
    (row,) = page["horizons"]
    assert (row["lower"], row["upper"]) == pytest.approx((lower, upper), abs=5e-5)
    (leaf, *_) = model_json(model)["leaves"]
    assert tuple(leaf["risk_limits"]) == drawn.theta_limits == tree.rules()[0].theta_limits
    limits = median_limits(tree, LEAF)
    assert drawn.median_limits == limits
    assert leaf["median_limits"] == [x if np.isfinite(x) else None for x in limits]


def test_each_place_names_the_kind_of_its_curve(model, shown, tmp_path):
    kind = model.leaf_curve
    assert f"median ({kind})" in str(model.tree_)
    assert f"median ({kind})" in shown()
    assert f"median survival ({kind} curve)" in export_sql(model, value="median")
    assert f"median survival ({kind} curve)" in export_python(model, value="median")
    assert json.loads(export_json(model))["leaf_curve"] == kind
    assert model_json(model)["leaf_curve"] == kind
    for plot in (plot_tree, plot_curves):
        assert f"(curve: {kind})" in " ".join(texts(plot(model))[-1].split())
    assert f"curves and medians: {kind}" in model._repr_html_()


def test_the_three_kinds_differ(table):
    X, y = table
    found = {
        tuple(SurTree(max_depth=3, shrinkage=2.0, leaf_curve=kind).fit(X, y).predict_median(X))
        for kind in LEAF_CURVES
    }
    assert len(found) == len(LEAF_CURVES)
