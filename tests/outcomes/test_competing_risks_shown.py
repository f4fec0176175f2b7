"""Trees of competing risks in words, pictures, pages, exports and on the command line."""

import json
import sqlite3

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    SurTree,
    write_report,
)
from surtree.cli._app import app
from surtree.datasets import load_melanoma
from surtree.export import export_dot, export_mermaid, export_python, export_sql, export_text
from surtree.outcomes.curve import stacked
from surtree.plot import plot_channels, plot_curves, plot_tree

X, Y = load_melanoma(backend="pandas")
MODEL = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(X, Y)


@pytest.fixture(autouse=True)
def no_windows():
    before = mpl.get_backend()
    mpl.use("agg")
    yield
    mpl.pyplot.close("all")
    mpl.use(before)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    X.assign(status=Y["cause"], days=Y["time"]).to_csv(path, index=False)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.output


def test_a_leaf_without_events_of_a_cause_says_at_most():
    late = Y.copy()
    late["cause"][X["thickness"] <= 2.25] = np.minimum(late["cause"], 1)[X["thickness"] <= 2.25]
    model = CompetingRisksTree(max_depth=1, thresholds={"thickness": [2.25]}, causes=1)
    text = str(model.fit(X[["thickness"]], late).tree_)
    assert "events 2" in text
    assert "at most" in text


def test_texts_name_every_cause():
    assert "theta 1: 0.21, theta 2: 0.22, rows: 55, events: 5, few events" in export_text(MODEL)
    for text in (export_dot(MODEL), export_mermaid(MODEL)):
        assert "theta 2: 1.61" in text
        assert "events 2: 6" in text


@pytest.mark.parametrize("cause", [None, 1, 2])
def test_sql_and_python_give_the_risk_of_a_cause(cause):
    expected = MODEL.predict(X, cause)
    namespace = {}
    source = export_python(MODEL, value="risk", cause=cause)
    assert f"risk of cause {cause or 1}" in source
    exec(source, namespace)
    rows = X.to_dict("records")
    assert [namespace["predict"](row) for row in rows] == expected.tolist()
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("t", connection, index=False)
        found = pd.read_sql(
            f"SELECT {export_sql(MODEL, value='risk', cause=cause)} AS v FROM t", connection
        )
    np.testing.assert_allclose(found["v"], expected, rtol=1e-14)


def test_causes_that_an_export_cannot_give_are_refused():
    with pytest.raises(ValueError, match="There is no cause 3"):
        export_sql(MODEL, value="risk", cause=3)
    with pytest.raises(ValueError, match="goes with value"):
        export_sql(MODEL, value="median", cause=1)
    alone = SurTree(max_depth=1).fit(X, Y["time"])
    with pytest.raises(ValueError, match="one cause only"):
        export_sql(alone, value="risk", cause=1)
    with pytest.raises(ValueError, match="one curve each"):
        plot_channels(alone)


def test_areas_are_stacked_and_end_with_the_follow_up():
    outcome, end = MODEL.tree_.outcome, MODEL.tree_.baseline.times[-1]
    for group in outcome.groups:
        times, upper = stacked(outcome.curves(group), end)
        assert (np.diff(times) > 0).all()
        assert (np.diff(upper, axis=0) >= 0).all()
        assert (np.diff(upper, axis=1) >= 0).all()
        assert upper.max() <= 1
    ax = plot_channels(MODEL, names={1: "melanoma"}, time_unit="days")
    assert len(ax.child_axes) == MODEL.tree_.n_leaves
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["melanoma", "cause 2"]
    with pytest.raises(ValueError, match="names has the cause 5"):
        plot_channels(MODEL, names={5: "what"})


def test_all_other_pictures_are_drawn():
    for draw in (plot_tree, plot_curves):
        draw(MODEL).figure.canvas.draw()
    plot_channels(MODEL.path_[1].tree, kind="baseline").figure.canvas.draw()


def test_the_page_has_a_section_about_the_causes(tmp_path):
    search = CompetingRisksTreeCV(max_depth=1, cv=3, shrinkage=1.0).fit(X, Y)
    page = write_report(search, tmp_path / "page.html").read_text()
    assert "The tree was chosen to tell apart cause 1 and cause 2." in page
    assert "Cumulative incidence of each cause in leaf A" in page
    other = write_report(SurTree(max_depth=1).fit(X, Y["time"]), tmp_path / "other.html")
    assert 'id="channels"' not in other.read_text()


def test_the_command_line_fits_predicts_and_shows(table, tmp_path):
    model = tmp_path / "model.json"
    fit = ("fit", table, "--time", "days", "--max-depth", 2, "--min-events-leaf", 5, "--no-tune")
    found = json.loads(run(*fit, "--cause", "status", "--model", model, "--json"))
    assert found["loss"] == pytest.approx(MODEL.loss_)
    assert [cause["cause"] for cause in found["leaves"][0]["causes"]] == [1, 2]
    assert CompetingRisksTree.load(model).tree_.leaf_curve == "kaplan-meier"
    predicted = run("predict", model, table, "--survival", 1000).splitlines()
    names = predicted[0].split(",")
    assert names[:4] == ["leaf", "median", "risk_1", "risk_2"]
    assert names[4:] == ["survival_1000", "incidence_1_1000", "incidence_2_1000"]
    shares = np.array([list(map(float, line.split(",")[4:])) for line in predicted[1:]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    sql = run("show", model, "--format", "sql", "--value", "risk", "--cause", 2)
    assert sql.startswith("/* risk of cause 2 */")
    assert "events 2" in run("show", model)
    run("report", model, "--output", tmp_path / "page.html")
    one = json.loads(run(*fit, "--cause", "status=1", "--json"))
    assert one["loss"] == pytest.approx(
        CompetingRisksTree(max_depth=2, min_events_leaf=5, causes=1).fit(X, Y).loss_
    )


@pytest.mark.parametrize(
    ("options", "code", "fault"),
    [
        ((), 2, "one of --event and --cause"),
        (("--cause", "status", "--event", "status=1"), 2, "one of --event and --cause"),
        (("--cause", "thickness"), 1, "a cause is a whole number"),
        (("--cause", "status=x"), 1, "not a list of causes"),
        (("--cause", "status=4", "--no-tune"), 1, "No row has an event of cause 4"),
    ],
)
def test_the_command_line_says_what_is_wrong(table, options, code, fault):
    output = run("fit", table, "--time", "days", *options, code=code)
    assert fault in " ".join(output.replace("│", " ").split())
