"""What cannot be read, or cannot be fitted, is one clear error, whatever engine it comes from."""

import datetime
from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest
from tables import gbsg2, messy, synthetic

from surtree import SurTree
from surtree.engines import _memory_caps as memory_caps
from surtree.engines._summary import WeightPass
from surtree.engines.rows import TargetNames
from surtree.engines.source import LocalSource

TARGET = ("event", "time")


def refused(rows, y=TARGET, error=ValueError, model=None, **named):
    """Return the text of the error that a fit raises; it is one line."""
    model = model or SurTree(max_depth=2)
    with pytest.raises(error) as raised:
        model.fit(rows, y, **named)
    assert not hasattr(model, "tree_")
    text = str(raised.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("y", "named", "words"),
    [
        (("event", "tim"), {}, "there is no column 'tim'"),
        (TARGET, {"entry": "start"}, "there is no column 'start'"),
        (TARGET, {"sample_weight": np.ones(3)}, "sample_weight of a lazy table is the name"),
        (np.ones(686), {}, "of a lazy table, y names two columns"),
        (None, {}, "requires y to be passed"),
        (("event", "time", "age"), {}, "y names two columns"),
        (("event", "event"), {}, "name a column twice"),
        (("event", "tumor_grade"), {}, "holds texts, not numbers"),
        (("age", "time"), {}, "The event column 'age' of y holds"),
        (TARGET, {"sample_weight": "tumor_grade"}, "holds texts, not numbers"),
    ],
)
def test_targets_that_are_none(y, named, words):
    assert words in refused(gbsg2().lazy(), y, **named)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time": -pl.col("time")}, "Column 'time' has negative times in 686 rows: drop such rows"),
        ({"time": pl.lit(None, pl.Float64)}, "times that are not finite numbers in 686 rows"),
        ({"event": pl.lit(False)}, "All 686 rows are censored"),
        ({"age": pl.lit(np.inf)}, "Column 'age' holds infinity (inf) in 686 of 686 rows"),
        ({"age": pl.lit(datetime.date(2020, 1, 1))}, "Column 'age' holds dates or times"),
        ({"weight": pl.lit(-1.0)}, "Column 'weight' has negative weights"),
        ({"weight": pl.lit(0.0)}, "is zero in all rows that count"),
        (
            {"weight": pl.when(pl.col("age") > 50).then(1e6).otherwise(1.0)},
            "sample_weight goes from 1 to 1e+06",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_rows_that_cannot_be_used(change, words):
    weight = {"sample_weight": "weight"} if "weight" in change else {}
    assert words in refused(gbsg2().with_columns(**change).lazy(), **weight)


def test_tables_without_rows_or_columns():
    assert "0 sample" in refused(gbsg2().head(0).lazy())
    assert "no columns but those of the target" in refused(gbsg2().select(*TARGET).lazy())


def test_files_that_are_not_there(tmp_path):
    assert "there is no Parquet file" in refused(tmp_path / "none.parquet", error=FileNotFoundError)
    assert "there is no Parquet file" in refused(f"{tmp_path}/*.parquet", error=FileNotFoundError)
    (tmp_path / "text.parquet").write_text("age,time\n1,2\n")
    text = refused(tmp_path / "text.parquet", error=(OSError, ValueError))
    assert f"cannot read {tmp_path}/text.parquet" in text


@pytest.mark.parametrize("engine", ["polars", "dataset", "duckdb"])
def test_a_file_that_goes_away_between_passes(engine, tmp_path, small_batches):
    path = tmp_path / "rows.parquet"
    gbsg2().write_parquet(path)
    rows = {
        "polars": lambda: pl.scan_parquet(path),
        "dataset": lambda: ds.dataset(path),
        "duckdb": lambda: duckdb.connect().sql(f"select * from '{path}'"),
    }[engine]()
    model = SurTree(progress=lambda now: path.unlink(missing_ok=True) if now.reading else None)
    assert "cannot read the " in refused(rows, error=(OSError, ValueError), model=model)


def test_casts_that_fail_in_the_engine(tmp_path):
    texts = gbsg2().with_columns(age=pl.lit("old"))
    assert "cannot read the lazy frame: " in refused(
        texts.lazy().with_columns(pl.col("age").cast(pl.Float64))
    )
    texts.write_parquet(tmp_path / "rows.parquet")
    connection = duckdb.connect()  # early versions close it with the last name for it
    relation = connection.sql(
        f"select * exclude age, age::double as age from '{tmp_path}/rows.parquet'"
    )
    assert "cannot read the DuckDB relation: Conversion Error" in refused(relation)


def test_rows_that_change_between_passes(tmp_path):
    path = tmp_path / "rows.parquet"
    frame = gbsg2()
    frame.write_parquet(path)

    def grow(now):
        if now.reading.startswith("pass 1"):
            pl.concat([frame, frame]).write_parquet(path)

    text = refused(pl.scan_parquet(path), model=SurTree(progress=grow), error=(OSError, ValueError))
    assert "had 686 rows and has 1,372 now" in text or "cannot read" in text


def test_limits_of_memory(monkeypatch):
    frame = synthetic(5000)
    model = SurTree(max_depth=4, memory_limit=200_000)
    assert "rows are distinct, and memory_limit has room for" in refused(frame.lazy(), model=model)
    model = SurTree(memory_limit=20_000)
    assert "has more than 100 distinct times" in refused(frame.lazy(), model=model)
    monkeypatch.setattr(memory_caps, "MOST_CATEGORIES", 10)
    assert "Column 'place' has more than 10 categories" in refused(messy().lazy())
    monkeypatch.setattr(memory_caps, "MOST_VALUES", 10)
    model = SurTree(n_thresholds=None)
    assert "Column 'x' has more than 65,534 distinct values" in refused(frame.lazy(), model=model)


def test_a_table_that_grows_between_passes_is_refused():
    frame = gbsg2()
    passes = iter([frame, *5 * [pl.concat([frame, frame])]])
    rows = pl.defer(lambda: next(passes), schema=frame.schema)
    with pytest.raises(ValueError, match=r"had 686 rows and has 1,372 now. It is read several"):
        SurTree(max_depth=1).fit(rows, ("event", "time"))


@pytest.fixture
def connection(monkeypatch):
    """Return a DuckDB connection with a table that can be fitted, and one that cannot."""
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 2048)
    connection = duckdb.connect()
    good = "select i % 7 as x, i % 3 = 0 as event, i % 17 + 2.0 as time from range(30000) r(i)"
    connection.execute(f"create table good as {good}")
    connection.execute("create table bad as select * replace (time - 9 as time) from good")
    return connection


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_connection_works_after_a_fit_that_was_refused(connection, n_jobs):
    errors = []
    for _ in range(2):
        with pytest.raises(ValueError, match="negative times") as raised:
            SurTree(n_jobs=n_jobs).fit(connection.sql("from bad"), TARGET)
        errors.append(raised)  # as a debugger does: with its traceback, and all that it holds
        SurTree(max_depth=1, n_jobs=n_jobs).fit(connection.sql("from good"), TARGET)
    assert connection.execute("select count(*) from good").fetchall() == [(30000,)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_connection_works_after_an_interrupt(connection, n_jobs):
    rows = connection.sql("from good")
    with pytest.raises(KeyboardInterrupt) as raised:
        SurTree(n_jobs=n_jobs, progress=lambda now: True).fit(rows, TARGET)
    model = SurTree(max_depth=1, n_jobs=n_jobs).fit(rows, TARGET)
    with pytest.raises(ValueError, match="negative times"):
        model.loss(connection.sql("from bad"), TARGET)
    assert model.predict(rows).size == 30000
    assert raised.value.__traceback__ is not None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_readers_are_closed_however_a_pass_ends(n_jobs, small_batches):
    frame = gbsg2()
    closed = []

    def read(columns):
        try:
            for part in frame.iter_slices(100):
                yield part.select(columns)
        finally:
            closed.append(True)

    source = LocalSource("the rows", tuple(frame.columns), read)
    names = TargetNames(TARGET)
    for step, error in ((Refusing(names), ValueError), (Refusing(names, KeyError), KeyError)):
        with pytest.raises(error, match="no") as raised:
            source.run(step, n_jobs)
        assert closed.pop()
        del raised

    def stop(n_rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source.run(WeightPass(names), n_jobs, stop)
    assert closed.pop()
    source.run(WeightPass(names), n_jobs)
    assert closed.pop()
    assert not closed


@dataclass(frozen=True)
class Refusing(WeightPass):
    """A pass that fails at its first batch."""

    error: type[Exception] = ValueError

    def add(self, partial, batch):
        raise self.error("no")
