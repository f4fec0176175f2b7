"""Landmarking and conditional survival: who is left at a time, and what becomes of them."""

import numpy as np
import pandas as pd
import pytest

from surtree import CompetingRisksTree, EffectTree, SurTree, SurTreeBayes, landmark_rows
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi

VISITS = pd.DataFrame(
    {
        "id": ["ann", "ann", "ben", "cleo", "cleo", "cleo", "dan", "eve", "eve"],
        "from": [0, 90, 0, 0, 60, 200, 0, 0, 160],
        "until": [90, 400, 310, 60, 200, 450, 80, 150, 170],
        "relapse": [False, False, True, False, True, True, True, False, True],
        "marker": [1.2, 0.4, 2.9, 3.1, 2.2, 0.9, 3.3, 0.8, 2.7],
    }
)


def at(time, **options):
    return landmark_rows(
        VISITS[["marker"]],
        VISITS[["relapse", "until"]],
        entry=VISITS["from"],
        id=VISITS["id"],
        at=time,
        **options,
    )


def test_each_person_has_the_row_of_the_landmark_and_the_next_event():
    rows = at(50)
    assert rows.X["marker"].tolist() == [1.2, 2.9, 3.1, 3.3, 0.8]
    # Eve's gap ends her follow-up at 150; Cleo's second relapse does not count.
    assert rows.y["time"].tolist() == [350.0, 260.0, 150.0, 30.0, 100.0]
    assert rows.y["event"].tolist() == [False, True, True, True, False]
    rows = at(100)
    assert VISITS["id"][rows.rows].tolist() == ["ann", "ben", "cleo", "eve"]


def test_a_landmark_between_two_rows_takes_the_later_one():
    assert at(90).X["marker"].tolist() == [0.4, 2.9, 2.2, 0.8]


def test_a_horizon_censors():
    rows = at(50, horizon=150)
    assert rows.y["time"].tolist() == [150.0, 150.0, 150.0, 30.0, 100.0]
    assert rows.y["event"].tolist() == [False, False, True, True, False]


def test_without_start_stop_rows_it_is_conditional_survival():
    X, y = load_gbsg2()
    rows = landmark_rows(X, y, at=700)
    later = SurTree(max_depth=0, leaf_curve="kaplan-meier").fit(rows.X, rows.y)
    all_rows = SurTree(max_depth=0, leaf_curve="kaplan-meier").fit(X, y)
    times = np.array([100.0, 500.0, 1000.0])
    conditional = all_rows.predict_survival_function(X.head(2), times=times + 700, survived=700)
    expected = later.predict_survival_function(X.head(2), times=times)
    np.testing.assert_allclose(conditional, expected, rtol=1e-12)


@pytest.mark.parametrize("model", [SurTree(max_depth=2), SurTreeBayes(max_depth=1, n_stages=2)])
def test_conditional_survival_is_a_ratio(model):
    X, y = load_gbsg2()
    model = model.fit(X, y)
    at_both = model.predict_survival_function(X, times=[500, 1500])
    conditional = model.predict_survival_function(X, times=[300, 500, 1500], survived=500)
    np.testing.assert_allclose(conditional[:, 2], at_both[:, 1] / at_both[:, 0])
    assert (conditional[:, :2] == 1).all()
    whole = model.predict_survival_function(X, survived=500)
    assert whole[0](1500) == pytest.approx(conditional[0, 2])
    shape = model.predict_survival_function(X, return_array=True, survived=500).shape
    assert shape == model.predict_survival_function(X, return_array=True).shape


def test_causes_and_arms():
    X, y = load_melanoma()
    rows = landmark_rows(X, y, at=1000)
    assert set(rows.y["cause"]) == {0, 1, 2}
    assert rows.y["time"].min() > 0
    CompetingRisksTree(max_depth=1).fit(rows.X, rows.y)
    X, y = load_rossi()
    arm = X.pop("financial_aid")
    model = EffectTree(max_depth=0).fit(X, y, arm)
    both = model.predict_survival_function(X, arm, times=[20, 40])
    conditional = model.predict_survival_function(X, arm, times=[40], survived=20)
    np.testing.assert_allclose(conditional[:, 0], both[:, 1] / both[:, 0])


def test_what_is_refused():
    X, y = load_gbsg2()
    with pytest.raises(ValueError, match="No row is at risk at 9000: times are from 8 to 2659"):
        landmark_rows(X, y, at=9000)
    with pytest.raises(ValueError, match="at must be a time"):
        landmark_rows(X, y, at=-1)
    with pytest.raises(ValueError, match="horizon must be a length of time"):
        landmark_rows(X, y, at=1, horizon=0)
    with pytest.raises(ValueError, match="pass entry and id"):
        landmark_rows([[1.0], [2.0]], ([True, False], [1.0, 2.0]), id=["a", "a"], at=0.5)
    model = SurTree(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="survived=5000 is after the last follow-up, 2659"):
        model.predict_survival_function(X, survived=5000)
    with pytest.raises(ValueError, match="Times must be zero or later"):
        model.predict_survival_function(X, survived=-1)
