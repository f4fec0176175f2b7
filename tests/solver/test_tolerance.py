"""Bounds within a share of the loss: never beyond the optimum, and soon close to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, cases
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.datasets import make_survival_tree_data
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Switches


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    case=cases(max_rows=16, max_columns=3),
    depth=st.integers(3, 4),
    stop_after=st.integers(0, 150),
    shrinkage=st.sampled_from([0.0, 0.0, 2.0]),
)
def test_bounds_hold_however_early_a_bisection_ends(case: Case, depth, stop_after, shrinkage):
    limits = {"min_samples_leaf": case.limits.get("min_samples_leaf", 1)}
    model = SurTree(depth, n_thresholds=None, min_support=0.0, shrinkage=shrinkage, **limits)
    rows = read_training_data(model, RowInputs(case.X, case.y, case.weight, case.entry))

    problem = Problem(make_problem(encoder_of(model), rows).binned, rows.sums)
    best = problem.solve(Limits(depth, **limits), switches=Switches(bisect=10**9)).gains
    switches = Switches(bisect=0, stop_after=stop_after)
    found = problem.solve(Limits(depth, **limits), time_limit=1e6, switches=switches)
    scale = 1e-9 * (rows.sums.scale + np.abs(best[0]))
    size = min(best.size, found.gains.size)
    assert (found.gains[:size] <= best[:size] + scale).all()
    assert (found.gain_bounds[:size] >= best[:size] - scale).all()
    if found.status == "optimal":
        np.testing.assert_allclose(found.gains[:size], best[:size], atol=scale)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_long_columns_hold_after_every_task(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 60))
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 4, n)])
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n) < 0.7, rng.exponential(size=n)
    model = SurTree(n_thresholds=None, min_support=0.0)
    rows = read_training_data(model, RowInputs(X, y))
    problem = Problem(make_problem(encoder_of(model), rows).binned, rows.sums)
    limits = Limits(3, min_samples_leaf=int(rng.choice([1, 3])))
    best = problem.solve(limits, switches=Switches(bisect=10**9)).gains
    gaps = []
    for stop_after in (*range(0, 60, 2), *range(60, 400, 20)):
        switches = Switches(bisect=0, stop_after=stop_after)
        found = problem.solve(limits, time_limit=1e6, switches=switches)
        assert (found.gains <= best + 1e-9).all()
        assert (found.gain_bounds >= best - 1e-9).all()
        gaps.append(float(found.gain_bounds[-1] - found.gains[-1]))
    # Bounds move long before the end.
    assert len(set(gaps)) > 10
    assert gaps[-1] < gaps[0] / 4


def test_gaps_of_every_threshold_shrink_steadily():
    X, y, _ = make_survival_tree_data(600, random_state=0)
    seen = []
    options = {"max_depth": 4, "n_thresholds": None, "min_support": 0.0, "time_limit": 8.0}
    model = SurTree(**options, progress=seen.append).fit(X, y)
    gaps = np.array([1 - now.lower_bound / now.loss for now in seen])
    assert (np.diff(gaps) <= 1e-12).all()
    # Not in one step, and further than a bound that knows nothing.
    assert np.unique(gaps[(gaps > 0.01) & (gaps < 0.99)]).size > 5
    assert model.gap_ < 0.3
    # The bound is valid: the optimum of less depth does not go below it.
    three = SurTree(max_depth=3, n_thresholds=None, min_support=0.0).fit(X, y)
    assert model.path_[-1].lower_bound <= model.loss_ <= three.loss_ + 1e-9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_time_limit_that_is_long_enough_changes_nothing(n_jobs):
    X, y, _ = make_survival_tree_data(300, random_state=1)
    options = {"max_depth": 3, "n_thresholds": None, "min_support": 0.0, "n_jobs": n_jobs}
    plain, timed = SurTree(**options).fit(X, y), SurTree(**options, time_limit=600.0).fit(X, y)
    assert timed.status_ == "optimal"
    assert str(timed.tree_) == str(plain.tree_)
    assert [size.loss for size in timed.path_] == [size.loss for size in plain.path_]
    assert timed.n_cuts_ > 0
