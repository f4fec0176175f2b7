"""``surtree validate``: the numbers of `surtree.validate`, on files."""

import json

import numpy as np
import pytest
from target import TARGET

from surtree import SurTreeCV, validate
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
    np.testing.assert_allclose(corrected, expected.corrected, rtol=1e-9)
    assert (found["bootstraps"], found["failed"]) == (4, 0)
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
