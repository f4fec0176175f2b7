"""``surtree validate``: the numbers of `surtree.validate`, on files."""

import json
import re
from html import unescape

import numpy as np
import pytest
from target import TARGET

from surtree import SurTree, SurTreeCV, evaluate, validate
from surtree.datasets import load_lung

FEW = ("--max-depth", 1, "--bootstraps", 4)


def test_a_file_has_the_numbers_of_its_table(surtree, files):
    options = (*FEW, "--horizons", "365,180", "--shrinkage", "1,5")
    found = json.loads(surtree("validate", files.csv, *TARGET, *options, "--json").stdout)
    X, y = load_lung()
    model = SurTreeCV(max_depth=1, shrinkage=(1, 5))
    expected = validate(model, X, y, n_bootstraps=4, horizons=[180, 365])
    assert list(found["measures"]) == list(expected.names)
    corrected = [measure["corrected"] for measure in found["measures"].values()]
    # A single leaf has no calibration slope: not a number, which JSON has as null.
    corrected = np.array(corrected, dtype=float)
    wanted = [measure.value for measure in expected.measures]
    np.testing.assert_allclose(corrected, wanted, rtol=1e-9)
    optimism = [measure["optimism"] for measure in found["measures"].values()]
    wanted = [measure.optimism for measure in expected.measures]
    np.testing.assert_allclose(np.array(optimism, dtype=float), wanted, rtol=1e-9)
    assert (found["n_repetitions"], found["n_failed"]) == (4, 0)
    assert [use["name"] for use in found["columns"]] == [use.name for use in expected.columns]
    text = surtree("validate", files.csv, *TARGET, *options).stdout
    assert "4 bootstrap samples" in text
    assert "Harrell's C" in text


def test_the_column_of_groups_is_not_asked_about(surtree, files, lung):
    table = lung.assign(patient=np.arange(len(lung)) // 3)
    table.to_csv(files.csv, index=False)
    result = surtree("validate", files.csv, *TARGET, *FEW, "--group", "patient", "--json")
    found = json.loads(result.stdout)
    assert "patient" not in {use["name"] for use in found["columns"]}
    alone = json.loads(
        surtree("validate", files.csv, *TARGET, *FEW, "--exclude", "patient", "--json").stdout
    )
    assert alone["measures"]["concordance"]["apparent"] == pytest.approx(
        found["measures"]["concordance"]["apparent"]
    )
    assert alone["measures"] != found["measures"]


def test_a_group_that_is_not_there(surtree, files):
    result = surtree("validate", files.csv, *TARGET, "--group", "clinic", code=1)
    assert "there is no column 'clinic'" in result.stderr


def test_folds_instead_of_samples(surtree, files):
    options = ("--max-depth", 1, "--bootstraps", 1, "--method", "folds", "--folds", 3)
    text = surtree("validate", files.csv, *TARGET, *options).stdout
    assert "1 repetition of folds" in text


def test_a_fit_can_be_validated_at_once(surtree, files):
    model, page = files.directory / "model.json", files.directory / "report.html"
    options = ("--max-depth", 1, "--validate", 3, "--model", model, "--report", page)
    text = surtree("fit", files.csv, *TARGET, *options).stdout
    assert "3 bootstrap samples" in text
    X, y = load_lung()
    expected = validate(SurTreeCV(max_depth=1), X, y, n_bootstraps=3)
    assert str(SurTree.load(model).validation_) == str(expected)
    plain = json.loads(surtree("fit", files.csv, *TARGET, *options, "--json").stdout)
    found = plain["validation"]["measures"]["concordance"]["corrected"]
    assert found == pytest.approx(expected["concordance"].value)
    untuned = json.loads(
        surtree(
            "fit", files.csv, *TARGET, "--max-depth", 1, "--no-tune", "--validate", 2, "--json"
        ).stdout
    )
    wanted = validate(SurTree(max_depth=1), X, y, n_bootstraps=2)["concordance"].value
    assert untuned["validation"]["measures"]["concordance"]["corrected"] == pytest.approx(wanted)
    without = json.loads(surtree("fit", files.csv, *TARGET, "--max-depth", 1, "--json").stdout)
    assert without["validation"] is None


# surtree evaluate


def test_a_model_on_other_rows(surtree, files):
    X, y = load_lung()
    model = SurTree(max_depth=2).fit(X, y)
    model.save(files.directory / "model.json")
    options = ("--horizons", "365", "--bootstraps", 5)
    result = surtree("evaluate", files.directory / "model.json", files.csv, *TARGET, *options)
    expected = evaluate(model, X, y, horizons=[365], n_bootstraps=5)
    assert result.stdout.strip() == str(expected)
    found = json.loads(
        surtree(
            "evaluate", files.directory / "model.json", files.csv, *TARGET, *options, "--json"
        ).stdout
    )
    assert found["measures"][0]["value"] == pytest.approx(expected["concordance"].value)
    assert [leaf["n_rows"] for leaf in found["leaves"]] == [leaf.n_rows for leaf in expected.leaves]
    assert found["calibration"]["predicted"] == pytest.approx(
        expected.calibration.predicted.tolist()
    )
    missing = surtree("evaluate", files.directory / "none.json", files.csv, *TARGET, code=1)
    assert "none.json" in missing.stderr


def test_rows_after_the_follow_up_of_the_model_are_told_in_a_line(surtree, files, lung):
    model = files.directory / "model.json"
    SurTree(max_depth=1).fit(*load_lung()).save(model)
    lung.assign(days=lung["days"] + 5000).to_csv(files.csv, index=False)
    result = surtree("evaluate", model, files.csv, *TARGET, "--bootstraps", 2)
    assert result.stderr.startswith("surtree: The horizon ")
    assert "is after the last follow-up of the training rows, 1022: nobody" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "not estimable" in result.stdout
    assert "nan" not in result.stdout
    found = json.loads(
        surtree("evaluate", model, files.csv, *TARGET, "--bootstraps", 2, "--json").stdout
    )
    slope = found["measures"][3]
    assert slope["value"] is None
    assert slope["reason"].endswith("after the last follow-up of the training rows, 1022")


@pytest.mark.parametrize("validated", [False, True])
def test_the_terminal_has_the_verdict_of_the_page(surtree, files, validated):
    page = files.directory / "report.html"
    options = ("--validate", 20) if validated else ()
    text = surtree("fit", files.csv, *TARGET, "--max-depth", 1, "--report", page, *options).stdout
    verdict = re.search(
        r'<p class="verdict" data-good="\w+"><strong>([^<]+)</strong> ([^<]+)</p>',
        page.read_text()[page.read_text().index('id="validation"') :],
    )
    assert unescape(f"{verdict[1]}. {verdict[2]}") in text.splitlines()


def test_a_tree_that_was_not_tuned_is_said_to_be_unvalidated(surtree, files):
    text = surtree("fit", files.csv, *TARGET, "--max-depth", 1, "--no-tune").stdout
    assert "Not validated: nothing is known about new data." in text


def test_start_stop_rows_are_evaluated_as_persons(surtree, files, lung):
    is_second = np.arange(len(lung)) % 2 > 0
    table = lung.assign(patient=np.arange(len(lung)) // 2, since=np.where(is_second, 5000, 0))
    table["days"] = table["days"] + table["since"]
    table.to_csv(files.csv, index=False)
    model = files.directory / "model.json"
    rows = (files.csv, *TARGET, "--entry", "since", "--id", "patient")
    surtree("fit", *rows, "--max-depth", 1, "--model", model)
    text = surtree("evaluate", model, *rows, "--bootstraps", 20).stdout
    assert "Uno's C up to" in text
    assert "not estimable: 228 of 228 rows are parts of persons" in text
    assert "nan" not in text
