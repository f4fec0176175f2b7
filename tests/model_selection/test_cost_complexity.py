"""The optimal tree for every penalty: breakpoints, and what lies between them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from problems import Case, cases
from surtree import SurTree, cost_complexity_path
from surtree.datasets import load_gbsg2


@pytest.fixture(scope="module")
def rows():
    return load_gbsg2()


@pytest.fixture(scope="module")
def path(rows):
    return cost_complexity_path(*rows)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_each_tree_is_optimal_for_its_penalties(case: Case):
    model = SurTree(**case.limits).fit(case.X, case.y, case.weight, case.entry)
    path = cost_complexity_path(
        case.X,
        case.y,
        estimator=SurTree(**case.limits),
        sample_weight=case.weight,
        entry=case.entry,
    )
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.n_splits) < 0).all()
    assert path.trees[0].total_loss == model.loss_
    assert path.n_splits[-1] == 0
    losses = np.array([size.loss for size in model.path_])
    splits = np.array([size.tree.n_splits for size in model.path_])
    between = (path.ccp_alphas + np.append(path.ccp_alphas[1:], path.ccp_alphas[-1] + 1)) / 2
    for alpha in (*path.ccp_alphas, *between, 1e9):
        tree = path.tree(alpha)
        least = np.min(losses + alpha * splits)
        assert tree.total_loss + alpha * tree.n_splits == pytest.approx(least, rel=1e-9, abs=1e-9)


def test_between_breakpoints_the_tree_is_the_one_that_a_fit_with_that_penalty_finds(rows, path):
    assert len(path.trees) >= 4
    for alpha in (path.ccp_alphas[:-1] + path.ccp_alphas[1:]) / 2:
        model = SurTree(ccp_alpha=alpha).fit(*rows)
        tree = path.tree(alpha)
        assert tree.n_splits == model.tree_.n_splits
        assert tree.total_loss == pytest.approx(model.loss_, rel=1e-12)


def test_at_a_breakpoint_the_smaller_tree_is_taken(path):
    for alpha, splits in zip(path.ccp_alphas, path.n_splits, strict=True):
        assert path.tree(alpha).n_splits == splits
    assert path.tree(np.nextafter(path.ccp_alphas[1], 0)).n_splits == path.n_splits[0]


def test_sizes_that_no_penalty_favours_are_left_out():
    # The risk is in the pair of columns: one split alone brings nothing.
    pair = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (10, 1))
    time = 1.0 + (pair[:, 0] == pair[:, 1])
    path = cost_complexity_path(pair, time, estimator=SurTree(max_depth=2))
    assert path.n_splits.tolist() == [3, 0]
    assert path.ccp_alphas[1] == pytest.approx((path.losses[1] - path.losses[0]) / 3)


def test_the_estimator_stays_as_it_is(rows):
    estimator = SurTree(max_depth=1, ccp_alpha=1e6)
    path = cost_complexity_path(*rows, estimator=estimator)
    assert path.n_splits.tolist() == [1, 0]
    assert not hasattr(estimator, "tree_")
    assert estimator.ccp_alpha == 1e6


def test_print_shows_a_line_for_each_tree(path):
    lines = str(path).splitlines()
    assert lines[0].split() == ["penalty", "from", "splits", "loss"]
    assert [int(line.split()[1]) for line in lines[1:]] == path.n_splits.tolist()


@pytest.mark.parametrize("alpha", [-1.0, np.nan])
def test_a_penalty_that_is_none(path, alpha):
    with pytest.raises(ValueError, match="ccp_alpha must be a number, zero or more"):
        path.tree(alpha)
