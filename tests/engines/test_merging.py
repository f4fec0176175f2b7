"""Sums of parts of a table are merged without anything lost: by threads, and row by row."""

import numpy as np
import polars as pl
import pytest
from tables import content, messy, synthetic

from surtree import SurTree
from surtree._support.exact import repeats
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.engines import _memory_caps as memory_caps
from surtree.engines.engines import source_of
from surtree.engines.fit import read_problem
from surtree.engines.reader import Reader
from surtree.engines.rows import target_names
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver._restriction import quantiles

TARGET = ("event", "time")


def in_threads(model, rows, directory, **named):
    """Return what a model saves that was fitted by three threads, as if by one."""
    model.set_params(n_jobs=3).fit(rows, TARGET, **named)
    return content(model.set_params(n_jobs=None), directory)


@pytest.mark.parametrize("name", ["x", "group"])
@pytest.mark.parametrize("part", range(4))
def test_missing_values_in_one_part_alone_are_asked_about(name, part, tmp_path, monkeypatch):
    """Each thread sums up some of the batches: none of them forgets what the other has seen."""
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 250)
    frame = synthetic(1000, seed=2)
    index = pl.int_range(pl.len())
    gone = (index // 250 == part) & (index % 5 < 2)
    frame = frame.with_columns(pl.when(gone).then(None).otherwise(name).alias(name))
    frame = frame.with_columns(time=pl.when(gone).then(1.0 + index % 3).otherwise("time"))
    expected = SurTree(max_depth=2).fit(frame, TARGET)
    assert any("missing" in rule for rule in map(str, expected.tree_.cuts))
    rows = frame.lazy()
    assert in_threads(SurTree(max_depth=2), rows, tmp_path) == content(expected, tmp_path)


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_over_columns_of_several_threads(weighted, tmp_path, monkeypatch):
    monkeypatch.setattr(memory_caps, "BATCH_ROWS", 250)
    named = {"sample_weight": "weight", "entry": "entry"} if weighted else {}
    frame = messy() if weighted else messy().drop("weight", "entry")
    expected = content(SurTree(max_depth=3).fit(frame, TARGET, **named), tmp_path)
    monkeypatch.setattr(memory_caps, "MOST_MERGED", 20)
    assert in_threads(SurTree(max_depth=3), frame.lazy(), tmp_path, **named) == expected


@pytest.mark.parametrize("factor", [10, 1], ids=["whole", "fractions"])
def test_merged_rows_move_quantiles_as_often_as_their_rows(factor):
    """The first thresholds of a long search are quantiles of all rows, not of distinct ones."""
    frame = messy().filter(pl.col("weight") > 0)
    frame = frame.with_columns(weight=(pl.col("weight") * factor).round(1))
    model = SurTree(max_depth=2, n_thresholds=None)
    names = target_names(RowInputs(frame, TARGET, "weight", "entry"), tuple(frame.columns))
    lazy = read_problem(model, names, Reader(source_of(frame.lazy())))
    X, y = frame.drop(*names.columns), frame.select(*TARGET)
    data = read_training_data(model, RowInputs(X, y, frame["weight"], frame["entry"]))
    whole = make_problem(encoder_of(model), data)
    chosen = [
        quantiles(problem.binned, repeats(problem.data.sums.weight), 7) for problem in (lazy, whole)
    ]
    assert 7 < chosen[1].sum() < chosen[1].size
    np.testing.assert_array_equal(*chosen)


@pytest.mark.parametrize("tables", [False, True], ids=["merged", "tables"])
def test_rows_that_leave_before_the_first_event_break_ties_as_in_memory(tables, monkeypatch):
    """Each of them has one unit of exposure, so that a thousand have a thousand units."""
    both = [(0, 0, True, 2.0), (0, 0, True, 2.0), (0, 0, True, 3.0)]
    both += [(1, 1, True, 3.0), (1, 1, True, 4.0), (1, 1, False, 4.0)]
    rows = [*both, (1, 0, False, 1.0), *[(0, 1, False, 1.0)] * 3000]
    frame = pl.DataFrame(rows, schema=["first", "second", "event", "time"], orient="row")
    frame = frame.with_columns(weight=1e20)
    if tables:
        monkeypatch.setattr(memory_caps, "MOST_MERGED", 1)
        monkeypatch.setattr("surtree.engines._table_problem._FEW_ROWS", 1)
    for table in (frame, frame.lazy()):
        model = SurTree(max_depth=1, min_support=0).fit(table, TARGET, "weight")
        assert [cut.name for cut in model.tree_.cuts] == ["second"]
