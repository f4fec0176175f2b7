"""Every swap, against forced searches, predictions and trees of folds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surtree import SurTree, force_questions, question_swaps
from surtree.data.target import Target
from surtree.datasets import load_gbsg2
from surtree.survival.objective import RELATIVE_RISK


def random_rows(seed, n_rows=50):
    """Return a small table of every kind of column, and its survival."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (n_rows, 3)).astype(float), columns=list("abc"))
    X["site"] = rng.choice(["u", "v", "w"], n_rows)
    X["a"] = X["a"].mask(rng.random(n_rows) < 0.1)
    time = rng.exponential(size=n_rows).round(2) + 0.01
    return X, (rng.random(n_rows) < 0.8, time)


def node_at(tree, path):
    node = 0
    for answer in path:
        node = int((tree.right if answer == "y" else tree.left)[node])
    return node


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_a_swap_is_the_best_tree_that_asks_it_there(seed, depth, shrinkage):
    X, y = random_rows(seed)
    model = SurTree(depth, min_samples_leaf=2, shrinkage=shrinkage).fit(X, y)
    swaps = question_swaps(model, X, y)
    assert swaps.status == "optimal"
    assert len(swaps.swaps) == sum(len(node.columns()) for node in swaps.costs.nodes)
    for swap in swaps.swaps:
        # Its loss is the price; it keeps the questions above, and asks its own.
        assert swap.tree.total_loss == pytest.approx(model.loss_ + swap.cost, abs=1e-9)
        assert swap.tree.n_splits <= model.tree_.n_splits
        for length in range(len(swap.path)):
            above = swap.path[:length]
            kept, own = node_at(swap.tree, above), node_at(model.tree_, above)
            assert swap.tree.question(kept) == model.tree_.question(own)
        assert swap.tree.cuts[swap.tree.cut[node_at(swap.tree, swap.path)]] == swap.cut
    for swap in swaps.at(""):
        options = {"min_samples_leaf": 2, "shrinkage": shrinkage}
        same_size = SurTree(depth, max(model.tree_.n_splits, 1), **options)
        forced = force_questions(same_size, X, y, first=swap.cut.name)
        assert forced.loss == pytest.approx(model.loss_ + swap.cost, abs=1e-9)


@pytest.fixture(scope="module")
def gbsg2():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    return model, X, y, question_swaps(model, X, y, horizon=1095, n_folds=2)


def test_the_figures_of_the_review(gbsg2):
    *_, swaps = gbsg2
    first = swaps.at("")
    assert [swap.cut.name for swap in first[:2]] == ["positive_nodes", "progesterone_receptor"]
    assert first[0].n_moved == first[0].cost == 0
    assert round(first[1].share, 3) == 0.017
    assert first[1].n_moved == 159
    assert str(swaps).splitlines()[0].split()[:3] == ["below", "question", "cost"]


def test_rows_move_as_predictions_do(gbsg2):
    model, X, y, swaps = gbsg2
    before = model.predict_survival_function(X, times=[1095.0]).ravel()
    for swap in swaps.swaps[::7]:
        other = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
        other.tree_ = swap.tree
        after = other.predict_survival_function(X, times=[1095.0]).ravel()
        assert swap.n_moved == (abs(after - before) > 0.1).sum()


def test_held_out_losses_are_those_of_trees_of_the_other_rows():
    X, y = random_rows(3, n_rows=80)
    X = X.drop(columns="a")  # no missing values: the cuts are the same in each half
    options = {"max_depth": 2, "max_splits": 2, "shrinkage": 1.0, "n_thresholds": None}
    model = SurTree(**options, min_support=0.0).fit(X, y)
    swaps = question_swaps(model, X, y, n_folds=2)
    fold = np.random.default_rng(0).permutation(80) % 2
    event, time = y

    def held_out(k, first):
        rows, held = fold != k, fold == k
        template = SurTree(**options | {"max_splits": model.tree_.n_splits}, min_support=0.0)
        half = X[rows], (event[rows], time[rows])
        tree = force_questions(template, *half, first=first).tree
        target, ones = Target(event[held], time[held], None), np.ones(held.sum())
        sums = RELATIVE_RISK.row_sums(target, ones, tree.baseline)
        return sums.loss(tree.prediction[tree.apply(X[held])]) / held.sum()

    own = swaps.costs[""].asked
    for swap in swaps.at(""):
        apart = [held_out(k, swap.cut) - held_out(k, own) for k in (0, 1)]
        assert swap.difference == pytest.approx(np.mean(apart), abs=1e-9)
        assert swap.standard_error == pytest.approx(np.std(apart, ddof=1) * np.sqrt(1.5), abs=1e-9)


def test_bad_folds_are_refused(gbsg2):
    model, X, y, _ = gbsg2
    for n_folds in (-1, 1):
        with pytest.raises(ValueError, match="n_folds must be 0, or 2 or more"):
            question_swaps(model, X, y, n_folds=n_folds)
    with pytest.raises(ValueError, match="there are only 686"):
        question_swaps(model, X, y, n_folds=1000)


def test_a_single_leaf_has_no_swap():
    X, y = load_gbsg2()
    swaps = question_swaps(SurTree(max_depth=0).fit(X, y), X, y)
    assert swaps.swaps == ()


def test_a_swap_after_a_swap_is_the_best_tree_with_both():
    X, y = load_gbsg2()
    model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    swaps = question_swaps(model, X, y)
    first = next(one for one in swaps.at("n") if one.share > 0)
    after = swaps.after(first)
    assert {one.path for one in after} == {"nn", "ny", "y"} & {one.path for one in after}
    assert {"y"} < {one.path for one in after}
    for one in after[::4]:
        assert one.keeps["n"] == first.cut
        forced = force_questions(model, X, y, at=dict(one.keeps))
        assert forced.loss == pytest.approx(one.tree.total_loss)
        assert one.cost == pytest.approx(max(forced.loss - model.loss_, 0), abs=1e-9)
        assert all(f'"{cut.rule}"' in one.condition for cut in one.keeps.values())
    third = swaps.after(after[1])
    assert all(one.share >= after[1].share - 1e-12 for one in third)
    assert all(len(one.keeps) > len(after[1].keeps) - 1 for one in third)
