"""What bad input gets: an error that names the column, the rows and the remedy, or a decision."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from surtree import SurTree, UnseenCategoryWarning
from surtree.heuristics import ConditionalInferenceTree, GreedyTree

X = np.column_stack([np.arange(20.0), np.arange(20.0) % 4])
TIME = np.arange(20.0, 0, -1)


def survival(event, time=TIME):
    y = np.empty(len(time), dtype=[("event", np.asarray(event).dtype), ("time", float)])
    y["event"], y["time"] = event, time
    return y


Y = survival(np.arange(20) % 3 > 0)


def frame(**columns):
    return pd.DataFrame({"age": X[:, 0], "dose": X[:, 1]} | columns)


def fit(table=X, y=Y, **options):
    limits = {name: options.pop(name) for name in list(options) if name in SurTree().get_params()}
    return SurTree(**{"max_depth": 2} | limits).fit(table, y, **options)


# The target.


def test_no_event_at_all():
    with pytest.raises(ValueError, match="All 20 rows are censored"):
        fit(y=survival(np.zeros(20, dtype=bool)))


def test_no_event_among_the_rows_that_count():
    with pytest.raises(ValueError, match="All 7 rows are censored"):
        fit(sample_weight=~Y["event"])


def test_negative_times():
    time = TIME.copy()
    time[[3, 5]] = -2.5
    message = (
        r"y has negative times in 2 rows: drop such rows \(the first is -2.5 in row 3, counted"
    )
    for y in (time, survival(Y["event"], time)):
        with pytest.raises(ValueError, match=message):
            fit(y=y)


@pytest.mark.parametrize("wrong", [5e-324, 1e-310, 1e308])
def test_times_that_no_axis_can_have(wrong):
    time = TIME.copy()
    time[4] = wrong
    with pytest.raises(ValueError, match="times that are neither zero nor between 1e-100 and"):
        fit(y=time)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_times_that_are_not_finite(wrong):
    time = TIME.copy()
    time[4] = wrong
    message = rf"y has times that are not finite numbers in 1 row.*the first is {wrong} in row 4"
    with pytest.raises(ValueError, match=message):
        fit(y=survival(Y["event"], time))


def test_event_indicators_that_are_neither_boolean_nor_0_and_1():
    with pytest.raises(ValueError, match="event column 'event' of y holds 0, 1, 2: it must"):
        fit(y=survival(np.arange(20) % 3))
    with pytest.raises(ValueError, match="must be boolean"):
        fit(y=survival(np.array(["dead", "alive"])[np.arange(20) % 2]))


def test_event_indicators_of_0_and_1_are_taken():
    assert fit(y=survival(Y["event"].astype(int))).tree_ == fit().tree_


def test_a_target_that_is_missing_or_of_another_length():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        fit(y=None)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 19\]"):
        fit(y=Y[:19])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit().score(X, Y[:19])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit().loss(X, Y[:19])


def test_entry_times_that_cannot_be():
    with pytest.raises(ValueError, match="entry has entry times that are not before"):
        fit(entry=np.where(np.arange(20) == 7, TIME, 0.0))
    with pytest.raises(ValueError, match="entry has negative entry times in 20 rows"):
        fit(entry=np.full(20, -1.0))
    with pytest.raises(ValueError, match="entry has entry times that are not finite"):
        fit(entry=np.full(20, np.nan))
    with pytest.raises(ValueError, match="X has 20 rows and entry has 3"):
        fit(entry=np.zeros(3))


def test_weights_that_cannot_be():
    with pytest.raises(ValueError, match="sample_weight is zero in all 20 rows"):
        fit(sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match="sample_weight has negative weights in 20 rows"):
        fit(sample_weight=np.full(20, -1.0))
    with pytest.raises(ValueError, match="sample_weight has weights that are not finite"):
        fit(sample_weight=np.full(20, np.inf))
    with pytest.raises(ValueError, match="X has 20 rows and sample_weight has 3"):
        fit(sample_weight=np.ones(3))


@pytest.mark.parametrize(
    "model",
    [
        SurTree(2),
        SurTree(2, n_thresholds=None),
        GreedyTree(2),
        ConditionalInferenceTree(max_depth=1),
    ],
)
def test_the_unit_of_huge_weights_does_not_matter(model):
    # No quantile of so many rows lies just between two of them.
    values = np.random.default_rng(0).random((57, 2))
    time = values[:, 0] + values[:, 1] + 0.1
    expected = clone(model).fit(values, time, np.full(57, 1e50)).tree_
    tree = model.fit(values, time, np.full(57, 1e100)).tree_
    assert [cut.rule for cut in tree.cuts] == [cut.rule for cut in expected.cuts]


# The table.


def test_two_columns_of_one_name():
    doubled = pd.concat([frame(), frame()[["age"]]], axis=1)
    with pytest.raises(ValueError, match="X has 2 columns of the name 'age': give each column"):
        fit(doubled)
    with pytest.raises(ValueError, match="X has 2 columns of the name 'age'"):
        fit(frame()).predict(doubled)
    with pytest.raises(ValueError, match="X has 2 columns of the name '7'"):
        fit(doubled.set_axis([7, 8, 7], axis=1))
    with pytest.raises(ValueError, match="X has 2 columns of the name 'age'"):
        fit(pa.Table.from_arrays([pa.array(X[:, 0])] * 2, names=["age", "age"]))


@pytest.mark.parametrize(
    "huge", [10**400, -(10**400), Fraction(10**400)], ids=["whole", "negative", "fraction"]
)
def test_a_number_that_no_float_can_hold(huge):
    dose = np.array([huge, *range(19)], dtype=object)
    with pytest.raises(ValueError, match="Column 'dose' holds a number that is too large"):
        # Without a type, pandas 2 would try to find one, and fail.
        fit(frame(dose=pd.Series(dose, dtype=object)))
    with pytest.raises(ValueError, match="Column 'x0' holds a number that is too large"):
        fit(dose[:, None])


def test_one_row_is_a_single_leaf():
    model = fit(X[:1], survival(np.array([True]), TIME[:1]))
    assert model.get_n_leaves() == 1
    assert model.predict(X).tolist() == [1.0] * 20


def test_one_row_without_an_event():
    with pytest.raises(ValueError, match="All 1 rows are censored"):
        fit(X[:1], survival(np.array([False]), TIME[:1]))


def test_no_row_and_no_column():
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fit(X[:0], Y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fit(X[:, :0])


def test_constant_and_entirely_missing_columns_are_never_asked_about():
    with_them = frame(constant=7.0, nothing=np.nan, no_text=None)
    model = fit(with_them)
    assert model.loss_ == fit(frame()).loss_
    assert model.feature_importances_[2:].tolist() == [0, 0, 0]
    assert fit(with_them[["constant", "nothing"]]).get_n_leaves() == 1


def test_a_value_first_missing_at_predict_time_follows_the_heavier_side():
    weight = np.where(X[:, 0] < 10, 1.0, 3.0)
    group = pd.DataFrame({"group": np.where(X[:, 0] < 10, "old", "new")})
    model = fit(group, Y, sample_weight=weight)
    missing, new = model.predict(pd.DataFrame({"group": [None, "new"]}))
    assert missing == new
    with pytest.warns(UnseenCategoryWarning, match="'other' in 1 row of column 'group'"):
        assert model.predict(pd.DataFrame({"group": ["other"]})) == new


def test_columns_in_another_order():
    model = fit(frame())
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame()[["dose", "age"]])


def test_columns_of_other_names():
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- height"):
        fit(frame()).predict(frame().rename(columns={"dose": "height"}))


def test_a_wrong_number_of_columns():
    with pytest.raises(ValueError, match="X has 1 features, but SurTree is expecting 2 features"):
        fit().predict(X[:, :1])
    with pytest.raises(ValueError, match=r"missing:\n- dose"):
        fit(frame()).predict(frame()[["age"]])


def test_an_object_column_of_mixed_types():
    mixed = np.array([1, "two"] * 10, dtype=object)
    with pytest.raises(ValueError, match="Column 'mixed' mixes values of the types int, str"):
        fit(frame(mixed=mixed))


def test_a_column_that_changes_from_numbers_to_text():
    model = fit(pd.DataFrame({"age": X[:, 0]}))
    with pytest.raises(ValueError, match="Column 'age' held numbers"):
        model.predict(pd.DataFrame({"age": ["young"] * 20}))


def test_infinity_in_a_column():
    with pytest.raises(ValueError, match=r"Column 'dose' holds infinity \(inf\) in 20 of 20 rows"):
        fit(frame(dose=np.inf))


def test_dates_in_a_column():
    with pytest.raises(
        ValueError, match="Column 'seen' holds dates or times: turn it into a number"
    ):
        fit(frame(seen=pd.Timestamp("2020-02-02")))


def test_a_sparse_table():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        fit(csr_matrix(X))


def test_a_table_of_one_dimension():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        fit(X[:, 0])


# The parameters.


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_depth", -1, "max_depth must be a whole number, from 0 to 20; got -1"),
        ("max_depth", 21, "max_depth must be a whole number, from 0 to 20; got 21"),
        ("max_depth", 2.5, "max_depth must be a whole number"),
        ("max_depth", None, "max_depth must be a whole number"),
        ("max_depth", True, "max_depth must be a whole number"),
        ("max_splits", -1, "max_splits must be a whole number, 0 or more; got -1"),
        ("min_samples_leaf", 0, "min_samples_leaf must be a whole number, 1 or more; got 0"),
        ("min_samples_leaf", 0.1, "min_samples_leaf must be a whole number"),
        ("min_events_leaf", -1, "min_events_leaf must be a whole number, 0 or more; got -1"),
        ("ccp_alpha", -0.1, "ccp_alpha must be a number, zero or more; got -0.1"),
        ("ccp_alpha", np.nan, "ccp_alpha must be a number"),
        ("ccp_alpha", "auto", "ccp_alpha must be a number"),
        (
            "leaf_curve",
            "weibull",
            r"must be one of \('baseline', 'kaplan-meier', 'shrunk', 'breslow'\)",
        ),
        ("time_limit", 0, "time_limit must be a number of seconds above zero"),
        ("time_limit", np.nan, "time_limit must be a number of seconds above zero"),
        ("n_jobs", 0, "n_jobs must be a number of threads"),
        ("n_jobs", 1.5, "n_jobs must be a number of threads"),
        ("n_thresholds", 0, "n_thresholds"),
        ("max_categories", 0, "max_categories"),
        ("min_support", 0.7, "min_support"),
    ],
)
def test_parameters_that_cannot_be_used(name, value, message):
    with pytest.raises(ValueError, match=message):
        SurTree(**{name: value}).fit(X, Y)


def test_where_limits_disagree_the_tighter_one_rules():
    by_depth = fit(max_depth=1, max_splits=7)
    assert by_depth.get_n_leaves() == 2
    assert len(by_depth.path_) == 2
    by_splits = fit(max_depth=3, max_splits=1)
    assert by_splits.tree_ == by_depth.tree_
    assert fit(max_depth=0, max_splits=5).get_n_leaves() == 1
    assert fit(max_depth=3, max_splits=0).get_n_leaves() == 1


@pytest.mark.parametrize("limits", [{"min_samples_leaf": 11}, {"min_events_leaf": 14}])
def test_limits_that_no_split_can_meet_give_a_single_leaf(limits):
    model = fit(**limits)
    assert model.get_n_leaves() == 1
    assert model.status_ == "optimal"
    assert model.gap_ == 0.0
