"""Columns whose effect turns round, against predictions over a grid of every column."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import CompetingRisksTree, EffectTree, SurTree
from surtree.datasets import load_gbsg2, load_melanoma, load_rossi
from surtree.export import export_methods
from surtree.heuristics import GreedyTree
from surtree.report import write_report
from surtree.tree.reversals import Reversal

COLUMNS = ["a", "b", "c", "site", "flag"]


def random_model(seed, missing):
    """Return a large tree of few rows, and these."""
    rng = np.random.default_rng(seed)
    n = 60
    X = pd.DataFrame(rng.integers(0, 4, (n, 3)).astype(float), columns=COLUMNS[:3])
    X["site"] = rng.choice(["u", "v", "w"], n)
    X["flag"] = rng.random(n) < 0.5
    if missing:
        X["a"] = X["a"].mask(rng.random(n) < 0.2)
        X["site"] = X["site"].mask(rng.random(n) < 0.2)
    y = rng.random(n) < 0.8, rng.exponential(size=n).round(2) + 0.01
    model = GreedyTree(max_depth=int(rng.integers(1, 5)), n_thresholds=None, min_support=0.0)
    return model.fit(X, y), X


def signs(model, rows, column):
    """Return for each row whether the risk rises, and falls, along a grid of a column."""
    steps = [model.predict(rows.assign(**{column: value})) for value in np.arange(0, 4.0)]
    change = np.diff(np.array(steps), axis=0)
    near = 1e-9 * np.array(steps)[:-1]
    return (change > near).any(axis=0), (change < -near).any(axis=0)


def all_values(X):
    """Return every combination of values, missing ones where a column has some."""
    known = [[*X[name].dropna().unique(), *([None] if X[name].isna().any() else [])] for name in X]
    rows = pd.DataFrame(list(itertools.product(*known)), columns=X.columns)
    return rows.astype(dict.fromkeys(COLUMNS[:3], float) | {"flag": bool})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_reversals_are_those_of_all_rows_there_could_be(seed, missing):
    model, X = random_model(seed, missing)
    everything = all_values(X)
    expected = set()
    for name in COLUMNS[:3]:
        rises, falls = signs(model, everything, name)
        if rises.any() and falls.any():
            expected.add(name)
    assert {turn.name for turn in model.tree_.reversals()} == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_rows_are_counted_as_a_grid_counts_them(seed, missing):
    model, X = random_model(seed, missing)
    expected = {}
    for name in COLUMNS[:3]:
        rises, falls = signs(model, X, name)
        if rises.any() and falls.any():
            expected[name] = int(min(rises.sum(), falls.sum())), len(X)
    turns = model.tree_.reversals(X)
    assert {turn.name: (turn.n_rows, turn.n_all) for turn in turns} == expected


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_leaves_of_a_reversal_are_where_it_is(seed):
    model, X = random_model(seed, missing=True)
    tree, everything = model.tree_, all_values(X)
    leaf = tree.apply(everything)
    for turn in tree.reversals():
        low, high = turn.leaves
        assert (turn.risks[1] > turn.risks[0]) is turn.higher
        others = [name for name in COLUMNS if name != turn.name]
        pairs = everything.assign(leaf=leaf).merge(
            everything.assign(leaf=leaf), on=others, suffixes=("", "_high")
        )
        met = pairs[(pairs["leaf"] == low) & (pairs["leaf_high"] == high)].dropna(
            subset=[turn.name, f"{turn.name}_high"]
        )
        assert len(met)
        assert (met[turn.name] < met[f"{turn.name}_high"]).all()


@pytest.fixture(scope="module")
def turning():
    X, y = load_gbsg2(backend="pandas")
    return SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y), X


def test_more_nodes_mean_lower_risk_for_some(turning):
    model, X = turning
    (turn,) = model.tree_.reversals(X)
    fixed = X[X["progesterone_receptor"].between(27, 83)]
    risks = [model.predict(fixed.assign(positive_nodes=nodes)) for nodes in (2, 5, 8)]
    assert len(fixed) == turn.n_rows == 129
    assert [round(float(risk[0]), 2) for risk in risks] == [0.79, 1.66, 1.17]
    assert turn.risks == (risks[1][0], risks[2][0])


def test_whatever_shows_the_tree_says_it_in_one_sentence(turning, tmp_path):
    model, _ = turning
    sentence = "More positive_nodes mostly means higher risk, but lower risk where"
    assert sentence in str(model.tree_)
    assert sentence in export_methods(model)
    labels = {"positive_nodes": "positive nodes"}
    page = write_report(model, tmp_path / "tree.html", labels=labels).read_text()
    assert page.count("More positive nodes mostly means higher risk, but lower risk where") == 1


def test_other_columns_are_named_after_the_first():
    first = Reversal(0, "a", True, (1, 2), (1.0, 2.0), ("b > 1",))
    assert str(first) == "More a mostly means lower risk, but higher risk where b > 1 (1, then 2)."
    assert str(Reversal(0, "a", False, (1, 2), (2.0, 1.0), ())).endswith("lower risk (2, then 1).")


def test_a_tree_without_a_turn_says_nothing():
    model = SurTree(max_depth=2, shrinkage=1).fit(*load_gbsg2())
    assert model.tree_.reversals() == ()
    assert "turns round" not in str(model.tree_)
    assert "mostly means" not in str(model.tree_)


def test_a_turn_that_no_row_shows_is_none_of_the_rows(turning):
    model, X = turning
    assert model.tree_.reversals(X[X["progesterone_receptor"] > 200]) == ()


def test_causes_turn_in_the_risk_that_ranks():
    X, y = load_melanoma(backend="pandas")
    tree = CompetingRisksTree(max_depth=3).fit(X, y).tree_
    risk = tree.outcome.risks()
    assert tree.reversals()
    for turn in tree.reversals():
        assert turn.risks == tuple(risk[list(turn.leaves)])


def test_trees_of_effects_have_none():
    X, y = load_rossi(backend="pandas")
    tree = EffectTree(max_depth=3, min_events_arm=2).fit(X, y, "financial_aid").tree_
    assert tree.n_leaves > 2
    assert tree.reversals() == ()


def test_names_that_control_a_terminal_are_shown():
    X, y = load_gbsg2(backend="pandas")
    X = X.rename(columns={"positive_nodes": "nodes\x1b[31m", "progesterone_receptor": "prog\u202e"})
    text = str(SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y).tree_)
    assert r"More nodes\x1b[31m mostly means higher risk" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
