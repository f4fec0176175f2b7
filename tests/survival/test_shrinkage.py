"""Shrinkage: a prior in every leaf, optimised exactly by all engines and heuristics."""

from functools import cache

import numpy as np
import pytest

from problems import random_problem
from solver_checks import (
    ENGINES,
    draw_limits,
    require_best_stump,
    require_bounds,
    require_heuristics,
    require_optimum,
)
from surtree import RelativeRisk, SurTree, audit_tree
from surtree.data.target import Target
from surtree.datasets import load_gbsg2, load_lung
from surtree.heuristics import GreedyTree, LocalSearchTree
from surtree.survival.baseline import nelson_aalen

X, Y = load_gbsg2()


@cache
def draw(seed):
    """Draw a problem with ties, weights and entry times, and a shrinkage from 0.1 to 100."""
    rng = np.random.default_rng(seed)
    binned, holds = random_problem(rng, max_rows=18)
    n = len(holds)
    event = rng.random(n) < 0.6
    event[rng.integers(n)] = True
    time = rng.integers(1, 6, n).astype(float)
    entry = time * rng.choice([0.0, 0.5], n) if rng.random() < 0.3 else None
    target = Target(event, time, entry)
    weight = rng.choice([0.5, 1.0, 3.0], n) if rng.random() < 0.5 else np.ones(n)
    objective = RelativeRisk(float(rng.choice([0.1, 1.0, 3.0, 100.0])))
    sums = objective.row_sums(target, weight, nelson_aalen(target, weight))
    return binned, holds, sums, draw_limits(rng)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_optimum_is_that_of_the_reference(engine):
    require_optimum(draw, engine, 400)


def test_bounds_of_an_unfinished_search_hold():
    require_bounds(draw, 80)


def test_local_search_and_greedy_keep_the_limits_and_are_never_better():
    require_heuristics(draw, 80)


def test_a_greedy_stump_is_the_best_stump():
    require_best_stump(draw, 80)


def test_a_split_may_lower_the_gain_and_the_smaller_tree_stays():
    # Two equal halves of a leaf: each has a prior of its own, so together they are worth less.
    risk = RelativeRisk(1.0)
    assert 2 * risk.gain([2.5, 0.5]) < risk.gain([5.0, 1.0])
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (200, 6))
    time = rng.exponential(np.where(columns[:, 0] == 1, 0.2, 1.0))
    free = SurTree(max_depth=3).fit(columns, time)
    shrunk = SurTree(max_depth=3, shrinkage=30.0).fit(columns, time)
    assert free.tree_.n_splits == 7
    assert shrunk.tree_.n_splits < 7  # although seven are allowed
    losses = [size.loss for size in shrunk.path_]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("shrinkage", [0.5, 10.0])
def test_leaves_predict_and_lose_what_the_prior_says(shrinkage):
    model = SurTree(max_depth=3, shrinkage=shrinkage).fit(X, Y)
    tree = model.tree_
    events, hazard = tree.events[tree.leaves], tree.hazard[tree.leaves]
    theta = (events + shrinkage) / (hazard + shrinkage)
    np.testing.assert_allclose(tree.theta[tree.leaves], theta, rtol=1e-14)
    penalty = shrinkage * (theta - 1 - np.log(theta)).sum()
    assert model.unpenalised_loss_ == pytest.approx(model.loss(X, Y), rel=1e-12)
    assert model.loss_ == pytest.approx(model.loss(X, Y) + penalty, rel=1e-12)
    assert model.status_ == "optimal"
    assert model.gap_ == 0


def test_the_penalised_loss_grows_with_the_shrinkage_and_risks_move_towards_one():
    models = [SurTree(max_depth=2, shrinkage=a).fit(X, Y) for a in (0.0, 1.0, 10.0, 100.0)]
    losses = [model.loss_ for model in models]
    assert losses == sorted(losses)
    reach = [np.abs(np.log(model.tree_.theta)).max() for model in models]
    assert reach == sorted(reach, reverse=True)


def test_no_shrinkage_is_the_loss_of_the_paper():
    model = SurTree(max_depth=2).fit(X, Y)
    assert model.unpenalised_loss_ == model.loss_
    assert model.tree_.objective == RelativeRisk()


def test_every_threshold_and_threads_find_the_same_optimum():
    lung_x, lung_y = load_lung()
    every = {"n_thresholds": None, "max_depth": 2, "shrinkage": 2.0}
    one = SurTree(**every).fit(lung_x, lung_y)
    two = SurTree(**every, n_jobs=2).fit(lung_x, lung_y)
    ten = SurTree(**every | {"n_thresholds": 10}).fit(lung_x, lung_y)
    assert one.n_evaluated_ > 0  # columns were bisected
    assert one.loss_ == two.loss_
    assert one.tree_ == two.tree_
    assert one.loss_ <= ten.loss_
    assert one.status_ == "optimal"


@pytest.mark.parametrize("heuristic", [GreedyTree, LocalSearchTree])
def test_heuristics_and_audits_use_the_same_loss(heuristic):
    best = SurTree(max_depth=3, shrinkage=5.0).fit(X, Y)
    found = heuristic(max_depth=3, shrinkage=5.0).fit(X, Y)
    assert found.tree_.objective == RelativeRisk(5.0)
    assert found.loss_ >= best.loss_ - 1e-9
    audited = audit_tree(found, X, Y)
    assert audited.loss == pytest.approx(found.loss_, rel=1e-12)
    if found.tree_.n_splits == best.tree_.n_splits:
        assert audited.same_depth.loss == pytest.approx(best.loss_, rel=1e-9)
    assert audit_tree(best, X, Y).gap == 0


def test_a_leaf_without_events_is_never_riskier_than_average():
    risk = RelativeRisk()
    assert risk.predict([[0.0, 0.0], [0.1, 2.0]]).tolist() == [1.0, 0.25]
    assert RelativeRisk(1.0).predict([[0.0], [3.0]]).tolist() == [0.25]


@pytest.mark.parametrize("value", [-1, 1e-9, 1001, "auto", None, True, np.nan, np.inf])
@pytest.mark.parametrize("estimator", [SurTree, GreedyTree, LocalSearchTree])
def test_other_values_are_refused_by_name(estimator, value):
    with pytest.raises(ValueError, match="shrinkage must be 0 or a number from 1e-06 to 1000; got"):
        estimator(shrinkage=value).fit(X, Y)


def test_a_prior_that_hides_all_events_is_refused():
    weight = np.full(len(Y), 1e-8)
    with pytest.raises(ValueError, match=r"shrinkage=1 is more than 100,000 times .* 2.99e-06"):
        SurTree(shrinkage=1.0).fit(X, Y, weight)
    assert SurTree(max_depth=1).fit(X, Y, weight).status_ == "optimal"


def test_files_keep_the_shrinkage(tmp_path):
    model = SurTree(max_depth=2, shrinkage=3.0).fit(X, Y)
    model.save(tmp_path / "model.json")
    loaded = SurTree.load(tmp_path / "model.json")
    assert loaded.shrinkage == 3.0
    assert loaded.tree_ == model.tree_
    assert loaded.unpenalised_loss_ == model.unpenalised_loss_
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    edited = text.replace('"shrinkage": 3.0', '"shrinkage": 1.0')
    (tmp_path / "model.json").write_text(edited, encoding="utf-8")
    with pytest.raises(ValueError, match="its tree was fitted with another shrinkage"):
        SurTree.load(tmp_path / "model.json")
