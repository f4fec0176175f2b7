"""Folds: as many events and rows in each, the same every time, wherever scikit-learn takes cv."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from surtree import EventStratifiedKFold, SurTree


def make_target(event):
    y = np.empty(len(event), dtype=[("died", bool), ("years", float)])
    y["died"], y["years"] = event, np.arange(1.0, len(event) + 1)
    return y


@given(
    n_splits=st.integers(2, 6),
    event=st.lists(st.booleans(), min_size=12, max_size=60),
    shuffle=st.booleans(),
)
def test_folds_share_rows_and_events_evenly(n_splits, event, shuffle):
    y = make_target(event)
    y["died"][:n_splits] = True
    splitter = EventStratifiedKFold(n_splits, shuffle=shuffle)
    folds = list(splitter.split(np.zeros((len(y), 1)), y))
    assert len(folds) == splitter.get_n_splits() == n_splits
    np.testing.assert_array_equal(
        np.sort(np.concatenate([test for _, test in folds])), np.arange(len(y))
    )
    for train, test in folds:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(y)))
        assert np.intersect1d(train, test).size == 0
    assert np.ptp([len(test) for _, test in folds]) <= 1
    assert np.ptp([y["died"][test].sum() for _, test in folds]) <= 1


def held_out(splitter, y):
    return [test.tolist() for _, test in splitter.split(y, y)]


def test_seeds():
    y = make_target(np.arange(40) % 3 == 0)
    assert held_out(EventStratifiedKFold(), y) == held_out(EventStratifiedKFold(), y)
    other = EventStratifiedKFold(random_state=1)
    assert held_out(other, y) != held_out(EventStratifiedKFold(), y)
    generator = np.random.RandomState(0)
    drawn = EventStratifiedKFold(random_state=generator)
    assert held_out(drawn, y) != held_out(drawn, y)


def test_without_a_draw_rows_are_dealt_out_in_their_order():
    y = make_target([True, False, True, False, True, True])
    # Events are the rows 0, 2, 4 and 5, then come the rows 1 and 3.
    assert held_out(EventStratifiedKFold(2, shuffle=False), y) == [[0, 1, 4], [2, 3, 5]]


@pytest.mark.parametrize(
    "form",
    [
        lambda y: y["died"],
        lambda y: pd.DataFrame(y),
        lambda y: pl.DataFrame({"years": y["years"], "died": y["died"]}),
    ],
    ids=["booleans", "pandas", "polars"],
)
def test_targets_of_other_forms(form):
    y = make_target(np.arange(30) % 4 == 0)
    assert held_out(EventStratifiedKFold(3), form(y)) == held_out(EventStratifiedKFold(3), y)


def test_a_plain_array_of_times_has_only_events():
    y = make_target(np.ones(20, dtype=bool))
    assert held_out(EventStratifiedKFold(4), y["years"]) == held_out(EventStratifiedKFold(4), y)


def test_scikit_learn_takes_it_as_cv():
    y = make_target(np.arange(60) % 2 == 0)
    X = y["years"][:, None] % 7
    scores = cross_val_score(SurTree(max_depth=1), X, y, cv=EventStratifiedKFold(4))
    assert scores.shape == (4,)
    assert repr(EventStratifiedKFold(4)).startswith("EventStratifiedKFold(n_splits=4, random_state")
    assert held_out(clone(EventStratifiedKFold(4), safe=False), y) == held_out(
        EventStratifiedKFold(4), y
    )


@pytest.mark.parametrize("n_splits", [1, 0, 2.5, True, "five"])
def test_a_number_of_folds_that_is_none(n_splits):
    with pytest.raises(ValueError, match="n_splits must be a whole number, 2 or more"):
        EventStratifiedKFold(n_splits)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ([True] * 3, "Cannot have number of splits n_splits=5 greater than .* n_samples=3"),
        (
            [True] * 4 + [False] * 9,
            "4 of 13 rows have an event, so 5 folds .* choose fewer folds, 4 at",
        ),
        ([False] * 9, "0 of 9 rows have an event, so 5 folds .* at least two rows with events"),
        ([True] + [False] * 8, "1 of 9 rows has an event, so 5 folds .* two rows with events"),
    ],
)
def test_too_few_rows_and_too_few_events(event, message):
    y = make_target(np.array(event))
    with pytest.raises(ValueError, match=message):
        list(EventStratifiedKFold(5).split(y, y))


def test_no_target():
    with pytest.raises(ValueError, match="y is None"):
        list(EventStratifiedKFold(5).split(np.zeros((9, 1))))
