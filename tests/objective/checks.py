"""Runs in the process of `test_new_objective`, where the core has the objective of the test."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from squared_error import SQUARED_ERROR

from problems import random_problem
from surtree.cuts.cut import Cut
from surtree.cuts.encoder import Encoder
from surtree.data.table import read_table
from surtree.data.target import Target
from surtree.fitting.fit_problem import FitProblem
from surtree.fitting.size_path import find_path
from surtree.fitting.training import training_data
from surtree.heuristics.greedy import grow
from surtree.solver import reference
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Switches
from surtree.solver.search import SearchSettings
from surtree.survival.baseline import Baseline
from surtree.tree.build import build_tree

BASELINE = Baseline(np.array([1.0]), np.array([1.0]), 0.5)
ENGINES = {
    "sweep": Switches(),
    "one level": Switches(kernel_depth=1),
    "two levels": Switches(kernel_depth=2),
    "unshared": Switches(share=False, merge=False, bounds=False),
    "bisection": Switches(bisect=0),
}


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
    limits = Limits(int(rng.integers(1, 4)))
    if rng.random() < 0.5:
        limits = replace(
            limits,
            max_splits=int(rng.integers(1, 8)),
            min_samples_leaf=int(rng.integers(1, 4)),
            min_events_leaf=int(rng.integers(0, 3)),
        )
    return binned, holds, sums, limits


@cache
def reference_gains(seed, limits):
    _, holds, sums, _ = draw(seed)
    return reference.solve(holds, sums, limits).gains


def expected(seed, limits, n_sizes):
    gains = reference_gains(seed, limits)
    return gains[np.minimum(np.arange(n_sizes), gains.size - 1)]


def gain_of(topology, problem):
    leaf = problem.find_leaves(topology)
    return problem.sums.constant - problem.sums.partition_loss(leaf.astype(np.intp))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_optimum_is_that_of_the_reference(engine):
    for seed in range(300):
        binned, _, sums, limits = draw(seed)
        problem = Problem(binned, sums)
        found = problem.solve(limits, switches=ENGINES[engine])
        assert found.status == "optimal"
        best = expected(seed, limits, found.gains.size)
        np.testing.assert_allclose(found.gains, best, rtol=1e-10, atol=1e-10, err_msg=str(seed))
        for topology, gain in zip(found.topologies, found.gains, strict=True):
            assert gain_of(topology, problem) == pytest.approx(gain, rel=1e-10, abs=1e-10), seed


def test_bounds_of_an_unfinished_search_hold():
    for seed in range(60):
        binned, _, sums, limits = draw(seed)
        for switches in (Switches(kernel_depth=1), Switches(kernel_depth=2), Switches(bisect=0)):
            for last in range(6):
                found = Problem(binned, sums).solve(
                    limits, switches=replace(switches, stop_after=last)
                )
                best = expected(seed, limits, found.gains.size)
                assert (found.gains <= best + 1e-9).all(), seed
                assert (found.gain_bounds >= best - 1e-9).all(), seed


def test_local_search_and_greedy_keep_the_limits_and_are_never_better():
    n_as_good = 0
    for seed in range(60):
        binned, _, sums, limits = draw(seed)
        problem = Problem(binned, sums)
        best = expected(seed, limits, 8)[-1]
        free = replace(limits, max_splits=None)  # greedy trees know no such limit
        local = problem.local_search(limits, n_restarts=5, seed=seed).topology
        greedy = grow(binned, sums, free)
        for topology, most in ((local, best), (greedy, expected(seed, free, 8)[-1])):
            gain = gain_of(topology, problem)
            assert gain <= most + 1e-9
            leaf = problem.find_leaves(topology)
            for name, least in limits.least.items():
                counts = np.bincount(leaf, sums.counts[name])[topology.left < 0]
                assert counts.size == 1 or counts.min() >= least
        n_as_good += gain_of(local, problem) > best - 1e-9
    assert n_as_good > 50


def test_a_greedy_stump_is_the_best_stump():
    for seed in range(60):
        binned, _, sums, limits = draw(seed)
        limits = replace(limits, max_depth=1, max_splits=None)
        gain = gain_of(grow(binned, sums, limits), Problem(binned, sums))
        assert gain == pytest.approx(expected(seed, limits, 2)[-1], rel=1e-9, abs=1e-9)


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
    errors = (tree.theta[tree.apply(data.table)] - number) ** 2
    assert losses[-1] == pytest.approx(errors.sum())
