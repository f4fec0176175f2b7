"""``surtree questions`` and ``surtree near``: the numbers of the library, on files."""

import json
from pathlib import Path

import pandas as pd
import pytest
from target import TARGET

from surtree import load, near_optimal, question_costs
from surtree.datasets import load_lung


@pytest.fixture
def model(surtree, files):
    path = files / "model.json"
    surtree("fit", files.csv, *TARGET, "--no-tune", "--max-depth", 2, "--model", path)
    return path


def test_questions_have_the_prices_of_the_library(surtree, files, model):
    expected = question_costs(load(model), *load_lung())
    assert surtree("questions", model, files.csv, *TARGET).stdout == f"{expected}\n"
    found = json.loads(surtree("questions", model, files.csv, *TARGET, "--json").stdout)
    assert found["questions"] == expected.records()
    table, page = files / "prices.csv", files / "page.html"
    surtree("questions", model, files.csv, *TARGET, "-o", table, "--report", page, "--path", "y")
    of_node = [row["question"] for row in expected.records() if row["path"] == "y"]
    assert pd.read_csv(table)["question"].tolist() == of_node
    assert "Which tree do you believe?" in Path(page).read_text(encoding="utf-8")


def test_a_page_with_rows_says_so(surtree, files, model):
    page = files / "page.html"
    rows = ("questions", model, files.csv, *TARGET)
    result = surtree(*rows, "--report", page, "--explore", "rows")
    assert "surtree: The page holds the answers, the event" in result.stderr
    assert "class Solver" in Path(page).read_text(encoding="utf-8")
    assert "UserWarning" not in result.stderr
    result = surtree(*rows, "--explore", "cascades", code=2)
    assert "--explore is for a report: add --report" in result.stderr


def test_conditions_are_asked_of_the_tree_and_kept(surtree, files):
    path = files / "monotone.json"
    asked = ("--monotone", "age=1", "--monotone", "karnofsky_patient=-1", "--max-columns", 2)
    fit = ("fit", files.csv, *TARGET, "--no-tune", *asked)
    said = " ".join(surtree(*fit, "--model", path).stdout.split())
    assert "without a risk that only rises with age and a risk that only falls" in said
    found = load(path)
    assert (found.monotone, found.max_columns) == ({"age": 1, "karnofsky_patient": -1}, 2)
    assert len({cut.name for cut in found.tree_.cuts}) <= 2
    assert "questions about at most 2 columns" in surtree("near", path, files.csv, *TARGET).stdout
    result = surtree("fit", files.csv, *TARGET, "--monotone", "age=up", code=2)
    assert "is not a column and a sign" in " ".join(result.stderr.replace("│", " ").split())
    result = surtree("fit", files.csv, *TARGET, "--no-tune", "--monotone", "old=1", code=1)
    assert "'old', which is no column" in result.stderr


def test_arms_are_asked_too(surtree, files):
    path = files / "effects.json"
    rows = (files.csv, *TARGET, "--treatment", "sex")
    surtree("fit", *rows, "--no-tune", "--max-depth", 1, "--model", path)
    found = json.loads(surtree("near", path, *rows, "--within", "20%", "--json").stdout)
    assert found["loss"] == pytest.approx(load(path).loss_)
    found = json.loads(surtree("questions", path, *rows, "--json").stdout)
    assert found["questions"][0]["cost"] == 0
    result = surtree("questions", path, *rows, "--report", files / "page.html", code=1)
    assert "no swaps of trees of treatment effects" in result.stderr


def test_near_counts_trees_and_columns(surtree, files, model):
    expected = near_optimal(load(model), *load_lung(), within=0.1)
    rows = (model, files.csv, *TARGET)
    assert surtree("near", *rows, "--within", "10%").stdout == f"{expected}\n"
    found = json.loads(surtree("near", *rows, "--within", "0.1", "--json").stdout)
    assert found["losses"] == expected.losses.tolist()
    assert found["columns"] == [vars(column) for column in expected.columns]
    assert "at least 3 trees" in surtree("near", *rows, "--max-trees", 3).stdout.lower()
    surtree("near", *rows, "--within", "10%", "-o", files / "columns.parquet")
    assert len(pd.read_parquet(files / "columns.parquet")) == len(expected.columns)


@pytest.mark.parametrize("within", ["-1%", "101%", "5", "five", "5%%", "nan"])
def test_a_share_beyond_its_range_is_a_sentence(surtree, files, model, within):
    result = surtree("near", model, files.csv, *TARGET, f"--within={within}", code=2)
    assert "from 0% to 100%" in " ".join(result.stderr.replace("│", " ").split())


def test_wrong_paths_and_other_rows_are_sentences(surtree, files, model, lung):
    result = surtree("questions", model, files.csv, *TARGET, "--path", "yyy", code=1)
    assert "--path 'yyy' is no split of the tree: there are ''" in result.stderr
    other = files.write("other.csv", lung.iloc[1:].to_csv(index=False))
    for verb in ("questions", "near"):
        assert "not the rows" in surtree(verb, model, other, *TARGET, code=1).stderr
    result = surtree("near", model, files.csv, "--time", "days", code=2)
    assert "give one of --event and --cause" in result.stderr
    result = surtree("questions", model, files.csv, *TARGET, "--title", "x", code=2)
    assert "--title is for a report" in result.stderr
