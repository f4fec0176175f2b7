"""The authors' own package: never a smaller loss than ours, both computed by our function."""

import numpy as np
import pytest

from problems import leaf_loss, row_hazard
from surtree import SurTree
from surtree.datasets import make_survival_tree_data

pystreed = pytest.importorskip("pystreed", reason="pip install pystreed to compare with it")


def pystreed_leaves(binary: np.ndarray, y: np.ndarray, depth: int, monkeypatch) -> np.ndarray:
    # pystreed 1.4 indexes a list with the events, which numpy >= 2.4 refuses for booleans.
    model_class = pystreed.STreeDSurvivalAnalysis
    plain = model_class._compute_baseline_cumulative_hazard_function
    monkeypatch.setattr(
        model_class,
        "_compute_baseline_cumulative_hazard_function",
        lambda self, events, times: plain(self, [int(event) for event in events], times),
    )
    model = model_class(max_depth=depth, max_num_nodes=2**depth - 1)
    model.fit(binary, y)
    leaf = np.zeros(len(y), dtype=int)
    pending = [(model.get_tree(), np.arange(len(y)), 1)]
    while pending:
        node, rows, number = pending.pop()
        if node.is_leaf_node():
            leaf[rows] = number
            continue
        right = binary[rows, node.feature] == 1
        pending.append((node.left_child, rows[~right], 2 * number))
        pending.append((node.right_child, rows[right], 2 * number + 1))
    return leaf


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_never_worse_than_pystreed(seed, depth, monkeypatch):
    X, y, _ = make_survival_tree_data(500, censoring=0.5, random_state=seed)
    model = SurTree(max_depth=depth).fit(X, y)
    binary = model.encoder_.transform(X).astype(int)
    leaf = pystreed_leaves(binary, y, depth, monkeypatch)
    weight = np.ones(len(y))
    theirs = leaf_loss(y, weight, row_hazard(y, weight, None), leaf)
    assert model.loss_ <= theirs * (1 + 1e-9)
    # Theirs is optimal to a relative 1e-4, so ours being far better would be a bug as well.
    assert model.loss_ >= theirs * (1 - 2e-3)
