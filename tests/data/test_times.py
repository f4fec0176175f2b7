"""Predictions at times that the user names: numbers, not functions to call."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from surtree import (
    BeyondFollowUpWarning,
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
)
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.heuristics import GreedyTree

pytestmark = pytest.mark.filterwarnings("ignore::surtree.UntestedEffectsWarning")
X, Y = load_gbsg2()
TIMES = [0, 200.5, 72, 2659]  # 72 is the first event, 2659 the last follow-up


def trial():
    table, y = load_rossi()
    aid = table.pop("financial_aid")
    model = EffectTree(max_depth=1).fit(table, y, treatment=aid)
    return model, (table, aid), [0, 10.5, 52]


def causes():
    table, y = load_melanoma()
    return CompetingRisksTree(max_depth=1).fit(table, y), (table, 2), [0, 1000, 5565]


CASES = {
    "tree": lambda: (SurTree(max_depth=2).fit(X, Y), (X,), TIMES),
    "kaplan-meier": lambda: (
        SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, Y),
        (X,),
        TIMES,
    ),
    "search": lambda: (SurTreeCV(max_depth=1, cv=2).fit(X, Y), (X,), TIMES),
    "greedy": lambda: (GreedyTree(max_depth=2).fit(X, Y), (X,), TIMES),
    "average": lambda: (SurTreeBayes(1, 2).fit(X, Y), (X,), TIMES),
    "arms": trial,
}
NAMES = ("predict_survival_function", "predict_cumulative_hazard_function")


def check(predict, given, times):
    functions = predict(*given)
    values = predict(*given, times=times)
    assert values.shape == (len(given[0]), len(times))
    np.testing.assert_array_equal(values, [curve(times) for curve in functions])
    np.testing.assert_array_equal(predict(*given, times=times, return_array=True), values)
    assert predict(*given, times=times[1]).tolist() == values[:, [1]].tolist()
    # After the last follow-up, one warning for all rows, at the line of the user.
    with pytest.warns(BeyondFollowUpWarning, match="1 of 2 times") as caught:
        late = predict(*given, times=[1e6, times[1]])
    caught = [each for each in caught if each.category is BeyondFollowUpWarning]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isnan(late[:, 0]).all()
    assert late[:, 1].tolist() == values[:, 1].tolist()
    for wrong, message in (([-1.0], "zero or later"), ([np.nan], "zero or"), ([[1.0]], "one list")):
        with pytest.raises(ValueError, match=message):
            predict(*given, times=wrong)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_curves_are_read_off_at_the_times_of_the_user(case, name):
    model, given, times = CASES[case]()
    check(getattr(model, name), given, times)


def test_incidence_is_read_off_at_the_times_of_the_user():
    model, given, times = causes()
    check(model.predict_cumulative_incidence, given, times)
    check(model.predict_survival_function, given[:1], times)


def test_the_array_without_times_is_as_it_was():
    for model in (SurTree(max_depth=1).fit(X, Y), SurTreeBayes(1, 2).fit(X, Y)):
        values = model.predict_survival_function(X[:3], return_array=True)
        assert values.shape == (3, model.unique_times_.size)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same = model.predict_survival_function(X[:3], times=model.unique_times_)
        np.testing.assert_array_equal(values, same)


def test_a_model_that_is_not_fitted_says_so_whatever_the_times():
    for model in (SurTree(), SurTreeBayes()):
        with pytest.raises(NotFittedError):
            model.predict_survival_function(X, times=[1.0])
