"""Dask data frames on a cluster of processes: the same bits, also where a worker dies."""

import os
import signal

import dask.dataframe as dd
import numpy as np
import pytest
from tables import content, gbsg2, messy, synthetic

from surtree import SurTree

TARGET = ("event", "time")
NAMED = {"sample_weight": "weight", "entry": "entry"}


def as_pandas(frame):
    found = frame.to_pandas()
    # Dask reads objects as texts, unless they have a type.
    return found.astype({"flag": "boolean"}) if "flag" in found else found


@pytest.mark.parametrize(
    ("make", "named"),
    [(gbsg2, {}), (messy, NAMED)],
    ids=["gbsg2", "messy"],
)
def test_the_model_is_the_one_in_memory(make, named, client, tmp_path):
    frame = as_pandas(make())
    expected = content(SurTree(max_depth=3).fit(frame, TARGET, **named), tmp_path)
    rows = dd.from_pandas(frame, npartitions=9)
    assert content(SurTree(max_depth=3).fit(rows, TARGET, **named), tmp_path) == expected


def test_a_million_rows_of_files(client, tmp_path):
    frame = synthetic(1_000_000)
    for part in range(8):
        frame[part::8].write_parquet(tmp_path / f"{part}.parquet")
    expected = content(SurTree(max_depth=3).fit(frame, TARGET), tmp_path)
    found = SurTree(max_depth=3).fit(dd.read_parquet(tmp_path / "*.parquet"), TARGET)
    assert content(found, tmp_path) == expected


def test_predictions_are_in_the_order_of_the_rows(client):
    frame = as_pandas(messy())
    rows = dd.from_pandas(frame, npartitions=11)
    model = SurTree(max_depth=3).fit(frame, TARGET, **NAMED)
    X = frame.drop(columns=["event", "time", "weight", "entry"])
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    assert model.loss(rows, TARGET, **NAMED) == model.loss(frame, TARGET, **NAMED)


def part(place, frame, died):
    """Return some rows; the first worker that is asked for the fourth part dies of it."""
    if place == 3 and not died.exists():
        died.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return frame[place::8]


def test_a_worker_that_dies_costs_time_and_not_the_answer(client, tmp_path):
    frame = as_pandas(gbsg2())
    died = tmp_path / "died"
    rows = dd.from_map(part, range(8), frame=frame, died=died, meta=frame.head(0))
    found = SurTree(max_depth=2).fit(rows, TARGET)
    assert int(died.read_text()) != os.getpid()
    expected = content(SurTree(max_depth=2).fit(frame, TARGET), tmp_path)
    assert content(found, tmp_path) == expected


def broken(frame):
    raise OSError("the disk is gone")


def test_errors_of_workers_are_one_line(client):
    frame = as_pandas(gbsg2())
    rows = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(OSError, match=r"^cannot read the Dask data frame: the disk is gone$"):
        SurTree().fit(rows.map_partitions(broken, meta=frame.head(0)), TARGET)
    frame.loc[7, "time"] = -1.0
    with pytest.raises(ValueError, match="Column 'time' has negative times in 1 row: drop"):
        SurTree().fit(dd.from_pandas(frame, npartitions=3), TARGET)
