import ast
import pickle
import re
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from surtree import UnseenCategoryWarning
from surtree.cuts.categories import MOST_FOR_SUBSETS
from surtree.cuts.encoder import Encoder
from surtree.data.table import read_table

# A table in these tests is a dictionary of lists, with None where a value is missing.

WORDS = ["a", "b", " b", "d, e", "missing", "not a", "", " ", " f ", "it's", "Z"]
LEVELS = ["none", "some", "more", "most", "all"]
VALUES = {
    "number": st.sampled_from([0.0, 1.0, 2.0, 3.5, -7.25, 0.1 + 0.2])
    | st.floats(-1e9, 1e9).map(lambda number: round(number, 3)),
    "text": st.sampled_from(WORDS),
    "truth": st.booleans(),
    "level": st.sampled_from(LEVELS),
}


@st.composite
def tables(draw, max_rows=25):
    """A table to fit, and one of the same columns to predict, with values never seen before."""
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    sizes = [draw(st.integers(1, max_rows)), draw(st.integers(1, 10))]
    both = [{}, {}]
    for index, kind in enumerate(kinds):
        missing = [draw(st.booleans()), True]
        pool = draw(st.lists(VALUES[kind], min_size=1, max_size=12))
        for table, size, holes in zip(both, sizes, missing, strict=True):
            cell = (
                st.sampled_from(pool) | VALUES[kind] if table is both[1] else st.sampled_from(pool)
            )
            cells = st.lists(cell | st.none() if holes else cell, min_size=size, max_size=size)
            table[f"{kind}{index}"] = draw(cells)
    return both


options = st.fixed_dictionaries(
    {
        "n_thresholds": st.integers(1, 12),
        "max_categories": st.integers(2, 12),
        "min_support": st.sampled_from([0.0, 0.01, 0.1, 0.25]),
        "category_cuts": st.sampled_from(["one", "subsets"]),
    }
)


def to_pandas(table):
    return pd.DataFrame(
        {
            name: pd.Categorical(cells, LEVELS, ordered=True)
            if name.startswith("level")
            else pd.Series(cells, dtype=object)
            for name, cells in table.items()
        }
    )


def as_read(cell):
    """Return a text without blanks at its ends, and a text of nothing else as a missing value."""
    return cell.strip(" ") or None if isinstance(cell, str) else cell


def to_polars(table):
    types = {"number": pl.Float64, "text": pl.String, "truth": pl.Boolean, "level": pl.Enum(LEVELS)}
    schema = {name: types[name.rstrip("0123456789")] for name in table}
    return pl.DataFrame(table, schema=schema)


def read(frame):
    return read_table(BaseEstimator(), frame, reset=True)


def fit_encode(encoder, frame, weight=None):
    table = read(frame)
    return encoder.fit_encode(table, np.ones(table.n_rows) if weight is None else weight)


def rules(table, **parameters):
    frame = table if isinstance(table, pd.DataFrame) else to_pandas(table)
    return [cut.rule for cut in Encoder(**parameters).fit(frame).cuts_]


# The specification: the authors' binarisation, and ours for what they do not have, cell by cell.


def numeric_questions(present, n_thresholds):
    ascending = sorted(present)
    midpoints = [(a + b) / 2 for a, b in pairwise(ascending)]
    thresholds = sorted(set(midpoints))
    if len(thresholds) > n_thresholds:
        last = len(midpoints) - 1
        places = [round((j + 0.5) * last / n_thresholds) for j in range(n_thresholds)]
        thresholds = sorted({midpoints[place] for place in places})
    return [lambda cell, t=threshold: cell > t for threshold in thresholds]


def text_questions(present, max_categories, category_cuts):
    groups = [{text} for text in sorted(set(present))]
    if len(groups) > max_categories:
        own = sorted(set(present), key=lambda text: (-present.count(text), text))
        others = own[max_categories - 1 :]
        groups = [{text} for text in sorted(own[: max_categories - 1])] + [set(others)]
    most = len(groups) // 2 if category_cuts == "subsets" and len(groups) <= MOST_FOR_SUBSETS else 1
    return [
        lambda cell, chosen=subset: any(cell in group for group in chosen)
        for size in range(1, most + 1)
        for subset in combinations(groups, size)
    ]


def level_questions(present, n_thresholds):
    codes = [LEVELS.index(level) for level in present]
    if len(set(codes)) <= n_thresholds + 1:
        codes, n_thresholds = set(codes), len(LEVELS)
    asked = numeric_questions(codes, n_thresholds)
    return [lambda cell, q=question: q(LEVELS.index(cell)) for question in asked]


def binarise(table, n_thresholds, max_categories, min_support, category_cuts):
    kept = []
    for name, read_cells in table.items():
        cells = list(map(as_read, read_cells))
        present = [cell for cell in cells if cell is not None]
        if not present:
            continue
        if name.startswith("number"):
            questions = numeric_questions(present, n_thresholds)
        elif name.startswith("text"):
            questions = text_questions(present, max_categories, category_cuts)
        elif name.startswith("level"):
            questions = level_questions(present, n_thresholds)
        else:
            questions = [bool]
        questions = [question for question in questions if len(set(map(question, present))) == 2]
        sides = [None] if len(present) == len(cells) else [False, True]
        answers = [
            [side if cell is None else question(cell) for cell in cells]
            for question in questions
            for side in sides
        ]
        if len(present) < len(cells):
            answers.append([cell is None for cell in cells])
        for answer in answers:
            opposite = [not cell for cell in answer]
            share = min(sum(answer), sum(opposite)) / len(answer)
            if share > min_support and answer not in kept and opposite not in kept:
                kept.append(answer)
    return kept


@settings(max_examples=200, deadline=None)
@given(tables(), options)
def test_cuts_are_those_of_the_specification(both, parameters):
    table = both[0]
    answers = Encoder(**parameters).fit_transform(to_pandas(table))
    assert answers.T.astype(bool).tolist() == binarise(table, **parameters)


@settings(max_examples=100, deadline=None)
@given(tables(), options)
def test_bins_say_what_cuts_and_transform_say(both, parameters):
    frame = to_pandas(both[0])
    encoder = Encoder(**parameters)
    binned = fit_encode(encoder, frame)
    assert binned.bins.dtype == np.uint16
    assert binned.bins.flags.c_contiguous
    assert binned.bins.shape == (len(binned.n_bins), len(frame))
    assert (np.diff(binned.cut_column) >= 0).all()
    assert (binned.cut_first <= binned.cut_last).all()
    line = binned.bins[binned.cut_column]
    first, last = binned.cut_first[:, None], binned.cut_last[:, None]
    missing = (line == binned.missing_bin[binned.cut_column][:, None]) & binned.cut_missing[:, None]
    gaps = (binned.cut_gaps[:, None] >> np.minimum(line, 63).astype(np.uint64)) & np.uint64(1) > 0
    from_bins = (first <= line) & (line <= last) & ~gaps | missing
    table = read(frame)
    by_cut = [cut.holds(table.column(cut.column)) for cut in encoder.cuts_]
    assert from_bins.tolist() == [answer.tolist() for answer in by_cut]
    assert from_bins.T.tolist() == encoder.transform(frame).astype(bool).tolist()
    assert encoder.heavier_side_.tolist() == (from_bins.mean(axis=1) > 0.5).tolist()
    lines = {cut.column: cut.missing is not None for cut in encoder.cuts_}
    assert list(lines) == sorted(lines)
    for position, (column, has_missing) in enumerate(lines.items()):
        bins = binned.bins[position]
        n_bins, missing_bin = binned.n_bins[position], binned.missing_bin[position]
        assert set(bins) == set(range(n_bins))
        assert missing_bin == (n_bins - 1 if has_missing else -1)
        assert (bins == missing_bin).tolist() == table.column(column).missing.tolist()
        answers = from_bins[binned.cut_column == position]
        profiles = {tuple(answers[:, row]) for row in np.flatnonzero(bins != missing_bin)}
        if parameters["category_cuts"] == "one":
            assert len(profiles) == n_bins - has_missing


@pytest.mark.filterwarnings("ignore::surtree.UnseenCategoryWarning")
@settings(max_examples=50, deadline=None)
@given(tables(), options)
def test_every_library_gives_the_same_cuts(both, parameters):
    table, new = ({k: v for k, v in t.items() if not k.startswith("level")} for t in both)
    if not table:
        return
    encoder = Encoder(**parameters)
    frames = [
        (to_pandas(table), to_pandas(new)),
        (to_polars(table), to_polars(new)),
        (to_polars(table).to_arrow(), to_polars(new).to_arrow()),
        (to_pandas(table).convert_dtypes(), to_pandas(new).convert_dtypes()),
    ]
    expected = encoder.fit(frames[0][0]).cuts_, encoder.transform(frames[0][1]).tolist()
    for frame, later in frames[1:]:
        assert encoder.fit(frame).cuts_ == expected[0]
        assert encoder.transform(later).tolist() == expected[1]
    encoder.fit(to_pandas(table).to_numpy(dtype=object))
    assert encoder.get_feature_names_out(list(table)).tolist() == [cut.rule for cut in expected[0]]
    assert encoder.transform(to_pandas(new).to_numpy(dtype=object)).tolist() == expected[1]


def test_polars_enums_are_ordered_too():
    table = {"level": ["none", None, "most", "more", "all"] * 4}
    assert Encoder().fit(to_polars(table)).cuts_ == Encoder().fit(to_pandas(table)).cuts_


# A rule is enough to answer by hand.

CATEGORY = re.compile(r"""(?:^|, )('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]+)""")


def categories_of(text):
    found = CATEGORY.findall(text)
    return [ast.literal_eval(written) if written[0] in "'\"" else written for written in found]


def by_hand(rule, name, cell):
    said = rule.removeprefix(f"{name} ")
    if said in ("is missing", "is not missing"):
        return (cell is None) is (said == "is missing")
    for ending in (" or is missing", " or missing", " and not missing"):
        if said.endswith(ending):
            said = said.removesuffix(ending)
            if cell is None:
                return ending != " and not missing"
    if cell is None:
        return False
    verb, _, rest = said.partition(" ")
    if verb != "is":
        return cell > float(rest) if verb == ">" else cell <= float(rest)
    for opening, positive in (("one of ", True), ("none of ", False), ("not ", False), ("", True)):
        if rest.startswith(opening):
            return (str(cell) in categories_of(rest.removeprefix(opening))) is positive
    raise AssertionError(rule)


@settings(max_examples=100, deadline=None)
@given(tables(), options)
def test_rules_can_be_applied_by_hand(both, parameters):
    encoder = Encoder(**parameters).fit(to_pandas(both[0]))
    for table in both:
        frame = read(to_pandas(table))
        for cut in encoder.cuts_:
            holds = cut.holds(frame.column(cut.column)).tolist()
            for cell, answer in zip(map(as_read, table[cut.name]), holds, strict=True):
                if cut.known is not None and cell not in cut.known:
                    cell = None
                if cell is None and cut.missing is None:
                    assert not answer
                    continue
                assert by_hand(cut.rule, cut.name, cell) is answer
                assert by_hand(cut.negated_rule, cut.name, cell) is not answer


# Weights.


@pytest.mark.filterwarnings("ignore::surtree.UnseenCategoryWarning")
@settings(max_examples=100, deadline=None)
@given(tables(), options, st.data())
def test_a_whole_weight_is_as_many_rows(both, parameters, data):
    frame = to_pandas(both[0])
    sizes = st.lists(st.integers(0, 4), min_size=len(frame), max_size=len(frame))
    weight = np.array(data.draw(sizes.filter(any)), dtype=float)
    repeated = frame.loc[frame.index.repeat(weight.astype(int))].reset_index(drop=True)
    by_weight, by_row = Encoder(**parameters), Encoder(**parameters)
    binned = fit_encode(by_weight, frame, weight)
    assert binned.bins.shape[1] == (weight > 0).sum()
    counts = weight[weight > 0].astype(int)
    written_out = fit_encode(by_row, repeated)
    assert by_weight.cuts_ == by_row.cuts_
    assert by_weight.heavier_side_.tolist() == by_row.heavier_side_.tolist()
    assert binned.bins.repeat(counts, axis=1).tolist() == written_out.bins.tolist()
    assert by_weight.transform(frame).tolist() == by_row.transform(frame).tolist()


def test_other_weights_do_not_move_thresholds():
    frame = pd.DataFrame({"x": np.arange(100.0)})
    plain = Encoder().fit(frame).cuts_
    assert Encoder().fit(frame, sample_weight=np.linspace(0.9, 1.1, 100)).cuts_ == plain
    assert Encoder().fit(frame, sample_weight=np.full(100, 0.5)).cuts_ == plain
    assert Encoder().fit(frame, sample_weight=np.arange(1, 101)).cuts_ != plain


def test_support_and_frequency_are_by_weight():
    frame = pd.DataFrame({"x": list("aaabc")})
    assert rules(frame, max_categories=2, min_support=0.0) == ["x is a"]
    encoder = Encoder(max_categories=2, min_support=0.0)
    assert encoder.fit(frame, sample_weight=[1, 1, 1, 9.5, 1]).cuts_[0].rule == "x is b"
    encoder = Encoder(min_support=0.2).fit(frame, sample_weight=[1, 1, 1, 0.1, 2.5])
    assert [cut.rule for cut in encoder.cuts_] == ["x is a", "x is c"]


def test_huge_weights_are_not_written_out():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    encoder = Encoder(min_support=0.0).fit(frame, sample_weight=[1e12, 2e12, 1e12])
    assert [cut.rule for cut in encoder.cuts_] == ["x > 1", "x > 2"]


# Examples.


def test_numeric_rules():
    ages = [31, 31, 42, 58, 58, 58, 73, 80]
    assert rules({"number": ages}) == ["number > 31", "number > 50", "number > 60", "number > 76"]
    assert rules({"number": ages}, n_thresholds=2) == ["number > 50", "number > 60"]
    assert rules({"number": ages}, n_thresholds=None) == [
        "number > 36",
        "number > 50",
        "number > 66",
        "number > 76",
    ]


def test_categories_beyond_the_most_frequent_are_one():
    states = ["NSW"] * 5 + ["VIC"] * 4 + ["QLD"] * 2 + ["ACT"] * 2 + ["TAS"]
    found = rules({"text": states}, max_categories=4)
    assert found == [
        "text is ACT",
        "text is NSW",
        "text is VIC",
        "text is one of QLD, TAS",
    ]
    encoder = Encoder(max_categories=4).fit(pd.DataFrame({"x": states}))
    assert encoder.transform(pd.DataFrame({"x": ["TAS", "QLD", "VIC"]})).tolist() == [
        [0, 0, 0, 1],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
    ]
    with pytest.warns(UnseenCategoryWarning, match="'NT' in 1 row of column 'x'"):
        unseen = encoder.transform(pd.DataFrame({"x": ["NT", "QLD"]}))
    assert unseen.tolist() == encoder.transform(pd.DataFrame({"x": [None, "QLD"]})).tolist()


def test_ordered_rules():
    levels = ["none", "some", "most", "all"] * 5
    assert rules({"level": levels}) == [
        "level is one of some, more, most, all",
        "level is one of most, all",
        "level is all",
    ]
    assert len(rules({"level": LEVELS * 5}, n_thresholds=2)) == 2


def test_a_binary_column_has_one_cut():
    assert rules({"text": ["F", "M", "M"]}) == ["text is F"]
    assert rules({"truth": [True, False, False]}) == ["truth is True"]
    assert rules({"number": [0, 1, 1]}) == ["number > 0.5"]


def test_missing_values_go_either_way():
    assert rules({"text": ["F", "M", None, "M"]}) == [
        "text is F",
        "text is F or missing",
        "text is missing",
    ]
    assert rules({"truth": [True, False, None]}) == [
        "truth is True",
        "truth is True or missing",
        "truth is missing",
    ]


@pytest.mark.parametrize("kind", ["number", "text", "truth", "level"])
def test_one_value_or_missing(kind):
    value = {"number": 1.0, "text": "a", "truth": True, "level": "most"}[kind]
    assert rules({kind: [value, None, value]}) == [f"{kind} is missing"]


def test_no_cut_is_above_the_highest_level():
    levels = ["none", "some", "more", *["all"] * 9, None]
    assert rules({"level": levels}, n_thresholds=2) == [
        "level is all",
        "level is all or missing",
        "level is missing",
    ]


@pytest.mark.parametrize("first", [{"text0": ["x", "y", "y", "z"]}, {"number0": [1, 5, 5, 9]}])
def test_a_column_that_says_nothing_new_has_no_cut(first):
    again = {"text1": ["y", "x", "x", "z"], "number2": [-1, -5, -5, -9], "number3": [4, 4, 4, 4]}
    assert all(rule.split(" ")[0] == next(iter(first)) for rule in rules({**first, **again})[:2])
    assert len(rules({**first, **again})) == 3


@pytest.mark.parametrize(("n_rows", "n_cuts"), [(100, 0), (99, 1)])
def test_support_must_be_exceeded(n_rows, n_cuts):
    rare = {"truth": [True] + [False] * (n_rows - 1)}
    assert len(rules(rare)) == n_cuts
    assert len(rules({"truth": [not cell for cell in rare["truth"]]})) == n_cuts
    assert len(rules(rare, min_support=0)) == 1


@pytest.mark.parametrize("table", [{"number": [4, 4]}, {"text": [None, None]}, {"truth": [True]}])
def test_no_cut_at_all(table):
    frame = to_pandas(table)
    encoder = Encoder()
    binned = fit_encode(encoder, frame)
    assert encoder.cuts_ == ()
    assert binned.bins.shape == (0, len(frame))
    assert binned.cut_column.dtype == binned.cut_first.dtype == np.int32
    assert binned.cut_missing.shape == (0,)
    assert encoder.transform(frame).shape == (len(frame), 0)


def test_values_first_missing_when_predicting_follow_the_heavier_side():
    encoder = Encoder().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), sample_weight=[1, 1, 1, 5])
    assert [cut.threshold for cut in encoder.cuts_] == [1.5, 2.5, 3.5]
    assert encoder.transform(pd.DataFrame({"x": [None]}, dtype=float)).tolist() == [[1, 1, 1]]
    even = Encoder().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    assert even.transform(pd.DataFrame({"x": [np.nan]})).tolist() == [[0]]


def test_too_many_bins():
    frame = pd.DataFrame({"age": np.arange(65_535.0)})
    message = r"Column 'age' has 65,535 bins and at most 65,534 are possible: choose a lower n_thr"
    with pytest.raises(ValueError, match=message):
        Encoder(n_thresholds=None, min_support=0).fit(frame)
    encoder = Encoder(n_thresholds=None, min_support=0)
    binned = fit_encode(encoder, frame[:-1])
    assert binned.bins[0].tolist() == list(range(65_534))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_thresholds": 0}, "n_thresholds must be a whole number, 1 or more; got 0"),
        ({"n_thresholds": 2.5}, "n_thresholds must be a whole number, 1 or more; got 2.5"),
        ({"max_categories": 1}, "max_categories must be a whole number, 2 or more; got 1"),
        ({"max_categories": None}, "max_categories must be a whole number, 2 or more; got N"),
        ({"min_support": 0.5}, "min_support must be a number from 0 to below 0.5; got 0.5"),
        ({"min_support": float("nan")}, "min_support must be a number .* got nan"),
        ({"min_support": "1%"}, "min_support must be a number .* got '1%'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Encoder(**parameters).fit([[1.0], [2.0]])


def test_a_numeric_column_that_became_text():
    encoder = Encoder().fit(pd.DataFrame({"age": [1, 2, 3]}))
    with pytest.raises(ValueError, match="Column 'age' held numbers in the training table"):
        encoder.transform(pd.DataFrame({"age": ["old", "young"]}))


# A scikit-learn transformer.


@parametrize_with_checks([Encoder()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(library, frame):
    table = frame({"age": [40, 51, 62, 73], "grade": ["I", "II", "II", None]})
    answers = Encoder(n_thresholds=2).set_output(transform=library).fit_transform(table)
    assert isinstance(answers, frame)
    assert list(answers.columns) == [
        "age > 46",
        "age > 70",
        "grade is I or missing",
    ]
    assert answers["grade is I or missing"].to_list() == [1, 0, 0, 1]


def test_clones_pickles_and_pipelines():
    X = np.random.default_rng(0).normal(size=(50, 3))
    encoder = Encoder(n_thresholds=4).fit(X)
    assert pickle.loads(pickle.dumps(encoder)).cuts_ == encoder.cuts_
    assert clone(encoder).fit(X).cuts_ == encoder.cuts_
    assert (
        make_pipeline(Encoder(), LogisticRegression()).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0)
        > 0.9
    )
    assert encoder.get_feature_names_out()[0].startswith("x0 > ")
    assert encoder.get_feature_names_out(["a", "b", "c"])[-1].startswith("c > ")


def test_a_new_fit_forgets_the_old_names():
    encoder = Encoder().fit(pd.DataFrame({"age": [1, 2]}))
    assert encoder.feature_names_in_.tolist() == ["age"]
    encoder.fit([[1.0], [2.0]])
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.cuts_[0].rule == "x0 > 1.5"


def test_of_two_categories_the_text_names_both():
    table = pd.DataFrame(
        {
            "therapy": ["no", "yes", "no", "yes"],
            "grade": pd.Categorical(["I", "II", "III", "II"], ordered=True),
            "size": [1.5, 2.0, 8.0, 3.0],
        }
    )
    cuts = Encoder(min_support=0).fit(table).cuts_
    texts = {(cut.rule, cut.negated_rule) for cut in cuts if cut.categories is not None}
    assert texts == {
        ("therapy is no", "therapy is yes"),
        ("grade is one of II, III", "grade is I"),
        ("grade is III", "grade is not III"),
    }
    assert {cut.seen for cut in cuts if cut.threshold is not None} == {(1.5, 8.0)}
