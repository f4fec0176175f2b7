"""An audit: the loss of a tree by definition, never below the optimum, and who is to blame."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from problems import Case, cases, leaf_loss, row_hazard
from surtree import Encoder, SurTree, audit_tree
from surtree._support.parameters import LEAF_CURVES
from surtree.datasets import load_gbsg2, load_lung
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.questions._search_result import missed_share
from surtree.solver import _certificate as certificate

check = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def numbers():
    X, y = load_gbsg2(backend="pandas")
    return pd.get_dummies(X, drop_first=True).astype(float), y


@check
@given(cases(max_rows=20, max_columns=3))
def test_costs_of_splits_add_up_to_the_distance_from_the_optimum(case: Case):
    limits = {name: value for name, value in case.limits.items() if name != "max_splits"}
    limits["max_depth"] = min(limits["max_depth"], 3)
    model = GreedyTree(**limits).fit(case.X, case.y, case.weight, case.entry)
    found = audit_tree(model, case.X, case.y, case.weight, case.entry)
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    hazard = row_hazard(case.y, weight, case.entry)
    slack = 1e-9 * max(1.0, float(weight @ case.y["event"]))
    assert found.loss == pytest.approx(
        leaf_loss(case.y, weight, hazard, model.apply(case.X), model.shrinkage), abs=slack
    )
    assert found.loss == pytest.approx(model.loss_, abs=slack)
    assert found.tree.total_loss == pytest.approx(model.loss_, abs=slack)
    assert found.same_depth.loss <= found.loss + slack
    assert found.same_size.loss <= found.same_depth.loss + slack
    assert len(found.split_costs) == model.tree_.n_splits
    costs = [split.cost for split in found.split_costs]
    assert sum(costs) == pytest.approx(found.loss - found.same_depth.loss, abs=10 * slack)
    assert costs == sorted(costs, reverse=True)


def test_optimal_tree_misses_nothing():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(3, min_samples_leaf=20).fit(X, y)
    found = audit_tree(model, X, y)
    assert found.gap == pytest.approx(0, abs=1e-9)
    assert found.same_depth.loss == pytest.approx(model.loss_)
    assert found.same_depth.lower_bound == found.same_depth.loss
    assert found.same_depth.tree.n_samples[found.same_depth.tree.leaves].min() >= 20


def test_optimum_is_that_of_the_same_depth_and_splits():
    X, y = load_gbsg2(backend="pandas")
    model = GreedyTree(4, ccp_alpha=6.0).fit(X, y)
    found = audit_tree(model, X, y, max_depth=5)
    splits, depth = model.tree_.n_splits, model.tree_.depth
    assert splits < 2**depth - 1
    assert found.same_depth.loss == pytest.approx(SurTree(depth, splits).fit(X, y).loss_)
    assert found.same_size.loss == pytest.approx(SurTree(5, splits).fit(X, y).loss_)
    assert found.same_size.max_depth == 5
    explained = model.path_[-1].loss - found.same_depth.loss
    assert found.missed == pytest.approx((model.loss_ - found.same_depth.loss) / explained)


def test_gap_is_a_share_of_the_loss_as_a_models_own():
    X, y = load_gbsg2(backend="pandas")
    model = GreedyTree(3).fit(X, y)
    best = SurTree(3).fit(X, y)
    assert audit_tree(model, X, y).gap == pytest.approx((model.loss_ - best.loss_) / model.loss_)
    # Of an optimum that is not proven, the gap reaches to its bound.
    unproven = audit_tree(GreedyTree(4).fit(X, y), X, y, time_limit=1e-9)
    bound = unproven.same_depth.lower_bound
    assert bound < unproven.same_depth.loss
    assert unproven.gap == pytest.approx((unproven.loss - bound) / unproven.loss)


def test_the_blame_is_on_the_split_that_can_be_bettered():
    # Once the first question is asked, the rest is the best there is: a stump's cost is its own.
    X, y = load_gbsg2(backend="pandas")
    stump = GreedyTree(1).fit(X[["age", "estrogen_receptor"]], y)
    leaves = stump.apply(X[["age", "estrogen_receptor"]])
    found = audit_tree(leaves, X, y)
    assert found.loss == pytest.approx(stump.loss_)
    assert found.missed > 0.5
    of_two = audit_tree(stump, X[["age", "estrogen_receptor"]], y)
    assert of_two.gap == pytest.approx(0, abs=1e-9)


def test_a_cost_is_that_of_one_question():
    X, y = load_gbsg2(backend="pandas")
    found = audit_tree(GreedyTree(3).fit(X, y), X, y)
    # The optimum differs below node 1 only, and has the rest in common with the greedy tree.
    same = found.same_depth.tree
    assert same._cut_of(0) == found.tree._cut_of(0)
    assert same.loss[same.right[0]] == found.tree.loss[found.tree.right[0]]
    worst, *others = found.split_costs
    assert worst.node == 1
    assert worst.cost == pytest.approx(found.loss - found.same_depth.loss)
    assert max(split.cost for split in others) < 1e-9


def test_a_search_over_hyperparameters():
    X, y = load_gbsg2(backend="pandas")
    search = GridSearchCV(GreedyTree(), {"max_depth": [1, 2]}, cv=3).fit(X, y)
    assert audit_tree(search, X, y).loss == pytest.approx(search.best_estimator_.loss_)


def test_own_cuts_of_the_model_are_allowed():
    X, y = load_gbsg2(backend="pandas")
    for model in (
        ConditionalInferenceTree(),
        LocalSearchTree(2, n_thresholds=None, min_support=0.0, n_restarts=5),
    ):
        found = audit_tree(clone(model).fit(X, y), X, y, encoder=Encoder(n_thresholds=2))
        assert found.same_depth.loss <= found.loss * (1 + 1e-12)
        assert 0 <= found.missed < 1


def test_min_bucket_counts_for_the_optimum():
    X, y = load_gbsg2(backend="pandas")
    model = ConditionalInferenceTree(max_depth=2, min_bucket=60).fit(X, y)
    best = audit_tree(model, X, y).same_depth.tree
    assert best.n_samples[best.leaves].min() >= 60


@pytest.mark.parametrize("limit", [{"min_samples_leaf": 60}, {"min_events_leaf": 30}])
def test_on_fewer_rows_the_optimum_may_have_leaves_as_small_as_those_of_the_model(limit):
    X, y = load_gbsg2(backend="pandas")
    model = GreedyTree(3, **limit).fit(X, y)
    rows = np.arange(len(y)) % 6 == 0
    found = audit_tree(model, X[rows], y[rows])
    counts = found.tree.n_samples if "min_samples_leaf" in limit else found.tree.n_events
    assert counts[found.tree.leaves].min() < next(iter(limit.values()))
    assert found.same_depth.loss <= found.loss
    best = found.same_depth.tree
    of_best = best.n_samples if "min_samples_leaf" in limit else best.n_events
    assert of_best[best.leaves].min() >= counts[found.tree.leaves].min()


def test_a_table_of_other_columns_is_refused_by_their_names():
    X, y = load_gbsg2(backend="pandas")
    model = GreedyTree(2).fit(X, y)
    other = numbers()[0]
    with pytest.raises(ValueError, match="unseen at fit time:\n- hormone_therapy_yes"):
        audit_tree(model, other, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        audit_tree(model, X[X.columns[::-1]], y)
    with pytest.raises(ValueError, match="X has 3 features, but GreedyTree is expecting 2"):
        audit_tree(GreedyTree(2).fit(other.to_numpy()[:, :2], y), other.to_numpy()[:, :3], y)


def test_missing_values_and_weights():
    X, y = load_lung(backend="pandas")
    weight = np.arange(228) % 3
    model = ConditionalInferenceTree(alpha=0.5, max_depth=3).fit(X, y, sample_weight=weight)
    found = audit_tree(model, X, y, sample_weight=weight)
    assert found.loss == pytest.approx(model.loss_)
    assert found.tree.weight[0] == weight.sum()
    assert found.same_depth.loss <= found.loss


class TestForeignTrees:
    def test_scikit_survival(self):
        tree = pytest.importorskip("sksurv.tree")
        X, y = numbers()
        model = tree.SurvivalTree(max_depth=3, min_samples_leaf=7).fit(X, y)
        found = audit_tree(model, X, y)
        hazard = row_hazard(y, np.ones(len(y)), None)
        leaves = model.tree_.apply(X.to_numpy().astype(np.float32))
        assert found.loss == pytest.approx(leaf_loss(y, np.ones(len(y)), hazard, leaves))
        assert found.depth == 3
        assert found.n_splits == len(np.unique(leaves)) - 1
        assert found.gap > 0
        assert found.name == "SurvivalTree"
        best = found.same_depth.tree
        assert best.n_samples[best.leaves].min() >= 7
        labelled = audit_tree(leaves, X, y, time_limit=2)  # no proof is asked for
        assert labelled.loss == pytest.approx(found.loss)
        assert labelled.depth is None
        assert labelled.split_costs == ()

    def test_scikit_survival_with_missing_values(self):
        tree = pytest.importorskip("sksurv.tree")
        X, y = load_lung(backend="pandas")
        X = X.drop(columns="sex")
        model = tree.SurvivalTree(max_depth=3).fit(X, y)
        found = audit_tree(model, X, y)
        hazard = row_hazard(y, np.ones(len(y)), None)
        leaves = model.tree_.apply(X.to_numpy().astype(np.float32))
        assert found.loss == pytest.approx(leaf_loss(y, np.ones(len(y)), hazard, leaves))

    def test_a_model_without_a_tree(self):
        from sklearn.linear_model import LinearRegression

        X, y = numbers()
        with pytest.raises(TypeError, match="LinearRegression has no tree"):
            audit_tree(LinearRegression().fit(X, y["time"]), X, y)

    def test_wrong_number_of_labels(self):
        X, y = numbers()
        with pytest.raises(ValueError, match="one label for each row"):
            audit_tree(np.zeros(10), X, y)


class TestText:
    def test_says_it_all(self):
        X, y = load_gbsg2(backend="pandas")
        text = str(audit_tree(GreedyTree(3).fit(X, y), X, y))
        assert "GreedyTree, 7 splits, depth 3     409.807     14.2 %" in text
        assert "optimum, 7 splits, depth up to 3  403.583     15.5 %   8.4 %" in text
        assert "'tumor_size > 12' at node 1" in text
        assert text.count("all rows") == 2

    def test_a_single_leaf(self):
        X, y = load_gbsg2(backend="pandas")
        found = audit_tree(GreedyTree(0).fit(X, y), X, y)
        assert found.gap == 0
        assert "GreedyTree, 0 splits, depth 0" in str(found)

    def test_time_limit_says_what_is_proven(self):
        X, y = load_gbsg2(backend="pandas")
        model = GreedyTree(5).fit(X, y)
        found = audit_tree(model, X, y, time_limit=1e-6)
        assert found.same_depth.lower_bound < found.same_depth.loss
        assert found.split_costs == ()
        assert "best found (lower bound" in str(found)


class TestPicture:
    def test_two_trees_and_their_titles(self):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        from surtree.plot import plot_audit

        X, y = load_gbsg2(backend="pandas")
        axes = plot_audit(audit_tree(GreedyTree(3).fit(X, y), X, y))
        assert [len(ax.child_axes) for ax in axes] == [8, 8]
        assert axes[0].get_title(loc="left").startswith("GreedyTree, 7 splits, depth 3")
        assert "misses 8.4 %" in axes[1].get_title(loc="left")
        pyplot.close(axes[0].figure)

    def test_labels_have_one_tree(self):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        from surtree.plot import plot_audit

        X, y = load_gbsg2(backend="pandas")
        found = audit_tree(GreedyTree(1).fit(X, y).apply(X), X, y)
        axes = plot_audit(found)
        assert len(axes) == 1
        with pytest.raises(ValueError, match="axes must be 1"):
            plot_audit(found, [axes[0], axes[0]])
        pyplot.close(axes[0].figure)


@pytest.mark.parametrize("kind", LEAF_CURVES)
def test_an_audit_states_the_survival_that_the_model_does(kind):
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=2, leaf_curve=kind, shrinkage=1.0).fit(X, y)
    found = audit_tree(model, X, y)
    assert found.tree.leaf_curve == found.same_depth.tree.leaf_curve == kind
    assert [found.tree.median(leaf) for leaf in found.tree.leaves] == [
        model.tree_.median(leaf) for leaf in model.tree_.leaves
    ]


def test_an_audit_of_uneven_weights_says_what_each_split_costs(monkeypatch):
    monkeypatch.setattr(certificate, "PROMISE", -1.0)  # no search is more than "rounded"
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = (rng.random(60) < 0.7, rng.exponential(size=60))
    weight = 10.0 ** rng.uniform(-3, 3, 60)
    model = GreedyTree(max_depth=2).fit(X, y, sample_weight=weight)
    found = audit_tree(model, X, y, sample_weight=weight)
    assert len(found.split_costs) == model.tree_.n_splits


def test_a_difference_that_is_rounding_misses_nothing():
    assert missed_share(60.0, 50.0, 100.0) == pytest.approx(0.2)
    assert missed_share(50.0 + 9e-8, 50.0, 100.0) == 0.0
    assert missed_share(40.0, 50.0, 100.0) == 0.0
    assert missed_share(100.0, 100.0 - 9e-8, 100.0) == 0.0
