"""Runs in the process of `test_new_objective`, where the core has the objective of the test."""

from functools import cache

import numpy as np
import pytest
from squared_error import SQUARED_ERROR

from problems import random_problem
from solver_checks import (
    ENGINES,
    draw_limits,
    require_best_stump,
    require_bounds,
    require_heuristics,
    require_optimum,
)
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder
from surtree.data.table import read_table
from surtree.data.target import Target
from surtree.fitting.size_path import find_path
from surtree.fitting.training import FitProblem, training_data
from surtree.solver.core import Problem
from surtree.solver.problem import Limits
from surtree.solver.search import SearchSettings
from surtree.survival.baseline import Baseline
from surtree.tree.build import build_tree

BASELINE = Baseline(np.array([1.0]), np.array([1.0]), 0.5)


@cache
def draw(seed):
    """Draw a problem with ties and weights, where half of the numbers are negative."""
    rng = np.random.default_rng(seed)
    binned, holds = random_problem(rng, max_rows=18)
    n = len(holds)
    # Few distinct numbers, so that many trees are equally good.
    number = rng.integers(-3, 4, n).astype(float) if rng.random() < 0.5 else rng.normal(size=n)
    weight = rng.choice([0.5, 1.0, 3.0], n) if rng.random() < 0.5 else np.ones(n)
    target = Target(rng.random(n) < 0.5, number, None)
    sums = SQUARED_ERROR.row_sums(target, weight, BASELINE)
    return binned, holds, sums, draw_limits(rng)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_optimum_is_that_of_the_reference(engine):
    require_optimum(draw, engine, 300)


def test_bounds_of_an_unfinished_search_hold():
    require_bounds(draw, 60)


def test_local_search_and_greedy_keep_the_limits_and_are_never_better():
    require_heuristics(draw, 60)


def test_a_greedy_stump_is_the_best_stump():
    require_best_stump(draw, 60)


def test_a_leaf_predicts_the_mean_and_loses_the_squared_errors():
    binned, _, sums, _ = draw(3)
    problem = Problem(binned, sums)
    topology = problem.solve(Limits(2)).topologies[-1]
    cuts = tuple(Cut(int(line), f"x{line}", threshold=0.5) for line in binned.cut_column)
    tree = build_tree(topology, problem, cuts, BASELINE)
    leaf = problem.find_leaves(topology)
    total, weight = sums.values
    number = total / weight
    for node in tree.leaves:
        rows = leaf == node
        mean = np.average(number[rows], weights=weight[rows])
        assert tree.theta[node] == pytest.approx(mean)
        errors = weight[rows] @ (number[rows] - mean) ** 2
        assert tree.loss[node] == pytest.approx(errors, abs=1e-9)
    assert sums.loss(tree.theta[leaf]) == pytest.approx(tree.total_loss)


def test_a_path_of_sizes_from_a_table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3)).round(1)
    number = np.where(X[:, 0] > 0, np.where(X[:, 1] > 0.5, 3.0, 1.0), 2.0)
    encoder = Encoder()
    data = training_data(
        read_table(encoder, X, reset=True),
        Target(np.ones(60, dtype=bool), number, None),
        np.ones(60),
        SQUARED_ERROR,
    )
    problem = FitProblem(data, encoder, encoder.fit_encode(data.table, data.table_weight))
    path = find_path(problem, SearchSettings(Limits(3)))
    assert path.status == "optimal"
    losses = [size.loss for size in path.sizes]
    assert losses[0] == pytest.approx(60 * number.var())
    assert losses == sorted(losses, reverse=True)
    tree = path.sizes[-1].tree
    errors = (tree.theta[tree.apply(X)] - number) ** 2
    assert losses[-1] == pytest.approx(errors.sum())
