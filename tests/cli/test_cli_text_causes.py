"""Causes as texts, on the command line and in Python: named, kept, and read by name."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import surtree
from surtree.cli._app import app
from surtree.datasets import load_melanoma

WORDS = np.array(["censored", "melanoma", "other"])
X, Y = load_melanoma(backend="polars")


@pytest.fixture
def files(tmp_path):
    frame = X.with_columns(days=Y["time"], event=WORDS[Y["cause"]], code=Y["cause"])
    frame.write_csv(tmp_path / "rows.csv")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.output


def fit(files, cause, *options):
    model = files / "model.json"
    shared = ("--time", "days", "--max-depth", 1, "--no-tune", "--model", model)
    left = "code" if cause.startswith("event") else "event"
    return run("fit", files / "rows.csv", "--cause", cause, "--exclude", left, *shared, *options)


def test_texts_are_the_causes_that_numbers_are(files):
    text = fit(files, "event=melanoma,other", "--report", files / "report.html")
    assert "column 'event': rows of 'censored' are censored" in text
    named = surtree.load(files / "model.json")
    assert named.cause_names_ == {1: "melanoma", 2: "other"}
    assert "melanoma" in (files / "report.html").read_text("utf-8")
    fit(files, "code")
    plain = surtree.load(files / "model.json")
    np.testing.assert_array_equal(named.tree_.sums, plain.tree_.sums)


def test_a_model_reads_causes_by_name_in_any_order(files):
    fit(files, "event=melanoma,other")
    shared = ("evaluate", files / "model.json", files / "rows.csv", "--time", "days", "--json")
    first, second = (
        json.loads(run(*shared, "--cause", f"event={names}").split("\n", 1)[-1])
        for names in ("melanoma,other", "other,melanoma")
    )
    assert first == second
    text = run(*shared, "--cause", "event=melanoma,censored", code=1)
    assert "the model has no cause 'censored'; its causes are melanoma, other" in text


def test_what_is_refused(files):
    assert "say which are causes, as in --cause event=" in run(
        "fit", files / "rows.csv", "--time", "days", "--cause", "event", code=1
    )
    assert "no row has the cause 'relapse'; the column holds censored, melanoma, other" in run(
        "fit", files / "rows.csv", "--time", "days", "--cause", "event=relapse", code=1
    )


def test_in_python(files):
    y = surtree.target(cause=WORDS[Y["cause"]], causes=["melanoma", "other"], time=Y["time"])
    np.testing.assert_array_equal(y["cause"], Y["cause"])
    swapped = surtree.target(
        cause=pl.Series(WORDS[Y["cause"]]), causes=["other", "melanoma"], time=Y["time"]
    )
    np.testing.assert_array_equal(swapped["cause"], np.array([0, 2, 1])[Y["cause"]])
    with pytest.raises(ValueError, match="no row has the cause 'x'; the column holds a, b"):
        surtree.target(cause=["a", "b"], causes=["x"], time=[1, 2])
    with pytest.raises(ValueError, match="causes has a name twice"):
        surtree.target(cause=["a", "b"], causes=["a", "a"], time=[1, 2])
    with pytest.raises(ValueError, match="no value in 1 of 2 rows"):
        surtree.target(cause=["a", None], causes=["a"], time=[1, 2])
    with pytest.raises(ValueError, match="give either event, or cause and causes"):
        surtree.target(cause=["a", "b"], time=[1, 2])
