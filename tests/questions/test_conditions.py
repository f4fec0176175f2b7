"""Trees under conditions, compared with all trees asked about all people."""

import os
import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from all_trees import check, everything, fit_small
from problems import Case, cases
from surtree import (
    CompetingRisksTree,
    EffectTree,
    SurTree,
    SurTreeCV,
    TaughtTree,
    force_questions,
    load,
    near_optimal,
    question_costs,
    validate,
    verify,
    write_report,
)
from surtree.cli._summary import certificate
from surtree.data.table import read_table
from surtree.datasets import load_gbsg2
from surtree.export import export_methods

SIGNS = {"positive_nodes": 1, "hormone_therapy": -1, "progesterone_receptor": -1, "tumor_size": 1}


def is_ordered(values: pd.Series) -> bool:
    return values.dtype in (float, bool) or isinstance(values.dtype, pd.CategoricalDtype)


def people_of(X: pd.DataFrame, first: str) -> pd.DataFrame:
    """Return everybody that questions may tell apart, in the order of one column first."""
    values = {}
    for name in X:
        known = sorted(X[name].dropna().unique().tolist())
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            known = [each for each in X[name].cat.categories if each in known]
        values[name] = known if name == first or not X[name].isna().any() else [*known, None]
    names = [first, *(name for name in X if name != first)]
    people = pd.DataFrame(list(product(*(values[name] for name in names))), columns=names)
    return people[list(X)].astype(X.dtypes.to_dict())


def expected(model, rows, signs, max_columns):
    """Return the largest gain of each number of splits among all trees that satisfy conditions."""
    problem, trees = everything(model, rows, model.max_splits)
    cuts, sums = problem.encoder.cuts_, problem.data.sums
    table, present = problem.data.table, problem.data.present
    held = [cut.holds(table.column(cut.column))[present] for cut in cuts]
    asked = {}
    for name in signs:
        grid = read_table(model, people_of(rows[0], name), reset=False)
        asked[name] = (
            rows[0][name].dropna().nunique(),
            [cut.holds(grid.column(cut.column)) for cut in cuts],
        )

    def columns(node):
        if node.left is None:
            return set()
        return {cuts[node.cut].column} | columns(node.left) | columns(node.right)

    def risks(node, here, of):
        if node.left is None:
            sums_here = sums.values[:, here].sum(axis=1)
            return np.full(of[0].size, float(sums.objective.theta(sums_here)))
        yes = risks(node.right, here & held[node.cut], of)
        no = risks(node.left, here & ~held[node.cut], of)
        return np.where(of[node.cut], yes, no)

    def satisfies(node):
        if max_columns is not None and len(columns(node)) > max_columns:
            return False
        for name, sign in signs.items():
            n_values, of = asked[name]
            if not of:
                continue
            everyone = np.ones(sums.weight.size, dtype=bool)
            risk = risks(node, everyone, of).reshape(n_values, -1)
            rise = sign * (risk[None, :] - risk[:, None])
            later = np.triu(np.ones((n_values, n_values), dtype=bool), 1)
            if (rise[later] < -1e-9 * risk.max()).any():
                return False
        return True

    best: dict[int, float] = {}
    for tree in trees:
        n = len(tree.leaves) - 1
        if tree.gain > best.get(n, -np.inf) and satisfies(tree.node):
            best[n] = tree.gain
    return problem, best


@check
@given(cases(max_rows=10), st.data())
def test_the_best_tree_under_conditions_is_that_of_all_trees(case: Case, data):
    model, rows = fit_small(case, with_causes=False)
    ordered = [name for name in case.X if is_ordered(case.X[name]) and case.X[name].notna().any()]
    named = data.draw(st.lists(st.sampled_from(ordered), unique=True)) if ordered else []
    signs = {name: data.draw(st.sampled_from([1, -1])) for name in named}
    most = data.draw(st.sampled_from([None, 0, 1, 2]))
    assume(signs or most is not None)
    compare(model, rows, signs, most)


def compare(model, rows, signs, most):
    problem, best = expected(model, rows, signs, most)
    asked = clone(model).set_params(monotone=signs or None, max_columns=most).fit(*rows)
    tolerance = 1e-9 * (1 + problem.data.sums.scale)
    assert asked.status_ == "optimal"
    before = -np.inf
    for size in asked.path_:
        before = max(before, best.get(size.splits, -np.inf))
        assert size.loss == pytest.approx(problem.data.sums.constant - before, abs=tolerance)
    assert asked.free_loss_ == pytest.approx(model.loss_, abs=tolerance)
    near = near_optimal(asked, *rows, within=1.0, max_trees=10**6)
    assert near.loss == pytest.approx(asked.loss_, abs=tolerance)
    for tree in near.trees[:: max(len(near.trees) // 5, 1)]:
        assert most is None or len({cut.name for cut in tree.cuts}) <= most


@pytest.mark.parametrize("seed", range(int(os.environ.get("EXAMPLES", "40"))))
def test_signs_of_several_columns_are_those_of_all_trees(seed):
    """Trees of three questions about columns that raise and lower the risk by turns."""
    rng = np.random.default_rng(seed)
    n = 14
    X = pd.DataFrame(rng.integers(0, 4, (n, 2)).astype(float), columns=["a", "b"])
    X["c"] = rng.random(n) < 0.5
    X.loc[rng.random(n) < 0.1 * (seed % 3), "a"] = np.nan
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    turn = np.exp(np.where(X["c"], 1, -1) * X["b"].to_numpy() * 0.7 + 0.4 * X["a"].fillna(0))
    y["time"], y["event"] = rng.exponential(1 / turn).round(3) + 0.01, rng.random(n) < 0.9
    y["event"][0] = True
    rows = (X, y, rng.choice([1.0, 2.0, 0.5], n) if seed % 2 else None, None)
    model = SurTree(2, n_thresholds=3, min_support=0.0, shrinkage=float(seed % 3)).fit(*rows)
    named = rng.permutation(["a", "b", "c"])[: rng.integers(1, 4)]
    signs = {str(name): int(rng.choice([-1, 1])) for name in named}
    compare(model, rows, signs, None if seed % 4 else 2)


@pytest.fixture(scope="module")
def gbsg2():
    X, y = load_gbsg2()
    return SurTree(max_splits=5, shrinkage=1, monotone=SIGNS).fit(X, y), X, y


def test_a_trial_without_reversals(gbsg2):
    model, X, y = gbsg2
    assert not model.tree_.reversals(X)
    free = SurTree(max_splits=5, shrinkage=1).fit(X, y)
    assert free.tree_.reversals(X)
    assert model.free_loss_ == pytest.approx(free.loss_)
    assert free.free_loss_ is None
    assert (model.status_, model.gap_) == ("optimal", 0)
    near = near_optimal(model, X, y, within=0.02)
    assert near.trees[0].total_loss == pytest.approx(model.loss_)
    listed = [tree.reversals() for tree in near.trees]
    assert not any(turn.name in SIGNS for turns in listed for turn in turns)
    assert "a risk that only rises with positive_nodes" in near.note()


def test_few_columns_are_the_best_pair(gbsg2):
    _, X, y = gbsg2
    settings = {"max_depth": 2, "shrinkage": 1.0}
    few = SurTree(**settings, max_columns=2).fit(X, y)
    pairs = [SurTree(**settings).fit(X[list(two)], y).loss_ for two in combinations(X, 2)]
    assert few.loss_ == pytest.approx(min(pairs))


def test_conditions_are_said_wherever_the_proof_is(gbsg2, tmp_path):
    model, X, _ = gbsg2
    said = "a risk that only rises with positive_nodes"
    lost = "% is lost"
    methods = " ".join(export_methods(model).split())
    assert said in methods
    assert lost in methods
    write_report(model, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert said in page
    assert lost in page
    assert said in certificate(model)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert (again.monotone, again.free_loss_) == (SIGNS, model.free_loss_)
    assert (again.predict(X) == model.predict(X)).all()


def test_a_search_keeps_to_conditions(gbsg2):
    _, X, y = gbsg2
    search = SurTreeCV(max_depth=2, cv=3, monotone={"age": 1}, max_columns=3).fit(X, y)
    assert search.best_estimator_.monotone == {"age": 1}
    assert len({cut.name for cut in search.tree_.cuts}) <= 3
    assert validate(search, X, y, n_bootstraps=3).n_repetitions == 3


def test_limits_end_with_the_best_known_tree_and_a_bound(gbsg2):
    _, X, y = gbsg2
    # More nodes are no good sign: the first monotone tree is far down the list.
    wrong = {"positive_nodes": -1, "progesterone_receptor": 1}
    model = SurTree(max_splits=7, monotone=wrong, memory_limit=3_000_000)
    with pytest.warns(ConvergenceWarning, match="The memory limit ended the search"):
        model.fit(X, y)
    assert model.status_ == "memory_limit"
    assert model.free_loss_ - 1e-9 <= model.lower_bound_ < model.loss_ <= model.tree_.loss[0]
    assert not any(turn.name in wrong for turn in model.tree_.reversals())
    late = SurTree(max_splits=7, monotone=wrong, time_limit=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert late.fit(X, y).tree_.n_splits == 0
    assert late.status_ == "time_limit"


def test_of_every_threshold_there_is_a_tree_and_a_bound_in_time(gbsg2):
    _, X, y = gbsg2
    # The walk alone would need minutes before its first tree.
    model = SurTree(max_splits=5, n_thresholds=None, monotone=SIGNS, time_limit=3)
    with pytest.warns(ConvergenceWarning, match="The time limit ended the search"):
        model.fit(X, y)
    assert model.tree_.n_splits > 0
    assert not any(turn.name in SIGNS for turn in model.tree_.reversals())
    assert model.lower_bound_ <= model.loss_
    assert model.free_loss_ <= model.loss_


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"monotone": {"weight": 1}}, "'weight', which is no column: there are"),
        ({"monotone": {"Age": 1}}, "did you mean 'age'"),
        ({"monotone": {"age": 2}}, "says 1 .* or -1 .* of 'age'; got 2"),
        ({"monotone": {"age": True}}, "of 'age'; got True"),
        ({"monotone": "age"}, "must map columns to 1 or -1"),
        ({"max_columns": -1}, "max_columns must be"),
        ({"max_columns": 1.5}, "max_columns must be"),
    ],
)
def test_conditions_that_make_no_sense(gbsg2, given_, message):
    _, X, y = gbsg2
    with pytest.raises(ValueError, match=message):
        SurTree(**given_).fit(X, y)


def test_who_has_no_conditions(gbsg2):
    model, X, y = gbsg2
    cells = np.array(["large", "small", "squamous"])[np.arange(len(X)) % 3]
    with pytest.raises(ValueError, match="the categories of 'celltype' have no order"):
        SurTree(monotone={"celltype": 1}).fit(X.assign(celltype=cells), y)
    arm = {"treatment": np.arange(len(X)) % 2}
    for other, more in ((CompetingRisksTree, {}), (EffectTree, arm), (TaughtTree, {})):
        with pytest.raises(ValueError, match="monotone is for trees of one event"):
            other(monotone={"age": 1}).fit(X, y, **more)
    with pytest.raises(ValueError, match="init is for trees without monotone"):
        SurTree(monotone={"age": 1}).fit(X, y, init=model)
    for ask in (question_costs, force_questions):
        with pytest.raises(ValueError, match="a risk that only rises with positive_nodes"):
            ask(model, X, y)
    with pytest.raises(ValueError, match="does not know these conditions"):
        verify(model, X, y)
