"""Trees near the best one, compared with all trees."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from all_trees import check, everything, fit_small
from problems import cases
from surtree import CompetingRisksTree, SurTree, near_optimal
from surtree.datasets import load_gbsg2

SHARES = (0.0, 0.01, 0.1, 0.37, 1.0)


def slack_of(trees, within):
    return within * (max(tree.gain for tree in trees) - trees[0].gain)


def leaves_of(problem, topology):
    """Return the sets of rows that a tree makes."""
    leaf = problem.core.find_leaves(topology)
    return frozenset((leaf == number).tobytes() for number in np.unique(leaf))


def questions_of(tree):
    """Return the questions of a tree in preorder, as numbers of the questions in its words."""
    return [tree.cuts[cut].rule if cut >= 0 else None for cut in tree.cut]


@check
@given(cases(max_rows=10), st.booleans(), st.sampled_from(SHARES))
def test_the_list_is_that_of_all_trees(case, with_causes, within):
    assume(not with_causes or case.y["event"].sum() >= 2)
    model, rows = fit_small(case, with_causes)
    problem, trees = everything(model, rows, model.tree_.n_splits)
    near = near_optimal(model, *rows, within=within)
    assert near.end == "complete"
    constant, scale = problem.data.sums.constant, problem.data.sums.scale
    tolerance = 1e-9 * (1 + scale)
    least = max(tree.gain for tree in trees) - slack_of(trees, within)
    by_leaves = {tree.leaves: tree.gain for tree in trees}
    surely = sorted(constant - gain for gain in by_leaves.values() if gain > least + tolerance)
    maybe = sum(gain >= least - tolerance for gain in by_leaves.values())
    assert len(surely) <= near.n_trees <= maybe
    np.testing.assert_allclose(near.losses[: len(surely)], surely, atol=tolerance)
    assert (np.diff(near.losses) >= 0).all()
    divisions = {leaves_of(problem, topology) for topology in near._topologies}
    assert len(divisions) == near.n_trees
    for tree, loss in zip(near.trees, near.losses, strict=True):
        assert tree.total_loss == pytest.approx(loss, abs=tolerance)
    for column in near.columns:
        asks = [column.name in {cut.name for cut in tree.cuts} for tree in near.trees]
        assert column.share == pytest.approx(np.mean(asks))
        losses = [loss for loss, has in zip(near.losses, asks, strict=True) if has]
        assert column.best_with == (min(losses) if losses else None)


@check
@given(cases(max_rows=9), st.booleans(), st.integers(0, 3), st.integers(0, 2))
def test_the_first_tree_of_a_condition_is_the_best_of_all(case, with_causes, modulus, rest):
    assume(not with_causes or case.y["event"].sum() >= 2)
    model, rows = fit_small(case, with_causes)
    problem, trees = everything(model, rows, model.tree_.n_splits)
    cuts = [cut.rule for cut in problem.encoder.cuts_]

    def will_do(rules):
        return sum(map(len, rules)) % (modulus + 2) == rest

    def rules_of(node):
        return [cuts[node.cut], *rules_of(node.left), *rules_of(node.right)] if node.left else []

    def predicate(tree):
        return will_do([rule for rule in questions_of(tree) if rule is not None])

    constant, tolerance = problem.data.sums.constant, 1e-9 * (1 + problem.data.sums.scale)
    first = near_optimal(model, *rows, within=0).first(predicate, within=1)
    good = [tree.gain for tree in trees if will_do(rules_of(tree.node))]
    good = [gain for gain in good if gain >= trees[0].gain - tolerance]
    assert first.end == "complete"
    if first.tree is None:
        assert all(gain <= trees[0].gain + tolerance for gain in good)
    else:
        assert first.loss == pytest.approx(constant - max(good), abs=tolerance)
        assert predicate(first.tree)


@pytest.fixture(scope="module")
def gbsg2():
    X, y = load_gbsg2()
    model = SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y)
    return model, X, y, near_optimal(model, X, y)


def test_what_near_trees_of_a_trial_say(gbsg2):
    model, X, _, near = gbsg2
    assert near.loss == pytest.approx(model.loss_)
    assert near.trees[0].total_loss == pytest.approx(model.loss_)
    ranges = near.ranges(1095)
    np.testing.assert_allclose(
        ranges.best, model.predict_survival_function(X, times=[1095])[:, 0], atol=1e-12
    )
    every = [
        np.exp(-tree.theta[tree.apply(X)] * tree.baseline.at(1095)) for tree in near.trees[:50]
    ]
    assert (ranges.lower <= np.min(every, axis=0) + 1e-12).all()
    assert (ranges.upper >= np.max(every, axis=0) - 1e-12).all()
    assert ranges.moves(0.0).sum() >= ranges.moves(0.1).sum() > 0
    assert len(repr(near)) < 80
    assert "<table>" in near._repr_html_()


def test_ranges_of_other_curves_are_those_of_the_leaves():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2, leaf_curve="kaplan-meier").fit(X, y)
    near = near_optimal(model, X, y)
    expected = model.predict_survival_function(X, times=[1000])[:, 0]
    np.testing.assert_allclose(near.ranges(1000).best, expected, atol=1e-12)


def test_a_condition_has_a_cost_and_a_proof(gbsg2):
    model, X, y, near = gbsg2

    def asks_few(tree):
        return len({cut.name for cut in tree.cuts}) <= 2

    few = near.first(asks_few)
    assert (few.end, few.n_seen > 1) == ("complete", True)
    same = SurTree(**model.get_params() | {"max_columns": 2}).fit(X, y)
    assert few.loss == pytest.approx(same.loss_)
    late = near.first(lambda tree: tree.question(0).name == "menopause", within=0.01)
    assert late.tree is None
    assert str(late).startswith("none within 1 % of the best tree: ")


def test_a_limit_ends_with_what_is_known(gbsg2):
    model, X, y, _ = gbsg2
    some = near_optimal(model, X, y, within=0.5, max_trees=100)
    assert some.end == "max_trees"
    assert some.count_text == "at least 100 trees"
    late = near_optimal(model, X, y, within=1, time_limit=0.2, max_trees=10**9)
    assert late.end == "time_limit"
    small = SurTree(**model.get_params() | {"memory_limit": 10**7}).fit(X, y)
    full = near_optimal(small, X, y, within=1, max_trees=10**9)
    assert full.end == "memory_limit"
    assert 0 < full.n_trees < 10**6
    assert (np.diff(full.losses) >= 0).all()
    nobody = near_optimal(model, X, y, within=0).first(lambda tree: False, within=1, max_trees=50)
    assert (nobody.end, nobody.n_seen) == ("max_trees", 50)
    assert str(nobody) == "none among the best 50 trees: as many as were asked for"


@pytest.mark.parametrize("within", [-0.01, 1.01, np.nan, "5%", None])
def test_a_share_is_from_zero_to_one(gbsg2, within):
    model, X, y, near = gbsg2
    with pytest.raises(ValueError, match="within is a share of what the best tree explains"):
        near_optimal(model, X, y, within=within)
    with pytest.raises(ValueError, match="within is a share of what the best tree explains"):
        near.first(lambda tree: True, within=within)


def test_conditions_that_make_no_sense(gbsg2):
    model, X, y, near = gbsg2
    with pytest.raises(ValueError, match="predicate raised ZeroDivisionError"):
        near.first(lambda tree: 1 / 0)
    with pytest.raises(TypeError, match="predicate must take a tree"):
        near.first(3)
    with pytest.raises(ValueError, match="max_trees must be a whole number"):
        near_optimal(model, X, y, max_trees=0)
    with pytest.raises(ValueError, match="time must be within follow-up"):
        near.ranges(1e9)
    causes = np.where(y["event"], 1 + np.arange(len(y)) % 2, 0)
    two = CompetingRisksTree(max_depth=1).fit(X, (causes, y["time"]))
    with pytest.raises(ValueError, match="ranges are of the survival of one event"):
        near_optimal(two, X, (causes, y["time"])).ranges()
