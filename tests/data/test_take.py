"""Some rows of a problem: the same cuts, and the answers of a problem of these rows alone."""

import numpy as np
import pytest

from surtree import CompetingRisksTree, SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.datasets import load_gbsg2, load_melanoma
from surtree.fitting.size_path import find_path
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.problem import Limits
from surtree.solver.search import SearchSettings


@pytest.fixture(params=[(SurTree, load_gbsg2), (CompetingRisksTree, load_melanoma)])
def problem(request):
    kind, load = request.param
    X, y = load()
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.5], len(X))
    model = kind(max_depth=2)
    return make_problem(encoder_of(model), read_training_data(model, RowInputs(X, y, weight)))


def test_positions_and_masks_take_the_same_rows(problem):
    rows = np.arange(problem.data.sums.weight.size) % 3 > 0
    limits = Limits(2)
    by_mask, by_position = (
        problem.core.take(chosen).solve(limits) for chosen in (rows, np.flatnonzero(rows))
    )
    assert by_mask.gains.tolist() == by_position.gains.tolist()
    whole = problem.core.solve(limits)
    assert (by_mask.gains != whole.gains).all()
    everything = problem.core.take(slice(None)).solve(limits)
    assert everything.gains == pytest.approx(whole.gains, rel=1e-12)


def test_rows_that_are_taken_have_a_baseline_of_their_own(problem):
    weight = problem.data.sums.weight
    rows = np.arange(weight.size) % 3 > 0
    repeats = np.random.default_rng(2).integers(0, 3, weight.size)
    sample = problem.take(rows, repeats)
    kept = rows & (repeats > 0)
    assert sample.binned.bins.tolist() == problem.binned.bins[:, kept].tolist()
    assert sample.data.sums.weight.tolist() == (weight * repeats)[kept].tolist()
    target = problem.data.target.take(kept)
    assert sample.data.baseline == sample.data.sums.objective.baseline(
        target, (weight * repeats)[kept]
    )
    path = find_path(sample, SearchSettings(Limits(2)))
    assert path.status == "optimal"
    assert path.sizes[-1].tree.n_samples[0] == kept.sum()
