"""Parquet files by path: what files a path names, files that differ, and what is no such file."""

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from tables import content, gbsg2

from surtree import SurTree
from surtree.engines import engines
from surtree.engines.parquet import one_schema, parquet_files

TARGET = ("event", "time")
PATTERNS = {"age": "*", "tumor_size": "^t.*$", "tumor_grade": "^$", "positive_nodes": "a*b"}


def written(directory, *frames):
    """Write each frame to a file, and return the directory."""
    directory.mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        frame.write_parquet(directory / f"{number}.parquet")
    return directory


def refused(rows, error=ValueError):
    """Return the text of the error that a fit raises; it is one line."""
    with pytest.raises(error) as raised:
        SurTree(max_depth=1).fit(rows, TARGET)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.fixture
def without_polars(monkeypatch):
    find = engines.find_spec
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "polars" else find(name))


@pytest.mark.parametrize("engine", ["polars", "path", "dataset", "duckdb"])
def test_columns_whose_names_are_patterns(engine, tmp_path):
    frame = gbsg2().rename(PATTERNS).with_columns(pl.col(pl.Enum).cast(pl.String))
    path = written(tmp_path / "rows", frame)
    rows = {
        "polars": lambda: frame.lazy(),
        "path": lambda: path,
        "dataset": lambda: ds.dataset(path),
        "duckdb": lambda: duckdb.connect().sql(f"select * from '{path}/*.parquet'"),
    }[engine]()
    model = SurTree(max_depth=3).fit(rows, TARGET)
    assert content(model, tmp_path) == content(SurTree(max_depth=3).fit(frame, TARGET), tmp_path)
    assert (model.predict(rows) == model.predict(frame.drop(*TARGET))).all()


def halves(frame, **first):
    """Return a table, and its halves, the first of them with other columns."""
    half = len(frame) // 2
    one = frame[:half].with_columns(**first)
    return pl.concat([one, frame[half:]], how="vertical_relaxed"), [one, frame[half:]]


@pytest.mark.parametrize("reader", ["path", "path without polars", "dataset"])
@pytest.mark.parametrize(
    "first",
    [
        {"age": pl.col("age") - 0.5},
        {"age": pl.col("age").cast(pl.Int8)},
        {"age": pl.lit(None, pl.Null)},
        {"tumor_grade": pl.lit(None, pl.Null)},
    ],
    ids=["fractions", "small", "no number", "no text"],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["first file", "last file"])
def test_files_that_differ_in_types(first, reader, is_first, tmp_path, request):
    frame, parts = halves(gbsg2().with_columns(pl.col("tumor_grade").cast(pl.String)), **first)
    path = written(tmp_path / "rows", *(parts if is_first else parts[::-1]))
    expected = content(SurTree(max_depth=3).fit(frame, TARGET), tmp_path)
    if reader == "path without polars":
        request.getfixturevalue("without_polars")
    rows = ds.dataset(path) if reader == "dataset" else path
    model = SurTree(max_depth=3).fit(rows, TARGET)
    assert content(model, tmp_path) == expected


def test_types_that_a_user_gave_to_a_dataset_stay(tmp_path):
    frame, parts = halves(gbsg2(), age=pl.col("age").cast(pl.Float64))
    rows = ds.dataset(written(tmp_path / "rows", *parts))
    given = ds.dataset(tmp_path / "rows", schema=rows.schema.set(0, pa.field("age", pa.int16())))
    assert one_schema(given) is given
    above = rows.filter(ds.field("age") > 50)
    assert one_schema(above) is above
    for some, whole in ((given, frame), (above, frame.filter(pl.col("age") > 50))):
        model = SurTree(max_depth=2).fit(some, TARGET)
        assert model.tree_.n_samples[0] == len(whole)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"age": pl.lit("old")},
            "Column 'age' is String in {0} and Int64 in {1}: give it one type",
        ),
        ({"age": pl.col("age") > 50}, "Column 'age' is Boolean in {0} and Int64 in {1}"),
        ({"more": pl.lit(1)}, "{1} has no column 'more', which {0} has: give all files the same"),
    ],
)
def test_files_that_do_not_fit_together(change, words, tmp_path):
    frame = gbsg2()
    path = written(tmp_path / "rows", frame.with_columns(**change), frame)
    files = [str(path / f"{number}.parquet") for number in range(2)]
    assert words.format(*files) in refused(path)


def test_a_column_of_a_later_file_alone(tmp_path):
    frame = gbsg2()
    path = written(tmp_path / "rows", frame, frame.with_columns(more=1))
    assert f"{path}/1.parquet has a column 'more', which {path}/0.parquet has not" in refused(path)


def test_engines_whose_files_differ_say_what_to_do(tmp_path):
    _, parts = halves(gbsg2(), age=pl.lit(None, pl.Null))
    path = written(tmp_path / "rows", *parts)
    assert "pass their path or pattern, which joins them" in refused(pl.scan_parquet(path))
    relation = duckdb.connect().sql(f"select * from '{path}/*.parquet'")
    assert "union_by_name=true joins them" in refused(relation, (ValueError, OSError))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("rows.csv", "pass polars.scan_csv({!r}) instead"),
        ("rows.tsv", "pass polars.scan_csv({!r}, separator='\\t') instead"),
        ("rows.feather", "pass polars.scan_ipc({!r}) instead"),
        ("rows.xlsx", "pass polars.read_excel({!r}) instead"),
        ("rows.ndjson", "pass polars.scan_ndjson({!r}) instead"),
        ("rows.parquet", "pass a lazy table of polars or DuckDB, or a data frame instead"),
        ("rows", "pass a lazy table of polars or DuckDB, or a data frame instead"),
    ],
)
def test_a_path_to_another_kind_of_file_says_what_to_pass(name, call, tmp_path):
    path = tmp_path / name
    path.write_text("age,event,time\n1,0,2\n")
    text = refused(path)
    assert text.startswith(f"cannot read {path}: it is no Parquet file, the only kind")
    assert call.format(str(path)) in text


def test_paths_that_name_no_files(tmp_path):
    assert refused("", FileNotFoundError) == "there is no Parquet file (the path is empty)"
    assert refused("s3://bucket/rows.parquet").startswith(
        "s3://bucket/rows.parquet is not on this machine, and a path must be: pass the table of an "
        "engine that reads it, as polars.scan_parquet('s3://bucket/rows.parquet')"
    )
    assert f"there is no Parquet file {tmp_path}/n*" in refused(f"{tmp_path}/n*", FileNotFoundError)
    (tmp_path / "rows.csv").write_text("age\n1\n")
    text = refused(tmp_path, FileNotFoundError)
    assert text == (
        f"there is no Parquet file (*.parquet) in the directory {tmp_path}, which has rows.csv"
    )
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    assert refused(tmp_path, OSError).startswith(f"cannot read {tmp_path}: ")


def test_directories_that_are_called_like_files(tmp_path):
    frame = gbsg2()
    for name in ("one.parquet", "two.parquet"):
        written(tmp_path / name, frame[:300] if name == "one.parquet" else frame[300:])
    files = [str(tmp_path / name / "0.parquet") for name in ("one.parquet", "two.parquet")]
    assert parquet_files(str(tmp_path)) == files
    assert parquet_files(f"{tmp_path}/*.parquet") == files
    assert SurTree(max_depth=1).fit(tmp_path, TARGET).tree_.n_samples[0] == len(frame)


def test_names_of_files_are_no_patterns(tmp_path):
    frame = gbsg2()
    frame.write_parquet(tmp_path / "rows[1].parquet")
    model = SurTree(max_depth=1).fit(tmp_path / "rows[1].parquet", TARGET)
    assert model.tree_.n_samples[0] == len(frame)
