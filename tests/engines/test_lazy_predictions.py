"""What a model says of a lazy table is what it says of the same rows in memory."""

import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pytest
from tables import gbsg2, messy, synthetic

from surtree import SurTree, UnseenCategoryWarning, evaluate
from surtree.export import export_sql

TARGET = ("event", "time")
NAMED = {"sample_weight": "weight", "entry": "entry"}


@pytest.fixture(scope="module")
def model():
    return SurTree(max_depth=3).fit(messy(), TARGET, **NAMED)


def questions(frame):
    return frame.drop("event", "time", "weight", "entry")


def lazies(frame, tmp_path):
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    path = tmp_path / "rows.parquet"
    return frame.lazy(), path, duckdb.connect().sql(f"select * from '{path}'")


def test_predictions_are_those_in_memory_and_in_order(model, tmp_path, small_batches):
    frame = messy(seed=5)
    X = questions(frame)
    for rows in lazies(frame, tmp_path):
        np.testing.assert_array_equal(model.predict(rows), model.predict(X))
        np.testing.assert_array_equal(model.apply(rows), model.apply(X))
        np.testing.assert_array_equal(model.predict_median(rows), model.predict_median(X))
        np.testing.assert_array_equal(
            model.predict_survival_function(rows, return_array=True),
            model.predict_survival_function(X, return_array=True),
        )
        assert (model.decision_path(rows) != model.decision_path(X)).nnz == 0


def test_loss_and_score_are_those_in_memory(model, tmp_path, small_batches):
    frame = messy(seed=5)
    for rows in lazies(frame, tmp_path):
        assert model.loss(rows, TARGET, **NAMED) == model.loss(frame, TARGET, **NAMED)
    frame = gbsg2()
    model = SurTree(max_depth=2).fit(frame, TARGET)
    expected = model.score(frame, TARGET)
    for rows in lazies(frame, tmp_path):
        assert model.score(rows, TARGET) == expected


def test_unseen_categories_are_counted_over_all_batches(tmp_path, small_batches):
    frame = synthetic(3000)
    model = SurTree(max_depth=2, thresholds={"x": [0.3]}).fit(
        frame.select("group", "x", *TARGET), TARGET
    )
    assert any(cut.name == "group" for cut in model.tree_.cuts)
    new = frame.with_columns(group=pl.when(pl.col("x") > 1).then(pl.lit("z")).otherwise("group"))
    n_rows = new.filter(pl.col("group") == "z").height
    with pytest.warns(UnseenCategoryWarning, match=f"'z' in {n_rows} rows") as said:
        found = model.predict(new.lazy())
    assert said[0].filename == __file__
    assert len(said) == 1
    with pytest.warns(UnseenCategoryWarning, match=f"'z' in {n_rows} rows"):
        np.testing.assert_array_equal(found, model.predict(new.select("group", "x")))


def test_a_model_without_names_goes_by_position():
    frame = synthetic(500).select("x", "dose")
    model = SurTree(max_depth=1).fit(frame.to_numpy(), synthetic(500)["time"].to_numpy())
    np.testing.assert_array_equal(model.predict(frame.lazy()), model.predict(frame.to_numpy()))
    with pytest.raises(ValueError, match="has 1 columns, and the model was fitted on 2"):
        model.predict(frame.select("x").lazy())


def test_predictions_that_stay_lazy(tmp_path):
    """The recipes of docs/large-tables.md."""
    frame = gbsg2()
    model = SurTree(max_depth=3).fit(frame.lazy(), TARGET)
    names = list(model.feature_names_in_)
    expected = model.predict(frame.select(names))
    rows = frame.lazy().map_batches(
        lambda part: part.with_columns(risk=model.predict(part.select(names))),
        schema=frame.schema | {"risk": pl.Float64},
    )
    np.testing.assert_array_equal(rows.collect()["risk"], expected)
    parts = dd.from_pandas(frame.to_pandas(), npartitions=2)
    parts = parts.map_partitions(lambda part: part.assign(risk=model.predict(part[names])))
    np.testing.assert_array_equal(parts.compute(scheduler="sync")["risk"], expected)


def test_sql_stays_in_the_engine(tmp_path):
    frame = gbsg2()
    model = SurTree(max_depth=3).fit(frame.lazy(), TARGET)
    relation = lazies(frame, tmp_path)[2]
    risk = relation.project(export_sql(model, value="risk")).fetchnumpy()
    np.testing.assert_allclose(next(iter(risk.values())), model.predict(frame.lazy()))


@pytest.mark.parametrize("weighted", [False, True])
def test_evaluation_is_that_in_memory(weighted, tmp_path, small_batches):
    frame = gbsg2().with_columns(weight=0.5 + pl.col("age") % 3)
    frame = frame if weighted else frame.drop("weight")
    named = {"sample_weight": "weight"} if weighted else {}
    model = SurTree(max_depth=2).fit(frame[:400], TARGET, **named)
    expected = evaluate(model, frame[400:], TARGET, **named, n_bootstraps=2)
    for rows in lazies(frame[400:], tmp_path):
        found = evaluate(model, rows, TARGET, **named)
        assert (found.n_rows, found.n_events) == (expected.n_rows, expected.n_events)
        assert found.horizons == expected.horizons
        for own, one in zip(found.measures, expected.measures, strict=True):
            assert own.value == pytest.approx(one.value, rel=1e-9)
            assert np.isnan(own.lower)
            distance = one.name.startswith(("ici", "e50", "e90"))
            reason = "it is never below zero" if distance else "collect it first"
            assert reason in own.reason
        for own, leaf in zip(found.leaves, expected.leaves, strict=True):
            for name, value in vars(leaf).items():
                same = value if isinstance(value, str) else pytest.approx(value, rel=1e-9)
                assert getattr(own, name) == same
        assert "Harrell's C" in str(found)


def test_evaluation_with_entry_times(model, small_batches):
    frame = messy(seed=5)
    X, y = questions(frame), frame.select(*TARGET)
    expected = evaluate(model, X, y, frame["weight"], frame["entry"], n_bootstraps=2)
    found = evaluate(model, frame.lazy(), TARGET, **NAMED)
    score = model.score(X, y, frame["weight"], entry=frame["entry"])
    assert model.score(frame.lazy(), TARGET, **NAMED) == pytest.approx(score, rel=1e-12)
    assert found["concordance"].value == pytest.approx(score, rel=1e-12)
    for own, leaf in zip(found.leaves, expected.leaves, strict=True):
        assert own.expected == pytest.approx(leaf.expected, rel=1e-9)
        assert own.observed == pytest.approx(leaf.observed, rel=1e-9)
