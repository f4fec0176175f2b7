"""A new limit on leaves is a count and its least value: made up here, in Python alone."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from problems import random_problem
from surtree.data.target import Target
from surtree.heuristics._greedy import grow
from surtree.solver import reference
from surtree.solver.core import Problem
from surtree.solver.problem import Limits, Switches
from surtree.survival.baseline import nelson_aalen
from surtree.survival.objective import RELATIVE_RISK

ENGINES = (Switches(), Switches(kernel_depth=1), Switches(bisect=0))


@dataclass(frozen=True)
class LimitsWithWeight(Limits):
    """Limits that also require a weight of each leaf."""

    min_weight_leaf: float = 0.0

    @property
    def least(self):
        return super().least | {"weight": self.min_weight_leaf}


def draw(seed):
    """Draw a problem whose rows are counted by their weight too."""
    rng = np.random.default_rng(seed)
    binned, holds = random_problem(rng)
    n = len(holds)
    event = rng.random(n) < 0.6
    event[0] = True
    weight = rng.choice([0.25, 0.5, 1.0, 3.0], n)
    target = Target(event, rng.integers(1, 6, n).astype(float), None)
    sums = RELATIVE_RISK.row_sums(target, weight, nelson_aalen(target, weight))
    sums = replace(sums, counts={**sums.counts, "weight": weight})
    limits = LimitsWithWeight(
        max_depth=int(rng.integers(1, 4)),
        min_samples_leaf=int(rng.integers(1, 3)),
        min_events_leaf=int(rng.integers(0, 2)),
        min_weight_leaf=float(rng.choice([0.0, 0.25, 1.0, 2.25, 4.0])),
    )
    return binned, holds, sums, limits


@pytest.mark.parametrize("seed", range(60))
def test_every_search_keeps_a_limit_that_it_has_never_heard_of(seed):
    binned, holds, sums, limits = draw(seed)
    problem = Problem(binned, sums)
    gains = reference.solve(holds, sums, limits).gains
    topologies = [
        grow(binned, sums, limits),
        problem.local_search(limits, n_restarts=3, seed=seed).topology,
    ]
    for switches in ENGINES:
        found = problem.solve(limits, switches=switches)
        expected = gains[np.minimum(np.arange(found.gains.size), gains.size - 1)]
        np.testing.assert_allclose(found.gains, expected, rtol=1e-10, atol=1e-10)
        topologies += found.topologies
    for topology in topologies:
        leaf = problem.find_leaves(topology)
        weight = np.bincount(leaf, sums.weight)[topology.left < 0]
        assert weight.size == 1 or weight.min() >= limits.min_weight_leaf


def test_the_limit_matters():
    drawn = (draw(seed) for seed in range(60))
    assert (
        sum(
            Problem(binned, sums).solve(limits).gains[-1]
            < Problem(binned, sums).solve(replace(limits, min_weight_leaf=0.0)).gains[-1] - 1e-9
            for binned, _, sums, limits in drawn
        )
        >= 10
    )


def test_a_limit_without_a_count_is_an_error():
    binned, _, sums, limits = draw(0)
    uncounted = replace(sums, counts={"samples": sums.counts["samples"]})
    with pytest.raises(KeyError, match="events"):
        Problem(binned, uncounted).solve(limits)
