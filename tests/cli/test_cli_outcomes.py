"""Commands for competing risks and treatment effects: as the library, in the user's words."""

import json

import polars as pl
import pytest

from surtree import CompetingRisksTree, EffectTree, column_costs, evaluate
from surtree.datasets import load_melanoma, load_rossi

pytest.importorskip("typer", reason="the command line is an extra")

CAUSES = ("--time", "days", "--cause", "cause")
ARMS = ("--time", "week", "--event", "event", "--treatment", "financial_aid")


def json_of(result):
    return json.loads(result.stdout)


@pytest.fixture
def tables(tmp_path):
    X, y = load_melanoma(backend="polars")
    X = X.with_columns(pl.Series("cause", y["cause"]), pl.Series("days", y["time"]))
    X.write_csv(tmp_path / "causes.csv")
    CompetingRisksTree(max_depth=1).fit(*load_melanoma(backend="polars")).save(
        tmp_path / "causes.json"
    )
    X, y = load_rossi(backend="polars")
    X.with_columns(pl.Series("event", y["event"]), pl.Series("week", y["time"])).write_csv(
        tmp_path / "arms.csv"
    )
    EffectTree(max_depth=1).fit(X.drop("financial_aid"), y, X["financial_aid"]).save(
        tmp_path / "arms.json"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "target", "name"),
    [("causes", CAUSES, "cause_2_brier"), ("arms", ARMS, "c_for_benefit")],
)
def test_evaluate_and_audit_read_the_outcome(surtree, tables, kind, target, name):
    model, data = tables / f"{kind}.json", tables / f"{kind}.csv"
    shown = json_of(surtree("evaluate", model, data, *target, "--bootstraps", 2, "--json"))
    figures = {measure["name"]: measure["value"] for measure in shown["measures"]}
    if kind == "causes":
        fitted = CompetingRisksTree.load(model)
        expected = evaluate(fitted, *load_melanoma(backend="polars"), n_bootstraps=2)
    else:
        X, y = load_rossi(backend="polars")
        expected = evaluate(
            EffectTree.load(model),
            X.drop("financial_aid"),
            y,
            treatment=X["financial_aid"],
            n_bootstraps=2,
        )
    assert figures[name] == pytest.approx(expected[name].value)
    audit = json_of(surtree("audit", data, "--model", model, *target, "--json"))
    assert audit["missed"] == pytest.approx(0, abs=1e-9)


def test_the_other_outcome_is_refused(surtree, tables):
    given = ("--time", "days", "--event", "cause=1")
    result = surtree("evaluate", tables / "causes.json", tables / "causes.csv", *given, code=1)
    assert "this is a model of competing risks: give --cause COLUMN, and not --event" in (
        result.stderr
    )


@pytest.mark.parametrize(("kind", "target"), [("causes", CAUSES), ("arms", ARMS)])
def test_columns_are_worth_what_the_library_says(surtree, tables, kind, target):
    data = tables / f"{kind}.csv"
    shown = json_of(surtree("columns", data, *target, "--max-depth", 1, "--json"))
    if kind == "causes":
        costs = column_costs(CompetingRisksTree(max_depth=1), *load_melanoma(backend="polars"))
    else:
        X, y = load_rossi(backend="polars")
        given = (X.drop("financial_aid"), y)
        costs = column_costs(EffectTree(max_depth=1), *given, treatment=X["financial_aid"])
    assert shown["loss"] == pytest.approx(costs.loss)
    assert [column["loss_without"] for column in shown["columns"]] == pytest.approx(
        [column.without for column in costs.columns]
    )


@pytest.mark.parametrize(
    ("kind", "target", "said"),
    [
        ("causes", CAUSES, "cause 2"),
        ("arms", (*ARMS, "--reference", "yes"), "C-for-benefit, no over yes"),
        ("arms", (*ARMS, "--reference", "yes"), "heterogeneity_test tests it"),
    ],
)
def test_a_validation_says_what_it_does_not_decide(surtree, tables, kind, target, said):
    given = (*target, "--max-depth", 1, "--bootstraps", 2)
    assert said in surtree("validate", tables / f"{kind}.csv", *given).stdout
