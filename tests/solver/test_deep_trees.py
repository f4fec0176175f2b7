"""Limits on time with deep trees and wide tables: what they cost beside the search is little."""

import subprocess
import sys

import numpy as np
import pytest

from surtree import SurTree, target
from surtree.solver._restriction import Restricted
from surtree.solver.core import Problem
from surtree.solver.problem import BinnedRows, TreeTopology
from surtree.solver.pruning import best_subtrees


def draw_tree(rng, n_splits):
    """Draw a tree in preorder."""
    cut, left, right = [], [], []

    def add(n):
        node = len(cut)
        for each in (cut, left, right):
            each.append(-1)
        if n:
            n_left = int(rng.integers(0, n))
            cut[node] = int(rng.integers(0, 99))
            left[node] = add(n_left)
            right[node] = add(n - 1 - n_left)
        return node

    add(n_splits)
    return TreeTopology(*(np.array(each, dtype=np.int32) for each in (cut, left, right)))


def subtrees_one_by_one(tree, worth):
    """Return gains and subtrees of every size, as the definition says: slow and obvious."""
    best = {}

    def options(node):
        """Return, by number of splits, the best gain and how many splits are on the left."""
        best[node] = {0: (worth[node], 0)}
        if tree.left[node] >= 0:
            no, yes = options(tree.left[node]), options(tree.right[node])
            for i, (gain, _) in no.items():
                for j, (other, _) in yes.items():
                    known = best[node].get(1 + i + j, (-np.inf, 0))
                    best[node][1 + i + j] = max(known, (gain + other, i))
        return best[node]

    def cuts(node, n):
        if n == 0:
            return [-1], [worth[node]]
        i = best[node][n][1]
        parts = cuts(tree.left[node], i), cuts(tree.right[node], n - 1 - i)
        return [int(tree.cut[node]), *parts[0][0], *parts[1][0]], parts[0][1] + parts[1][1]

    sizes = options(0)
    return [sizes[n][0] for n in range(len(sizes))], [cuts(0, n) for n in range(len(sizes))]


@pytest.mark.parametrize("ties", [False, True])
def test_subtrees_are_those_of_the_definition(ties):
    rng = np.random.default_rng(0)
    for n_splits in [*range(25), 60]:
        tree = draw_tree(rng, n_splits)
        worth = rng.normal(size=2 * n_splits + 1)
        if ties:
            worth = worth.round()
        gains, subtrees = best_subtrees(tree, worth)
        expected_gains, expected = subtrees_one_by_one(tree, worth)
        assert gains.tolist() == expected_gains
        sums = subtrees[0].pruning.sum_leaves(worth)
        for n, (cuts, leaves) in enumerate(expected):
            found = subtrees[n]
            assert found.cut.tolist() == cuts
            assert found.whole.cut[found.nodes][found.cut >= 0].tolist() == [
                c for c in cuts if c >= 0
            ]
            # In preorder the left child comes next, and the right one after all of the left.
            for node in np.flatnonzero(found.cut >= 0):
                assert found.left[node] == node + 1
                below = found.right[node] - found.left[node]
                assert (
                    np.count_nonzero(found.cut[node + 1 : node + 1 + below] < 0) == below // 2 + 1
                )
            assert sums[n] == pytest.approx(sum(leaves), abs=1e-12)
            assert worth[found.nodes][found.cut < 0].tolist() == leaves


def test_cuts_of_subtrees_are_renumbered_with_those_of_their_tree():
    rng = np.random.default_rng(1)
    numbers = rng.permutation(99).astype(np.int32)
    none = np.empty(0, dtype=np.int32)
    some = Restricted(BinnedRows(np.empty((0, 0)), *[none] * 7), numbers)
    _, subtrees = best_subtrees(draw_tree(rng, 9), rng.normal(size=19))
    found = [some.original(subtree) for subtree in subtrees]
    for mine, subtree in zip(found, subtrees, strict=True):
        plain = TreeTopology(subtree.cut, subtree.left, subtree.right)
        assert mine.cut.tolist() == some.original(plain).cut.tolist()
        assert mine.left.tolist() == subtree.left.tolist()
    assert len({id(subtree.whole) for subtree in found}) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sizes_of_a_deep_tree_share_the_sums_of_its_nodes(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))  # so many that the search itself finds nothing in time
    n_nodes = []

    def sum_nodes(self, forest, values):
        n_nodes.append(forest.cut.size)
        return original(self, forest, values)

    original = Problem.sum_nodes
    monkeypatch.setattr(Problem, "sum_nodes", sum_nodes)
    y = target(event=rng.random(400) < 0.7, time=rng.exponential(size=400))
    model = SurTree(max_depth=9, time_limit=1e-9).fit(X, y)
    assert model.status_ == "time_limit"
    sizes = {size.tree.n_nodes for size in model.path_}
    assert len(sizes) > 50
    # A tree for each of them has as many nodes as all sizes together.
    assert max(n_nodes) < 20 * max(sizes) < sum(sizes)
    for size in model.path_:
        leaves = size.tree.leaves
        assert size.loss == pytest.approx(size.tree.loss[leaves].sum(), rel=1e-12)
        assert size.tree.n_samples[leaves].sum() == 400


def test_a_search_without_time_does_not_touch_the_memory_of_its_tables():
    # The table of stumps has 2 GiB here.
    code = """
import resource, warnings
import numpy as np
from surtree import SurTree
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1000, 60)), rng.exponential(size=1000)
SurTree(max_depth=1).fit(X, y)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = SurTree(max_depth=4, time_limit=0.01, memory_limit=2**33).fit(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert model.status_ == "time_limit"
print((after - before) // 1024)
"""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) < 1000  # MiB
