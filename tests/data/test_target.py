import datetime
import re
import warnings

import greenwood
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning
from sksurv.util import Surv

from surtree import (
    AllEventsWarning,
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    evaluate,
    metrics,
    target,
    validate,
)
from surtree.data.causes import read_cause_target
from surtree.data.target import Target, _AllEvents, read_target, read_weights, require_events
from surtree.datasets import load_lung

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
        # Of two columns without booleans, the one with nothing but 0 and 1.
        structured(TIME, [1, 0, 1], names=("time", "event")),
        pd.DataFrame({"week": TIME, "arrest": [1, 0, 1]}),
        pl.DataFrame({"t": [3, 1, 2], "d": [1, 0, 1]}),
        pa.table({"t": TIME, "d": [1.0, 0.0, 1.0]}),
        np.c_[EVENT, TIME],
        np.c_[TIME, EVENT],
        np.array([[True, 3.0], [False, 1.0], [True, 2.0]], dtype=object),
        [(True, 3.0), (False, 1.0), (True, 2.0)],
        (EVENT, TIME),
        (TIME, EVENT),
        (np.array([1, 0, 1]), np.array(TIME)),
        (pd.Series(TIME), pd.Series(EVENT)),
        (pl.Series([1, 0, 1]), pl.Series(TIME)),
        (pa.chunked_array([EVENT]), pa.chunked_array([TIME])),
        Surv.from_arrays(EVENT, TIME),
        Surv.from_dataframe("d", "t", pd.DataFrame({"d": EVENT, "t": TIME})),
        greenwood.Surv(TIME, [1, 0, 1]),
        greenwood.Surv(TIME, [2, 1, 2]),  # as R codes it
        target(event=EVENT, time=TIME),
        target(event=pd.Series([1, 0, 1]), time=pl.Series(TIME)),
    ],
)
def test_event_and_time(y):
    target = read_target(y, 3)
    assert target.event.dtype == bool
    assert target.time.dtype == np.float64
    assert target.event.tolist() == EVENT
    assert target.time.tolist() == TIME
    assert target.entry is None


@pytest.fixture
def unwarned(monkeypatch):
    """Let the program forget that it has warned of times alone."""
    monkeypatch.setattr(_AllEvents, "warned", False)


@pytest.mark.parametrize("y", [TIME, np.array(TIME), pd.Series(TIME), pl.Series(TIME), [3, 1, 2]])
def test_plain_times_are_all_events_with_a_warning(y, unwarned):
    with pytest.warns(AllEventsWarning, match="every row counts as an event"):
        target = read_target(y, 3)
    assert target.event.all()
    assert target.time.tolist() == TIME


def test_the_warning_comes_once(capsys, unwarned):
    X = np.arange(40.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, kind, *_: print(kind.__name__)
        for rows in (40, 30, 20):
            SurTreeCV(1, cv=2).fit(X[:rows], 1 + X[:rows, 0] % 7)
    assert capsys.readouterr().out == "AllEventsWarning\n"


def test_that_every_row_has_an_event_can_be_said(unwarned):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_target(target(event=True, time=TIME), 3)
    assert found.event.all()


@pytest.mark.parametrize("y", [np.array(TIME)[:, None], pd.DataFrame({"t": TIME})])
def test_a_column_vector_is_taken_with_a_warning(y, unwarned):
    with (
        pytest.warns(DataConversionWarning, match="A column-vector y was passed"),
        pytest.warns(AllEventsWarning),
    ):
        assert read_target(y, 3).time.tolist() == TIME


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (
            structured(event=[1, 2, 0]),
            "event column 'event' of y holds 0, 1, 2: it must be boolean",
        ),
        (structured(event=[1.0, np.nan, 0]), "'event' of y: 1 row of 3 lacks the event: drop it"),
        (structured(event=[np.nan, np.nan, 0]), "2 rows of 3 lack the event: drop them"),
        (structured(event=[1, 2, np.nan]), r"status == 2, .* 1 row of 3 lacks the event"),
        (structured(event=["dead", "alive", "alive"]), "'event' of y holds alive, dead"),
        (
            structured(event=[9, 1, 2]),
            r"surtree.target\(event=status == code, time=...\) with the code of the event",
        ),
        (pd.DataFrame({"d": np.arange(3), "t": TIME}), "event column 'd' of y holds 0, 1, 2"),
        (pd.DataFrame({"d": range(9), "t": range(9)}), "holds 0, 1, 2, 3, 4, ...: it"),
        (pd.DataFrame({"d": EVENT, "t": EVENT}), "time column 't' of y holds booleans"),
        (structured(time=["a", "b", "c"]), "time column 'time' of y holds texts"),
        (np.array(EVENT), "time column 'y' of y holds booleans"),
        (["a", "b", "c"], "time column 'y' of y holds texts, not numbers. y is a structured array"),
        (np.ones((3, 3)), r"y should be a 1d array, got an array of shape \(3, 3\). y is a struct"),
        (np.ones((3, 2)), r"'y\[:, 0\]' and 'y\[:, 1\]', hold nothing but 0 and 1: make the event"),
        (structured(event=[1, 0, 1], time=[1, 1, 0]), "Both columns of y, 'event' and 'time'"),
        (pd.DataFrame({"t": TIME, "d": ["dead", "alive", "dead"]}), "event=status == 'dead', time"),
        (pd.DataFrame({"t": TIME, "d": ["Dead", "Lives", "Dead"]}), "event=status == 'Dead', time"),
        (pd.DataFrame({"t": TIME, "d": ["a", "b", "a"]}), r"status == 'a', time=...\) or .* 'b'"),
        (pd.DataFrame({"t": [3, 1, 9], "d": [1, 2, 2]}), "event column 'd' of y holds 1, 2"),
        ((EVENT, [1.0, 2.0]), "y has 3 events and 2 times"),
        ((EVENT, EVENT), r"time column 'y\[1\]' of y holds booleans"),
        ((EVENT, np.array(["2020-01-01"] * 3, "M8[D]")), r"'y\[1\]' of y holds dates: surtree.tar"),
        (greenwood.Surv([0, 0, 1], [3, 1, 2], [1, 0, 1]), "type counting: pass y=.*entry=y.start"),
        (greenwood.Surv(TIME, [1, 0, 1], type="left"), "type left: pass a right-censored"),
        (greenwood.event_time(TIME, ["e", "r", "e"]), "of the type EventTime: pass a right-"),
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


DAYS = [datetime.timedelta(days=3), datetime.timedelta(days=1), datetime.timedelta(hours=48)]


class TestTimeDifferences:
    @pytest.mark.parametrize(
        "time",
        [
            DAYS,
            np.array(DAYS, dtype=object),
            np.array(DAYS, dtype="timedelta64[us]"),
            np.array([72, 24, 48], dtype="timedelta64[h]"),
            pd.Series(DAYS),
            pd.Series(DAYS, dtype="duration[us][pyarrow]"),
            pd.Series(pd.to_timedelta(DAYS), dtype=object),
            pl.Series(DAYS),
            pa.chunked_array([pa.array(DAYS)]),
        ],
    )
    def test_are_counted_in_days(self, time):
        assert read_target((EVENT, time), 3).time.tolist() == TIME
        # Whatever their values, they are no events.
        ones = [datetime.timedelta(days=1)] * 3
        assert read_target((ones, [1, 0, 1]), 3).event.tolist() == EVENT
        assert target(event=EVENT, time=time)["time"].tolist() == TIME
        assert target(event=EVENT, time=time, unit="hours")["time"].tolist() == [72, 24, 48]

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_in_frames_and_structured_arrays(self, library):
        assert read_target(library({"t": DAYS, "d": EVENT}), 3).time.tolist() == TIME
        y = structured(time=np.array(DAYS, dtype="timedelta64[us]"))
        assert read_target(y, 3).time.tolist() == TIME

    def test_that_are_missing(self):
        for nothing in (None, np.timedelta64("NaT"), pd.NaT):
            with pytest.raises(ValueError, match=r"times that are not finite.*in row 1"):
                read_target((EVENT, [DAYS[0], nothing, DAYS[2]]), 3)

    def test_of_causes(self):
        found = read_cause_target(([2, 0, 1], DAYS), 3)
        assert found.time.tolist() == TIME
        assert found.cause.tolist() == [2, 0, 1]


class TestDates:
    START = ("2024-01-01", "2024-01-31", "2023-12-31")
    END = ("2024-01-04", "2024-02-01", "2024-01-02")

    @pytest.mark.parametrize(
        "read",
        [
            list,
            np.array,
            lambda texts: np.array(texts, dtype="M8[D]"),
            lambda texts: [datetime.date.fromisoformat(text) for text in texts],
            lambda texts: [
                datetime.datetime.fromisoformat(f"{text}T12:00+05:00") for text in texts
            ],
            pd.to_datetime,
            lambda texts: pd.Series(pd.to_datetime(texts)),
            lambda texts: pd.Series(pd.to_datetime(texts)).dt.tz_localize("Europe/Berlin"),
            lambda texts: pl.Series(texts).str.to_date(),
            lambda texts: pa.chunked_array([pa.array(np.array(texts, dtype="M8[D]"))]),
        ],
    )
    def test_of_start_and_end(self, read):
        y = target(event=EVENT, start=read(self.START), end=read(self.END))
        assert y["time"].tolist() == TIME
        assert y["event"].tolist() == EVENT
        assert read_target(y, 3).time.tolist() == TIME

    def test_units(self):
        dates = {"start": "2020-01-01", "end": ["2021-01-01"]}
        found = {
            unit: target(event=[True], unit=unit, **dates)["time"][0]
            for unit in ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
        }
        assert found == {
            "years": 366 / 365.25,
            "months": 366 / (365.25 / 12),
            "weeks": 366 / 7,
            "days": 366,
            "hours": pytest.approx(366 * 24),
            "minutes": pytest.approx(366 * 24 * 60),
            "seconds": pytest.approx(366 * 24 * 60 * 60),
        }

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "give time, or both start and end"),
            ({"start": START}, "give time, or both start and end"),
            ({"time": TIME, "start": START}, "give either time, or start and end"),
            ({"time": TIME, "unit": "days"}, "unit='days' is for dates and time differences"),
            ({"time": DAYS, "unit": "eons"}, "unit must be one of years, months"),
            ({"time": ["a", "b", "c"]}, "time holds texts"),
            ({"time": TIME[:2]}, "event has 3 rows, and there are 2 times"),
            ({"start": END, "end": START}, r"end is before start in 3 rows \(the first is row 0"),
            ({"start": START, "end": END[:2]}, "start has 3 rows, and end has 2"),
            ({"start": "2020-01-01", "end": "2021-01-01"}, "at least one must have a date a row"),
            (
                {"start": START, "end": ["31.03.2024"] * 3},
                "end holds '31.03.2024': a date as a text",
            ),
            ({"start": START, "end": [None, "2025-01-01", None]}, "no date in 2 of 3 rows"),
            ({"start": START, "end": [1.0, 2.0, 3.0]}, r"end holds no dates: .* time=end - start"),
        ],
    )
    def test_mistakes(self, given, message):
        with pytest.raises(ValueError, match=message):
            target(event=EVENT, **given)

    def test_events_that_are_none(self):
        with pytest.raises(ValueError, match="event column 'event' of y holds 1, 2"):
            target(event=[1, 2, 1], time=TIME)
        with pytest.raises(ValueError, match="event=status == 'dead'"):
            target(event=["alive", "dead", "dead"], time=TIME)


@pytest.mark.parametrize(
    ("codes", "hint"),
    [
        ([1, 2, 1], "event=status == 2, time=...), if they are codes as in R"),
        ([0, 2, 2], "event=status == 2, time=...)"),
        ([0, 1, 2], "event=status == 2, time=...) for one of several causes; CompetingRisksTree"),
        ([0, 1, 9], "event=status == code, time=...) with the code of the event"),
    ],
)
def test_the_hint_never_makes_censored_rows_events(codes, hint):
    y = pd.DataFrame({"status": codes, "time": TIME})
    with pytest.raises(ValueError, match=re.escape(hint)):
        SurTree().fit([[1.0], [2.0], [3.0]], y)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(2, 50).map(float)), min_size=1, max_size=12),
    swap=st.booleans(),
    form=st.sampled_from(["pair", "array", "pandas", "polars", "pyarrow", "structured"]),
    kind=st.sampled_from([bool, int, float]),
)
def test_every_form_says_the_same(rows, swap, form, kind):
    event, time = map(list, zip(*rows, strict=True))
    named = {"d": np.array(event, dtype=kind), "t": np.array(time)}
    if swap:
        named = dict(reversed(named.items()))
    makers = {
        "pair": lambda: tuple(named.values()),
        "array": lambda: np.column_stack(list(named.values())),
        "pandas": lambda: pd.DataFrame(named),
        "polars": lambda: pl.DataFrame(named),
        "pyarrow": lambda: pa.table(named),
        "structured": lambda: np.rec.fromarrays(list(named.values()), names=list(named)),
    }
    found = read_target(makers[form](), len(rows))
    assert found.event.tolist() == event
    assert found.time.tolist() == time


class TestEverywhere:
    """Whatever takes a target takes a pair of arrays, which has no rows to count."""

    X, Y = load_lung(backend="pandas")
    X = X[["age", "sex", "ecog"]]
    PAIR = (Y["event"], Y["time"])

    @pytest.mark.parametrize("estimator", [SurTree(2), SurTreeCV(2, cv=3)])
    def test_estimators(self, estimator):
        tree = estimator.fit(self.X, self.Y).tree_
        pair = estimator.fit(self.X, self.PAIR)
        assert pair.tree_ == tree
        assert pair.score(self.X, self.PAIR) == pair.score(self.X, self.Y)

    def test_scorers_of_scikit_learn(self):
        def scorer(model, X, y):
            return model.score(X, y)

        search = SurTreeCV(1, cv=2, scoring=scorer)
        assert search.fit(self.X, self.PAIR).tree_ == search.fit(self.X, self.Y).tree_

    def test_effects_and_causes(self):
        arm = np.random.default_rng(0).permutation(len(self.X)) % 2
        one, other = (EffectTree(1).fit(self.X, y, arm) for y in (self.Y, self.PAIR))
        assert one.tree_ == other.tree_
        cause = self.Y["event"].astype(int)
        one, other = (
            CompetingRisksTree(1).fit(self.X, y)
            for y in ((cause, self.Y["time"]), greenwood_causes(cause, self.Y["time"]))
        )
        assert one.tree_ == other.tree_

    def test_validation_and_metrics(self):
        found = [
            str(validate(SurTree(1), self.X, y, n_bootstraps=3, groups=self.X["age"]))
            for y in (self.Y, self.PAIR)
        ]
        assert found[0] == found[1]
        model = SurTree(1).fit(self.X, self.Y)
        evaluations = [str(evaluate(model, self.X, y, n_bootstraps=3)) for y in (self.Y, self.PAIR)]
        assert evaluations[0] == evaluations[1]
        risk = model.predict(self.X)
        assert metrics.concordance_index_ipcw(
            self.PAIR, self.PAIR, risk
        ) == metrics.concordance_index_ipcw(self.Y, self.Y, risk)


def greenwood_causes(cause, time):
    names = pd.Categorical.from_codes(cause, ["censored", "dead"])
    return greenwood.Surv(time, event=names)
