"""Competing risks and trials from lazy tables: the model of the same table in memory, every bit."""

import warnings

import duckdb
import numpy as np
import polars as pl
import pytest
from tables import content, messy

from surtree import CompetingRisksTree, EffectTree
from surtree.engines import _memory_caps as memory_caps

Y = ("cause", "time")
WEIGHTED = {"sample_weight": "weight", "entry": "entry"}
ROWS = {
    "plain": (("weight", "entry"), {}),
    "weights": (("entry",), {"sample_weight": "weight"}),
    "entry": (("weight",), {"entry": "entry"}),
    "both": ((), WEIGHTED),
}
CAUSES = {
    "all": CompetingRisksTree(max_depth=2),
    "one": CompetingRisksTree(max_depth=3, causes=4, min_events_leaf=5, leaf_curve="shrunk"),
    "weights": CompetingRisksTree(max_depth=2, causes={1: 0.3, 4: 2.0}, shrinkage=1.5),
}
ARMS = {
    "effect": EffectTree(max_depth=2),
    "both": EffectTree(max_depth=2, objective="both", shrinkage=2.0, min_events_arm=3),
}


def with_causes(rows):
    """Return a table with causes in place of events, two of them rare."""
    dropped, named = ROWS[rows]
    frame = messy(1500).drop(*dropped)
    random = np.random.default_rng(5)
    cause = random.choice([1, 2, 4], len(frame), p=[0.6, 0.1, 0.3]) * frame["event"].to_numpy()
    return frame.drop("event").with_columns(pl.Series("cause", cause)), named


def with_arms(rows, labels=("placebo", "drug", "both")):
    """Return a table with the arm of each row, and times that depend on it."""
    dropped, named = ROWS[rows]
    frame = messy(1500).drop(*dropped)
    arm = np.random.default_rng(6).integers(0, len(labels), len(frame))
    late = (frame["number"].fill_null(0).to_numpy() > 0) * 0.25 * arm
    time = (frame["time"].to_numpy() + late).round(2)
    return frame.with_columns(time=time, arm=pl.Series([labels[k] for k in arm])), named


def lazy(engine, frame, directory):
    """Return a table as an engine has it."""
    if engine == "polars":
        return frame.lazy()
    frame.write_parquet(directory / "rows.parquet")
    return duckdb.connect().sql(f"select * from '{directory}/rows.parquet'")


def in_memory(engine, rows, frame):
    """Return the table as the engine reads it in memory."""
    return frame if engine == "polars" else rows.df()


@pytest.fixture(params=["polars", "duckdb"])
def engine(request):
    return request.param


@pytest.mark.parametrize("choice", CAUSES)
@pytest.mark.parametrize("rows", ROWS)
def test_a_tree_of_causes_is_the_one_in_memory(rows, choice, engine, tmp_path, small_batches):
    frame, named = with_causes(rows)
    table = lazy(engine, frame, tmp_path)
    model = CAUSES[choice]
    expected = model.fit(in_memory(engine, table, frame), Y, **named)
    saved, loss = content(expected, tmp_path), expected.loss(frame, Y, **named)
    assert expected.tree_.n_leaves > 2
    model.fit(table, Y, **named)
    assert content(model, tmp_path) == saved
    assert model.loss(table, Y, **named) == pytest.approx(loss, rel=1e-14)


@pytest.mark.parametrize("aim", ARMS)
@pytest.mark.parametrize("rows", ROWS)
def test_a_tree_of_effects_is_the_one_in_memory(rows, aim, engine, tmp_path, small_batches):
    frame, named = with_arms(rows)
    table = lazy(engine, frame, tmp_path)
    model = ARMS[aim]
    expected = model.fit(in_memory(engine, table, frame), ("event", "time"), "arm", **named)
    saved = content(expected, tmp_path)
    given = (("event", "time"), "arm")
    loss, score = (f(frame, *given, **named) for f in (expected.loss, expected.score))
    assert expected.tree_.n_leaves > 1
    model.fit(table, *given, **named)
    assert content(model, tmp_path) == saved
    assert model.loss(table, *given, **named) == pytest.approx(loss, rel=1e-14)
    assert model.score(table, *given, **named) == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("rows", ["plain", "both"])
def test_tables_over_columns_know_causes_and_arms(rows, tmp_path, monkeypatch, small_batches):
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    monkeypatch.setattr("surtree.engines._table_problem._FEW_ROWS", 1)
    passes = []
    frame, named = with_causes(rows)
    model = CompetingRisksTree(max_depth=3, progress=lambda now: passes.append(now.reading))
    saved = content(model.fit(frame, Y, **named), tmp_path)
    assert content(model.fit(frame.lazy(), Y, **named), tmp_path) == saved
    assert any("tables over columns" in reading for reading in passes)
    frame, named = with_arms(rows)
    for model in ARMS.values():
        saved = content(model.fit(frame, ("event", "time"), "arm", **named), tmp_path)
        model.fit(frame.lazy(), ("event", "time"), "arm", **named)
        assert content(model, tmp_path) == saved


@pytest.mark.parametrize("labels", [("a", "b"), (0, 1), (True, False), (0.5, 2.0, 1.0, 0.0)])
def test_labels_of_arms_are_those_in_memory(labels, engine, tmp_path, small_batches):
    frame, _ = with_arms("plain", labels)
    table = lazy(engine, frame, tmp_path)
    model = EffectTree(max_depth=1, reference=labels[-1])
    model.fit(in_memory(engine, table, frame), ("event", "time"), "arm")
    saved, arms = content(model, tmp_path), model.arms_
    model.fit(table, ("event", "time"), "arm")
    assert content(model, tmp_path) == saved
    assert [*map(type, model.arms_)] == [*map(type, arms)]
    assert model.arms_[0] == labels[-1]


@pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
def test_predictions_are_those_in_memory(engine, tmp_path, small_batches):
    frame, _ = with_causes("plain")
    table = lazy(engine, frame, tmp_path)
    model = CompetingRisksTree(max_depth=2).fit(table, Y)
    questions = frame.drop(*Y)
    for predict in (model.apply, model.predict, model.predict_cumulative_incidence):
        assert (predict(table) == predict(questions)).all()
    assert model.score(table, Y) == pytest.approx(model.score(frame, Y), rel=1e-14)
    frame, _ = with_arms("plain")
    table = lazy(engine, frame, tmp_path)
    model = EffectTree(max_depth=2).fit(table, ("event", "time"), "arm")
    questions = frame.drop("event", "time", "arm")
    for predict in (model.apply, model.predict, model.predict_effect):
        assert (predict(table) == predict(questions)).all()


@pytest.mark.parametrize("tables", [False, True], ids=["merged", "tables"])
def test_arms_that_were_not_drawn_by_lot_are_warned_of(tables, monkeypatch, small_batches):
    if tables:
        monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
        monkeypatch.setattr("surtree.engines._table_problem._FEW_ROWS", 1)
    frame, _ = with_arms("plain", ("no", "yes"))
    frame = frame.with_columns(arm=pl.Series(["no", "yes"])[(frame["stage"] > "II").cast(int)])
    texts = []
    for table in (frame, frame.lazy()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            EffectTree(max_depth=1).fit(table, ("event", "time"), "arm")
        texts.append([str(one.message) for one in caught if "by lot" in str(one.message)])
    assert texts[0] == texts[1]
    assert len(texts[0]) == 1


def test_what_cannot_be_read_is_named(small_batches):
    frame, _ = with_causes("plain")
    rows = frame.lazy()
    with pytest.raises(ValueError, match="The columns of y are exchanged"):
        CompetingRisksTree().fit(rows, ("time", "cause"))
    with pytest.raises(ValueError, match="y names two columns, the cause"):
        CompetingRisksTree().fit(rows, "time")
    with pytest.raises(ValueError, match="holds something else than whole numbers"):
        CompetingRisksTree().fit(rows.with_columns(pl.col("cause") / 2), Y)
    with pytest.raises(ValueError, match="No row has an event of cause 3"):
        CompetingRisksTree(causes=3).fit(rows, Y)
    frame, _ = with_arms("both")
    rows, y = frame.lazy(), ("event", "time")
    some = pl.when(pl.int_range(pl.len()) != 1000).then("arm").alias("arm")
    with pytest.raises(ValueError, match="no arm in 1 rows"):
        EffectTree().fit(rows.with_columns(some), y, "arm")
    with pytest.raises(ValueError, match="treatment has 1 arm "):
        EffectTree().fit(rows.with_columns(arm=pl.lit("a")), y, "arm")
    with pytest.raises(ValueError, match="reference='none' is none of the arms"):
        EffectTree(reference="none").fit(rows, y, "arm")
    gone = pl.when(pl.col("arm") == "both").then(0.0).otherwise("weight").alias("weight")
    with pytest.raises(ValueError, match="1 of 3 arms have no row of positive weight"):
        EffectTree().fit(rows.with_columns(gone), y, "arm", **WEIGHTED)
    with pytest.raises(ValueError, match="treatment of a lazy table is the name of a column"):
        EffectTree().fit(rows, y, frame["arm"].to_numpy())
    model = EffectTree(max_depth=1).fit(rows.filter(pl.col("arm") != "both"), y, "arm")
    with pytest.raises(ValueError, match="treatment holds 'both', which is none of"):
        model.loss(rows, y, "arm")


def test_arms_that_change_between_passes_are_noticed(small_batches):
    frame, _ = with_arms("plain")
    n_read = 0

    def other(column):
        nonlocal n_read
        n_read += 1
        return column if n_read < 4 else column.reverse()

    rows = frame.lazy().with_columns(pl.col("arm").map_batches(other, return_dtype=pl.String))
    with pytest.raises(ValueError, match="had other values in the columns"):
        EffectTree(max_depth=1).fit(rows, ("event", "time"), "arm")
