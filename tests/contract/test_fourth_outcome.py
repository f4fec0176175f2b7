"""A kind of outcome that is defined in a test works in every verb, without a change elsewhere."""

import sqlite3

import numpy as np
import pytest
from exposure_rate import ExposureRate, Rate, RateTree, rate_of

import surtree
from surtree import evaluate, export, validate
from surtree.datasets import load_gbsg2
from surtree.outcomes import OUTCOMES
from surtree.survival import objectives

X, Y = load_gbsg2()
NUMBERS = X.select_dtypes("number")


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """The two lines that make a kind of outcome known."""
    monkeypatch.setitem(OUTCOMES, ExposureRate.name, Rate)
    monkeypatch.setattr(objectives, "OBJECTIVES", (*objectives.OBJECTIVES, ExposureRate))


@pytest.fixture(scope="module")
def model():
    return RateTree(max_depth=2).fit(NUMBERS, Y)


def rates(model):
    """Return events over exposure of the rows of each leaf, from the rows."""
    leaf = model.apply(NUMBERS)
    return [
        Y["event"][leaf == node].sum() / Y["time"][leaf == node].sum()
        for node in model.tree_.leaves
    ]


def test_it_fits_the_best_tree_of_its_objective(model):
    assert model.status_ == "optimal"
    tree = model.tree_
    np.testing.assert_allclose(rate_of(tree.baseline) * tree.theta[tree.leaves], rates(model))
    others = RateTree(max_depth=1).fit(NUMBERS, Y)
    best = min(RateTree(max_depth=1).fit(NUMBERS[[name]], Y).loss_ for name in NUMBERS)
    assert others.loss_ == pytest.approx(best, rel=1e-12)


def test_it_is_printed_with_its_own_figures(model):
    head, *lines = str(model.tree_).splitlines()
    assert head.split() == ["leaf", "n", "events", "exposure", "rate"]
    leaves = [line for line in lines if "   " in line.lstrip("│ ├└─")]
    for line, rate in zip(leaves, rates(model), strict=True):
        assert f"  {rate:.3g}" in line


def test_it_is_saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "rate.json")
    loaded = RateTree.load(tmp_path / "rate.json")
    assert str(loaded.tree_) == str(model.tree_)
    np.testing.assert_array_equal(loaded.predict(NUMBERS), model.predict(NUMBERS))


def test_it_is_validated_and_evaluated(model):
    result = validate(RateTree(max_depth=1), NUMBERS, Y, n_bootstraps=20, random_state=0)
    assert 0.5 < result["concordance"].value < 0.7
    found = evaluate(model, NUMBERS, Y)
    assert found["concordance"].value == pytest.approx(model.score(NUMBERS, Y))


def test_it_is_on_a_page(model, tmp_path):
    surtree.write_report(model, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{rates(model)[0]:.3g}" in page
    assert "exposure" in page


def test_it_is_exported(model):
    table = export.export_leaves(model, "csv", horizons=[])
    assert table.splitlines()[0].startswith("leaf,name,rule,rows,events,note,exposure,rate,")
    assert "constant rate; the tree minimises the Poisson deviance" in export.export_methods(model)
    assert f"rate {rates(model)[0]:.3g}" in export.export_dot(model)
    assert f"rate: {rates(model)[0]:.2f}" in export.export_text(model)


def test_sql_says_what_it_predicts(model):
    query = f"select {export.export_sql(model, value='risk')} as risk from rows order by rowid"
    with sqlite3.connect(":memory:") as connection:
        NUMBERS.to_sql("rows", connection, index=False)
        risk = [row[0] for row in connection.execute(query)]
    np.testing.assert_allclose(risk, model.predict(NUMBERS))


def test_it_is_drawn(model):
    from surtree.plot import plot_curves, plot_tree

    words = " ".join(text.get_text() for text in plot_tree(model).texts)
    assert "exposure" in words
    assert f"{rates(model)[0]:.3g}" in words
    assert plot_curves(model).child_axes


def test_it_works_on_the_command_line(model, tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer", reason="the command line is an extra")
    from typer.testing import CliRunner

    from surtree.cli._app import app

    # `surtree.load` reads a file of SurTree's format as one: here, as the class of the test.
    monkeypatch.setattr(surtree.SurTree, "_is_objective", RateTree._is_objective)
    model.save(tmp_path / "rate.json")
    NUMBERS.head(5).to_csv(tmp_path / "new.csv", index=False)

    def run(*arguments):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        return result.output

    assert "exposure" in run("show", tmp_path / "rate.json")
    run("predict", tmp_path / "rate.json", tmp_path / "new.csv", "--output", tmp_path / "out.csv")
    risk = np.genfromtxt(tmp_path / "out.csv", delimiter=",", names=True)["risk"]
    np.testing.assert_allclose(risk, model.predict(NUMBERS.head(5)))
    run("plot", tmp_path / "rate.json", "--output", tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").stat().st_size > 1000
