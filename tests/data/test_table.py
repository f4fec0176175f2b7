import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

from surtree.data.table import read_table


def table(X):
    return read_table(BaseEstimator(), X, reset=True)


def column(values):
    """The column that a data frame with these values has."""
    return table(pd.DataFrame({"x": values})).column(0)


def test_names_and_shape():
    named = table(pd.DataFrame({"age": [1, 2, 3], "sex": ["F", "M", "F"]}))
    assert named.names == ("age", "sex")
    assert (named.n_rows, named.n_columns) == (3, 2)
    assert table(np.ones((4, 2))).names == ("x0", "x1")
    assert table(pd.DataFrame(np.ones((4, 2)))).names == ("x0", "x1")


@pytest.mark.parametrize(
    "values",
    [
        [1, 3, 2],
        np.array([1, 3, 2], dtype=np.float32),
        np.array([1, 3, 2], dtype=np.uint8),
        np.array([1, 3, 2], dtype=object),
        [Decimal(1), Fraction(3), np.int16(2)],
        pl.Series([1, 3, 2]),
        pl.Series([Decimal(1), Decimal(3), Decimal(2)]),
        pa.chunked_array([[1], [3, 2]]),
        pd.Series([1, 3, 2], dtype="Int64"),
        pd.Series([1, 3, 2], dtype="Sparse[int]"),
    ],
)
def test_numbers(values):
    wrap = {pl.Series: pl.DataFrame, pa.ChunkedArray: pa.table}.get(type(values), pd.DataFrame)
    read = table(wrap({"x": values})).column(0)
    assert (read.name, read.kind, read.categories) == ("x", "numeric", ())
    assert read.values.dtype == np.float64
    assert read.values.tolist() == [1, 3, 2]


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pd.DataFrame({"x": [1.0, np.nan]}), "numeric"),
        (pd.DataFrame({"x": [1, None]}, dtype=object), "numeric"),
        (pd.DataFrame({"x": [1, pd.NA]}, dtype=object), "numeric"),
        (pd.DataFrame({"x": [1, Decimal("nan")]}, dtype=object), "numeric"),
        (pd.DataFrame({"x": [1, None]}, dtype="Int64"), "numeric"),
        (pl.DataFrame({"x": [1, None]}), "numeric"),
        (pl.DataFrame({"x": [1.0, float("nan")]}), "numeric"),
        (pa.table({"x": [1, None]}), "numeric"),
        (pd.DataFrame({"x": [True, None]}), "boolean"),
        (pd.DataFrame({"x": [True, None]}, dtype="boolean"), "boolean"),
        (pd.DataFrame({"x": pd.Categorical([True, None])}), "boolean"),
        (pl.DataFrame({"x": [True, None]}), "boolean"),
        (pa.table({"x": [True, None]}), "boolean"),
    ],
)
def test_missing_numbers_and_booleans(frame, kind):
    read = table(frame).column(0)
    assert read.kind == kind
    assert read.missing.tolist() == [False, True]
    np.testing.assert_array_equal(read.values, [1, np.nan])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": ["b", None, "a", "b"]}),
        pd.DataFrame({"x": ["b", np.nan, "a", "b"]}, dtype=object),
        pd.DataFrame({"x": ["b", None, "a", "b"]}, dtype="string"),
        pd.DataFrame({"x": pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"])}),
        pd.DataFrame(
            {
                "x": pd.array(
                    ["b", None, "a", "b"], pd.ArrowDtype(pa.dictionary(pa.int8(), pa.utf8()))
                )
            }
        ),
        pl.DataFrame({"x": ["b", None, "a", "b"]}),
        pl.DataFrame({"x": ["b", None, "a", "b"]}, schema={"x": pl.Categorical}),
        pa.table({"x": ["b", None, "a", "b"]}),
        pa.table({"x": pa.array(["b", None, "a", "b"]).dictionary_encode()}),
        np.array([["b"], [None], ["a"], ["b"]], dtype=object),
        [["b"], [None], ["a"], ["b"]],
    ],
)
def test_text_and_unordered_categories_are_sorted(frame):
    read = table(frame).column(0)
    assert read.kind == "categorical"
    assert read.categories == ("a", "b")
    assert read.values.tolist() == [1, -1, 0, 1]
    assert read.missing.tolist() == [False, True, False, False]
    assert not read.ordered


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(["lo", None, "hi"], ["lo", "mid", "hi"], ordered=True)}),
        pl.DataFrame({"x": ["lo", None, "hi"]}, schema={"x": pl.Enum(["lo", "mid", "hi"])}),
    ],
)
def test_ordered_categories_keep_their_order(frame):
    read = table(frame).column(0)
    assert read.ordered
    assert read.categories == ("lo", "mid", "hi")
    assert read.values.tolist() == [0, -1, 2]


def test_categories_that_are_not_text():
    assert column(pd.Categorical([10, 9, 10])).categories == (9, 10)
    assert type(column(pd.Categorical([10, 9, 10])).categories[0]) is int
    assert column(pd.cut([1, 12], [0, 10, 20])).categories == ("(0, 10]", "(10, 20]")


def test_a_list_of_rows_keeps_its_types():
    read = table([[1, "a", True], [2.5, "b", False]])
    assert [read.column(index).kind for index in range(3)] == ["numeric", "categorical", "boolean"]


def test_nothing_but_missing_values():
    for frame in (
        pd.DataFrame({"x": [None, None]}),
        pl.DataFrame({"x": [None, None]}),
        pl.DataFrame({"x": [None, None]}, schema={"x": pl.String}),
        pa.table({"x": [None, None]}),
    ):
        assert table(frame).column(0).missing.all()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
        pd.DataFrame({"a": np.array([1, 2**64 - 1], dtype=np.uint64), "b": [-1, 0]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.5, 1.5]}),
        pd.DataFrame({"a": [True, False], "b": [False, True]}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": [1, 2], "b": [True, False]}),
        pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.Categorical(["v", "u"])}),
        pl.DataFrame({"a": [1, None], "b": [0.5, 1.5]}),
        pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)}),
        pa.table({"a": [1, None], "b": [0.5, 1.5]}),
    ],
)
def test_all_columns_at_once_are_what_each_is(frame):
    # To fit, a frame of numbers is read at once; to predict, one column at a time.
    estimator = BaseEstimator()
    fitted = read_table(estimator, frame, reset=True)
    for index in range(fitted.n_columns):
        at_once, alone = (
            read.column(index) for read in (fitted, read_table(estimator, frame, reset=False))
        )
        assert (at_once.kind, at_once.categories) == (alone.kind, alone.categories)
        assert at_once.values.dtype == alone.values.dtype
        np.testing.assert_array_equal(at_once.values, alone.values)
        native = frame[frame.columns[index]] if isinstance(frame, pd.DataFrame) else None
        if native is not None and alone.kind != "categorical":
            expected = native.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
            np.testing.assert_array_equal(alone.values, expected)


def test_columns_are_read_only_when_asked_for():
    read = table(pd.DataFrame({"age": [1, 2], "born": [datetime.date(1960, 1, 1)] * 2}))
    assert read.column(0).values.tolist() == [1, 2]
    assert read.column(0) is read.column(0)
    with pytest.raises(ValueError, match="'born' holds dates"):
        read.column(1)


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", None]),
        pd.to_timedelta([1, 2]),
        [datetime.date(2020, 1, 1), None],
        [datetime.timedelta(1), None],
        np.array([np.timedelta64(1, "D"), None], dtype=object),
    ],
)
def test_dates(values):
    with pytest.raises(ValueError, match=r"Column 'x' holds dates or times: turn it into a number"):
        column(values)


def test_dates_in_an_array():
    with pytest.raises(ValueError, match="Column 'x0' holds dates"):
        table(np.array([["2020-01-01"]], dtype="datetime64[ns]")).column(0)


def test_infinity():
    message = r"Column 'x' holds infinity \(inf\) in 2 of 3 rows: replace it"
    with pytest.raises(ValueError, match=message):
        column([np.inf, 1.0, -np.inf])


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([1, "a", None], "int, str"),
        ([True, 1.5], "bool, float"),
        (["a"] * 200 + [1.5], "float, str"),
        (pd.Categorical(["a", 1]), "int, str"),
    ],
)
def test_mixed_types(values, types):
    with pytest.raises(ValueError, match=f"Column 'x' mixes values of the types {types}: make all"):
        column(values)


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], b"bytes", 1j, object()])
def test_cells_of_no_use(cell):
    values = np.array([1.5, None], dtype=object)
    values[1] = cell
    message = rf"'x'.*argument must be a string or a real number, not '{type(cell).__name__}'"
    with pytest.raises(TypeError, match=message):
        column(values)


def test_scikit_learn_says_what_it_always_says():
    for X, error, message in (
        (csr_matrix(np.eye(3)), TypeError, "[Ss]parse"),
        (np.ones((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        (np.ones(3), ValueError, "Expected 2D array"),
        (np.ones((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (pd.DataFrame({"x": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\) while a minimum"),
        (
            pd.DataFrame(index=range(4)),
            ValueError,
            r"0 feature\(s\) \(shape=\(4, 0\)\) while a min",
        ),
        (pl.LazyFrame({"x": [1]}), ValueError, "collect them first, as with X.collect"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "2 columns of the name 'a'"),
    ):
        with pytest.raises(error, match=message):
            table(X)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_must_be_those_of_the_fit(library):
    estimator = BaseEstimator()
    read_table(estimator, library({"a": [1], "b": [2]}), reset=True)
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    assert estimator.n_features_in_ == 2
    with pytest.raises(ValueError, match="must be in the same order"):
        read_table(estimator, library({"b": [1], "a": [2]}), reset=False)
    with pytest.raises(ValueError, match="unseen at fit time"):
        read_table(estimator, library({"a": [1], "c": [2]}), reset=False)
    with pytest.warns(UserWarning, match="valid feature names"):
        unnamed = read_table(estimator, np.array([[1.0, 2.0]]), reset=False)
    assert unnamed.names == ("a", "b")
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match="X has 3 features, but BaseEstimator is expecting 2"),
    ):
        read_table(estimator, np.ones((1, 3)), reset=False)


@pytest.mark.parametrize("names", [[7, 8], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])])
def test_names_that_are_no_texts_are_shown_but_not_told_to_scikit_learn(names):
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=names)
    estimator = BaseEstimator()
    shown = ("7", "8") if names[0] == 7 else ("a_b", "a_c")
    assert read_table(estimator, frame, reset=True).names == shown
    assert not hasattr(estimator, "feature_names_in_")
    assert read_table(estimator, frame, reset=False).column(1).values.tolist() == [2, 4]


# Blanks at the ends of a text.


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [" b", None, "a ", "b", "", "  "]}),
        pd.DataFrame({"x": [" b", np.nan, "a ", "b", "", "  "]}, dtype=object),
        pd.DataFrame({"x": [" b", None, "a ", "b", "", "  "]}, dtype="string"),
        pd.DataFrame({"x": pd.Categorical([" b", None, "a ", "b", "", "  "])}),
        pl.DataFrame({"x": [" b", None, "a ", "b", "", "  "]}),
        pl.DataFrame({"x": [" b", None, "a ", "b", "", "  "]}, schema={"x": pl.Categorical}),
        pa.table({"x": [" b", None, "a ", "b", "", "  "]}),
        pa.table({"x": pa.array([" b", None, "a ", "b", "", "  "]).dictionary_encode()}),
        np.array([[" b"], [None], ["a "], ["b"], [""], ["  "]], dtype=object),
        [[" b"], [None], ["a "], ["b"], [""], ["  "]],
    ],
)
def test_blanks_at_the_ends_of_a_text_do_not_count(frame):
    read = table(frame).column(0)
    assert read.categories == read.known == ("a", "b")
    assert read.values.tolist() == [1, -1, 0, 1, -1, -1]


def test_other_white_space_counts():
    assert column(["a", "a\t", "\na", "a\u00a0", "b b"]).categories == (
        "\na", "a", "a\t", "a\u00a0", "b b",
    )  # fmt: skip


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"x": pd.Categorical(["lo ", "hi", "lo", ""], ["lo ", "lo", "", "hi"], ordered=True)}
        ),
        pl.DataFrame({"x": ["lo ", "hi", "lo", ""]}, {"x": pl.Enum(["lo ", "lo", "", "hi"])}),
    ],
)
def test_ordered_categories_that_are_the_same_without_blanks(frame):
    read = table(frame).column(0)
    assert read.categories == ("lo", "hi")
    assert read.values.tolist() == [0, 1, 0, -1]
    mixed = pd.Categorical(["lo"], ["lo", "hi", "lo "], ordered=True)
    message = "Column 'x' has ordered categories that differ by blanks alone.*'lo', 'hi', 'lo '"
    with pytest.raises(ValueError, match=message):
        column(mixed)


def test_a_text_of_blanks_is_missing_among_numbers_and_booleans_too():
    numbers = column(np.array([1.5, " ", 2], dtype=object))
    np.testing.assert_array_equal(numbers.values, [1.5, np.nan, 2])
    truth = column(pd.Categorical([True, "", False]))
    assert truth.kind == "boolean"
    np.testing.assert_array_equal(truth.values, [1, np.nan, 0])
    assert column(["", " "]).missing.all()
    names = table(pd.DataFrame({" x ": [1, 2]})).names
    assert names == (" x ",)
