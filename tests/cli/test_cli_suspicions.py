"""What commands say of columns that no tree should ask about, and which option they name."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from target import TARGET, UNTUNED

QUICK = ("--max-depth", 1, "--folds", 3)


def notes(result):
    """Return the lines after the table of what was read."""
    return [line for line in result.stderr.splitlines() if line.startswith("surtree: column ")]


def test_an_id_with_gaps_and_a_second_outcome(surtree, files, lung):
    # As in R's rotterdam.
    later = lung["days"] + np.where(lung["died"] == 1, 100, 0)
    death = np.where(np.arange(228) % 9 == 0, 1 - lung["died"], lung["died"])
    pid = np.cumsum(1 + np.arange(228) % 2)
    lung.assign(pid=pid, dtime=later, death=death).to_csv(files.csv, index=False)
    result = surtree("fit", files.csv, *TARGET, *QUICK)
    assert re.search("  pid  +id  +left out: a different value in nearly every row", result.stderr)
    time, event = notes(result)
    assert time == (
        "surtree: column 'dtime' is equal to the time in 28% of rows, as the time of a second "
        "outcome is: if it is known only afterwards, --exclude dtime leaves it out"
    )
    assert event.startswith("surtree: column 'death' is named like an outcome (correlation with ")
    assert event.endswith("if it is known only afterwards, --exclude death leaves it out")
    again = surtree("fit", files.csv, *TARGET, *QUICK, "--exclude", "dtime,death")
    assert notes(again) == []


@pytest.fixture
def twice(files, lung):
    """Each person twice, as in R's colon."""
    rows = pd.concat([lung, lung.assign(days=lung["days"] + 5)])
    rows.assign(id=[*range(228), *range(228)]).to_csv(files.csv, index=False)
    return files.csv


def test_persons_with_two_rows(surtree, twice):
    result = surtree("fit", twice, *TARGET, *QUICK)
    assert "left out: several rows of each value, as persons have" in result.stderr
    assert notes(result) == [
        "surtree: column 'id' has 228 values in 456 rows, as persons with several rows have: "
        "--group id keeps the rows of a person together in folds and samples"
    ]
    assert notes(surtree("fit", twice, *TARGET, *QUICK, "--group", "id")) == []
    found = json.loads(surtree("fit", twice, *TARGET, *QUICK, "--json").stdout)
    assert set(found["left_out"]) == {"id"}


def test_where_there_are_no_folds_no_option_of_folds_is_named(surtree, twice):
    assert notes(surtree("fit", twice, *UNTUNED, "--max-depth", 1)) == []
    assert notes(surtree("columns", twice, *TARGET, "--max-depth", 1, "--no-first")) == []


def test_start_stop_rows(surtree, files, lung):
    # As in R's heart.
    half = lung["days"] // 2
    rows = pd.concat(
        [
            lung.assign(days=half, died=0, start=0, id=range(228)),
            lung.assign(start=half, id=range(228)),
        ]
    )
    rows[rows["start"] < rows["days"]].to_csv(files.csv, index=False)
    result = surtree("fit", files.csv, *TARGET, *QUICK)
    start, person = notes(result)
    assert start.endswith(
        "'start' is before the time, as the start of a row is: if rows are observed from there on, "
        "add --entry start"
    )
    assert person.endswith("if rows are parts of persons, add --id id")
    options = ("--entry", "start", "--id", "id")
    assert notes(surtree("fit", files.csv, *TARGET, *QUICK, *options)) == []


@pytest.mark.parametrize(
    ("codes", "advice"),
    [
        ([0, 1, 2], "--event died=2 for one of several causes; surtree fit --cause died takes all"),
        ([1, 2, 2], "--event died=2, if they are codes as in R, where 2 is the event"),
        ([0, 7, 7], "--event died=7"),
        ([0, 1, 9], "--event died=VALUE"),
        (["dead", "lost", "alive"], "--event died=dead"),
        (["deat", "lives", "deat"], "--event died=deat"),
    ],
)
def test_zero_is_never_the_event(surtree, files, lung, codes, advice):
    lung.assign(died=np.resize(codes, 228)).to_csv(files.csv, index=False)
    result = surtree("fit", files.csv, *TARGET, code=1)
    assert f"say which value is the event, as in {advice}" in result.stderr
