"""A lazy table gives the model of the same table in memory, bit for bit, whatever engine has it."""

import importlib.util

import duckdb
import narwhals as nw
import polars as pl
import pyarrow.dataset as ds
import pytest
from tables import content, gbsg2, messy, synthetic

from surtree import SurTree, SurTreeCV, SuspiciousColumnWarning
from surtree.engines import _memory_caps as memory_caps
from surtree.engines import engines

WEIGHTED = {"sample_weight": "weight", "entry": "entry"}
TABLES = {
    "gbsg2": (gbsg2, {}),
    "messy": (messy, WEIGHTED),
    "whole weights": (lambda: messy().with_columns((pl.col("weight") * 10).round()), WEIGHTED),
    "entry alone": (lambda: messy().drop("weight"), {"entry": "entry"}),
    "weights alone": (lambda: messy().drop("entry"), {"sample_weight": "weight"}),
}


def lazy(engine, frame, directory):
    """Return the table as an engine has it, and what the engine reads it as in memory."""
    path = directory / "rows.parquet"
    frame.write_parquet(path, row_group_size=1000)
    if engine == "polars":
        return frame.lazy(), frame
    if engine == "narwhals":
        return nw.from_native(frame.lazy()), frame
    if engine == "dataset":
        return ds.dataset(path), frame.to_arrow()
    if engine == "duckdb":
        relation = duckdb.connect().sql(f"select * from '{path}'")
        return relation, relation.df()
    half = len(frame) // 2
    (directory / "parts").mkdir()
    frame[:half].write_parquet(directory / "parts" / "a.parquet")
    frame[half:].write_parquet(directory / "parts" / "b.parquet")
    paths = {
        "file": path,
        "pattern": str(directory / "p*" / "*.parquet"),
        "directory": directory / "parts",
    }
    return paths[engine], frame


ENGINES = ("polars", "narwhals", "dataset", "duckdb", "file", "pattern", "directory")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("engine", ["polars", "dataset", "duckdb", "directory"])
def test_the_model_is_the_one_in_memory(engine, table, tmp_path, small_batches, few_values):
    make, named = TABLES[table]
    rows, in_memory = lazy(engine, make(), tmp_path)
    y = ("event", "time")
    expected = content(SurTree(max_depth=3).fit(in_memory, y, **named), tmp_path)
    assert content(SurTree(max_depth=3).fit(rows, y, **named), tmp_path) == expected


@pytest.mark.parametrize("table", TABLES)
def test_tables_over_columns_give_the_same_model(table, tmp_path, monkeypatch, small_batches):
    """Where rows are too many to be merged, tables over triples of columns stand for them."""
    make, named = TABLES[table]
    frame = make()
    copies = frame.with_columns(again=frame.to_series(0), over=pl.col(frame.columns[0]) > 40)
    expected = content(SurTree(max_depth=3).fit(copies, ("event", "time"), **named), tmp_path)
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    passes = []
    model = SurTree(max_depth=3, progress=lambda now: passes.append(now.reading))
    model.fit(copies.lazy(), ("event", "time"), **named)
    assert any("tables over columns" in reading for reading in passes)
    assert content(model, tmp_path) == expected


@pytest.mark.parametrize("columns", [["age"], ["age", "tumor_size"], ["age", "tumor_grade"]])
@pytest.mark.parametrize("min_support", [0.01, 0.4, 0.49])
def test_few_cuts_of_rows_that_are_many(columns, min_support, tmp_path, monkeypatch):
    frame = gbsg2().select(*columns, "event", "time")
    expected = SurTree(min_support=min_support).fit(frame, ("event", "time"))
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 3)
    found = SurTree(min_support=min_support).fit(frame.lazy(), ("event", "time"))
    assert content(found, tmp_path) == content(expected, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_model(engine, tmp_path, small_batches):
    rows, in_memory = lazy(engine, gbsg2(), tmp_path)
    expected = content(SurTree(max_depth=2).fit(in_memory, ("event", "time")), tmp_path)
    assert content(SurTree(max_depth=2).fit(rows, ("event", "time")), tmp_path) == expected


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 2, "n_thresholds": None, "shrinkage": 2.0, "leaf_curve": "kaplan-meier"},
        {"max_depth": 2, "thresholds": {"number": [0.005, 0.006, 1.0, 99.0]}},
        {"max_depth": 3, "category_cuts": "one", "min_samples_leaf": 30, "min_events_leaf": 5},
        {"max_depth": 4, "max_splits": 6, "n_thresholds": 4, "ccp_alpha": 3.0},
        {"max_depth": 2, "max_categories": 4, "min_support": 0.1},
    ],
    ids=lambda parameters: " ".join(parameters),
)
def test_every_parameter_is_heard(parameters, tmp_path, small_batches):
    frame = messy()
    expected = content(SurTree(**parameters).fit(frame, ("event", "time"), **WEIGHTED), tmp_path)
    model = SurTree(**parameters).fit(frame.lazy(), ("event", "time"), **WEIGHTED)
    assert content(model, tmp_path) == expected


def test_the_target_may_be_named_in_several_ways(tmp_path):
    frame = gbsg2()
    expected = content(SurTree(max_depth=1).fit(frame, ("event", "time")), tmp_path)
    for table in (frame, frame.lazy()):
        for y in (["event", "time"], {"time": "time", "event": "event"}):
            assert content(SurTree(max_depth=1).fit(table, y), tmp_path) == expected
    events = frame.filter("event").drop("event")
    with pytest.warns(SuspiciousColumnWarning, match="'time' is the time itself"):
        alone = SurTree(max_depth=1).fit(events, events["time"].to_numpy())
    assert alone.n_features_in_ == 9  # the time is a column, as nobody said that it is not
    for table in (events, events.lazy()):
        assert SurTree(max_depth=1).fit(table, "time").n_features_in_ == 8


def test_threads_change_nothing(tmp_path, small_batches):
    frame = synthetic(20_000)
    models = [
        SurTree(max_depth=3, n_jobs=jobs).fit(frame.lazy(), ("event", "time")) for jobs in (1, 3)
    ]
    for model in models:
        model.n_jobs = None
    one, other = (content(model, tmp_path) for model in models)
    assert one == other


@pytest.mark.parametrize(
    ("engine", "n_rows"),
    [("directory", 1_000_000), *((engine, 1000) for engine in ENGINES)],
)
def test_many_rows(engine, n_rows, tmp_path):
    rows, in_memory = lazy(engine, synthetic(n_rows), tmp_path)
    expected = content(SurTree(max_depth=3).fit(in_memory, ("event", "time")), tmp_path)
    assert content(SurTree(max_depth=3).fit(rows, ("event", "time")), tmp_path) == expected


def test_without_polars_pyarrow_reads_parquet(tmp_path, monkeypatch, small_batches):
    frame = messy().drop("stage")  # pyarrow does not read the order of an Enum
    frame.write_parquet(tmp_path / "rows.parquet")
    expected = content(SurTree(max_depth=2).fit(frame, ("event", "time"), **WEIGHTED), tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "polars" else find(name))
    model = SurTree(max_depth=2).fit(tmp_path / "rows.parquet", ("event", "time"), **WEIGHTED)
    assert content(model, tmp_path) == expected
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="install polars"):
        SurTree().fit(tmp_path / "rows.parquet", ("event", "time"))
    with pytest.raises(ImportError, match="install pyarrow"):
        SurTree().fit(duckdb.sql(f"select * from '{tmp_path}/rows.parquet'"), ("event", "time"))


def test_rows_that_say_nothing_are_left_out_with_the_same_warning(tmp_path):
    frame = gbsg2().with_columns(time=pl.when(pl.int_range(pl.len()) < 9).then(0).otherwise("time"))
    frame = frame.with_columns(event=pl.col("event") & (pl.col("time") > 0))
    found = []
    for table in (frame, frame.lazy()):
        with pytest.warns(UserWarning, match="9 of 686 rows are censored at time zero") as said:
            found.append(content(SurTree(max_depth=2).fit(table, ("event", "time")), tmp_path))
        assert said[0].filename == __file__
    assert found[0] == found[1]


def test_other_estimators_ask_for_rows_in_memory():
    frame = gbsg2()
    with pytest.raises(ValueError, match="SurTreeCV needs its rows in memory: collect them first"):
        SurTreeCV().fit(frame.lazy(), ("event", "time"))
    for name in ("id", "init"):
        with pytest.raises(ValueError, match=f"{name} is for tables in memory"):
            SurTree().fit(frame.lazy(), ("event", "time"), **{name: "age"})


def test_progress_tells_of_rows_and_passes(small_batches):
    told = []
    model = SurTree(max_depth=1, progress=told.append)
    model.fit(gbsg2().lazy(), ("event", "time"))
    reading = [now.reading for now in told if now.reading]
    assert reading[0] == "pass 1 of 3 or more, values and times: 686 rows"
    assert reading[-1] == "pass 3 of 3, leaves over time: 686 rows"
    with pytest.raises(KeyboardInterrupt):
        SurTree(progress=lambda now: True).fit(gbsg2().lazy(), ("event", "time"))


def test_progress_says_how_many_passes_there_will_be(monkeypatch, few_values):
    def passes(frame, **named):
        told = []
        model = SurTree(max_depth=3, progress=lambda now: told.append(now.reading))
        model.fit(frame.lazy(), ("event", "time"), **named)
        return list(dict.fromkeys(reading.partition(":")[0] for reading in told if reading))

    frame = synthetic(2000)
    assert passes(frame) == [
        "pass 1 of 3 or more, values and times",
        "pass 2 of 4 or more, quantiles",
        "pass 3 of 4 or more, bins and merging",
        "pass 4 of 4, leaves over time",
    ]
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    assert passes(messy(), **WEIGHTED) == [
        "pass 1 of 4 or more, weights",
        "pass 2 of 4 or more, values and times",
        "pass 3 of 5 or more, quantiles",
        "pass 5 of 8, bins",
        "pass 6 of 8, tables over columns",
        "pass 7 of 8, nodes of trees",
        "pass 8 of 8, leaves over time",
    ]


def test_a_polars_that_loses_rows_without_an_error_is_refused(monkeypatch):
    monkeypatch.setattr(pl, "__version__", "1.36.1")
    with pytest.raises(ImportError, match=r"install polars 1\.37 or newer"):
        SurTree(max_depth=1).fit(
            pl.LazyFrame({"x": [1.0], "event": [1], "time": [1.0]}), ("event", "time")
        )
    monkeypatch.setattr(pl, "__version__", "1.37.0b1")
    rows = pl.LazyFrame({"x": [1.0, 2.0], "event": [1, 1], "time": [1.0, 2.0]})
    assert SurTree(max_depth=1).fit(rows, ("event", "time")).tree_.n_samples[0] == 2
