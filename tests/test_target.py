import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from surtree.data.target import Target, read_target, read_weights, require_events

EVENT = [True, False, True]
TIME = [3.0, 1.0, 2.0]


def structured(event=EVENT, time=TIME, names=("event", "time")):
    event, time = np.asarray(event), np.asarray(time)
    y = np.empty(len(event), dtype=[(names[0], event.dtype), (names[1], time.dtype)])
    y[names[0]], y[names[1]] = event, time
    return y


@pytest.mark.parametrize(
    "y",
    [
        structured(),
        structured(names=("Status", "Survival_in_days")),
        structured(TIME, EVENT, names=("time", "event")),
        structured(event=[1, 0, 1]),
        structured(event=[1.0, 0.0, 1.0], time=[3, 1, 2]),
        structured(event=np.array(EVENT, dtype=object), time=np.array(TIME, dtype=object)),
        pd.DataFrame({"d": EVENT, "t": TIME}),
        pd.DataFrame({"t": TIME, "d": EVENT}),
        pd.DataFrame({"d": [1, 0, 1], "t": TIME}),
        pd.DataFrame({"d": pd.array(EVENT, "boolean"), "t": pd.array(TIME, "Float64")}),
        pl.DataFrame({"d": EVENT, "t": TIME}),
        pa.table({"t": TIME, "d": EVENT}),
    ],
)
def test_event_and_time(y):
    target = read_target(y, 3)
    assert target.event.dtype == bool
    assert target.time.dtype == np.float64
    assert target.event.tolist() == EVENT
    assert target.time.tolist() == TIME
    assert target.entry is None


@pytest.mark.parametrize("y", [TIME, np.array(TIME), pd.Series(TIME), pl.Series(TIME), [3, 1, 2]])
def test_plain_times_are_all_events(y):
    target = read_target(y, 3)
    assert target.event.all()
    assert target.time.tolist() == TIME


@pytest.mark.parametrize("y", [np.array(TIME)[:, None], pd.DataFrame({"t": TIME})])
def test_a_column_vector_is_taken_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert read_target(y, 3).time.tolist() == TIME


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (
            structured(event=[1, 2, 0]),
            "event column 'event' of y holds 0, 1, 2: it must be boolean",
        ),
        (structured(event=[1.0, np.nan, 0]), "event column 'event' of y holds 0, 1, nan"),
        (structured(event=["dead", "alive", "alive"]), "'event' of y holds alive, dead"),
        (structured(event=[9, 1, 2]), "or come first and hold 0 and 1"),
        (pd.DataFrame({"d": np.arange(3), "t": TIME}), "event column 'd' of y holds 0, 1, 2"),
        (pd.DataFrame({"d": range(9), "t": range(9)}), "holds 0, 1, 2, 3, 4, ...: it"),
        (pd.DataFrame({"d": EVENT, "t": EVENT}), "time column 't' of y holds booleans"),
        (structured(time=["a", "b", "c"]), "time column 'time' of y holds texts"),
        (np.array(EVENT), "time column 'y' of y holds booleans"),
        (["a", "b", "c"], "time column 'y' of y holds texts, not numbers. y is a structured array"),
        (np.ones((3, 2)), r"y should be a 1d array, got an array of shape \(3, 2\). y is a struct"),
        (pd.DataFrame({"a": TIME, "b": TIME, "c": TIME}), "y has 3 columns"),
        ([1.0, 0.0, -2.0], r"negative times in 1 row: drop such rows \(the first is -2.0 in row 2"),
        ([1.0, 5e-324, 0.0], r"times that are neither zero nor between 1e-100 and 1e\+100"),
        ([1e308, 5.0, 0.0], r"count time in another unit \(the first is 1e\+308 in row 0"),
        ([1.0, 1.0, np.nan], r"times that are not finite.*the first is nan in row 2"),
        ([np.inf, 1.0, np.inf], r"times that are not finite.*the first is inf in row 0"),
        ([1.0, 2.0], r"inconsistent numbers of samples: \[3, 2\]; X has 3 rows and y has 2"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        read_target(y, 3)


def test_entry():
    assert read_target(structured(), 3, entry=[1, 0.5, 0]).entry.tolist() == [1, 0.5, 0]
    assert read_target(structured(), 3, entry=pd.Series([1, 0.5, 0])).entry.tolist() == [1, 0.5, 0]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([0.0, 1.0, 2.0], r"entry has entry times that are not before.*first is 1.0 in row 1"),
        ([4.0, 0.0, 0.0], r"entry has entry times that are not before.*first is 4.0 in row 0"),
        ([0.0, -1.0, 1.0], r"entry has negative entry times in 1 row.*-1.0 in row 1"),
        ([0.0, np.nan, 1.0], r"entry has entry times that are not finite"),
        ([0.0, 0.0], r"\[3, 2\]; X has 3 rows and entry has 2"),
        ([[0.0, 0.0, 0.0]], r"entry should be a 1d array, got an array of shape \(1, 3\)"),
    ],
)
def test_bad_entries(entry, message):
    with pytest.raises(ValueError, match=message):
        read_target(structured(), 3, entry=entry)


def test_some_row_needs_an_event():
    require_events(read_target(structured(), 3))
    censored = Target(np.zeros(4, dtype=bool), np.ones(4))
    with pytest.raises(ValueError, match="All 4 rows are censored"):
        require_events(censored)


def test_weights():
    assert read_weights(None, 3).tolist() == [1, 1, 1]
    assert read_weights([2, 0, 1], 3).tolist() == [2, 0, 1]
    assert read_weights(pd.Series([2, 0, 1]), 3).dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, -3], r"sample_weight has negative weights in 2 rows.*the first is -1.0 in row 1"),
        ([1, np.nan, 1], r"sample_weight has weights that are not finite"),
        ([0, 0, 0], "sample_weight is zero in all 3 rows"),
        ([1e308, 1e308, 1], "sample_weight has weights above 1e.100 in 2 rows: divide all weights"),
        ([1, 1, 10**400], "sample_weight holds a whole number that is too large"),
        ([1, 1], r"\[3, 2\]; X has 3 rows and sample_weight has 2"),
        (np.ones((3, 2)), r"sample_weight should be a 1d array, got an array of shape \(3, 2\)"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        read_weights(weight, 3)


def test_columns_of_one_name_are_refused():
    y = pd.DataFrame([[True, 1.0], [False, 2.0]], columns=["t", "t"])
    with pytest.raises(ValueError, match="The columns of y have the same name"):
        read_target(y, 2)
