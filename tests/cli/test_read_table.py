"""`surtree.read_table`: the tables of the command line, for Python."""

import re
import sys
import warnings

import pandas as pd
import polars as pl
import pytest
from awkward_files import FILES, rows, workbook
from test_awkward_files import read

from surtree import ReadingWarning, SurTree, read_table
from surtree.datasets import load_lung


def options_of(form, asked):
    """Return the options of the command line as arguments of Python."""
    types = {
        name: list(reading.order) if reading.kind == "ordered" else reading.kind
        for name, reading in (asked.types or {}).items()
    }
    return {name: value for name, value in vars(form).items() if value} | {"types": types}


@pytest.mark.filterwarnings("ignore::surtree.reading.ReadingWarning")
@pytest.mark.parametrize(
    "awkward", [one for one in FILES if one.kinds is not None], ids=lambda awkward: awkward.name
)
def test_columns_are_those_of_fit(awkward, tmp_path):
    path = awkward.write(tmp_path)
    ((training, asked, form),), _ = read(path, awkward.options)
    table = read_table(path, **options_of(form, asked))
    assert set(table.columns) == set(training.frame.columns)
    expected = training.X.drop_nulls() if "--drop-incomplete" in awkward.options else training.X
    found = table.select(training.X.columns)
    assert found.schema == expected.schema
    if "--drop-incomplete" not in awkward.options:
        assert found.equals(expected)


def test_what_a_file_leaves_open_is_a_warning_unless_it_is_said(tmp_path):
    path = tmp_path / "german.csv"
    path.write_text("alter;tage\n61,5;712\n70,25;1024\n")
    with pytest.warns(ReadingWarning, match="separated by semicolons; decimal commas"):
        table = read_table(path)
    assert table.to_dict(as_series=False) == {"alter": [61.5, 70.25], "tage": [712, 1024]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(str(path), separator=";", decimal=",").equals(table)


def test_a_column_that_is_nearly_of_numbers_is_noted(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age\n" + "\n".join(map(str, range(30, 60))) + "\nunknown\n")
    with pytest.warns(ReadingWarning, match=r"'age' is read as texts: 1 of 31 .*'unknown'"):
        assert read_table(path).schema["age"] == pl.String
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(path, missing=["unknown"])["age"].null_count() == 1
        assert read_table(path, types={"age": "categorical"}).schema["age"] == pl.String


@pytest.mark.parametrize(
    ("name", "text", "options", "words"),
    [
        ("a.csv", "a;b\n1,234;1\n2,345;2\n", {}, "say decimal='.' or decimal=','"),
        ("a.csv", "a b\n1 2\n", {}, "as in separator=' '"),
        ("a.csv", "a,b\n1,2\n", {"sheet": "A"}, "is no Excel workbook, where sheet would do"),
        ("a.csv", "a,b\né,2\n", {"encoding": "ascii"}, "as in encoding='latin-1'"),
        ("a.csv", "a,b\n1,2\n", {"types": {"c": "numeric"}}, "there is no column 'c'"),
        ("a.csv", "a,b\n1,2\n", {"types": {"a": "number"}}, "write 'numeric', 'boolean'"),
        ("a.csv", "a,b\n1,2\n", {"types": {"a": ["1", "1"]}}, "two or more different categories"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", {}, "line 3 of "),
        ("a.csv", "", {}, "is empty"),
    ],
)
@pytest.mark.filterwarnings("ignore::surtree.reading.ReadingWarning")
def test_errors_are_of_values_and_say_what_to_do_in_python(tmp_path, name, text, options, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        read_table(path, **options)
    assert "--" not in str(raised.value)


def test_a_sheet_of_a_workbook(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(first=rows(), second=[["a"], [1], [2]])(path)
    assert read_table(path, sheet="second")["a"].to_list() == [1, 2]
    with pytest.warns(ReadingWarning, match="sheet 'first' of .*; sheet names another"):
        read_table(path)


def test_a_table_can_be_fitted(tmp_path):
    X, y = load_lung()
    X.assign(days=y["time"], died=y["event"]).to_csv(tmp_path / "lung.csv", index=False)
    table = read_table(tmp_path / "lung.csv")
    model = SurTree(max_depth=1).fit(table, ("died", "days"))
    assert model.loss_ == SurTree(max_depth=1).fit(pd.DataFrame(X), y).loss_


def test_without_polars_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r'pip install "surtree\[cli\]"'):
        read_table("table.csv")
