import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from surtree import SurTree
from surtree.cuts.cut import Cut
from surtree.data.table import read_table

AGE = Cut(0, "age", threshold=55.5)
SEX = Cut(0, "sex", categories=("F",))
GRADE = Cut(0, "grade", categories=("III", "IV"))
OTHER = Cut(0, "state", categories=("NSW", "VIC"), negated=True)
THERAPY = Cut(0, "therapy", categories=("no",), known=("no", "yes"))
SMOKER = Cut(0, "smoker", categories=(True,))


def column(values):
    return read_table(BaseEstimator(), pd.DataFrame({"x": values}), reset=True).column(0)


def answers(cut, values):
    return cut.holds(column(values)).tolist()


def with_missing(cut, missing):
    return replace(cut, missing=missing)


@pytest.mark.parametrize(
    ("cut", "missing", "rule", "negated_rule"),
    [
        (AGE, None, "age > 55.5", "age <= 55.5"),
        (AGE, True, "age > 55.5 or missing", "age <= 55.5"),
        (AGE, False, "age > 55.5", "age <= 55.5 or missing"),
        (SEX, None, "sex is F", "sex is not F"),
        (SEX, True, "sex is F or missing", "sex is not F and not missing"),
        (SEX, False, "sex is F", "sex is not F or is missing"),
        (GRADE, None, "grade is one of III, IV", "grade is none of III, IV"),
        (GRADE, False, "grade is one of III, IV", "grade is none of III, IV or is missing"),
        (OTHER, None, "state is none of NSW, VIC", "state is one of NSW, VIC"),
        (OTHER, True, "state is none of NSW, VIC or is missing", "state is one of NSW, VIC"),
        (
            OTHER,
            False,
            "state is none of NSW, VIC and not missing",
            "state is one of NSW, VIC or missing",
        ),
        (THERAPY, None, "therapy is no", "therapy is yes"),
        (THERAPY, True, "therapy is no or missing", "therapy is yes"),
        (THERAPY, False, "therapy is no", "therapy is yes or missing"),
        (SMOKER, None, "smoker is True", "smoker is False"),
        (SMOKER, False, "smoker is True", "smoker is False or missing"),
        (Cut(0, "n", categories=(1,)), None, "n is 1", "n is not 1"),
        (Cut(0, "age"), True, "age is missing", "age is not missing"),
    ],
)
def test_texts(cut, missing, rule, negated_rule):
    cut = with_missing(cut, missing)
    assert (cut.rule, cut.negated_rule) == (rule, negated_rule)


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(55.0, "55"), (0.1 + 0.2, "0.30000000000000004"), (-1e-9, "-1e-09"), (1e22, "1e+22")],
)
def test_thresholds_show_all_their_digits(threshold, text):
    assert Cut(0, "x", threshold=threshold).rule == f"x > {text}"
    assert float(text) == threshold


@pytest.mark.parametrize(
    ("category", "text"),
    [
        ("a b", "a b"),
        ("<=20mm", "<=20mm"),
        ("a, b", "'a, b'"),
        ("", "''"),
        (" a", "' a'"),
        ("missing", "'missing'"),
        ("a or missing", "'a or missing'"),
        ("not F", "'not F'"),
        ("one of us", "'one of us'"),
        ("it's", '"it\'s"'),
        (3, "3"),
        (2.5, "2.5"),
    ],
)
def test_categories_that_could_be_misread_are_quoted(category, text):
    assert Cut(0, "x", categories=(category,)).rule == f"x is {text}"


@pytest.mark.parametrize(
    ("cut", "values", "expected"),
    [
        (AGE, [55.4, 55.5, 55.6, None], [False, False, True]),
        (SEX, ["M", "F", "unseen", None], [False, True, False]),
        (GRADE, ["I", "III", "IV", None], [False, True, True]),
        (OTHER, ["NSW", "unseen", "VIC", None], [False, True, False]),
        (SMOKER, [True, False, True, None], [True, False, True]),
    ],
)
@pytest.mark.parametrize("missing", [None, False, True])
def test_answers(cut, values, expected, missing):
    cut = with_missing(cut, missing)
    assert answers(cut, values) == [*expected, bool(missing)]
    assert answers(cut, values[:-1]) == expected
    assert answers(cut, [None, None]) == [bool(missing)] * 2
    assert answers(cut, pd.Categorical([None, None])) == [bool(missing)] * 2


def test_answers_of_is_missing():
    cut = Cut(0, "x", missing=True)
    assert answers(cut, [1.0, None]) == [False, True]
    assert answers(cut, ["a", None]) == [False, True]
    assert answers(replace(cut, known=("a", "b")), ["a", "c", None]) == [False, True, True]


@pytest.mark.parametrize("missing", [None, False, True])
def test_what_training_never_had_is_answered_as_a_missing_value(missing):
    states = replace(OTHER, known=("NSW", "QLD", "VIC"), missing=missing)
    unclear = bool(missing)
    assert answers(states, ["NSW", "QLD", "qld", None]) == [False, True, unclear, unclear]
    assert states.unseen(column(["NSW", "qld", None])).tolist() == [False, True, False]
    assert states.others == ("QLD",)
    codes = Cut(0, "code", categories=(2,), known=(1, 2), missing=missing)
    assert answers(codes, [1.0, 2.0, 3.0, None]) == [False, True, bool(missing), bool(missing)]
    # A column of texts may come as numbers; a text that is no number is not among them.
    centers = Cut(0, "center", categories=("9",), known=("120", "9", "other"), missing=missing)
    assert answers(centers, [9, 120, 7]) == [True, False, bool(missing)]
    others = Cut(0, "center", categories=("other",), known=("120", "9", "other"), missing=missing)
    assert answers(others, [9, 120, 7]) == [False, False, bool(missing)]


def test_a_column_may_come_in_another_type():
    assert answers(SMOKER, [0, 1, None]) == [False, True, False]
    assert answers(SMOKER, pd.Categorical([0, 1])) == [False, True]
    assert answers(Cut(0, "x", threshold=0.5), [True, False]) == [True, False]
    stages = Cut(0, "stage", categories=(2, 3))
    assert answers(stages, pd.Categorical([1, 2, None])) == [False, True, False]
    assert answers(stages, [1.0, 2.0, None]) == [False, True, False]
    centers = Cut(0, "center", categories=("120", "9"), negated=True)
    assert answers(centers, [120, 9, 10]) == [False, False, True]
    assert answers(centers, pd.Categorical([120, 9, 10])) == [False, False, True]


@pytest.mark.parametrize(
    ("cut", "values", "message"),
    [
        (
            AGE,
            ["old", "young"],
            "Column 'x' held numbers in the training table and holds categories",
        ),
        (SEX, [0, 1], "held texts in the training table and holds numbers in this one: convert"),
        (SEX, [True, False], "held texts in the training table and holds numbers"),
        (SMOKER, ["yes", "no"], "held booleans or numbers in the training table and holds texts"),
        (SMOKER, [0, 2], "held booleans in the training table and holds other numbers"),
        (SMOKER, pd.Categorical([1, 2]), "held booleans in the training table and holds other"),
        (Cut(0, "x", categories=(1, 2)), ["1", "2"], "held booleans or numbers .* holds texts"),
    ],
)
def test_a_column_of_another_kind(cut, values, message):
    with pytest.raises(ValueError, match=message):
        answers(cut, values)


def test_answers_are_a_copy():
    read = column([1.0, None])
    Cut(0, "x", missing=True).holds(read)[:] = True
    assert read.missing.tolist() == [False, True]


@pytest.mark.parametrize(
    "cut",
    [AGE, SEX, GRADE, OTHER, THERAPY, SMOKER, Cut(3, "x", missing=True), with_missing(AGE, False)],
)
def test_saved_as_json(cut):
    loaded = Cut.from_dict(json.loads(json.dumps(cut.to_dict())))
    assert loaded == cut
    assert (loaded.rule, loaded.negated_rule) == (cut.rule, cut.negated_rule)
    assert loaded.known == cut.known
    assert np.array_equal(loaded.categories or (), cut.categories or ())


# Any character, and often one that breaks a line or cannot be printed.
odd_text = st.text(st.characters() | st.sampled_from("\n\r\t\0\x0b\x1b\x7f\x85\u2028\u2029\ud800"))


@given(odd_text, st.lists(odd_text, min_size=2, max_size=4, unique=True), st.data())
def test_a_text_is_one_line_that_can_be_printed(name, categories, data):
    holds = tuple(categories[: data.draw(st.integers(1, len(categories) - 1))])
    missing = data.draw(st.sampled_from([None, True, False]))
    for cut in (
        Cut(0, name, threshold=0.5, missing=missing),
        Cut(0, name, categories=holds, missing=missing, known=tuple(categories)),
        Cut(0, name, missing=True),
    ):
        for text in (cut.rule, cut.negated_rule):
            assert text.splitlines() == [text]
            text.encode()


def test_a_tree_has_a_line_for_each_node_whatever_columns_are_called():
    X = pd.DataFrame({"line\nbreak": [0, 0, 1, 1] * 5, "tab\there": ["a\nb", "c"] * 10})
    tree = SurTree(max_depth=2).fit(X, np.arange(20.0, 0, -1)).tree_
    assert tree.n_leaves > 2
    assert len(str(tree).splitlines()) == 1 + tree.n_nodes
    assert r"line\nbreak" in str(tree)
    assert r"tab\there is 'a\nb'" in str(tree)
