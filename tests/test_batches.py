"""A fit whose rows come in batches, by hand: the sums, units and trees of all rows at once."""

import numpy as np
import pandas as pd
import pytest

from surtree import CompetingRisksTree, SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.fitting.fit_problem import make_problem
from surtree.fitting.training import read_training_data
from surtree.solver.core import Problem, TripleTables
from surtree.solver.problem import BinnedRows, Forest, Limits, Rounding
from surtree.survival.bounds import unit_of
from surtree.tree.build import trees_of_sums

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
    unit = objective.unit(known, data.sums.weight_terms.total, baseline)
    assert unit == data.sums.unit
    most = float(objective.core_values(data.sums.total[:, None]).max())
    assert most < 2.0**51 * unit
    assert unit <= 2 * unit_of(most)
    rounding = Rounding(unit, objective.is_uneven(np.array([weight.min(), weight.max()])))
    n = weight.size
    grids = objective.node_grids(n, (weight.min(), weight.max()), baseline)

    # A second pass: the tables. A third one: the sums of nodes.
    batches = np.array_split(np.random.default_rng(seed).permutation(n), 7)
    parts = []
    for rows_of_batch in batches:
        sums = objective.row_sums(data.target.take(rows_of_batch), weight[rows_of_batch], baseline)
        own = vars(problem.binned) | {"bins": problem.binned.bins[:, rows_of_batch].copy()}
        parts.append((BinnedRows(**own), sums))
    tables = TripleTables(problem.binned, objective, rounding, LIMITS, tuple(data.sums.counts))
    for binned, sums in parts:
        tables.add(binned.bins, sums.values, sums.counts)
    solution = tables.solve()
    assert solution.gains.tolist() == expected.gains.tolist()
    forest = Forest.of(solution.topologies)
    assert (forest.cut == Forest.of(expected.topologies).cut).all()
    added = 0.0
    for binned, sums in parts:
        values = sums.node_values_on(grids)
        added = added + Problem(binned, sums, rounding).sum_nodes(forest, values.lines)
    node_sums = values.join(added)
    cuts = problem.encoder.cuts_
    found = trees_of_sums(forest, node_sums, objective, cuts, baseline)
    for lazy, other in zip(found, problem.build(expected.topologies), strict=True):
        assert lazy.loss == other.loss
        assert lazy.tree.to_dict() == other.tree.to_dict()
