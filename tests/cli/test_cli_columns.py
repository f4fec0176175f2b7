"""``surtree columns``: the numbers of `surtree.column_costs`, on files and in a report."""

import json
import re

from target import TARGET

from surtree import SurTree, column_costs
from surtree.datasets import load_lung


def test_a_file_has_the_numbers_of_its_table(surtree, files):
    X, y = load_lung()
    expected = column_costs(SurTree(2, category_cuts="subsets"), X, y)
    options = (files.csv, *TARGET, "--max-depth", 2, "--category-cuts", "subsets")
    found = json.loads(surtree("columns", *options, "--json").stdout)
    assert found["loss"] == expected.loss
    assert found["status"] == "optimal"
    assert found["columns"] == [
        {
            "name": one.name,
            "kind": "category" if one.name == "sex" else "number",
            "loss_without": one.without,
            "loss_if_first": one.first,
        }
        for one in expected.columns
    ]
    assert surtree("columns", *options).stdout == f"{expected}\n"


def test_without_first_questions_and_in_a_report(surtree, files):
    page = files.directory / "report.html"
    options = ("--max-depth", 1, "--no-first", "--report", page)
    result = surtree("columns", files.csv, *TARGET, *options)
    X, y = load_lung()
    expected = column_costs(SurTree(1), X, y, first=False)
    assert result.stdout == f"{expected}\nreport  {page}\n"
    text = page.read_text(encoding="utf-8")
    assert expected.note() in text
    words = " ".join(re.sub("<[^>]+>", " ", text).split())
    for row in expected.cells():
        assert " ".join(row) in words


def test_several_shrinkages_are_refused(surtree, files):
    result = surtree("columns", files.csv, *TARGET, "--shrinkage", "1,3", code=2)
    assert "give one --shrinkage" in result.stderr
