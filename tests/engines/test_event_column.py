"""Which column of the target is the event is decided by all rows, not by a part of them."""

import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest
from tables import content

from surtree import SurTree, evaluate

ENGINES = ("polars", "dataset", "duckdb", "directory", "dask")


def sorted_by_time(event="event", time="time", n=120):
    """Return rows sorted by time: the first ones have times 0 and 1, and events of 0 and 1."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 6, n)
    frame = pl.DataFrame(
        {
            "x": x,
            event: (rng.random(n) < 0.3 + 0.1 * x).astype(int),
            time: np.concatenate((np.repeat([0, 1], n // 4), rng.integers(2, 9, n - n // 2))),
        }
    )
    # A row that is censored at time zero would be left out, with a warning.
    return frame.with_columns(pl.when(pl.col(time) == 0).then(1).otherwise(event).alias(event))


def in_engine(engine, frame, directory, n_parts=6):
    """Return the table in parts, as an engine has it."""
    parts = list(frame.iter_slices(len(frame) // n_parts))
    for number, part in enumerate(parts):
        part.write_parquet(directory / f"{number}.parquet")
    return {
        "polars": lambda: frame.lazy(),
        "dataset": lambda: ds.dataset(directory),
        "duckdb": lambda: duckdb.connect().sql(f"select * from '{directory}/*.parquet'"),
        "directory": lambda: directory,
        "dask": lambda: dd.from_pandas(frame.to_pandas(), npartitions=n_parts),
    }[engine]()


@pytest.fixture
def tiny_batches(monkeypatch):
    monkeypatch.setattr("surtree.engines._memory_caps.BATCH_ROWS", 15)


@pytest.fixture
def parts(tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    return path


@pytest.mark.parametrize("y", [("event", "time"), ("time", "event")], ids=["first", "second"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_a_part_with_times_of_0_and_1_is_read_as_the_whole(
    engine, y, weighted, parts, tmp_path, tiny_batches
):
    frame = sorted_by_time()
    named = {}
    if weighted:
        frame = frame.with_columns(weight=1.0 + pl.int_range(pl.len()) % 3)
        named = {"sample_weight": "weight"}
    expected = content(SurTree(max_depth=2).fit(frame, y, **named), tmp_path)
    rows = in_engine(engine, frame, parts)
    model = SurTree(max_depth=2).fit(rows, y, **named)
    assert content(model, tmp_path) == expected
    assert model.loss(rows, y, **named) == model.loss(frame, y, **named)
    assert evaluate(model, rows, y, **named).n_events == model.tree_.n_events[0]


@pytest.mark.parametrize("y", [("event", "time"), ("time", "event")], ids=["first", "second"])
@pytest.mark.parametrize("engine", ENGINES)
def test_entry_times_are_before_the_time_whichever_column_it_is(
    engine, y, parts, tmp_path, tiny_batches
):
    frame = sorted_by_time().filter(pl.col("time") > 0).with_columns(entry=pl.col("time") - 0.5)
    expected = content(SurTree(max_depth=2).fit(frame, y, entry="entry"), tmp_path)
    model = SurTree(max_depth=2).fit(in_engine(engine, frame, parts), y, entry="entry")
    assert content(model, tmp_path) == expected
    late = frame.with_columns(
        entry=pl.when(pl.int_range(pl.len()) == 1).then(7.0).otherwise("entry")
    )
    with pytest.raises(ValueError, match="Column 'entry' has entry times that are not before"):
        SurTree(max_depth=2).fit(late.lazy(), y, entry="entry")


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_both_are_0_and_1_in_all_rows_are_refused(engine, parts, tiny_batches):
    frame = sorted_by_time().with_columns(time=1)
    rows = in_engine(engine, frame, parts)
    with pytest.raises(ValueError, match="Both columns of y, 'event' and 'time', hold nothing but"):
        SurTree(max_depth=1).fit(frame, ("event", "time"))
    with pytest.raises(ValueError, match="Both columns of y, 'event' and 'time', hold nothing but"):
        SurTree(max_depth=1).fit(rows, ("event", "time"))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_of_other_numbers_in_the_last_part_is_refused(engine, parts, tiny_batches):
    frame = sorted_by_time()
    last = pl.int_range(pl.len()) == len(frame) - 1
    frame = frame.with_columns(event=pl.when(last).then(2).otherwise("event"))
    rows = in_engine(engine, frame, parts)
    for y in (("event", "time"), ("time", "event")):
        with pytest.raises(ValueError, match="The event column 'event' of y holds") as raised:
            SurTree(max_depth=1).fit(rows, y)
        assert "2" in str(raised.value)


@pytest.mark.parametrize("y", [("event", "time"), ("time", "event")], ids=["first", "second"])
def test_a_boolean_column_is_the_event_whatever_the_times_are(y, tmp_path):
    frame = sorted_by_time().with_columns(pl.col("event") == 1, time=1)
    expected = content(SurTree(max_depth=2).fit(frame, y), tmp_path)
    assert content(SurTree(max_depth=2).fit(frame.lazy(), y), tmp_path) == expected


def test_a_pass_that_begins_again_is_not_counted(tiny_batches):
    told = []
    model = SurTree(max_depth=1, progress=lambda now: told.append(now.reading))
    model.fit(sorted_by_time().lazy(), ("time", "event"))
    passes = {reading.split(",")[0] for reading in told if reading}
    assert passes == {"pass 1 of 3 or more", "pass 2 of 3 or more", "pass 3 of 3"}
