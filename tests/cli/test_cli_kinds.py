"""Taught trees, averages and score cards from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import surtree as package


@pytest.mark.parametrize("kind", ["taught", "average", "points"])
def test_a_model_of_any_kind_is_fitted_shown_and_asked(surtree, files, lung, kind):
    model, page, again = files / "model.json", files / "page.html", files / "again.html"
    target = ("--time", "days", "--event", "died")
    told = surtree(
        "fit", files.csv, *target, "--kind", kind, "--model", model, "--report", page, "--json"
    )
    assert json.loads(told.stdout)["kind"] in ("TaughtTree", "SurTreeBayes", "PointsTable")
    fitted = package.load(model)
    surtree("report", model, "-o", again)
    assert Path(page).read_text("utf-8") == Path(again).read_text("utf-8")
    predicted = json.loads(
        surtree("predict", model, files.csv, "--survival", "100", "--json").stdout
    )["predictions"]
    risks = [row["risk"] for row in predicted]
    X = lung[list(fitted.feature_names_in_)]
    np.testing.assert_allclose(risks, fitted.predict(X))
    survival = fitted.predict_survival_function(X, times=[100])[:, 0]
    np.testing.assert_allclose([row["survival_100"] for row in predicted], survival)
    judged = surtree("evaluate", model, files.csv, *target, "--bootstraps", "1").stdout
    assert "Harrell's C" in judged


def test_a_card_is_printed_and_written_as_a_program(surtree, files):
    model = files / "card.json"
    text = surtree(
        *("fit", files.csv, "--time", "days", "--event", "died", "--kind", "points"),
        *("--model", model),
    ).stdout
    assert "relative risk" in text
    assert "survival at" in text
    assert "CASE" in surtree("show", model, "--format", "sql").stdout
    assert "def predict" in surtree("show", model, "--format", "python").stdout
    assert "points" in surtree("show", model).stdout
    assert "of trees" in surtree("show", model, "--format", "dot", code=1).stderr
    assert "models of one tree" in surtree("path", model, code=1).stderr


def test_options_that_a_kind_does_not_have_are_refused(surtree, files):
    fit = ("fit", files.csv, "--time", "days", "--event", "died", "--kind")
    for kind, option, value in (
        ("points", "--max-depth", "2"),
        ("taught", "--shrinkage", "3"),
        ("average", "--folds", "3"),
    ):
        told = surtree(*fit, kind, option, value, code=2)
        assert f"--kind {kind} has no {option}" in " ".join(told.stderr.split())


def test_models_are_compared_on_the_same_folds(surtree, files):
    page = files / "page.html"
    told = surtree(
        *("fit", files.csv, "--time", "days", "--event", "died", "--kind", "taught"),
        *("--max-depth", "1", "--columns", "age,sex", "--compare", "--report", page),
    ).stdout
    assert "held-out rows of 10 folds, the same for all" in told
    assert "Cox model" in told
    assert "Against other models" in Path(page).read_text("utf-8")


def test_who_has_not_chosen_a_kind_reads_which_predicts_better(surtree, files):
    fit = ("fit", files.csv, "--time", "days", "--event", "died", "--max-depth", "1")
    advice = "were predicted better by the tree of --kind taught"
    assert advice in " ".join(surtree(*fit).stdout.split())
    for chosen in (("--kind", "tuned"), ("--kind", "taught")):
        assert advice not in " ".join(surtree(*fit, *chosen).stdout.split())
