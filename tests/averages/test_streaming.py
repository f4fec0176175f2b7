"""Averages over all trees of tables that are not in memory are those of memory, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from surtree import PointsTable, SurTreeBayes, TaughtTree
from surtree.datasets import load_gbsg2


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The table in two files, with missing values, weights and entry times."""
    pytest.importorskip("pyarrow")
    X, y = load_gbsg2(backend="pandas")
    random = np.random.default_rng(0)
    table = X.assign(
        tumor_grade=X["tumor_grade"].astype(str),  # which Parquet would not keep ordered
        age=X["age"].where(random.random(len(X)) > 0.1),
        event=y["event"],
        time=y["time"],
        entry=np.floor(y["time"] * random.random(len(X)) / 2),
        weight=random.integers(1, 4, size=len(X)) / 4,
    )
    folder = tmp_path_factory.mktemp("rows")
    for number, rows in enumerate((table.iloc[:300], table.iloc[300:])):
        rows.to_parquet(folder / f"{number}.parquet")
    return table, folder / "*.parquet"


@pytest.mark.parametrize("also", [{}, {"sample_weight": "weight"}, {"entry": "entry"}])
@pytest.mark.parametrize(
    "model", [SurTreeBayes(2, 3), SurTreeBayes(3, 1, n_thresholds=2), PointsTable(4)], ids=repr
)
def test_models_of_files_are_those_of_memory(parts, model, also):
    table, path = parts
    left_out = [name for name in ("weight", "entry") if name not in also.values()]
    columns = [name for name in table if name not in left_out]
    inner = path.parent / ("_".join(also) or "plain")
    inner.mkdir(exist_ok=True)
    for number, rows in enumerate((table.iloc[:300], table.iloc[300:])):
        rows[columns].to_parquet(inner / f"{number}.parquet")
    of_files = type(model)(**model.get_params()).fit(
        str(inner / "*.parquet"), ("event", "time"), **also
    )
    in_memory = model.fit(table[columns], ("event", "time"), **also)
    X = table.drop(columns=["event", "time", "weight", "entry"])
    np.testing.assert_array_equal(of_files.predict(X), in_memory.predict(X))
    assert repr(of_files.baseline_) == repr(in_memory.baseline_)
    for name in ("n_rows_", "n_events_", "follow_up_"):
        assert getattr(of_files, name) == getattr(in_memory, name)
    if isinstance(model, SurTreeBayes):
        assert of_files.first_questions_ == in_memory.first_questions_
        np.testing.assert_array_equal(of_files.stage_evidence_, in_memory.stage_evidence_)
        np.testing.assert_array_equal(of_files.column_probability_, in_memory.column_probability_)


def test_too_many_distinct_rows_are_refused_with_a_remedy(parts, monkeypatch):
    _, path = parts
    monkeypatch.setattr("surtree.engines.fit.default_memory_limit", lambda: 140_000)
    with pytest.raises(ValueError, match=r"Averages over all trees need the distinct rows.*fewer"):
        SurTreeBayes().fit(str(path), ("event", "time"))


def test_what_needs_rows_in_memory_says_so(parts):
    _, path = parts
    with pytest.raises(ValueError, match=r'SurTreeBayes\(cox="offset"\) needs its rows in memory'):
        SurTreeBayes(cox="offset").fit(str(path), ("event", "time"))
    with pytest.raises(ValueError, match="TaughtTree needs its rows in memory"):
        TaughtTree().fit(str(path), ("event", "time"))
    with pytest.raises(ValueError, match="id is for tables in memory"):
        SurTreeBayes().fit(str(path), ("event", "time"), id="age")
