"""Several Parquet files on the command line: fitted and predicted without being read as a whole."""

import json

import polars as pl
import pytest

from surtree import SurTree
from surtree.engines import _memory_caps as memory_caps


@pytest.fixture
def parts(tmp_path, gbsg2, monkeypatch):
    """Return a directory of Parquet files, and the table that they are."""
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 150)
    directory = tmp_path / "big"
    directory.mkdir()
    frame = pl.from_pandas(gbsg2)
    for place in range(3):
        frame[place * 230 : (place + 1) * 230].write_parquet(directory / f"part-{place}.parquet")
    return directory, frame


FIT = ("--time", "days", "--event", "died")


def test_fit_streams_a_pattern_a_directory_or_a_file_with_limited_memory(surtree, parts, tmp_path):
    directory, frame = parts
    expected = SurTree(max_depth=2).fit(frame, ("died", "days"))
    frame.write_parquet(tmp_path / "one.parquet")
    for data, more in (
        (f"{directory}/part-*.parquet", ()),
        (directory, ()),
        (tmp_path / "one.parquet", ("--memory-limit", "1GB")),
    ):
        model = tmp_path / "model.json"
        said = surtree("fit", data, *FIT, "--max-depth", 2, "--model", model, *more)
        assert "686 rows, 299 events, 8 columns, streamed and not tuned" in said.stdout
        found = SurTree.load(model)
        assert found.loss_ == expected.loss_
        assert found.tree_ == expected.tree_


def test_fit_takes_columns_events_and_json(surtree, parts, tmp_path):
    directory, frame = parts
    words = pl.when(pl.col("died") == 1).then(pl.lit(" Dead ")).otherwise(pl.lit("alive"))
    for path in directory.iterdir():
        part = pl.read_parquet(path).with_columns(status=words, yes=pl.col("died") == 1)
        part.write_parquet(path)
    chosen = ("--columns", "age,positive_nodes,tumor_size", "--exclude", "age", "--max-depth", 2)
    expected = SurTree(max_depth=2).fit(
        frame.select("tumor_size", "positive_nodes", "died", "days"), ("died", "days")
    )
    for event in ("died", "died=1", "status=dead", "yes"):
        said = surtree("fit", directory, "--time", "days", "--event", event, *chosen, "--json")
        found = json.loads(said.stdout)
        assert found["loss"] == expected.loss_
        assert found["columns"] == ["positive_nodes", "tumor_size"]
        assert found["rows"] == 686


@pytest.mark.parametrize(
    "option",
    [
        ("--id", "age"),
        ("--folds", "5"),
        ("--validate", "10"),
        ("--separator", ";"),
        ("--shrinkage", "0,1"),
    ],
)
def test_options_without_effect_are_refused(surtree, parts, option):
    said = surtree("fit", parts[0], *FIT, *option, code=2)
    assert "streamed" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--time", "dayz", "--event", "died"), "there is no column 'dayz': did you mean 'days'?"),
        (("--time", "days", "--event", "status"), "there is no column 'status'"),
        (("--time", "days", "--event", "age"), "say which value is the event"),
        (("--time", "days", "--event", "died=7"), "column 'died' never holds 7: it holds 0, 1"),
        ((*FIT, "--exclude", "agge"), "there is no column 'agge'"),
    ],
)
def test_errors_are_one_line(surtree, parts, arguments, words):
    said = surtree("fit", parts[0], *arguments, code=1)
    assert words in said.stderr
    assert said.stderr.count("\n") == 1


@pytest.mark.parametrize("event", ["code", "code=3", "code=2", "state", "state=dead", "yes=true"])
def test_an_event_is_read_as_in_memory(surtree, tmp_path, gbsg2, event):
    died = pl.Series(gbsg2["died"])
    frame = pl.from_pandas(gbsg2[["age", "days"]]).with_columns(
        code=1.0 + died, state=pl.when(died == 1).then(pl.lit("Dead")).otherwise(pl.lit("alive"))
    )
    frame.with_columns(yes=died == 1).write_parquet(tmp_path / "table.parquet")
    fit = (
        "fit",
        tmp_path / "table.parquet",
        "--time",
        "days",
        "--event",
        event,
        "--columns",
        "age",
    )
    code = 0 if "=" in event and "3" not in event else 1
    streamed = surtree(*fit, "--memory-limit", "1GB", "--json", code=code)
    in_memory = surtree(*fit, "--no-tune", "--json", code=code)
    assert streamed.stderr == in_memory.stderr
    if not code:
        assert json.loads(streamed.stdout)["loss"] == json.loads(in_memory.stdout)["loss"]


def test_files_that_cannot_be_streamed(surtree, tmp_path):
    assert "there is no Parquet file" in surtree("fit", f"{tmp_path}/*.pq", *FIT, code=1).stderr
    (tmp_path / "rows.csv").write_text("age,days,died\n1,2,1\n")
    said = surtree("fit", f"{tmp_path}/*.csv", *FIT, code=1).stderr
    assert "only Parquet files are streamed" in said
    (tmp_path / "rows.parquet").write_text("age")
    assert "cannot read" in surtree("fit", f"{tmp_path}/*.parquet", *FIT, code=1).stderr


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_predictions_are_those_of_the_whole_table(surtree, parts, tmp_path, ending):
    directory, frame = parts
    model, output = tmp_path / "model.json", tmp_path / f"out.{ending}"
    surtree("fit", directory, *FIT, "--max-depth", 2, "--model", model)
    frame.write_parquet(tmp_path / "one.parquet")
    more = ("--survival", "365,99999", "--keep", "age")
    whole = tmp_path / f"whole.{ending}"
    surtree("predict", model, tmp_path / "one.parquet", *more, "--output", whole)
    surtree("predict", model, f"{directory}/*.parquet", *more, "--output", output)
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    assert read(output).equals(read(whole))
    said = surtree("predict", model, directory, "--only", "risk").stdout
    assert said.splitlines()[0] == "risk"
    assert len(said.splitlines()) == 687
    told = json.loads(surtree("predict", model, directory, "--output", output, "--json").stdout)
    assert told == {"rows": 686, "output": str(output)}


def test_predictions_that_fail_leave_the_old_file(surtree, parts, tmp_path):
    directory, _ = parts
    model, output = tmp_path / "model.json", tmp_path / "out.parquet"
    surtree("fit", directory, *FIT, "--max-depth", 2, "--model", model)
    output.write_text("old")
    asked = SurTree.load(model).tree_.cuts[0].name
    last = directory / "part-2.parquet"
    pl.read_parquet(last).with_columns(pl.lit("many").alias(asked)).write_parquet(last)
    said = surtree("predict", model, directory, "--output", output, code=1)
    assert said.stderr.count("\n") == 1
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big", "model.json", "out.parquet"]
    said = surtree("predict", model, directory, "--json", code=1)
    assert "go to a file: add --output" in said.stderr


def test_unseen_categories_are_said_once(surtree, parts, tmp_path):
    directory, _ = parts
    model = tmp_path / "model.json"
    surtree("fit", directory, *FIT, "--columns", "tumor_grade", "--max-depth", 1, "--model", model)
    for path in directory.iterdir():
        pl.read_parquet(path).with_columns(tumor_grade=pl.lit("IX")).write_parquet(path)
    said = surtree("predict", model, directory, "--output", tmp_path / "out.csv").stderr
    assert said.count("'IX' in 686 rows of column 'tumor_grade'") == 1


def test_columns_whose_names_are_patterns(surtree, parts, tmp_path):
    directory, frame = parts
    names = {"age": "*", "positive_nodes": "^p.*$", "days": "^d.*$"}
    for path in directory.iterdir():
        pl.read_parquet(path).rename(names).write_parquet(path)
    model, output = tmp_path / "model.json", tmp_path / "out.csv"
    fit = ("--time", "^d.*$", "--event", "died=1", "--max-depth", 2, "--model", model)
    surtree("fit", directory, *fit)
    renamed = frame.rename(names)
    expected = SurTree(max_depth=2).fit(frame, ("died", "days"))
    assert SurTree.load(model).loss_ == expected.loss_
    surtree("predict", model, directory, "--keep", "*", "--keep", "^d.*$", "--output", output)
    written = pl.read_csv(output)
    assert written["*"].to_list() == renamed["*"].to_list()
    assert written["^d.*$"].to_list() == renamed["^d.*$"].to_list()


def test_files_that_differ_in_types_are_joined_or_refused(surtree, parts, tmp_path):
    directory, _ = parts
    path = directory / "part-0.parquet"
    first = pl.read_parquet(path)
    first.with_columns(pl.col("age") + 0.5).write_parquet(path)
    said = surtree("fit", directory, *FIT, "--max-depth", 1)
    assert "686 rows" in said.stdout
    first.with_columns(pl.col("age").cast(pl.String)).write_parquet(path)
    said = surtree("fit", directory, *FIT, code=1)
    assert said.stderr.count("\n") == 1
    assert f"Column 'age' is String in {path} and Int64 in " in said.stderr
