"""What goes wrong: one clear line on standard error, an exit code, no traceback."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer
from target import TARGET, UNTUNED

from surtree import SurTree
from surtree.cli import main
from surtree.cli._app import app
from surtree.datasets import load_lung


@pytest.fixture
def model(files):
    SurTree(max_depth=2).fit(*load_lung()).save(files / "m.json")
    return files / "m.json"


def require_line(result, message):
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("surtree: ")
    assert message in lines[0]
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("days,died,x\n", "has no rows"),
        ("days,died,x\n1,1,2\n1,1,2,3\n", "has 4 cells, and the header has 3: put cells that hold"),
        ("days,died,x\nsoon,1,2\n3,0,1\n", "column 'days': 'soon' in row 1 is not a number"),
        ("days,died,x\n,1,2\n3,0,1\n", "column 'days' has no value in 1 of 2 rows"),
        ("days,died,x\n0,1,2\n3,0,1\n", "Every event is at time zero (1 of 2 rows)"),
        (
            "days,died,x\n3,0,1\n-1,1,2\n",
            "column 'days' has negative times in 1 row: drop such rows (the first is -1 in row 2)",
        ),
        (
            "days,died,x\ninf,1,2\n3,0,1\n",
            "column 'days' has times that are not finite numbers in 1 row: drop such rows (the "
            "first is inf in row 1)",
        ),
        ("days,died,x\n1e-200,1,2\n3,0,1\n", "column 'days' has times that are neither zero"),
        ("days,died,x\n2,0,2\n3,0,1\n", "All 2 rows are censored"),
        ("days,died\n2,1\n3,0\n", "no column is left"),
        ("days,died,x\n2,1,inf\n3,0,1\n", "Column 'x' holds infinity"),
        ("dayz,died,x\n2,1,2\n3,0,1\n", "there is no column 'days': did you mean 'dayz'?"),
        ("a,b,c\n2,1,2\n3,0,1\n", "there is no column 'days': there are a, b, c"),
        ("Days (from entry),x\n2,1\n3,0\n", "did you mean 'Days (from entry)'?"),
    ],
)
def test_tables_that_cannot_be_fitted(surtree, files, content, message):
    if content is not None:
        files.write("t.csv", content)
    require_line(surtree("fit", files / "t.csv", *UNTUNED, code=1), message)


def test_blanks_are_no_table(surtree, files):
    for content in ("   \n  \n", " \t\n\n"):
        table = files.write("t.csv", content)
        require_line(
            surtree("fit", table, *UNTUNED, code=1),
            "is empty: it has nothing but blanks and line breaks",
        )


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("days,died,age,age", "2 columns of t.csv are called 'age': give each a name of its own"),
        ('days,died,"a,b","a,b","a,b"', "3 columns of t.csv are called 'a,b'"),
        ("days,died,,", "2 columns of t.csv have no name"),
    ],
)
def test_columns_of_one_name(surtree, files, monkeypatch, header, message):
    monkeypatch.chdir(files.directory)
    row = ",".join("1" * len(next(csv.reader([header]))))
    files.write("t.csv", f"{header}\n{row}\n{row}\n")
    require_line(surtree("fit", "t.csv", *UNTUNED, code=1), message)


def test_a_quote_that_never_ends(surtree, files):
    table = files.write("t.csv", '"days,died,x\n' + "1,1,2\n" * 50_000)
    require_line(surtree("fit", table, *UNTUNED, code=1), "cannot read the names in")


def test_files_that_are_something_else(surtree, files):
    empty = files.directory / "empty"
    empty.mkdir()
    require_line(surtree("fit", empty, *UNTUNED, code=1), "there is no Parquet file")
    wrong = files.write("t.parquet", "not Parquet at all")
    require_line(surtree("fit", wrong, *UNTUNED, code=1), "cannot read")


@pytest.mark.parametrize("option", ["--model", "--report"])
def test_outputs_that_cannot_be_written_are_found_before_the_search(surtree, files, option):
    absent = files.directory / "none" / "file"
    # A search that would take hours, were it begun.
    slow = ("--max-depth", 8, "--n-thresholds", "all")
    result = surtree("fit", files.csv, *UNTUNED, *slow, option, absent, code=1)
    require_line(result, f"cannot write {absent}: there is no directory")
    result = surtree("fit", files.csv, *UNTUNED, *slow, option, files.directory, code=1)
    require_line(result, "it is a directory")


def test_outputs_without_permission(surtree, files, monkeypatch):
    # The superuser may write everywhere, so permissions alone would not stop every tester.
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = surtree("fit", files.csv, *UNTUNED, "--model", files / "m.json", code=1)
    require_line(result, "permission denied")


class TestOnePathForTwoThings:
    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("fit lung.csv --model x --report x", "--model x and --report x are the same file"),
            ("fit lung.csv --model lung.csv", "--model lung.csv would overwrite the data"),
            ("fit lung.csv --report lung.csv", "--report lung.csv would overwrite the data"),
            ("predict m.json lung.csv --output lung.csv", "would overwrite the data"),
            ("predict m.json lung.csv --output m.json", "would overwrite the model"),
            ("report m.json --output m.json", "would overwrite the model"),
        ],
    )
    def test_is_refused(self, surtree, files, model, command, message, monkeypatch):
        monkeypatch.chdir(files.directory)
        before = {path: path.read_bytes() for path in files.directory.iterdir()}
        target = TARGET if command.startswith("fit") else ()
        require_line(surtree(*command.split(), *target, code=1), message)
        assert {path: path.read_bytes() for path in files.directory.iterdir()} == before

    @pytest.mark.parametrize("kind", ["symbolic link", "hard link", "relative path", "dots"])
    def test_is_seen_through(self, surtree, files, model, kind, monkeypatch):
        monkeypatch.chdir(files.directory)
        other = files.directory / "other.csv"
        if kind == "symbolic link":
            other.symlink_to(files.csv)
        elif kind == "hard link":
            other.hardlink_to(files.csv)
        elif kind == "relative path":
            other = files.csv.name
        else:
            (files.directory / "sub").mkdir()
            other = "sub/../lung.csv"
        result = surtree("predict", model, files.csv, "--output", other, code=1)
        require_line(result, "would overwrite the data")

    def test_is_seen_where_the_file_is_not_there_yet(self, surtree, files, monkeypatch):
        monkeypatch.chdir(files.directory)
        options = ("--model", files / "new", "--report", "./new")
        require_line(surtree("fit", files.csv, *UNTUNED, *options, code=1), "same file")

    def test_devices_and_standard_input_are_no_files(self, surtree, files):
        options = ("--max-depth", 1, "--model", "/dev/null", "--report", "/dev/null")
        surtree("fit", "-", *UNTUNED, *options, stdin=files.csv.read_text())


def test_a_demo_where_no_directory_can_be_made(surtree, files):
    result = surtree("demo", files.csv / "below", code=1)
    require_line(result, f"cannot write to {files.csv / 'below'}: ")
    require_line(surtree("demo", files.csv, code=1), f"cannot write to {files.csv}: ")


def test_a_demo_without_permission(surtree, files, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    require_line(surtree("demo", files / "demo", code=1), "permission denied")


def test_a_disk_that_is_full(surtree, files):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    options = ("--max-depth", 1, "--model", "/dev/full", "--json")
    result = surtree("fit", files.csv, *UNTUNED, *options, code=1)
    require_line(result, "cannot write /dev/full: ")


@pytest.mark.parametrize("command", ["predict", "show", "path", "report"])
def test_files_that_are_no_models(surtree, files, command):
    data = [files.csv] if command == "predict" else []
    require_line(surtree(command, files / "none", *data, code=1), "there is no file")
    wrong = files.write("other.json", '{"a": 1}')
    require_line(surtree(command, wrong, *data, code=1), "is not a model of surtree")
    require_line(surtree(command, files.csv, *data, code=1), "not JSON")
    require_line(surtree(command, files.directory, *data, code=1), "is a directory")


def test_another_kind_of_curve_is_said_in_a_line(surtree, files):
    X, y = load_lung()
    SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, y).save(files / "k.json")
    options = ("--splits", 1, "--format", "sql", "--value", "median")
    result = surtree("show", files / "k.json", *options)
    assert result.stdout.startswith("/* median survival (baseline curve) */\n")
    assert result.stderr == (
        "surtree: only the chosen tree keeps what its kaplan-meier curves are made of: the medians "
        "of this one are those of baseline curves\n"
    )
    assert surtree("show", files / "k.json").stderr == ""


class TestPredict:
    def test_a_model_without_names_counts_columns(self, surtree, files):
        SurTree(max_depth=1).fit([[0], [0], [1], [1]], [4.0, 3.0, 2.0, 1.0]).save(files / "n.json")
        result = surtree("predict", files / "n.json", files.csv, code=1)
        require_line(result, "the table has 9 columns, and the model, which knows no names, has 1")

    def test_a_column_that_is_not_there(self, surtree, files, model, lung):
        lung.drop(columns="weight_loss").to_csv(files.csv, index=False)
        result = surtree("predict", model, files.csv, code=1)
        require_line(result, "there is no column 'weight_loss'")

    def test_a_column_of_another_kind(self, surtree, files, model, lung):
        lung.assign(weight_loss="much").to_csv(files.csv, index=False)
        result = surtree("predict", model, files.csv, code=1)
        require_line(result, "column 'weight_loss': 'much' in row 1 is not a number")

    def test_keeping_without_a_column_says_what_to_write(self, surtree, files, model):
        result = surtree("predict", model, files.csv, "--keep", "--output", "p.csv", code=2)
        said = " ".join(result.stderr.replace("│", " ").split())
        assert "name the columns to repeat before --output, as in --keep id --output" in said
        assert "unexpected extra argument" not in said

    def test_keeping_what_is_not_there_or_in_the_way(self, surtree, files, model, lung):
        result = surtree("predict", model, files.csv, "--keep", "id", code=1)
        require_line(result, "there is no column 'id'")
        lung.assign(risk=1).to_csv(files.csv, index=False)
        result = surtree("predict", model, files.csv, "--keep", "risk", code=1)
        require_line(result, "column 'risk' cannot be kept")


def test_a_target_is_no_question(surtree, files):
    result = surtree("fit", files.csv, *UNTUNED, "--columns", "age,days", code=1)
    require_line(result, "column 'days' is part of the target")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "t.csv"],
        ["fit", "t.csv", "--time", "days"],
        ["fit", "t.csv", *TARGET, "--colour", "red"],
        ["fit", "t.csv", *TARGET, "--max-depth", "99"],
        ["fit", "t.csv", *TARGET, "--max-depth", "deep"],
        ["fit", "t.csv", *TARGET, "--n-thresholds", "0"],
        ["fit", "t.csv", *TARGET, "--rule", "2se"],
        ["fit", "t.csv", *TARGET, "--separator", "::"],
        ["fit", "t.csv", *TARGET, "--time-limit", "0"],
        ["fit", "t.csv", *TARGET, "--jobs", "0"],
        ["predict", "m.json"],
        ["predict", "m.json", "t.csv", "--survival", "soon"],
        ["predict", "m.json", "t.csv", "--survival", "-1"],
        ["predict", "m.json", "t.csv", "--only", "colour"],
        ["show", "m.json", "--format", "png"],
        ["fit", "t.csv", *TARGET, "--no-tune", "--rule", "1se"],
        ["fit", "t.csv", *TARGET, "--no-tune", "--folds", "5"],
        ["fit", "t.csv", *TARGET, "--no-tune", "--shrinkage", "0,1"],
        ["fit", "t.csv", *TARGET, "--shrinkage", "strong"],
        ["fit", "t.csv", *TARGET, "--shrinkage", "0,-1"],
        ["fit", "t.csv", *TARGET, "--leaf-curve", "straight"],
        ["show", "m.json", "--format", "dot", "--value", "risk"],
        ["audit", "t.csv", *TARGET, "--model", "m.json", "--exclude", "x"],
        ["audit", "t.csv", *TARGET],
        ["audit", "t.csv", *TARGET, "--model", "m.json", "--leaf", "x"],
        ["fit", "t.csv", *TARGET, "--no-tune", "--group", "x"],
        ["fit", "t.csv", *TARGET, "--treatment", "x", "--group", "x"],
        ["fit", "t.csv", *TARGET, "--decimal", ";"],
        ["fit", "t.csv", *TARGET, "--encoding", "utf-99"],
        ["fit", "t.csv", *TARGET, "--zero-times", "double"],
        ["fit", "t.csv", *TARGET, "--title", "x"],
        ["fit", "t.csv", *TARGET, "--time-unit", "days"],
        ["validate", "t.csv", *TARGET, "--folds", "5"],
        ["columns", "t.csv", "--time", "days"],
        ["columns", "t.csv", "--max-depth", "2"],
        ["columns", "t.csv", "--report", "r.html"],
        ["columns", "t.csv", *TARGET, "--title", "x"],
        ["unknown"],
    ],
)
def test_wrong_usage(surtree, arguments):
    result = surtree(*arguments, code=2)
    assert "Usage" in result.stderr
    assert result.stdout == ""


def test_options_that_would_do_nothing_are_explained(surtree):
    result = surtree("fit", "t.csv", *UNTUNED, "--rule", "1se", code=2)
    assert "--folds and --rule say how to tune: leave --no-tune out" in result.stderr


@pytest.mark.parametrize(
    ("command", "default"),
    [
        ("fit", "by default 3."),
        ("audit", "by default 4, or as many as the model asks if that is more."),
        ("demo", "by default 3."),
    ],
)
def test_help_says_what_the_command_does(surtree, monkeypatch, command, default):
    monkeypatch.setenv("COLUMNS", "300")
    text = surtree(command, "--help").stdout
    assert default in text


@pytest.mark.parametrize("command", [None, *typer.main.get_command(app).commands])
def test_help_shows_no_value_of_a_flag(surtree, command):
    arguments = [] if command is None else [command]
    assert "<bool>" not in surtree(*arguments, "--help").stdout


def test_json_leaves_errors_to_standard_error(surtree, files):
    require_line(surtree("fit", files / "none.csv", *UNTUNED, "--json", code=1), "there is no file")


def test_without_the_extra_there_is_a_plain_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SystemExit, match=r'needs polars, .* pip install "surtree\[cli\]"'):
        main()


def test_a_reader_that_has_seen_enough(model, files, lung):
    # More than a pipe holds, so that the writer is still at it when the reader leaves.
    pd.concat([lung] * 50).to_csv(files.csv, index=False)
    command = f"{sys.executable} -m surtree predict {model} {files.csv} | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout == "leaf,risk,median\n"
    assert result.stderr == ""
