"""What commands make of cells and rows, and what they say about it."""

import datetime
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from awkward_files import FILES, table, workbook
from awkward_files import rows as sheet_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from target import TARGET, UNTUNED

from surtree import SurTree, SurTreeCV
from surtree.datasets import load_lung
from surtree.model_selection import EventStratifiedKFold
from surtree.reading import _sheets as excel
from surtree.reading.kinds import kind_of
from surtree.reading.numbers import find_decimal, numbers

ONE = ("--max-depth", 1, "--json")


def written(value: int, digits: int, decimal: str, grouping: str, sign: str) -> str:
    """Return a whole number of units of the last digit as text."""
    whole, fraction = divmod(value, 10**digits)
    text = f"{whole:,}".replace(",", grouping)
    return sign + text + (f"{decimal}{fraction:0{digits}}" if digits else "")


@settings(deadline=None)
@given(
    cells=st.lists(
        st.tuples(st.integers(0, 10**9), st.sampled_from(["", "-", "+", "\u2212"])), min_size=1
    ),
    digits=st.integers(0, 4),
    decimal=st.sampled_from(".,"),
    grouping=st.sampled_from(["", "other", " ", "\u00a0", "\u202f", "'"]),
    percent=st.sampled_from(["", "%", " %"]),
)
def test_numbers_are_read_as_they_were_written(cells, digits, decimal, grouping, percent):
    mark = ("," if decimal == "." else ".") if grouping == "other" else grouping
    texts = pl.Series([written(value, digits, decimal, mark, s) + percent for value, s in cells])
    expected = [value / 10**digits * (-1 if s in "-\u2212" and s else 1) for value, s in cells]
    assert numbers(texts, decimal).to_list() == pytest.approx(expected)
    found = find_decimal([texts])
    # Where something decides, it decides so.
    if found is not None and digits and mark not in (".", ","):
        assert found == decimal or digits == 3


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1.5", 1.5, None),
        ("1,5", None, 1.5),
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("0,123", None, 0.123),
        ("12,34,567", None, None),
        ("1,234.5", 1234.5, None),
        ("1.234,5", None, 1234.5),
        ("1,2345", None, 1.2345),
        (".5", 0.5, None),
        ("1e3", 1000.0, 1000.0),
        ("1,5e3", None, 1500.0),
        ("", None, None),
        ("-", None, None),
        ("5-10", None, None),
        ("1 2", None, None),
        ("1 234 ", 1234.0, 1234.0),
        ("50 %", 50.0, 50.0),
        ("%", None, None),
        ("twenty", None, None),
        ("0x10", None, None),
        ("1_000", None, None),
    ],
)
def test_what_is_a_number(text, point, comma):
    assert numbers(pl.Series([text])).to_list() == [point]
    assert numbers(pl.Series([text]), ",").to_list() == [comma]


def test_shares_and_percents_are_not_mixed():
    assert numbers(pl.Series(["5 %", "6 %", "0.07"])).to_list() == [5.0, 6.0, None]
    assert numbers(pl.Series(["5", "6", "7%"])).to_list() == [5.0, 6.0, None]


class TestKinds:
    @pytest.mark.parametrize(
        ("cells", "kind"),
        [
            ([None] * 30, "empty"),
            ([True, None], "yes/no"),
            (list(range(19)), "number"),  # too few to tell
            (list(range(7, 47)), "id"),
            ([2.0 * row for row in range(40)], "number"),
            ([row % 20 for row in range(40)], "number"),
            ([datetime.date(2020, 1, 1)], "date"),
            (["a", "b"] * 20, "category"),
            ([f"p{row}" for row in range(19)], "category"),
            ([f"p{row}" for row in range(40)], "id"),
            ([f"p{row // 2}" for row in range(40)], "category"),
            (["Grade two: moderately differentiated cells", "Grade one"] * 20, "category"),
            ([f"was seen on day {row // 2}" for row in range(80)], "free text"),
            (["2020-01-31 12:30", "2020-02-01T08:15:00Z", None], "date"),
            (["3.2.2020", "14.11.1999"], "date"),
            (["12/31/2020", "1/2/20"], "date"),
            (["03-Feb-2020", "3 Feb 2020"], "date"),
            (["12:30", "8:15:00"], "date"),
            (["1.2", "3.4.5"], "category"),
        ],
    )
    def test_what_a_column_holds(self, cells, kind):
        assert kind_of(pl.Series("x", cells)).name == kind

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            *((name, "id") for name in ("ID", "patient_id", "PatientID", "Pat.-Nr.")),
            *((name, "number") for name in ("acid", "platelets", "covid")),
        ],
    )
    def test_numbers_under_the_name_of_an_id(self, name, kind):
        assert kind_of(pl.Series(name, [row * row for row in range(40)])).name == kind


class TestColumns:
    def test_without_a_target(self, surtree, files):
        path = files.write("t.csv", table(seen=["2020-01-01"] * 40, age=["", *[7] * 39]))
        result = surtree("columns", path)
        assert result.stdout == (
            "40 rows\n"
            "  column  kind      missing\n"
            "  days    number             10 to 283, median 150\n"
            "  died    number             0 to 1, median 1\n"
            "  age     number          1  7 to 7, median 7\n"
            "  dose    number             0.5 to 5.25, median 3\n"
            "  sex     category           männlich (20), weiblich (20)\n"
            "  seen    date               such as 2020-01-01; left out: dates or times of day\n"
        )
        assert result.stderr == ""
        found = json.loads(surtree("columns", path, "--type", "age=categorical", "--json").stdout)
        assert found["rows"] == 40
        assert found["columns"][2] == {
            "name": "age",
            "kind": "category",
            "missing": 1,
            "distinct": 1,
            "notes": [],
        }

    def test_cells_that_are_no_numbers_are_shown_and_not_refused(self, surtree, files):
        path = files.write("t.csv", table(age=["ca. 20", *[7] * 39]))
        assert "1 of 40 cells are not numbers: 'ca. 20'" in surtree("columns", path).stdout

    def test_options_of_the_tree_need_a_target(self, surtree, files):
        result = surtree("columns", files.csv, "--max-depth", 2, code=2)
        assert "without --time and --event, --max-depth would do nothing" in result.stderr

    def test_a_report_with_its_words(self, surtree, files):
        page = files.directory / "r.html"
        options = ("--report", page, "--title", "Lungs", "--max-depth", 1, "--no-first")
        surtree("columns", files.csv, *TARGET, *options, "--horizons", "123")
        assert "Lungs" in page.read_text()
        assert '"time":"123"' in page.read_text()


def test_many_columns_are_told_in_a_few_lines(surtree, files):
    numbers = {f"x{place}": [f"{(row * place) % 13}" for row in range(40)] for place in range(50)}
    path = files.write("t.csv", table(**numbers, seen=["2020-01-01"] * 40))
    lines = surtree("fit", path, *UNTUNED, "--max-depth", 1).stderr.splitlines()
    assert lines[1:] == [
        "  column  kind  missing",
        "  seen    date           left out: dates or times of day",
        "  55 other columns: 52 number, 1 time, 1 event, 1 category (surtree columns lists all)",
        "  (--columns or --type COLUMN=categorical keeps a column that is left out)",
    ]


class TestLeftOut:
    def test_columns_can_be_kept(self, surtree, files):
        codes = [f"P{row}" for row in range(40)]
        path = files.write("t.csv", table(code=codes, seen=["2020-01-01"] * 40))
        found = json.loads(surtree("fit", path, *UNTUNED, *ONE).stdout)
        assert found["columns"] == ["age", "dose", "sex"]
        assert set(found["left_out"]) == {"code", "seen"}
        for option in (("--columns", "age,code"), ("--type", "code=categorical")):
            found = json.loads(surtree("fit", path, *UNTUNED, *ONE, *option).stdout)
            assert "code" in found["columns"]

    def test_dates_of_a_parquet_file_are_left_out(self, surtree, files, lung):
        seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(lung.index, unit="D")
        lung.assign(seen=seen).to_parquet(files.parquet)
        result = surtree("fit", files.parquet, *UNTUNED, *ONE)
        assert set(json.loads(result.stdout)["left_out"]) == {"seen"}
        assert "column 'seen': left out: dates or times of day" in result.stderr

    def test_nothing_may_be_left(self, surtree, files):
        path = files.write("t.csv", "days,died,seen\n" + "1,1,2020-01-01\n2,0,2020-01-02\n")
        result = surtree("fit", path, *UNTUNED, code=1)
        assert result.stderr.startswith(
            "surtree: no column is left for the tree to ask about: left out are 'seen' (dates or "
            "times of day); --columns or --type COLUMN=categorical keeps"
        )

    def test_an_audit_says_so_too(self, surtree, files, lung):
        codes = [f"P{row}" for row in range(len(lung))]
        lung.assign(leaf=lung["sex"], code=codes).to_csv(files.csv, index=False)
        options = ("--leaf", "leaf", "--max-depth", 1, "--n-thresholds", 5)
        result = surtree("audit", files.csv, *TARGET, *options)
        assert "column 'code': left out: a different value in nearly every row" in result.stderr


class TestRows:
    @pytest.fixture
    def holes(self, files, lung):
        table = lung.astype({"died": object})
        table.loc[[3, 8], "died"] = None
        table.loc[9, "days"] = np.nan
        table.to_csv(files.csv, index=False)
        return lung.drop(index=[3, 8, 9])

    def test_without_a_target_can_be_left_out(self, surtree, files, holes):
        line = "surtree: 3 of 228 rows lack a value of days, died, and are left out"
        expected = SurTree(1).fit(holes[load_lung()[0].columns], holes[["died", "days"]])
        result = surtree("fit", files.csv, *UNTUNED, *ONE, "--drop-incomplete")
        assert result.stderr.splitlines() == [line]
        found = json.loads(result.stdout)
        assert (found["rows"], found["loss"]) == (225, expected.loss_)
        expected.save(files / "m.json")
        options = (files.csv, *TARGET, "--drop-incomplete", "--json")
        few = ("--max-depth", 1, "--bootstraps", 2)
        for command in (
            ("columns", *options, "--max-depth", 1, "--no-first"),
            ("validate", *options, *few),
            ("evaluate", files / "m.json", *options, "--bootstraps", 2),
            ("audit", *options, "--model", files / "m.json"),
        ):
            assert line in surtree(*command).stderr

    def test_of_time_zero(self, surtree, files, lung):
        zero = lung.assign(days=np.where(lung.index % 9 == 0, 0, lung["days"]))
        zero.to_csv(files.csv, index=False)
        X, is_zero = zero[load_lung()[0].columns], zero["days"] == 0
        dropped = surtree("fit", files.csv, *UNTUNED, *ONE, "--zero-times", "drop")
        assert dropped.stderr == (
            f"surtree: {is_zero.sum()} of 228 rows have the time zero in column 'days', and are "
            "left out\n"
        )
        expected = SurTree(1).fit(X[~is_zero], zero.loc[~is_zero, ["died", "days"]])
        assert json.loads(dropped.stdout)["loss"] == expected.loss_
        half = surtree("fit", files.csv, *UNTUNED, *ONE, "--zero-times", "half")
        shortest = zero["days"][~is_zero].min() / 2
        assert f"read as {shortest:g}, half of the shortest time above zero" in half.stderr
        expected = SurTree(1).fit(X, (zero["died"], zero["days"].replace(0, shortest)))
        assert json.loads(half.stdout)["loss"] == expected.loss_

    def test_of_a_group_stay_together_in_folds(self, surtree, files, lung):
        centre = np.arange(len(lung)) // 20
        lung.assign(centre=centre).to_csv(files.csv, index=False)
        options = (*TARGET, "--max-depth", 2, "--group", "centre", "--folds", 4, "--json")
        found = json.loads(surtree("fit", files.csv, *options).stdout)
        X, y = load_lung()
        folds = list(EventStratifiedKFold(4).split(X, y, centre))
        expected = SurTreeCV(2, cv=folds).fit(X, y)
        assert [size["mean"] for size in found["tuning"]["sizes"]] == expected.sizes_.mean.tolist()
        assert "centre" not in found["columns"]
        plain = SurTreeCV(2, cv=4).fit(X, y)
        assert plain.sizes_.mean.tolist() != expected.sizes_.mean.tolist()

    def test_of_a_person_are_of_one_group(self, surtree, files, lung):
        person = np.arange(len(lung)) // 2
        lung.assign(person=person, centre=np.arange(len(lung)) % 5, start=0).assign(
            start=np.where(np.arange(len(lung)) % 2, 5000, 0), days=lambda t: t["days"] + t["start"]
        ).to_csv(files.csv, index=False)
        options = ("--entry", "start", "--id", "person", "--group", "centre")
        result = surtree("fit", files.csv, *TARGET, *options, code=1)
        assert "114 persons of column 'person' have rows of several values of" in result.stderr

    def test_of_a_parquet_file_with_nan_lack_a_value(self, surtree, files, lung):
        holes = lung.assign(days=lung["days"].where(lung.index != 7, np.nan))
        pl.DataFrame({name: holes[name].to_list() for name in holes}, strict=False).with_columns(
            pl.col("days").fill_null(float("nan"))
        ).write_parquet(files.parquet)
        result = surtree("fit", files.parquet, *UNTUNED, *ONE, "--drop-incomplete")
        assert json.loads(result.stdout)["rows"] == 227

    def test_of_groups_have_as_many_folds_as_there_are(self, surtree, files, lung):
        lung.assign(centre=np.arange(len(lung)) % 3).to_csv(files.csv, index=False)
        options = (*TARGET, "--max-depth", 1, "--group", "centre", "--validate", 2, "--json")
        found = json.loads(surtree("fit", files.csv, *options, "--horizons", "200,300").stdout)
        assert found["tuning"]["folds"] == 3
        assert found["validation"]["horizons"] == [200, 300]


class TestModels:
    @pytest.fixture
    def model(self, surtree, files):
        path = files.write("t.csv", table())
        surtree("fit", path, *UNTUNED, "--max-depth", 2, "--model", files / "m.json")
        return files / "m.json"

    @pytest.mark.parametrize("name", ["german.csv", "windows-1252.csv", "second-sheet.xlsx"])
    def test_predict_alike_whatever_the_file(self, surtree, files, model, name):
        (awkward,) = (one for one in FILES if one.name == name)
        path = awkward.write(files.directory)
        plain = surtree("predict", model, files / "t.csv").stdout
        assert surtree("predict", model, path, *awkward.options).stdout == plain

    def test_one_row_with_decimal_commas(self, surtree, files, model):
        one = files.write("one.csv", "age;dose;sex\n61;1,5;weiblich\n")
        other = files.write("other.csv", "age,dose,sex\n61,1.5,weiblich\n")
        assert surtree("predict", model, one).stdout == surtree("predict", model, other).stdout

    def test_kept_columns_are_written_as_they_were(self, surtree, files, model):
        codes = [f"{row:03}" for row in range(40)]
        path = files.write("k.csv", table(code=codes, price=["1.50"] * 40))
        options = ("--keep", "code,price,age", "--only", "leaf")
        lines = surtree("predict", model, path, *options).stdout.splitlines()
        assert [line.split(",")[:2] for line in lines[1:]] == [[code, "1.50"] for code in codes]
        found = json.loads(surtree("predict", model, path, *options, "--json").stdout)
        assert found["predictions"][0]["code"] == "000"
        assert found["predictions"][0]["age"] == 30


class TestFiles:
    def test_a_workbook_needs_an_extra(self, surtree, files, monkeypatch):
        path = files.directory / "t.xlsx"
        workbook(A=sheet_rows())(path)
        monkeypatch.setattr(excel, "find_spec", lambda name: None)
        result = surtree("fit", path, *UNTUNED, code=1)
        assert 'fastexcel, which is not installed: pip install "surtree[excel]"' in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_a_workbook_needs_no_pyarrow(self, surtree, files, monkeypatch):
        path = files.directory / "t.xlsx"
        workbook(A=sheet_rows())(path)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert "40 rows" in surtree("columns", path).stdout

    def test_a_workbook_that_is_damaged_or_empty(self, surtree, files):
        path = files.write("t.xlsx", "no workbook")
        assert "cannot read" in surtree("columns", path, code=1).stderr
        workbook(A=[])(files.directory / "e.xlsx")
        assert "sheet 'A' of" in surtree("columns", files / "e.xlsx", code=1).stderr

    @pytest.mark.parametrize(
        ("kind", "options", "message"),
        [
            ("parquet", ("--separator", ";"), "is a Parquet file, where --separator would do"),
            (
                "parquet",
                ("--missing", "?", "--decimal", ","),
                "where --decimal and --missing would",
            ),
            ("csv", ("--sheet", "A"), "is no Excel workbook, where --sheet would do nothing"),
        ],
    )
    def test_options_that_would_do_nothing(self, surtree, files, kind, options, message):
        result = surtree("columns", getattr(files, kind), *options, code=1)
        assert message in result.stderr

    def test_a_workbook_has_no_separator(self, surtree, files):
        workbook(A=sheet_rows())(files.directory / "t.xlsx")
        result = surtree("columns", files / "t.xlsx", "--separator", ";", code=1)
        assert "is an Excel workbook, where --separator would do nothing" in result.stderr

    def test_blanks_between_cells_are_to_be_said(self, surtree, files):
        path = files.write("t.txt", "days died\n1 1\n")
        assert "as in --separator ' '" in surtree("columns", path, code=1).stderr
        assert "died" in surtree("columns", path, "--separator", " ").stdout
