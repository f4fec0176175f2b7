"""A fit whose rows come in batches, by hand: the unit and the trees of all rows at once."""

import numpy as np
import pandas as pd
import pytest

from surtree import CompetingRisksTree, SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.core import TripleTables
from surtree.solver.problem import Forest, Limits, Rounding
from surtree.survival.exactness import unit_of

LIMITS = Limits(3, min_samples_leaf=5)


def rows(seed: int, has_causes: bool, n: int = 900):
    rng = np.random.default_rng([22, seed])
    risk = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, risk),
            "tied": np.round(rng.normal(size=n), 1),
            "text": rng.choice(["a", "b", "c", "d"], n),
            "other": rng.normal(size=n),
        }
    )
    entry = np.where(rng.random(n) < 0.5, 0.0, np.round(rng.exponential(0.3, n), 2))
    time = entry + np.round(rng.exponential(np.exp(-risk)), 2) + 0.01
    cause = rng.choice([0, 1, 2, 4], n, p=[0.4, 0.3, 0.2, 0.1])
    y = np.rec.fromarrays([cause if has_causes else cause > 0, time], names="event,time")
    weight = None if seed == 0 else rng.uniform(0.1, 3.0, n) * 10.0 ** (2 * (seed - 1))
    return X, y, weight, entry if seed % 2 else None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", [SurTree(), CompetingRisksTree(causes={1: 0.0, 2: 3.0, 4: 1.0})])
def test_batches_add_up_to_the_fit_of_all_rows(model, seed):
    data = read_training_data(model, RowInputs(*rows(seed, isinstance(model, CompetingRisksTree))))
    problem = make_problem(encoder_of(model), data)
    expected = problem.core.solve(LIMITS)

    # What a first pass over the rows knows.
    weight, baseline, objective = data.sums.weight, data.baseline, data.sums.objective
    known = data.sums.total.copy()
    known[1::2] = np.nan  # hazards
    unit = objective.exactness().unit(known, data.sums.weight_terms.total, baseline)
    assert unit == data.sums.unit
    most = float(objective.core_values(data.sums.total[:, None]).max())
    assert most < 2.0**51 * unit
    assert unit <= 2 * unit_of(most)
    rounding = Rounding(
        unit, objective.exactness().is_uneven(np.array([weight.min(), weight.max()]))
    )
    # A second pass: the tables.
    tables = TripleTables(problem.binned, objective, rounding, LIMITS, tuple(data.sums.counts))
    for batch in np.array_split(np.random.default_rng(seed).permutation(weight.size), 7):
        sums = objective.row_sums(data.target.take(batch), weight[batch], baseline)
        tables.add(problem.binned.bins[:, batch].copy(), sums.core, sums.counts)
    solution = tables.solve()
    assert solution.gains.tolist() == expected.gains.tolist()
    assert (Forest.of(solution.topologies).cut == Forest.of(expected.topologies).cut).all()
