"""Samples of lazy tables: the same rows from any engine and in any order, and a fair share."""

import numpy as np
import polars as pl
import pytest

from surtree import SurTree, SurTreeCV, sample_rows

ROWS = pl.DataFrame(
    {
        "x": np.random.default_rng(0).normal(size=5000).round(3),
        "kind": np.random.default_rng(1).choice(["a", "b", None], 5000),
        "person": np.arange(5000) // 5,
    }
)


def test_the_order_of_rows_and_the_engine_change_nothing(tmp_path):
    first = sample_rows(ROWS.lazy(), 300)
    assert first.shape == (300, 3)
    shuffled = ROWS.sample(fraction=1.0, shuffle=True, seed=3)
    assert sample_rows(shuffled.lazy(), 300).equals(first)
    for number, part in enumerate(shuffled.iter_slices(700)):
        part.write_parquet(tmp_path / f"{number}.parquet")
    assert sample_rows(str(tmp_path / "*.parquet"), 300).equals(first)
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(shuffled.to_arrow())
    other = pl.from_arrow(sample_rows(relation, 300))
    assert other.select(pl.col("x"), pl.col("person").cast(pl.Int64)).equals(
        first.select("x", "person")
    )


def test_workers_of_dask_have_the_same_sample():
    dd = pytest.importorskip("dask.dataframe")
    frame = ROWS.to_pandas()
    one, other = (
        sample_rows(dd.from_pandas(frame, npartitions=n), 200).reset_index(drop=True)
        for n in (1, 7)
    )
    assert one.equals(other)
    assert sorted(one["x"]) == sorted(sample_rows(ROWS.lazy(), 200)["x"].to_list())


def test_it_is_a_random_share():
    sample = sample_rows(ROWS.lazy(), 1000)
    assert sample.join(ROWS, on=["x", "person"], how="anti").height == 0
    assert sample["x"].mean() == pytest.approx(ROWS["x"].mean(), abs=0.12)
    other = sample_rows(ROWS.lazy(), 1000, random_state=1)
    shared = other.join(sample, on=["x", "person"], how="inner").height
    assert 130 < shared < 270  # a fifth of a thousand


def test_persons_are_whole():
    sample = sample_rows(ROWS.lazy(), 302, by="person")
    assert sample.height == 300
    assert sample["person"].value_counts()["count"].to_list() == [5] * 60


def test_all_rows_if_there_are_fewer():
    assert sample_rows(ROWS.lazy(), 9999).height == 5000


def test_what_is_refused():
    with pytest.raises(TypeError, match="in memory already"):
        sample_rows(ROWS, 10)
    with pytest.raises(ValueError, match="no column 'patient'"):
        sample_rows(ROWS.lazy(), 10, by="patient")
    with pytest.raises(ValueError, match="n_rows must be"):
        sample_rows(ROWS.lazy(), 0)
    with pytest.raises(ValueError, match="group of person has more than 2 rows"):
        sample_rows(ROWS.lazy(), 2, by="person")
    with pytest.raises(ValueError, match="has no rows"):
        sample_rows(ROWS.head(0).lazy(), 10)


def test_a_size_is_chosen_on_a_sample_and_fitted_on_all():
    rng = np.random.default_rng(4)
    rows = ROWS.with_columns(
        died=rng.random(5000) < 0.8, days=rng.exponential(np.exp(-ROWS["x"].to_numpy() * 2)) + 0.01
    ).drop("person")
    y = ("died", "days")
    chosen = SurTreeCV(max_depth=2, n_jobs=1).fit(sample_rows(rows.lazy(), 800), y)
    model = SurTree(**chosen.best_estimator_.get_params()).fit(rows.lazy(), y)
    assert model.tree_.n_samples[0] == 5000
    assert model.status_ == "optimal"
