"""``surtree fit``: from files to the same tree as in Python."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from target import TARGET, UNTUNED

from surtree import SurTree, SurTreeCV
from surtree.datasets import load_lung, load_rossi


@pytest.fixture(scope="module")
def expected():
    return SurTree(max_depth=2).fit(*load_lung())


def rules(tree):
    return [rule.conditions for rule in tree.rules()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_gives_the_tree_of_the_table(surtree, files, kind, expected):
    model = files / "m.json"
    result = surtree("fit", getattr(files, kind), *UNTUNED, "--max-depth", 2, "--model", model)
    loaded = SurTree.load(model)
    assert rules(loaded.tree_) == rules(expected.tree_)
    assert loaded.loss_ == expected.loss_
    assert str(loaded.tree_) in result.stdout
    assert "228 rows, 165 events, 7 columns" in result.stdout
    assert "gap 0.00% (optimal" in result.stdout
    assert f"model   {model}" in result.stdout
    lines = result.stderr.splitlines()
    assert lines[0] == f"surtree: {getattr(files, kind)}, 228 rows, read as"
    assert [line.split()[:2] for line in lines[2:]] == [
        *([name, "category" if name == "sex" else "number"] for name in load_lung()[0].columns),
        *(["days", "time"], ["died", "event"]),
    ]
    assert lines[-4].split() == ["calories", "number", "47"]


def test_standard_input_is_a_table_too(surtree, files, expected):
    text = files.csv.read_text()
    surtree("fit", "-", *UNTUNED, "--max-depth", 2, "--model", files / "m.json", stdin=text)
    assert SurTree.load(files / "m.json").loss_ == expected.loss_


def test_limits_reach_the_search(surtree, files):
    limits = {
        "max_depth": 3,
        "max_splits": 4,
        "min_samples_leaf": 9,
        "min_events_leaf": 5,
        "n_thresholds": 4,
    }
    options = [(f"--{name.replace('_', '-')}", value) for name, value in limits.items()]
    arguments = [part for option in options for part in option]
    surtree("fit", files.csv, *UNTUNED, *arguments, "--jobs", 2, "--model", files / "m.json")
    loaded, expected = SurTree.load(files / "m.json"), SurTree(**limits).fit(*load_lung())
    assert loaded.loss_ == expected.loss_
    assert {name: loaded.get_params()[name] for name in limits} == limits


def test_all_thresholds(surtree, files):
    every = ("--max-depth", 1, "--n-thresholds", "all")
    surtree("fit", files.csv, *UNTUNED, *every, "--model", files / "m")
    expected = SurTree(max_depth=1, n_thresholds=None).fit(*load_lung())
    assert SurTree.load(files / "m").loss_ == expected.loss_


def test_thresholds_of_some_columns_and_sets_of_categories(surtree, files):
    given = ("--thresholds", "age=50,65", "--thresholds", "age=70", "--category-cuts", "subsets")
    surtree("fit", files.csv, *UNTUNED, "--max-depth", 1, *given, "--model", files / "m")
    loaded = SurTree.load(files / "m")
    assert loaded.thresholds == {"age": [50.0, 65.0, 70.0]}
    assert loaded.category_cuts == "subsets"
    assert loaded.loss_ == SurTree(1, thresholds=loaded.thresholds).fit(*load_lung()).loss_
    for wrong in ("age", "age=", "=50", "age=old", "age=inf"):
        result = surtree("fit", files.csv, *UNTUNED, "--thresholds", wrong, code=2)
        assert "as age=50,65" in " ".join(result.stderr.split()).replace("│ ", "")


def test_weights_and_entry_times(surtree, files, lung):
    X, y = load_lung()
    weight = np.arange(len(y)) % 3 / 2
    entry = y["time"] / (2 + np.arange(len(y)) % 5)
    lung.assign(w=weight, start=entry).to_csv(files.csv, index=False)
    options = ("--max-depth", 2, "--weight", "w", "--entry", "start", "--model", files / "m")
    surtree("fit", files.csv, *UNTUNED, *options)
    expected = SurTree(max_depth=2).fit(X, y, weight, entry)
    assert SurTree.load(files / "m").loss_ == expected.loss_
    assert SurTree.load(files / "m").feature_names_in_.tolist() == list(X.columns)


def test_size_and_shrinkage_are_tuned_by_default(surtree, files):
    result = surtree("fit", files.csv, *TARGET, "--max-depth", 2, "--model", files / "m")
    expected = SurTreeCV(max_depth=2).fit(*load_lung())
    chosen = expected.best_params_["shrinkage"]
    assert f"shrinkage {chosen:g}, chosen of 1, 3, 10" in result.stdout
    assert str(expected.sizes_) in result.stdout
    assert str(expected.held_out_) in result.stdout
    model = SurTree.load(files / "m")
    assert model.loss_ == expected.best_estimator_.loss_
    np.testing.assert_allclose(model.held_out_.brier, expected.held_out_.brier)


def test_how_to_tune(surtree, files):
    how = ("--tune", "--folds", 3, "--rule", "1se", "--shrinkage", "2,5", "--leaf-curve")
    options = ("--max-depth", 2, *how, "kaplan-meier", "--model", files / "m")
    result = surtree("fit", files.csv, *TARGET, *options)
    expected = SurTreeCV(
        max_depth=2, cv=3, rule="1se", shrinkage=(2, 5), leaf_curve="kaplan-meier"
    ).fit(*load_lung())
    assert str(expected.sizes_) in result.stdout
    model = SurTree.load(files / "m")
    assert (model.loss_, model.leaf_curve) == (expected.best_estimator_.loss_, "kaplan-meier")


def test_one_shrinkage_without_tuning(surtree, files):
    options = ("--max-depth", 2, "--shrinkage", 4, "--model", files / "m")
    result = surtree("fit", files.csv, *UNTUNED, *options)
    expected = SurTree(max_depth=2, shrinkage=4).fit(*load_lung())
    assert SurTree.load(files / "m").loss_ == expected.loss_
    assert f"loss {expected.loss_:.6g} with shrinkage 4, lower bound" in result.stdout


def test_few_events_have_fewer_folds_and_one_event_none(surtree, files):
    text = files.csv.read_text().splitlines()
    column = text[0].split(",").index("died")

    def with_events(n_events):
        lines = [line.split(",") for line in text[1:]]
        for number, cells in enumerate(lines):
            cells[column] = "1" if number < n_events else "0"
        path = files.directory / f"events-{n_events}.csv"
        path.write_text("\n".join([text[0], *map(",".join, lines)]) + "\n")
        return json.loads(surtree("fit", path, *TARGET, "--max-depth", 1, "--json").stdout)

    assert with_events(4)["tuning"]["folds"] == 4
    assert with_events(1)["tuning"] is None


def test_persons_who_recur_have_no_more_folds_than_persons(surtree, files):
    rows = ["id,from,until,relapse,marker"]
    rows += [
        f"{person},{10 * k},{10 * k + 9},1,{person % 4}" for person in range(6) for k in (0, 1)
    ]
    path = files.write("visits.csv", "\n".join(rows) + "\n")
    target = ("--time", "until", "--event", "relapse", "--entry", "from", "--id", "id")
    found = json.loads(surtree("fit", path, *target, "--max-depth", 1, "--json").stdout)
    assert found["tuning"]["folds"] == 6


def test_a_time_limit_includes_the_tuning(surtree, files):
    slow = ("--max-depth", 6, "--n-thresholds", 100, "--folds", 2, "--time-limit", 2)
    start = time.process_time()
    found = json.loads(surtree("fit", files.csv, *TARGET, *slow, "--json").stdout)
    # Alone, each of its searches takes hours. Processor time, as the machine may be busy.
    assert time.process_time() - start < 20
    assert found["tuning"]["folds"] == 2


def test_json_is_all_that_is_written(surtree, files, expected):
    options = ("--max-depth", 2, "--model", files / "m.json", "--report", files / "r.html")
    result = surtree("fit", files.csv, *UNTUNED, *options, "--json")
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    assert result.stderr == ""
    assert (found["status"], found["gap"], found["loss"]) == ("optimal", 0.0, expected.loss_)
    assert (found["rows"], found["events"], found["splits"]) == (228, 165, 3)
    assert [leaf["rows"] for leaf in found["leaves"]] == [
        rule.n_samples for rule in expected.tree_.rules()
    ]
    assert [size["loss"] for size in found["path"]] == [size.loss for size in expected.path_]
    assert found["path"][-1]["chosen"]
    assert found["model"] == files / "m.json"
    assert found["report"] == files / "r.html"
    assert (found["stopped"], found["tuning"]) == (False, None)


def test_json_of_tuning(surtree, files):
    options = ("--tune", "--max-depth", 1, "--folds", 3)
    found = json.loads(surtree("fit", files.csv, *TARGET, *options, "--json").stdout)
    expected = SurTreeCV(max_depth=1, cv=3).fit(*load_lung())
    assert [size["mean"] for size in found["tuning"]["sizes"]] == expected.sizes_.mean.tolist()
    assert found["tuning"]["chosen"] == expected.sizes_.chosen


def test_a_report_with_labels_and_horizons(surtree, files):
    labels = files.directory / "labels.csv"
    labels.write_text("column,label,unit\nage,Age at entry,years\nsex,,\n")
    page = ("--report", files / "r.html", "--labels", labels, "--horizons", "123,456")
    surtree("fit", files.csv, *UNTUNED, "--columns", "age", "--max-depth", 1, *page)
    text = (files.directory / "r.html").read_text()
    assert "Age at entry" in text
    assert '"time":"123"' in text
    assert '"time":"456"' in text
    age = ("--columns", "age", "--max-depth", 1)
    surtree("fit", files.csv, *UNTUNED, *age, "--model", files / "m.json")
    surtree("report", files / "m.json", "--output", files / "again.html", *page[2:])
    again = (files.directory / "again.html").read_text()
    assert "Age at entry" in again
    assert '"time":"123"' in again


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,label\nage,Age\n", "has no column 'column': a file of labels has the columns"),
        ("column,text\nage,Age\n", "has no column 'label'"),
        ("column,label\nage,Age\nage,Years\n", "names a column twice, or not at all"),
        ("column,label\n,Age\n", "names a column twice, or not at all"),
    ],
)
def test_a_file_that_holds_no_labels(surtree, files, text, message):
    (files.directory / "labels.csv").write_text(text)
    page = ("--report", files / "r.html", "--labels", files / "labels.csv")
    assert message in surtree("fit", files.csv, *UNTUNED, *page, code=1).stderr


def test_labels_and_horizons_need_a_file(surtree, files):
    for option in (("--labels", "labels.csv"), ("--title", "Lungs")):
        result = surtree("fit", files.csv, *UNTUNED, *option, code=2)
        assert "for a report" in result.stderr
    result = surtree("fit", files.csv, *UNTUNED, "--horizons", "365", code=2)
    assert "for the model, a report or --validate" in result.stderr


def test_a_report_with_its_words(surtree, files):
    options = ("--max-depth", 1, "--report", files / "r.html", "--title", "Lungs", "--time-unit")
    surtree("fit", files.csv, *UNTUNED, *options, "fortnights")
    page = Path(files / "r.html").read_text()
    assert "Lungs" in page
    assert "fortnights" in page


def test_a_time_limit_ends_the_search(surtree, files):
    options = ("--max-depth", 6, "--n-thresholds", 50, "--time-limit", 0.2, "--json")
    found = json.loads(surtree("fit", files.csv, *UNTUNED, *options).stdout)
    assert found["status"] == "time_limit"
    assert found["gap"] > 0


class TestColumns:
    def columns(self, surtree, files, *options):
        found = surtree("fit", files.csv, *UNTUNED, "--max-depth", 1, *options, "--json")
        return json.loads(found.stdout)["columns"]

    def test_all_but_the_target(self, surtree, files):
        assert self.columns(surtree, files) == list(load_lung()[0].columns)

    def test_some(self, surtree, files):
        assert self.columns(surtree, files, "--columns", "age,sex") == ["age", "sex"]
        assert self.columns(surtree, files, "--columns", "sex", "--columns", "age") == [
            "sex",
            "age",
        ]

    def test_all_but_some(self, surtree, files):
        left = self.columns(surtree, files, "--exclude", "age,calories", "--exclude", "sex")
        assert left == ["ecog", "karnofsky_physician", "karnofsky_patient", "weight_loss"]

    def test_a_name_with_a_comma(self, surtree, files, lung):
        lung.rename(columns={"age": "age, years"}).to_csv(files.csv, index=False)
        assert self.columns(surtree, files, "--columns", "age, years") == ["age, years"]


class TestTypes:
    @pytest.fixture
    def odd(self, files, lung):
        levels = np.array(["low", "mid", "high", "top"])
        frame = lung.assign(
            dose=levels[lung["ecog"].fillna(0).astype(int)],
            ward=[f"{number % 3:03}" for number in range(len(lung))],
            flag=np.where(lung["sex"] == "male", "Yes", "no"),
            half=np.where(lung.index == 0, 0.5, 1.0),
            text=lung["age"].astype(str).where(lung.index > 3, " 50 "),
        )
        frame.to_csv(files.csv, index=False)
        return files

    def cuts(self, surtree, files, column, kind=None):
        types = [] if kind is None else ["--type", f"{column}={kind}"]
        options = ("--max-depth", 1, "--columns", column, *types, "--model", files / "m.json")
        surtree("fit", files.csv, *UNTUNED, *options)
        return SurTree.load(files / "m.json").encoder_.cuts_

    def test_numbers_as_categories_keep_their_zeros(self, surtree, odd):
        cuts = self.cuts(surtree, odd, "ward", "categorical")
        assert {cut.categories for cut in cuts} <= {("000",), ("001",), ("002",)}
        assert self.cuts(surtree, odd, "ward")[0].threshold is not None

    def test_an_order_of_categories(self, surtree, odd):
        cuts = self.cuts(surtree, odd, "dose", "ordered:low,mid,high,top")
        orders = {("mid", "high", "top"), ("high", "top"), ("top",)}
        assert {cut.categories for cut in cuts} <= orders
        assert ("mid", "high", "top") in {cut.categories for cut in cuts}

    @pytest.mark.parametrize("kind", [None, "categorical", "ordered:low, mid,high ,top"])
    def test_blanks_around_texts_change_nothing(self, surtree, odd, kind):
        expected = self.cuts(surtree, odd, "dose", kind)
        table = pd.read_csv(odd.csv)
        pad = np.where(table.index % 3 == 0, "  ", "")
        table["dose"] = pad + table["dose"] + np.where(table.index % 2 == 0, " ", "")
        table.to_csv(odd.csv, index=False)
        found = self.cuts(surtree, odd, "dose", kind)
        assert list(found) == list(expected)
        # A cell of nothing but blanks is missing.
        table.loc[::2, "dose"] = "   "
        table.to_csv(odd.csv, index=False)
        assert all(cut.missing is not None for cut in self.cuts(surtree, odd, "dose", kind))

    def test_words_as_truth(self, surtree, odd):
        assert [cut.categories for cut in self.cuts(surtree, odd, "flag", "boolean")] == [(True,)]

    def test_texts_as_numbers(self, surtree, odd):
        assert self.cuts(surtree, odd, "text", "numeric")[0].threshold is not None

    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            ("dose=numeric", "column 'dose': 'mid' in row 1 is not a number (228 of 228 rows)"),
            (
                "half=boolean",
                "column 'half': '0.5' in row 1 is neither true nor false (1 of 228 rows)",
            ),
            ("age=boolean", "in row 1 is neither true nor false (228 of 228 rows)"),
            ("dose=ordered:low,mid,high", "is none of low, mid, high"),
            ("doze=numeric", "there is no column 'doze': did you mean 'dose'?"),
        ],
    )
    def test_what_cannot_be_read_so(self, surtree, odd, kind, message):
        result = surtree("fit", odd.csv, *UNTUNED, "--type", kind, code=1)
        assert message in result.stderr

    @pytest.mark.parametrize("kind", ["age", "age=", "age=colour", "age=ordered", "=numeric"])
    def test_what_is_no_type(self, surtree, odd, kind):
        assert "is not a type" in surtree("fit", odd.csv, *UNTUNED, "--type", kind, code=2).stderr


class TestEvents:
    def fit(self, surtree, files, lung, column, event, code=0):
        lung.drop(columns="died").assign(status=column).to_csv(files.csv, index=False)
        options = ("--time", "days", "--event", event, "--max-depth", 1, "--json")
        return surtree("fit", files.csv, *options, code=code)

    @pytest.mark.parametrize(
        ("yes", "no", "event"),
        [
            (1, 0, "status"),
            (1.0, 0.0, "status"),
            ("true", "false", "status"),
            ("TRUE", "FALSE", "status"),
            ("yes", "no", "status"),
            ("Y", "N", "status"),
            (2, 1, "status=2"),
            ("dead", "alive", "status=dead"),
            ("dead", "alive", "status=Dead"),
            ("a=b", "c", "status=a=b"),
        ],
    )
    def test_ways_to_say_that_it_happened(self, surtree, files, lung, yes, no, event):
        column = np.where(lung["died"] == 1, yes, no)
        found = json.loads(self.fit(surtree, files, lung, column, event).stdout)
        assert found["events"] == 165

    def test_several_values(self, surtree, files, lung):
        column = np.where(lung["died"] == 0, "alive", np.where(lung["age"] > 60, "dead", "ill"))
        found = json.loads(self.fit(surtree, files, lung, column, "status=dead,ill").stdout)
        assert found["events"] == 165

    @pytest.mark.parametrize(
        ("yes", "no", "event", "message"),
        [
            (
                "dead",
                "alive",
                "status",
                "holds alive, dead: say which value is the event, as in --event status=dead",
            ),
            (2, 1, "status", "holds 1, 2: say which value is the event, as in --event status=2"),
            (
                "dead",
                "alive",
                "status=ill",
                "column 'status' never holds ill: it holds alive, dead",
            ),
            ("1", "", "status", "column 'status' has no value in 63 of 228 rows"),
            ("0", "0", "status", "All 228 rows are censored"),
            ("1", "0", "state", "there is no column 'state': did you mean 'status'?"),
        ],
    )
    def test_ways_that_are_not_clear(self, surtree, files, lung, yes, no, event, message):
        column = np.where(lung["died"] == 1, yes, no)
        result = self.fit(surtree, files, lung, column, event, code=1)
        assert message in result.stderr
        assert result.stdout == ""


class TestNotes:
    """What is worth a line on standard error, although the table can be read."""

    @pytest.mark.parametrize(
        "ending", ["\n\n", ",,,,,,,,\n,,,,,,,,\n", " , ,,,,,,,\r\n\r\n", ",\n\n"]
    )
    def test_blank_lines_at_the_end(self, surtree, files, expected, ending):
        files.csv.write_text(files.csv.read_text() + ending)
        result = surtree("fit", files.csv, *UNTUNED, "--max-depth", 2, "--json")
        assert result.stderr == f"surtree: 2 blank lines of {files.csv} left out\n"
        found = json.loads(result.stdout)
        assert (found["rows"], found["loss"]) == (228, expected.loss_)

    def test_a_last_row_with_empty_cells_is_no_blank_line(self, surtree, files):
        table = files.write("t.csv", "days,died,x,y\n1,1,2,3\n2,0,1,4\n3,1,,\n")
        result = surtree("fit", table, *UNTUNED, "--json")
        assert json.loads(result.stdout)["rows"] == 3
        assert result.stderr == ""

    def test_a_cell_of_text_in_a_column_of_numbers(self, surtree, files, lung):
        ages = lung["age"].astype(str)
        ages.iloc[[4, 9]] = ["old", "ca. 70"]
        lung.assign(age=ages).to_csv(files.csv, index=False)
        options = (*UNTUNED, "--max-depth", 1, "--json")
        assert surtree("fit", files.csv, *options, code=1).stderr == (
            "surtree: column 'age': 2 of 228 cells are not numbers: 'old', 'ca. 70': correct them, "
            "or count them as missing (--missing old --missing 'ca. 70'); --type age=categorical "
            "keeps the texts, and --exclude age leaves the column out\n"
        )
        for remedy in (
            ("--type", "age=categorical"),
            ("--exclude", "age"),
            ("--missing", "old", "--missing", "ca. 70"),
        ):
            assert surtree("fit", files.csv, *options, *remedy).stderr == ""

    def test_texts_are_texts(self, surtree, files, lung):
        wards = [f"{number % 3}" if number % 3 else "a" for number in range(len(lung))]
        lung.assign(ward=wards, mostly=["a", "b", "1", "c"] * 57).to_csv(files.csv, index=False)
        result = surtree("fit", files.csv, *UNTUNED, "--max-depth", 1, "--json")
        assert result.stderr == "surtree: column 'ward': 76 of 228 cells are not numbers: 'a'\n"


class TestText:
    @pytest.mark.parametrize("mark", [";", "\t", "|"])
    def test_separators_are_found_out_or_given(self, surtree, files, lung, expected, mark):
        lung.to_csv(files.csv, index=False, sep=mark)
        written = r"\t" if mark == "\t" else mark
        for options in ((), ("--separator", written)):
            result = surtree("fit", files.csv, *UNTUNED, "--max-depth", 2, *options, "--json")
            assert json.loads(result.stdout)["loss"] == expected.loss_
            assert ("separated by" in result.stderr) == (not options)

    def test_ways_to_write_missing_values(self, surtree, files, lung, expected):
        for word in ("NA", "NaN", "null", "N/A"):
            lung.to_csv(files.csv, index=False, na_rep=word)
            options = ("--max-depth", 2, "--json")
            found = json.loads(surtree("fit", files.csv, *UNTUNED, *options).stdout)
            assert found["loss"] == expected.loss_

    def test_a_word_of_ones_own_is_one_more(self, surtree, files, lung, expected):
        lung.astype(object).where(lung.notna() | (lung.index > 100)[:, None], "?").to_csv(
            files.csv, index=False, na_rep="NA"
        )
        options = ("--max-depth", 2, "--missing", "?", "--json")
        found = json.loads(surtree("fit", files.csv, *UNTUNED, *options).stdout)
        assert found["loss"] == expected.loss_


class TestTimesOfZero:
    @pytest.fixture
    def table(self, files, lung):
        """Write a table with events and with censored rows at zero; return its other rows."""
        zero = lung.assign(days=np.where(lung.index % 9 == 0, 0, lung["days"]))
        zero.to_csv(files.csv, index=False)
        nothing = (zero["days"] == 0) & (zero["died"] == 0)
        assert 0 < nothing.sum() < (zero["days"] == 0).sum()
        return zero[~nothing], int(nothing.sum())

    def require_line(self, result, n_rows):
        assert result.stderr.splitlines() == [
            f"surtree: {n_rows} of 228 rows are censored at time zero in column 'days': they say "
            "nothing about survival, and are left out"
        ]

    @pytest.mark.parametrize("options", [("--no-tune",), ("--folds", 3)])
    def test_rows_that_are_censored_there_are_left_out_with_a_line(
        self, surtree, files, table, options
    ):
        kept, n_rows = table
        fit = ("--max-depth", 2, "--model", files / "m.json", "--json", *options)
        result = surtree("fit", files.csv, *TARGET, *fit)
        self.require_line(result, n_rows)
        kept.to_csv(files / "kept.csv", index=False)
        without = surtree("fit", files / "kept.csv", *TARGET, *fit[:2], *fit[4:])
        assert without.stderr == ""
        found, expected = (json.loads(text.stdout) for text in (result, without))
        for part in ("loss", "leaves"):
            assert found[part] == expected[part]
        if expected["tuning"] is not None:
            assert found["tuning"]["sizes"] == expected["tuning"]["sizes"]

    def test_an_audit_leaves_them_out_too(self, surtree, files, table):
        model = ("--model", files / "m.json")
        surtree("fit", files.csv, *UNTUNED, "--max-depth", 2, *model)
        result = surtree("audit", files.csv, *TARGET, *model, "--json")
        self.require_line(result, table[1])
        assert json.loads(result.stdout)["missed"] == pytest.approx(0)

    def test_an_event_there_and_an_entry_time_contradict_each_other(self, surtree, files, table):
        kept, _ = table
        n_events = int((kept["days"] == 0).sum())
        row = int(np.argmax(kept["days"] == 0)) + 1
        kept.assign(start=0).to_csv(files.csv, index=False)
        result = surtree("fit", files.csv, *UNTUNED, "--entry", "start", code=1)
        assert result.stderr == (
            f"surtree: column 'start' has entry times that are not before the row's time in "
            f"{n_events} rows: drop such rows (the first is 0 in row {row})\n"
        )


def test_rows_of_persons(surtree, files):
    frame = pd.DataFrame(
        {
            "who": ["a", "a", "b", "c", "c", "d"],
            "start": [0, 2, 0, 0, 3, 0],
            "stop": [2, 5, 4, 3, 6, 1],
            "event": [0, 1, 1, 0, 1, 1],
            "x": [0, 1, 1, 0, 0, 1],
        }
    )
    frame.to_csv(files / "visits.csv", index=False)
    given = ("--time", "stop", "--event", "event", "--entry", "start", "--id", "who", "--no-tune")
    result = surtree("fit", files / "visits.csv", *given)
    assert "6 rows of 4 persons, 4 events, 1 columns" in result.stdout
    found = json.loads(surtree("fit", files / "visits.csv", *given, "--json").stdout)
    assert sum(leaf["persons"] for leaf in found["leaves"]) == 5
    frame["start"] = 0
    frame.to_csv(files / "visits.csv", index=False)
    assert "column 'who': " in surtree("fit", files / "visits.csv", *given, code=1).stderr


def test_the_effect_of_a_treatment(surtree, files):
    X, y = load_rossi()
    X.assign(week=y["time"], arrest=y["event"]).to_csv(files / "rossi.csv", index=False)
    given = ("--time", "week", "--event", "arrest", "--treatment", "financial_aid")
    model, report = files / "e.json", files / "e.html"
    asked = (*given, "--max-depth", 1, "--reference", "yes", "--model", model, "--report", report)
    result = surtree("fit", files / "rossi.csv", *asked)
    assert "no over yes" in result.stdout
    assert "No evidence that the effect differs between rows" in result.stdout
    assert "of the differences between leaves in new data" in result.stdout
    assert "No evidence that the effect differs" in Path(report).read_text()
    found = json.loads(surtree("fit", files / "rossi.csv", *asked, "--json").stdout)
    assert found["arms"] == ["yes", "no"]
    assert found["leaves"][0]["effects"][0]["hazard_ratio"] == pytest.approx(1 / 0.858, rel=1e-3)
    table = surtree("predict", model, files / "rossi.csv", "--survival", 26).stdout.splitlines()
    assert {"risk_yes", "effect_no", "survival_26_no"} <= set(table[0].split(","))
    shown = surtree("show", model, "--format", "sql", "--value", "effect").stdout
    assert "hazard ratio of no over yes" in shown
    result = surtree("fit", files / "rossi.csv", *given, "--folds", 3, code=2)
    assert "--treatment goes without" in result.stderr
