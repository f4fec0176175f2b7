"""A lazy table whose rows differ from pass to pass is refused, whatever it is that differs."""

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from tables import content, gbsg2, messy, synthetic

from surtree import SurTree
from surtree.engines import _memory_caps as memory_caps
from surtree.engines import _tables as tables
from surtree.engines._batches import Batch
from surtree.engines._checksums import Checksums
from surtree.engines._summary import WeightPass
from surtree.engines.engines import source_of
from surtree.engines.reader import Reader
from surtree.engines.rows import TargetNames

TARGET = ("event", "time")
NAMED = {"sample_weight": "weight", "entry": "entry"}
NAMES = TargetNames(TARGET, "entry", "weight")


def deferred(first, later, n_before):
    """Return a lazy frame with other rows after some passes, and a list with an item a pass."""
    passes = []

    def rows():
        passes.append(len(passes))
        return first if len(passes) <= n_before else later

    return pl.defer(rows, schema=first.schema), passes


def moved(frame, name):
    """Return the table with the values of a column one row further on."""
    return frame.with_columns(pl.col(name).shift(1, fill_value=pl.col(name).last()))


def nudged(frame, name):
    """Return the table with another value in one row."""
    value = frame[name][7]
    other = "city 5" if name == "place" else not value if isinstance(value, bool) else value + 1
    index = pl.int_range(pl.len())
    kept = pl.when(index == 7).then(pl.lit(other, dtype=frame.schema[name])).otherwise(name)
    return frame.with_columns(kept.alias(name))


@pytest.mark.parametrize("change", [moved, nudged])
@pytest.mark.parametrize(
    "name", ["number", "place", "flag", "count", "event", "time", "weight", "entry"]
)
@pytest.mark.parametrize("in_tables", [False, True], ids=["merged", "tables"])
def test_a_column_that_changes_before_any_pass_is_refused(name, change, in_tables, monkeypatch):
    frame = messy().drop("nothing").drop_nulls()
    frame = frame.with_columns(time=pl.col("time") + 1)
    if in_tables:
        monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    rows, passes = deferred(frame, frame, 99)
    model = SurTree(max_depth=3).fit(rows, TARGET, **NAMED)
    asked = {cut.name for cut in model.tree_.cuts}
    n_passes = len(passes)
    assert n_passes >= (7 if in_tables else 4)
    for n_before in range(1, n_passes):
        is_read = n_before > 1 or name in NAMES.columns
        if not is_read or (n_before == n_passes - 1 and name not in {*NAMES.columns, *asked}):
            continue
        rows, _ = deferred(frame, change(frame, name), n_before)
        with pytest.raises(
            ValueError, match=r"had other values in .* when it was read before"
        ) as e:
            SurTree(max_depth=3).fit(rows, TARGET, **NAMED)
        assert repr(name) in str(e.value)
        assert "random()" in str(e.value)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_table_in_another_order_is_fitted_as_in_memory(n_jobs, tmp_path, small_batches):
    frame = messy()
    expected = content(SurTree(max_depth=3).fit(frame, TARGET, **NAMED), tmp_path)
    rows, _ = deferred(frame, frame.sample(fraction=1.0, shuffle=True, seed=3), 2)
    model = SurTree(max_depth=3, n_jobs=n_jobs).fit(rows, TARGET, **NAMED)
    assert content(model.set_params(n_jobs=None), tmp_path) == expected


@pytest.mark.parametrize("row", [0, 250, 450, 650])
def test_one_value_that_changes_is_seen_by_any_thread(row, monkeypatch):
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 100)
    frame = gbsg2()
    is_row = pl.int_range(pl.len()) == row
    rows, _ = deferred(frame, frame.with_columns(pl.col("age") + is_row.cast(pl.Int64)), 1)
    with pytest.raises(ValueError, match="had other values in column 'age'"):
        SurTree(max_depth=1, n_jobs=3).fit(rows, TARGET)


class Failing(WeightPass):
    """A pass that fails at one row, wherever it is."""

    def add(self, partial, batch):
        if 1.5 in batch.column("time").values:
            raise KeyError("a row of 1.5 days")
        return super().add(partial, batch)


@pytest.mark.parametrize("row", [0, 250, 450, 650])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_that_rows_do_not_explain_is_raised(row, n_threads, monkeypatch):
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 100)
    is_row = pl.int_range(pl.len()) == row
    frame = gbsg2().with_columns(time=pl.when(is_row).then(1.5).otherwise("time"))
    reader = Reader(source_of(frame.lazy()), n_threads)
    reader.expect(2, may_be_more=False)
    names = TargetNames(TARGET)
    reader.run_first(WeightPass, names)
    with pytest.raises(KeyError, match=r"a row of 1\.5 days"):
        reader.run(Failing(names), names)


@pytest.mark.parametrize(
    ("select", "column"),
    [
        ("floor(random() * 5) as x, i % 3 = 0 as event, i % 17 + 2.0 as time", "column 'x'"),
        ("random() as x, i % 3 = 0 as event, i % 17 + 2.0 as time", "column 'x'"),
        ("i % 7 as x, random() < 0.3 as event, i % 17 + 2.0 as time", "'event', 'time'"),
        ("i % 7 as x, i % 3 = 0 as event, 1 + random() as time", "'event', 'time'"),
    ],
)
def test_a_query_with_random_values_is_refused(select, column, few_values):
    rows = duckdb.connect().sql(f"select {select} from range(500) r(i)")
    with pytest.raises(ValueError, match="the DuckDB relation had other values in") as raised:
        SurTree(max_depth=2).fit(rows, TARGET)
    assert column in str(raised.value)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("in_tables", [False, True], ids=["merged", "tables"])
def test_continuous_values_that_are_drawn_anew_are_refused(
    n_jobs, in_tables, monkeypatch, few_values
):
    """What a pass makes of values that it has never seen is no error of its own."""
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 100)
    if in_tables:
        monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    frame = synthetic(800)
    rng = np.random.default_rng(4)
    for n_before in range(1, 4):
        later = frame.with_columns(x=50 + rng.normal(size=800), time=9e4 + rng.random(800))
        rows, _ = deferred(frame, later, n_before)
        with pytest.raises(ValueError, match="had other values"):
            SurTree(max_depth=2, n_jobs=n_jobs).fit(rows, TARGET)


@pytest.mark.parametrize(
    ("name", "value"),
    [("x", None), ("age", None), ("group", None), ("group", "e")],
    ids=["number", "whole number", "text", "new text"],
)
def test_values_that_no_pass_has_seen_never_reach_the_core(name, value, monkeypatch):
    """The core trusts its bins: one that it does not know would be written beside its tables."""
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    seen = []
    add = tables.TripleTables.add

    def watched(self, bins, *rest):
        seen.append((bins.max(axis=1, initial=0) < self._binned.n_bins).all())
        add(self, bins, *rest)

    monkeypatch.setattr(tables.TripleTables, "add", watched)
    frame = synthetic(800)
    some = pl.int_range(pl.len()) % 7 == 0
    value = pl.lit(value, dtype=frame.schema[name])
    later = frame.with_columns(pl.when(some).then(value).otherwise(name).alias(name))
    for n_before in range(2, 5):
        rows, _ = deferred(frame, later, n_before)
        with pytest.raises(ValueError, match=f"had other values in column '{name}'"):
            SurTree(max_depth=3).fit(rows, TARGET)
    assert seen
    assert all(seen)


@pytest.mark.parametrize("when", ["1", "2"])
@pytest.mark.parametrize("name", ["positive_nodes", "time"])
def test_a_file_that_is_rewritten_between_passes_is_refused(name, when, tmp_path):
    path = tmp_path / "rows.parquet"
    frame = gbsg2()
    frame.write_parquet(path)

    def rewrite(now):
        if now.reading.startswith(f"pass {when}"):
            frame.with_columns(pl.col(name) + 1).write_parquet(path)

    with pytest.raises((ValueError, OSError), match=r"had other values in|cannot read"):
        SurTree(max_depth=2, n_thresholds=3, progress=rewrite).fit(path, TARGET)


def test_times_that_become_negative_are_rows_that_changed():
    frame = gbsg2()
    rows, _ = deferred(frame, frame.with_columns(-pl.col("time")), 1)
    with pytest.raises(ValueError, match="had other values in the columns 'event', 'time'"):
        SurTree(max_depth=1).fit(rows, TARGET)


@pytest.mark.parametrize("in_tables", [False, True], ids=["merged", "tables"])
def test_columns_that_are_paired_otherwise_are_refused(in_tables, monkeypatch):
    """Values stay beside the same outcomes, but not beside the same values of another column."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (2, 4000))
    frame = pl.DataFrame({"a": a, "b": b, "event": True, "time": 1.0 + (a > 4)})
    later = frame.with_columns(pl.col("b").shuffle(seed=1).over("time"))
    if in_tables:
        monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
        monkeypatch.setattr("surtree.engines._table_problem._FEW_ROWS", 1)
    # Of the passes after these, the last one asks about one column alone.
    for n_before in range(1, 5 if in_tables else 2):
        rows, _ = deferred(frame, later, n_before)
        with pytest.raises(ValueError, match="had other values in the columns 'a', 'b'"):
            SurTree(max_depth=2).fit(rows, TARGET)


def test_rows_that_reach_other_leaves_in_the_last_pass_are_refused():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 4000))
    frame = pl.DataFrame({"a": a, "b": b, "c": c, "event": a * b == 1, "time": 1.0})
    later = frame.with_columns(pl.col("b").shuffle(seed=1).over("event"))
    rows, passes = deferred(frame, later, 2)
    with pytest.raises(ValueError, match="had other values in some rows when it was read before"):
        SurTree(max_depth=2).fit(rows, TARGET)
    assert len(passes) == 3


def names_of(frame):
    """Return the columns of a data frame of any library."""
    return set(nw.from_native(frame).columns)


def checksums(*frames):
    """Return the checksums of all rows, which come in some batches."""
    found = Checksums.of_no_rows()
    for frame in frames:
        part = Checksums.of_no_rows()
        part.add(NAMES.read(Batch(frame)), names_of(frame) - set(NAMES.columns))
        found.merge(part)
    return found.sums


def test_checksums_know_no_order_and_no_batches():
    frame = messy()
    expected = checksums(frame)
    assert len(expected) == 1 + 6 + 1
    assert checksums(frame.reverse()) == expected
    assert checksums(*frame.sample(fraction=1.0, shuffle=True, seed=1).iter_slices(77)) == expected
    assert checksums(frame.select(frame.columns[::-1])) == expected
    for other in (frame.to_pandas().astype({"flag": "boolean"}), frame.to_arrow()):
        assert checksums(other) == expected
    part = checksums(frame.drop("place", "nothing"))
    assert {key: n for key, n in part.items() if len(key) < 2}.items() <= expected.items()


def test_checksums_tell_which_outcome_a_value_stands_beside():
    frame = messy().filter(pl.col("weight") > 0)
    one, other = checksums(frame), checksums(moved(frame, "number"))
    assert {key for key in one if one[key] != other[key]} == {("number",), max(one, key=len)}


def test_checksums_tell_zero_from_nothing_but_not_from_negative_zero():
    frame = messy(50).with_columns(number=pl.lit(0.0))
    expected = checksums(frame)
    assert checksums(frame.with_columns(number=pl.lit(-0.0))) == expected
    assert checksums(frame.with_columns(number=pl.lit(None, pl.Float64))) != expected
    missing = checksums(frame.with_columns(number=pl.lit(None, pl.Float64)))
    assert checksums(frame.with_columns(number=pl.lit(float("nan")))) == missing
    assert checksums(frame.with_columns(number=-pl.lit(float("nan")))) == missing


def test_a_sum_of_values_is_no_checksum():
    """One and four add up to twice two, also in the bits of floats."""
    rows = {"event": True, "time": 1.0, "entry": 0.0, "weight": 1.0}
    one, other = (pl.DataFrame({"x": x}).with_columns(**rows) for x in ([1.0, 4.0], [2.0, 2.0]))
    assert checksums(one)[()] == checksums(other)[()]
    assert checksums(one)["x",] != checksums(other)["x",]
