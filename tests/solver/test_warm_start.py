"""A search that starts from the tree of another model is at least as good as that tree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, cases
from surtree import SurTree, SurTreeCV
from surtree.cuts.encoder import Encoder
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2, load_lung
from surtree.fitting.training import make_problem, read_training_data
from surtree.fitting.warm_start import nearest_topology
from surtree.heuristics import GreedyTree
from surtree.solver.problem import Forest


def gain_of(problem, topology):
    sums = problem.core.sum_nodes(Forest.of([topology]), problem.data.sums.values)
    return float(problem.data.sums.objective.gain(sums[:, topology.cut < 0]).sum())


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(max_rows=40, max_columns=4), depth=st.integers(1, 4))
def test_the_same_cuts_make_the_same_tree(case: Case, depth):
    model = SurTree(max_depth=depth, min_support=0.0).fit(case.X, case.y, case.weight)
    rows = read_training_data(model, RowInputs(case.X, case.y, case.weight))
    problem = make_problem(Encoder(min_support=0.0, category_cuts="subsets"), rows)
    found = nearest_topology(model.tree_, problem)
    assert (found.cut >= 0).sum() == model.tree_.n_splits
    assert rows.sums.constant - gain_of(problem, found) == pytest.approx(model.loss_, abs=1e-9)


@pytest.mark.parametrize("gone", list("abcd"))
def test_a_question_that_is_asked_the_other_way_round_keeps_what_is_below_each_answer(gone):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"group": rng.choice(list("abcd"), 300), "x": rng.normal(size=300)})
    risk = np.where(X["group"].isin(["a", "b"]), np.where(X["x"] > 0, 20.0, 2.0), 0.1)
    y = np.empty(300, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = True, rng.exponential(1 / risk)
    tree = SurTree(max_depth=2, max_splits=2).fit(X, y).tree_
    assert sorted(cut.name for cut in tree.cuts) == ["group", "x"]
    # Of two groups against one, the one is asked for.
    here = (X["group"] != gone).to_numpy()
    rows = read_training_data(SurTree(), RowInputs(X[here], y[here]))
    problem = make_problem(Encoder(None, min_support=0.0, category_cuts="subsets"), rows)
    _, label = np.unique(tree.apply(X[here]), return_inverse=True)
    found = nearest_topology(tree, problem)
    assert (found.cut >= 0).sum() == 2
    loss = rows.sums.constant - gain_of(problem, found)
    assert loss == pytest.approx(rows.sums.partition_loss(label), rel=1e-9)


def test_an_early_end_has_at_least_the_tree_of_the_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 60))).add_prefix("c")
    y = np.empty(400, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(400) < 0.7, rng.exponential(size=400)
    week = SurTree(max_depth=4, time_limit=1.5).fit(X[:398], y[:398])
    cold = SurTree(max_depth=4, time_limit=1e-9).fit(X, y)
    warm = SurTree(max_depth=4, time_limit=1e-9).fit(X, y, init=week)
    assert warm.loss_ < cold.loss_
    # Whatever the order of the columns: they are found by their names.
    turned = SurTree(max_depth=4, time_limit=1e-9).fit(X[X.columns[::-1]], y, init=week.tree_)
    assert turned.loss_ == pytest.approx(warm.loss_, rel=0.05)
    # Tighter limits rule.
    small = SurTree(max_depth=2, max_splits=2, time_limit=1e-9, min_samples_leaf=20)
    small.fit(X, y, init=week)
    assert small.tree_.depth <= 2
    assert small.tree_.n_samples[small.tree_.leaves].min() >= 20


@pytest.mark.parametrize("n_thresholds", [10, None])
def test_a_proven_optimum_is_the_same_whatever_it_starts_from(n_thresholds, tmp_path):
    X, y = load_gbsg2(backend="pandas")
    options = {"max_depth": 3, "n_thresholds": n_thresholds}
    if n_thresholds is None:
        X = X[["age", "tumor_grade", "positive_nodes"]]
    cold = SurTree(**options).fit(X, y)
    cold.save(tmp_path / "week.json")
    others = [
        GreedyTree(max_depth=5).fit(X, y),
        SurTree.load(tmp_path / "week.json"),
        SurTree(max_depth=2).fit(*load_lung()),  # about other columns
        SurTreeCV(max_depth=2, cv=3).fit(X, y),
    ]
    for other in others:
        warm = SurTree(**options).fit(X, y, init=other)
        assert warm.status_ == "optimal"
        assert warm.loss_ == cold.loss_
        assert str(warm.tree_) == str(cold.tree_)


def test_what_is_no_tree_is_refused():
    X, y = load_lung()
    with pytest.raises(TypeError, match="Pass a fitted model of surtree"):
        SurTree().fit(X, y, init="model.json")
