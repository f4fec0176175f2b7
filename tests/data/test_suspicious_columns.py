"""Columns that no tree should ask about: what the warning says, and what it does not warn of."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    SurTree,
    SurTreeCV,
    SuspiciousColumnWarning,
)
from surtree.data._leaks import find_leak
from surtree.data.suspicious_columns import find_suspicions
from surtree.data.table import Column, read_table
from surtree.data.target import read_target, read_weights
from surtree.datasets import load_gbsg2, load_lung
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

RNG = np.random.default_rng(0)
N = 300
TIME = np.ceil(RNG.exponential(size=N) * 1000)
EVENT = RNG.random(N) < 0.5
AGE = RNG.integers(30, 90, N).astype(float)
DOSE = RNG.normal(size=N)


def found(X=None, y=(EVENT, TIME), weight=None, entry=None, id=None, **columns):
    """Return the kind and the reason of each suspicion, by column."""
    X = pd.DataFrame({"age": AGE, "dose": DOSE} | columns) if X is None else X
    table = read_table(SurTree(), X, reset=True)
    target = read_target(y, table.n_rows, entry, id)
    suspicions = find_suspicions(table, target, read_weights(weight, table.n_rows))
    return {one.column: (one.kind, one.reason) for one in suspicions}


def warning(model=None, y=(EVENT, TIME), X=None, **columns):
    """Return the text of the only warning of a fit."""
    X = pd.DataFrame({"age": AGE, "dose": DOSE} | columns) if X is None else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (model or SurTree(max_depth=1)).fit(X, y)
    assert [one.category for one in caught] == [SuspiciousColumnWarning]
    return str(caught[0].message)


def test_an_id_sorted_by_outcome_a_second_outcome_and_its_time():
    # As in R's rotterdam: the time to recurrence, and the time to death that is never shorter.
    death_time = np.where(EVENT, TIME + np.ceil(RNG.exponential(size=N) * 500), TIME)
    death = np.where(RNG.random(N) < 0.85, EVENT, ~EVENT).astype(int)
    pid = np.cumsum(RNG.integers(1, 3, N))
    text = warning(pid=pid, dtime=death_time, death=death)
    share = (death_time == TIME).mean()
    correlation = np.corrcoef(death, EVENT)[0, 1]
    assert text == (
        "3 columns of X are suspicious:\n"
        "  'pid' has another whole number in every row, as an id has\n"
        f"  'dtime' is equal to the time in {share:.0%} of rows, as the time of a second outcome "
        "is\n"
        f"  'death' is named like an outcome (correlation with the event {correlation:.2f})\n"
        'Next: X = X.drop(columns=["pid", "dtime", "death"])'
    )


def test_what_came_before_the_time_and_says_so():
    # As in R's mgus2: progression, at a time before that of death, or at the same.
    progressed = RNG.random(N) < 0.2
    earlier = np.where(progressed, np.floor(TIME / 2), TIME)
    reasons = found(ptime=earlier, pstat=progressed.astype(int))
    assert set(reasons) == {"ptime", "pstat"}
    assert reasons["pstat"][1].startswith("says where 'ptime' differs from the time")


def test_the_target_inside_the_table():
    lung = pd.DataFrame({"age": AGE, "status": EVENT + 1, "time": TIME})
    y = (lung["status"] == 2, lung["time"])
    text = warning(X=lung, y=y)
    assert "'status' tells in every row whether the event happened\n" in text
    assert "'time' is the time itself\n" in text
    assert text.endswith('Next: X = X.drop(columns=["status", "time"])')


def test_persons_with_several_rows():
    text = warning(id=np.arange(N) // 2)
    assert "'id' has 150 values in 300 rows, as persons with several rows have\n" in text
    assert 'fit(X.drop(columns=["id"]), y, groups=X["id"]), where folds or samples' in text


def test_start_stop_rows_without_their_start():
    # As in R's heart: rows of a person follow each other.
    first = np.ceil(TIME / 2)
    rows = pd.DataFrame(
        {
            "start": np.column_stack([np.zeros(N), first]).ravel(),
            "stop": np.column_stack([first, TIME + 1]).ravel(),
            "event": np.column_stack([np.zeros(N, bool), EVENT]).ravel(),
            "age": np.repeat(AGE, 2),
            "id": np.repeat(np.arange(N), 2),
        }
    )
    X, y = rows[["start", "age", "id"]], rows[["event", "stop"]]
    assert warning(X=X, y=y) == (
        "2 columns of X are suspicious:\n"
        "  'start' is before the time, as the start of a row is\n"
        "  'id' has 300 values in 600 rows, as persons with several rows have\n"
        'Next: fit(X.drop(columns=["start", "id"]), y, entry=X["start"], id=X["id"])'
    )
    SurTree(max_depth=1).fit(X.drop(columns=["start", "id"]), y, entry=X["start"], id=X["id"])
    # Under another name: each row begins where the one before ends.
    assert found(X.rename(columns={"start": "a"}), y)["a"][0] == "start"
    # Where both are passed, the start is known beforehand, and the id only has to go.
    assert found(X, y, entry=X["start"], id=X["id"]) == {
        "id": ("id", "has 300 values in 600 rows, as persons with several rows have")
    }


def test_texts_that_are_ids():
    labels = [f"P{row:03}" for row in range(N)]
    assert found(label=labels) == {"label": ("id", "has 300 texts in 300 rows, as an id has")}


def test_numbers_that_are_texts():
    X = pd.DataFrame({"age": AGE, "dose": DOSE.round(2), "grade": AGE % 3}).astype(str)
    text = warning(X=X)
    assert "'age' is read as 60 categories, and its texts are numbers\n" in text
    assert text.endswith('Next: X = X.astype({"age": float, "dose": float})')
    assert warning(X=pl.DataFrame(X)).endswith('X = X.cast({"age": float, "dose": float})')


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (pd.DataFrame, 'X = X.drop(columns=["pid"])'),
        (pl.DataFrame, 'X = X.drop(["pid"])'),
        (pa.table, 'X = X.drop_columns(["pid"])'),
        (lambda columns: np.column_stack(list(columns.values())), "np.delete(X, [1], axis=1)"),
        (lambda columns: pd.DataFrame(np.column_stack([*columns.values()])), "X.columns[[1]])"),
    ],
)
def test_the_next_line_is_that_of_the_library_of_the_table(make, line):
    X = make({"age": AGE, "pid": np.arange(1.0, N + 1)})
    text = warning(X=X)
    assert text.endswith(line)
    after = eval(text.partition("Next: X = ")[2], {"X": X, "np": np})
    SurTree(max_depth=1).fit(after, (EVENT, TIME))


@pytest.mark.parametrize(
    "model",
    [
        SurTreeCV(max_depth=1, cv=3),
        GreedyTree(1),
        ConditionalInferenceTree(max_depth=1),
        LocalSearchTree(1, n_restarts=2),
    ],
)
def test_one_warning_a_fit(model):
    assert "'pid'" in warning(model, pid=np.arange(N))


def test_the_warning_names_the_line_of_the_fit():
    X = pd.DataFrame({"age": AGE, "pid": np.arange(N)})
    for model in (SurTree(1), SurTreeCV(1, cv=3)):
        with pytest.warns(SuspiciousColumnWarning) as caught:
            model.fit(X, (EVENT, TIME))
        assert caught[0].filename == __file__


@pytest.mark.parametrize("model", [CompetingRisksTree(1), CompetingRisksTreeCV(1, cv=3)])
def test_one_warning_a_fit_with_competing_risks(model):
    cause = np.where(EVENT, 1 + (AGE > 60), 0)
    text = warning(model, (cause, TIME), pid=np.arange(N), cause=cause)
    assert "'pid'" in text
    assert "'cause' tells in every row whether the event happened" in text


def test_the_event_in_other_words():
    wrong = EVENT.copy()
    wrong[:3] ^= True
    reasons = found(
        code=np.where(EVENT, 2, 1),
        text=np.where(wrong, "dead", "alive"),
        flag=~EVENT,
        score=np.where(EVENT, 5.0, 1.0) + RNG.random(N),
    )
    assert set(reasons) == {"code", "text", "flag", "score"}
    assert reasons["text"][1] == "all but tells whether the event happened (99.0% of rows)"


def test_a_column_that_is_filled_in_after_the_event():
    autopsy = np.where(EVENT, AGE, np.nan)
    cause = np.where(EVENT, "x", None)
    assert set(found(autopsy=autopsy, cause=cause)) == {"autopsy", "cause"}


def test_the_time_in_another_unit():
    reasons = found(years=TIME / 365, left=-TIME)
    assert reasons["years"] == ("outcome", "all but tells the time (rank correlation 1.000)")
    assert reasons["left"] == ("outcome", "all but tells the time (rank correlation -1.000)")


def test_rows_of_weight_zero_say_nothing():
    pid = np.arange(N)
    pid[:10] = 7  # which would be persons with several rows, or none at all
    weight = np.ones(N)
    weight[:10] = 0
    assert found(pid=pid, weight=weight)["pid"][0] == "id"
    assert found(code=np.where(weight == 0, ~EVENT, EVENT), weight=weight).keys() == {"code"}


@pytest.mark.parametrize("n", [60, 700, 5000])
def test_a_look_at_few_rows_overlooks_nothing(n):
    for seed in range(40):
        random = np.random.default_rng(seed)
        time = random.exponential(size=n)
        event = random.random(n) < 0.4
        event[:20] = np.arange(20) % 2
        columns = {
            "event": np.where(random.random(n) < 0.01, ~event, event) + random.random(n) / 2,
            "time": time * np.exp(0.05 * random.normal(size=n)),
            "second": np.where(random.random(n) < 0.25, time, random.exponential(size=n)),
            "rank": random.permutation(n),
        }
        X = pd.DataFrame({f"x{place}": values for place, values in enumerate(columns.values())})
        target = read_target((event, time), n)
        for index, name in enumerate(X):
            leak = index == 3 or find_leak(Column(name, "numeric", X[name].to_numpy(float)), target)
            assert bool(leak) == (name in found(X, (event, time))), (seed, name)


class TestHonestColumns:
    def test_tables_of_the_package(self):
        for load in (load_gbsg2, load_lung):
            assert found(*load()) == {}

    def test_noise_wards_and_constants(self):
        wards = [f"ward {row}" for row in RNG.integers(0, 60, N)]
        noise = TIME + 500 * RNG.normal(size=N)
        assert found(noise=noise, wards=wards, one=["a"] * N, constant=np.ones(N)) == {}

    def test_a_very_strong_predictor(self):
        # A hazard fifty times as high, and all rows are censored at one time.
        high = RNG.random(N) < 0.5
        time = RNG.exponential(size=N) * np.where(high, 1.0, 50.0)
        y = (time <= 3.0, np.minimum(time, 3.0))
        assert y[0][high].mean() > 0.9
        assert y[0][~high].mean() < 0.1
        assert found(y=y, high=high.astype(int), status=high) == {
            "status": ("outcome", found(y=y, status=high)["status"][1])
        }  # of the same values, only the one that is named like an outcome

    def test_the_date_of_entry_where_follow_up_ends_at_one_date(self):
        entered = RNG.uniform(0, 3000, 4000)
        time = np.minimum(RNG.exponential(size=4000) * 200_000, 3000 - entered)
        y = (time < 3000 - entered, time)
        assert y[0].sum() > 10
        assert spearmanr(entered, time).statistic < -0.98
        assert found(pd.DataFrame({"entry.status.date": entered}), y) == {}

    def test_age_at_entry_where_time_is_age(self):
        age = RNG.uniform(40, 90, N)
        y = (EVENT, age + RNG.random(N))
        assert found(y=y, entry=age, age=age) == {}

    def test_codes_that_were_made_texts(self):
        assert found(ward=RNG.integers(1, 40, N).astype(str)) == {}
        post_code = [f"0{code}" for code in RNG.integers(1000, 1050, N)]
        assert found(pd.DataFrame({"post_code": post_code, "sex": ["m"] * N})) == {}

    def test_centres_and_counts_that_are_named_like_ids(self):
        assert found(hospital_id=RNG.integers(1, 20, N), node_no=RNG.integers(0, 40, N)) == {}

    def test_the_only_column(self):
        assert found(pd.DataFrame({"rank": np.arange(N)})) == {}

    def test_few_rows(self):
        X = pd.DataFrame({"age": AGE[:30], "rank": np.arange(30), "code": EVENT[:30]})
        assert found(X, (EVENT[:30], TIME[:30])) == {}
