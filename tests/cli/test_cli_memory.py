"""What `surtree fit` was told or found out is said by every later command."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surtree import EffectTree, SurTree
from surtree.datasets import load_melanoma, load_rossi

VERDICT = "No evidence that the effect differs between rows (p = 0.672, 499 draws)."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trial")


def read(result):
    return pd.read_csv(io.StringIO(result.stdout))


@pytest.fixture
def rossi(surtree, folder):
    """The model of a trial without evidence that effects differ, and its table."""
    model, table = folder / "model.json", folder / "rossi.csv"
    if not model.exists():
        X, y = load_rossi()
        X.assign(week=y["time"], arrest=y["event"]).to_csv(table, index=False)
        given = ("--time", "week", "--event", "arrest", "--treatment", "financial_aid")
        result = surtree("fit", table, *given, "--max-depth", 1, "--model", model)
        assert "reference: no; --reference changes it" in result.stdout
        assert VERDICT in result.stdout
    return model, table


@pytest.fixture
def subgroup(surtree, folder):
    """The model of a trial in which the treatment helps a half of the rows, and its table."""
    model, table = folder / "subgroup.json", folder / "subgroup.csv"
    if not model.exists():
        rng = np.random.default_rng(1)
        n = 300
        X = pd.DataFrame({"a": np.round(rng.normal(size=n), 1), "b": rng.normal(size=n)})
        arm = rng.permutation(np.arange(n) % 2)
        time = rng.exponential(1 / np.exp(-2.5 * (X["a"] > 0) * arm))
        frame = X.assign(arm=np.where(arm, "drug", "none"), time=time, died=1)
        frame.to_csv(table, index=False)
        given = ("--time", "time", "--event", "died", "--treatment", "arm", "--reference", "none")
        result = surtree("fit", table, *given, "--max-depth", 1, "--model", model)
        assert "reference: none\n" in result.stdout
    return model, table


def test_a_null_result_is_said_by_methods_report_show_and_tables(surtree, rossi, folder):
    model, _ = rossi
    methods = surtree("show", model, "--format", "methods").stdout
    assert (
        "strata and one prognosis, p = 0.672) found no evidence that the effect differs" in methods
    )
    assert "not tested" not in methods
    surtree("report", model, "-o", folder / "again.html")
    assert VERDICT in (folder / "again.html").read_text()
    assert "Not tested" not in (folder / "again.html").read_text()
    assert VERDICT in surtree("show", model).stdout
    assert (
        "Expect 0% of the differences between leaves in new data." in surtree("show", model).stdout
    )
    assert VERDICT in surtree("show", model, "--format", "markdown").stdout


def test_predict_gives_the_common_effect_where_effects_do_not_differ(surtree, rossi):
    model, table = rossi
    result = surtree("predict", model, table, "--survival", "26")
    assert f"surtree: {VERDICT} The common effect is predicted for everybody" in result.stderr
    assert "--uncorrected" in result.stderr
    found = read(result)
    overall = EffectTree.load(model).heterogeneity_.overall[0]
    assert found["leaf"].nunique() == 2
    np.testing.assert_allclose(found["effect_yes"], overall)
    np.testing.assert_allclose(found["risk_yes"] / found["risk_no"], overall)
    hazard = -np.log(found[["survival_26_no", "survival_26_yes"]])
    np.testing.assert_allclose(hazard["survival_26_yes"] / hazard["survival_26_no"], overall)


def test_predict_gives_the_effects_of_leaves_if_asked_to_and_says_so(surtree, rossi):
    model, table = rossi
    result = surtree("predict", model, table, "--uncorrected")
    assert f"{VERDICT} What differs between leaves may be chance. The effects of leaves are" in (
        result.stderr
    )
    assert sorted(read(result)["effect_yes"].round(3).unique()) == [0.495, 0.859]


def test_predict_of_an_untested_model_warns(surtree, rossi, folder):
    model, table = rossi
    untested = EffectTree.load(model)
    untested.heterogeneity_ = untested.correction_ = None
    untested.save(folder / "untested.json")
    result = surtree("predict", folder / "untested.json", table)
    assert "surtree: The model holds no test of whether the effect differs" in result.stderr
    assert sorted(read(result)["effect_yes"].round(3).unique()) == [0.495, 0.859]
    assert "holds no test" in surtree("show", folder / "untested.json").stdout
    shown = surtree("show", folder / "untested.json", "--format", "sql", "--value", "effect")
    assert "holds no test" in shown.stderr


def test_predict_draws_effects_together_where_they_differ(surtree, subgroup, folder):
    model, table = subgroup
    result = surtree("predict", model, table)
    fitted = EffectTree.load(model)
    assert fitted.heterogeneity_.is_evidence
    assert "surtree: Evidence that the effect differs between rows (p = 0.002" in result.stderr
    found = dict(read(result)[["leaf", "effect_drug"]].to_numpy().tolist())
    assert found == pytest.approx({one.leaf: one.corrected for one in fitted.correction_.leaves})
    own = surtree("predict", model, table, "--uncorrected")
    assert "surtree: The effects of leaves are predicted." in own.stderr
    found = dict(read(own)[["leaf", "effect_drug"]].to_numpy().tolist())
    assert found == pytest.approx({one.leaf: one.ratio for one in fitted.correction_.leaves})
    fitted.correction_ = None
    fitted.save(folder / "without.json")
    result = surtree("predict", folder / "without.json", table)
    assert "this model has no correction" in result.stderr
    assert read(result).equals(read(own))


def test_streamed_rows_get_the_common_effect_too(surtree, rossi, folder):
    model, table = rossi
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    rows = pd.read_csv(table)
    for number in range(2):
        rows[number::2].to_parquet(parts / f"{number}.parquet")
    result = surtree("predict", model, parts)
    assert "The common effect is predicted for everybody" in result.stderr
    assert read(result)["effect_yes"].round(3).unique().tolist() == [0.72]


def test_exported_effects_of_a_null_result_are_said_to_be_that(surtree, rossi):
    model, _ = rossi
    result = surtree("show", model, "--format", "sql", "--value", "effect")
    assert f"surtree: {VERDICT} What differs between leaves may be chance." in result.stderr
    assert "chance" not in surtree("show", model, "--format", "sql").stderr


def test_uncorrected_is_for_effects(surtree, files):
    surtree(
        "fit", files.csv, "--time", "days", "--event", "died", "--no-tune", "--model", files / "m"
    )
    result = surtree("predict", files / "m", files.csv, "--uncorrected", code=1)
    assert "--uncorrected is for models of treatment effects" in result.stderr


def test_horizons_of_a_fit_are_those_of_later_commands(surtree, files):
    model = files / "model.json"
    given = ("--time", "days", "--event", "died")
    few = ("--max-depth", 1, "--folds", 2, "--shrinkage", "1,3", "--time-unit", "days")
    surtree("fit", files.csv, *given, *few, "--horizons", "700,365", "--model", model)
    assert SurTree.load(model).horizons_ == [365, 700]
    evaluated = surtree("evaluate", model, files.csv, *given, "--bootstraps", 2)
    assert "survival at 700 days: predicted, observed" in evaluated.stdout
    markdown = surtree("show", model, "--format", "markdown").stdout
    assert "survival at 365 days (95% CI) | survival at 700 days (95% CI) |" in markdown
    smaller = surtree("show", model, "--format", "csv", "--splits", 0).stdout
    assert "survival_365" in smaller
    surtree("report", model, "-o", files / "report.html")
    assert "700" in Path(files / "report.html").read_text()
    other = surtree("evaluate", model, files.csv, *given, "--horizons", 500, "--bootstraps", 2)
    assert "survival at 500 days" in other.stdout
    assert "survival at 700" not in other.stdout
    markdown = surtree("show", model, "--format", "markdown", "--horizons", 500).stdout
    assert "survival at 700" not in markdown
    methods = surtree("show", model, "--format", "methods").stdout
    assert "shrinkage of 1, 3 events" in methods
    assert "2 folds, stratified by events" in methods


def test_evaluate_repeats_no_condition_that_another_implies(surtree, files, lung):
    frame = pd.DataFrame({"x": np.arange(40), "days": np.repeat([8, 4, 2, 1], 10), "died": 1})
    frame.to_csv(files / "x.csv", index=False)
    given = ("--time", "days", "--event", "died")
    options = ("--no-tune", "--max-depth", 2, "--n-thresholds", "all", "--type", "x=numeric")
    surtree("fit", files / "x.csv", *given, *options, "--columns", "x", "--model", files / "m.json")
    result = surtree("evaluate", files / "m.json", files / "x.csv", *given, "--bootstraps", 2)
    assert ": x <= 9.5\n" in result.stdout
    assert "x <= 19.5 and x <= 9.5" not in result.stdout


def test_names_of_causes_are_kept(surtree, files):
    X, y = load_melanoma()
    table = X.assign(days=y["time"], cause=y["cause"])
    table.to_csv(files / "melanoma.csv", index=False)
    given = ("fit", files / "melanoma.csv", "--time", "days", "--cause", "cause", "--no-tune")
    named = ("--cause-name", "1=melanoma", "--cause-name", "2=other causes, all of them")
    model, report = files / "m.json", files / "r.html"
    surtree(*given, *named, "--max-depth", 1, "--model", model, "--report", report)
    surtree("report", model, "-o", files / "again.html")
    for page in (report, files / "again.html"):
        text = Path(page).read_text()
        assert "other causes, all of them" in text
        assert "cause 1" not in text
    assert "57 of melanoma" in surtree("show", model, "--format", "methods").stdout
    assert "melanoma: events" in surtree("show", model, "--format", "markdown").stdout
    assert json.loads(Path(model).read_text())["cause_names"]["1"] == "melanoma"
    surtree("plot", model, "--what", "curves", "-o", files / "curves.svg")
    assert "melanoma" in Path(files / "curves.svg").read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--cause", "cause", "--cause-name", "7=x"], 1, "no row has the cause 7; the causes are"),
        (["--cause", "cause", "--cause-name", "x"], 2, "is not a cause and its name"),
        (["--cause", "cause", "--cause-name", "1="], 2, "is not a cause and its name"),
        (["--event", "cause", "--cause-name", "1=x"], 2, "names a cause of --cause"),
    ],
)
def test_names_of_causes_that_cannot_be_used_are_refused(surtree, files, options, code, message):
    X, y = load_melanoma()
    X.assign(days=y["time"], cause=y["cause"]).to_csv(files / "melanoma.csv", index=False)
    given = ("fit", files / "melanoma.csv", "--time", "days", "--model", files / "m.json")
    result = surtree(*given, *options, code=code)
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_names_of_causes_without_a_file_do_nothing_and_are_refused(surtree, files):
    given = ("--time", "days", "--cause", "died", "--cause-name", "1=death")
    result = surtree("fit", files.csv, *given, code=2)
    assert "--cause-name is for the model or the report" in result.stderr.replace("\n", " ")
