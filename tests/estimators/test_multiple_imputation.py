"""Imputed tables, one below the other with weights 1/m, have the mean loss of the tables."""

import numpy as np
import pytest

from surtree import CompetingRisksTree, SurTree
from surtree.datasets import load_lung, load_melanoma

M = 4
CUTS = {"age": [40, 50, 60], "thickness": [1, 2, 3], "year": [1970]}


def imputed(X, seed):
    rng = np.random.default_rng(seed)
    columns = X.select_dtypes("number").columns
    filled = X[columns].copy()
    for column in columns:
        missing = filled[column].isna()
        filled.loc[missing, column] = rng.choice(filled[column][~missing], missing.sum())
    return filled


@pytest.fixture(scope="module")
def lung():
    return load_lung(backend="pandas")


def test_the_loss_of_the_stack_is_the_mean_loss(lung):
    X, y = lung
    tables = [imputed(X, seed) for seed in range(M)]
    names, values = tables[0].columns, np.vstack(tables)
    stacked = tables[0].iloc[np.tile(np.arange(len(X)), M)].reset_index(drop=True)
    stacked[names] = values
    weight = np.full(len(stacked), 1 / M)
    model = SurTree(max_depth=2).fit(stacked, np.tile(y, M), weight)
    assert model.status_ == "optimal"
    # The hazard of all rows is that of one table, so that losses of tables can be added up.
    losses = [model.loss(table, y) for table in tables]
    assert model.loss_ == pytest.approx(np.mean(losses), rel=1e-9)
    # Nor has the tree of any one table, with all questions that there are, less on the stack.
    for number in range(M):
        one = stacked.iloc[number * len(X) : (number + 1) * len(X)]
        other = SurTree(max_depth=2, n_thresholds=None).fit(one, y)
        every = SurTree(max_depth=2, n_thresholds=None).fit(stacked, np.tile(y, M), weight)
        assert other.loss(stacked, np.tile(y, M), weight) >= every.loss_ * (1 - 1e-9)


def test_equal_tables_have_the_tree_and_the_intervals_of_one():
    X, y = load_melanoma(backend="pandas")
    one = CompetingRisksTree(max_depth=2, min_samples_leaf=10, thresholds=CUTS).fit(X, y)
    rows = np.tile(np.arange(len(X)), M)
    stack = CompetingRisksTree(max_depth=2, min_samples_leaf=10 * M, thresholds=CUTS).fit(
        X.iloc[rows], y[rows], np.full(rows.size, 1 / M)
    )
    assert [str(cut) for cut in stack.tree_.cuts] == [str(cut) for cut in one.tree_.cuts]
    assert stack.loss_ == pytest.approx(one.loss_, rel=1e-9)
    np.testing.assert_allclose(stack.tree_.sums, one.tree_.sums, rtol=1e-9)
