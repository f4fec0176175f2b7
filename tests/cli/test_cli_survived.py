"""``surtree predict --survived``: conditional survival, on the command line as in Python."""

import csv
import io

import pandas as pd
import pytest
from typer.testing import CliRunner

from surtree import CompetingRisksTree, SurTree
from surtree.cli._app import app
from surtree.datasets import load_gbsg2, load_melanoma


def predict(tmp_path, model, X, *options, code=0):
    model.save(tmp_path / "model.json")
    X.to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["predict", tmp_path / "model.json", tmp_path / "rows.csv", *options]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.output


def test_survival_is_that_of_those_who_are_left(tmp_path):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=2).fit(X, y)
    text = predict(tmp_path, model, X.head(5), "--survival", "500,900", "--survived", 500.0 - 100)
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = model.predict_survival_function(X.head(5), times=[500, 900], survived=400)
    found = [[float(row[f"survival_{time}"]) for time in (500, 900)] for row in rows]
    assert found == pytest.approx(expected, rel=1e-9)


def test_incidence_of_causes_adds_up(tmp_path):
    X, y = load_melanoma(backend="pandas")
    model = CompetingRisksTree(max_depth=1).fit(X, y)
    text = predict(tmp_path, model, X, "--survival", "3000", "--survived", 1000)
    table = pd.read_csv(io.StringIO(text))
    parts = table[["survival_3000", "incidence_1_3000", "incidence_2_3000"]]
    assert parts.sum(axis=1).to_numpy() == pytest.approx(1)


def test_what_is_refused(tmp_path):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=1).fit(X, y)
    text = predict(tmp_path, model, X, "--survived", 100, code=2)
    assert "--survived goes with --survival" in text
    text = predict(tmp_path, model, X, "--survival", 100, "--survived", 100, code=2)
    assert "--survived 100 is not before" in text
