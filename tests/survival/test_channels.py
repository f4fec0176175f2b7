"""Objectives of several channels: causes and arms, against the reference solver."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from problems import random_problem
from solver_checks import (
    ENGINES,
    draw_limits,
    require_bounds,
    require_heuristics,
    require_optimum,
)
from surtree.data.target import Target
from surtree.solver import reference
from surtree.solver.core import Problem
from surtree.solver.problem import Switches
from surtree.survival.competing_risks import CauseHazards
from surtree.survival.objective import RelativeRisk
from surtree.survival.treatment import ArmContrasts, ArmHazards

SHRINKAGE = (0.0, 0.0, 0.5, 4.0)
WEIGHTS = (1.0, 1.0, 1.0, 0.5, 2.0, 0.0)


@cache
def draw(seed, *, kind):
    """Draw a problem with ties, weights, entry times, a prior and two to four channels."""
    rng = np.random.default_rng(seed)
    binned, holds = random_problem(rng, max_rows=18)
    n = len(holds)
    time = rng.choice([1.0, 2.0, 2.5, 3.0, 5.0, 8.0], n)
    event = rng.random(n) < 0.7
    event[0] = True
    entry = time * rng.choice([0.0, 0.3, 0.8], n) if rng.random() < 0.3 else None
    weight = rng.choice([0.5, 1.0, 3.0], n) if rng.random() < 0.5 else np.ones(n)
    shrinkage = float(rng.choice(SHRINKAGE))
    n_channels = int(rng.integers(2, 5))
    if kind == "causes":
        cause = np.where(event, rng.integers(1, n_channels + 1, n), 0)
        weights = rng.choice(WEIGHTS, n_channels)
        weights[0] = max(weights[0], 0.5)
        objective = CauseHazards(
            shrinkage=shrinkage,
            weights=tuple(weights.tolist()),
            causes=tuple(range(1, n_channels + 1)),
        )
        target = Target(event, time, entry, cause=cause, causes=objective.causes)
    else:
        objective = (ArmHazards if kind == "arms" else ArmContrasts).of(n_channels, shrinkage)
        target = Target(event, time, entry, arm=rng.integers(0, n_channels, n))
    sums = objective.row_sums(target, weight, objective.baseline(target, weight))
    return binned, holds, sums, draw_limits(rng)


DRAWS = {kind: partial(draw, kind=kind) for kind in ("causes", "arms", "effect")}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", DRAWS)
def test_the_optimum_is_that_of_the_reference(kind, engine):
    require_optimum(DRAWS[kind], engine, 120)


@pytest.mark.parametrize("kind", ["causes", "arms"])
def test_bounds_of_an_unfinished_search_hold(kind):
    require_bounds(DRAWS[kind], 40)


def test_an_unfinished_search_of_effects_has_a_tree_and_no_bound_that_is_wrong():
    require_bounds(DRAWS["effect"], 40)


@pytest.mark.parametrize("kind", DRAWS)
def test_local_search_and_greedy_keep_the_limits_and_are_never_better(kind):
    require_heuristics(DRAWS[kind], 40)


@pytest.mark.parametrize("kind", ["causes", "arms"])
def test_uneven_weights_leave_a_bound_that_holds(kind):
    n_solved = 0
    for seed in range(60):
        binned, holds, sums, limits = DRAWS[kind](seed)
        rng = np.random.default_rng(seed)
        factor = 10.0 ** rng.integers(-20, 3, sums.weight.size)
        factor[[0, -1]] = 1e-18, 1e2
        uneven = replace(
            sums,
            values=sums.values * factor,
            weight=sums.weight * factor,
            constants=sums.constants * factor,
        )
        assert uneven.is_uneven
        try:
            uneven.objective.exactness().require(uneven)
        except ValueError:  # nothing but heavy rows without events
            continue
        n_solved += 1
        found = Problem(binned, uneven).solve(limits, switches=Switches())
        gains = reference.solve(holds, uneven, limits).gains
        best = gains[np.minimum(np.arange(found.gains.size), gains.size - 1)]
        assert (found.gain_bounds >= best - 1e-9 * uneven.scale).all(), seed
    assert n_solved > 20


@pytest.mark.parametrize("seed", range(20))
def test_one_cause_is_a_survival_tree(seed):
    binned, _, sums, limits = DRAWS["causes"](seed)
    objective = replace(sums.objective, weights=(1.0, *[0.0] * (len(sums.objective.causes) - 1)))
    alone = RelativeRisk(objective.shrinkage)
    rows = replace(sums, objective=alone, values=sums.values[:2])
    gains = Problem(binned, replace(sums, objective=objective)).solve(limits).gains
    assert gains.tolist() == Problem(binned, rows).solve(limits).gains.tolist()


@pytest.mark.parametrize("kind", DRAWS)
def test_a_loss_is_that_of_the_rows_at_what_a_leaf_predicts(kind):
    for seed in range(40):
        _, _, sums, _ = DRAWS[kind](seed)
        objective = sums.objective
        prediction = objective.predict(sums.total)
        loss = sums.loss(np.repeat(prediction[:, None], sums.weight.size, axis=1))
        penalised = loss + float(objective.penalty(sums.total))
        expected = sums.constant - float(objective.gain(sums.total))
        # A channel without events and prior predicts half an event, not none.
        events, hazard = sums.total[0::2], sums.total[1::2]
        excess = np.minimum(0.5, hazard)[events == 0].sum() if objective.shrinkage == 0 else 0.0
        assert expected - 1e-9 <= penalised <= expected + 2.0 * excess + 1e-9, seed
        assert expected >= 0
