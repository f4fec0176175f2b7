"""Heuristics: what they claim holds for their rows, and none of them beats the optimum."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.base import clone

from problems import Case, cases, leaf_loss, row_hazard
from rules import leaf_by_rules
from surtree import SurTree, Tree, UnseenCategoryWarning
from surtree.datasets import load_gbsg2, load_lung, make_survival_tree_data
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.solver.core import Problem

check = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
HEURISTICS = [
    GreedyTree(),
    ConditionalInferenceTree(max_depth=3, alpha=0.5, min_split=4, min_bucket=2),
    LocalSearchTree(n_restarts=5),
]
every_heuristic = pytest.mark.parametrize("model", HEURISTICS, ids=lambda m: type(m).__name__)


def fit(model, case: Case):
    return clone(model).fit(case.X, case.y, sample_weight=case.weight, entry=case.entry)


def scale_of(case: Case) -> float:
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    return max(1.0, float(weight @ case.y["event"]))


@every_heuristic
class TestEveryHeuristic:
    @check
    @given(cases(max_rows=24, max_columns=4))
    def test_the_rules_give_the_reported_loss(self, model, case):
        model = fit(model, case)
        weight = np.ones(len(case.y)) if case.weight is None else case.weight
        hazard = row_hazard(case.y, weight, case.entry)
        leaf = leaf_by_rules(model.tree_, case.X)
        expected = leaf_loss(case.y, weight, hazard, leaf)
        assert model.loss_ == pytest.approx(expected, abs=1e-9 * scale_of(case))
        assert np.array_equal(model.apply(case.X), leaf)

    @check
    @given(cases(max_rows=24, max_columns=3))
    def test_a_weight_of_two_is_the_row_twice(self, model, case):
        if case.entry is not None:
            case = Case(case.X, case.y, case.weight, None, case.limits)
        rng = np.random.default_rng(len(case.y))
        weight = rng.integers(0, 3, len(case.y)).astype(float)
        weight[np.flatnonzero(case.y["event"])[0]] = 2
        twice = np.repeat(np.arange(len(case.y)), weight.astype(int))
        weighted = clone(model).fit(case.X, case.y, sample_weight=weight)
        repeated = clone(model).fit(case.X.iloc[twice].reset_index(drop=True), case.y[twice])
        assert weighted.loss_ == pytest.approx(repeated.loss_, abs=1e-8 * len(twice))

    def test_predicts_like_any_tree(self, model):
        X, y = load_gbsg2(backend="pandas")
        model = clone(model).fit(X, y)
        assert model.score(X, y) > 0.6
        assert model.predict(X).shape == (686,)
        curves = model.predict_survival_function(X.head(3), return_array=True)
        assert curves.shape == (3, model.unique_times_.size)
        assert model.get_n_leaves() == len(np.unique(model.apply(X)))
        assert model.feature_importances_.sum() == pytest.approx(1)
        restored = pickle.loads(pickle.dumps(model))
        assert np.array_equal(restored.predict(X), model.predict(X))
        saved = Tree.from_dict(json.loads(json.dumps(model.tree_.to_dict())))
        assert saved == model.tree_

    def test_kaplan_meier_curves(self, model):
        X, y = load_gbsg2(backend="pandas")
        model = clone(model).set_params(leaf_curve="kaplan-meier").fit(X, y)
        median = model.predict_median(X)
        riskier = model.predict(X) > 1.5
        assert np.median(median[riskier]) < np.median(median[~riskier])

    def test_missing_values(self, model):
        X, y = load_lung(backend="pandas")
        model = clone(model).fit(X, y)
        assert model.tree_.n_splits > 0
        assert np.isfinite(model.predict(X.assign(age=np.nan, ecog=np.nan, sex=None))).all()

    def test_never_claims_to_be_optimal(self, model):
        X, y = load_gbsg2(backend="pandas")
        model = clone(model).fit(X, y)
        for claim in ("status_", "gap_", "lower_bound_"):
            assert not hasattr(model, claim)

    @pytest.mark.parametrize(
        ("parameter", "value"), [("max_depth", -1), ("max_depth", 2.5), ("leaf_curve", "cox")]
    )
    def test_bad_parameters(self, model, parameter, value):
        X, y = load_gbsg2(backend="pandas")
        with pytest.raises(ValueError, match=parameter):
            clone(model).set_params(**{parameter: value}).fit(X, y)

    def test_no_event(self, model):
        X, y = load_gbsg2(backend="pandas")
        y["event"] = False
        with pytest.raises(ValueError, match="686 rows are censored"):
            clone(model).fit(X, y)

    def test_no_column_that_varies(self, model):
        _, y = load_gbsg2(backend="pandas")
        tree = clone(model).fit(np.ones((686, 2)), y).tree_
        assert tree.n_nodes == 1


@check
@given(cases(max_rows=24, max_columns=4))
def test_optimum_is_never_beaten_and_local_search_never_by_greedy(case):
    shared = {k: v for k, v in case.limits.items() if k != "max_splits"}
    optimal = fit(SurTree(**shared), case)
    greedy = fit(GreedyTree(**shared), case)
    local = fit(LocalSearchTree(**shared, n_restarts=3), case)
    slack = 1e-9 * scale_of(case)
    assert optimal.loss_ <= local.loss_ + slack
    assert local.loss_ <= greedy.loss_ + slack
    for model in (greedy, local):
        if model.tree_.n_splits:
            leaves = model.tree_.leaves
            assert model.tree_.depth <= shared["max_depth"]
            assert model.tree_.n_samples[leaves].min() >= shared.get("min_samples_leaf", 1)
            assert model.tree_.n_events[leaves].min() >= shared.get("min_events_leaf", 0)


@check
@given(cases(max_rows=24, max_columns=4))
def test_with_one_question_all_but_ctree_are_optimal(case):
    shared = {k: v for k, v in case.limits.items() if k != "max_splits"} | {"max_depth": 1}
    optimal = fit(SurTree(**shared), case)
    for model in (GreedyTree(**shared), LocalSearchTree(**shared, n_restarts=1)):
        assert fit(model, case).loss_ == pytest.approx(optimal.loss_, abs=1e-9 * scale_of(case))


class TestGreedy:
    def test_prunings_are_nested_and_cost_what_they_say(self):
        X, y = load_gbsg2(backend="pandas")
        path = GreedyTree(5, min_samples_leaf=10).fit(X, y).path_
        sizes = [pruned.tree.n_splits for pruned in path]
        assert sizes == sorted(set(sizes), reverse=True)
        assert sizes[-1] == 0
        assert len(sizes) > 5
        for before, after in pairwise(path):
            rules = [{r.conditions for r in one.tree.rules()} for one in (before, after)]
            for rule in rules[1]:
                assert any(longer[: len(rule)] == rule for longer in rules[0])
            price = (after.loss - before.loss) / (before.tree.n_splits - after.tree.n_splits)
            assert after.alpha == pytest.approx(price)

    @pytest.mark.parametrize("alpha", [0.0, 3.0, 10.0, 1000.0])
    def test_price_picks_the_cheapest_pruning(self, alpha):
        X, y = load_gbsg2(backend="pandas")
        model = GreedyTree(4, ccp_alpha=alpha).fit(X, y)
        costs = [one.loss + alpha * one.tree.n_splits for one in model.path_]
        assert model.loss_ + alpha * model.tree_.n_splits == pytest.approx(min(costs))

    def test_every_threshold_is_better_than_ten(self):
        X, y = load_gbsg2(backend="pandas")
        ten = GreedyTree(2).fit(X, y).loss_
        assert GreedyTree(2, n_thresholds=None, min_support=0.0).fit(X, y).loss_ < ten

    def test_first_cut_is_the_best_of_all(self):
        X, y, _ = make_survival_tree_data(500, censoring=0.5, random_state=1, backend="pandas")
        greedy, optimal = GreedyTree(1).fit(X, y), SurTree(1).fit(X, y)
        assert greedy.tree_ == optimal.tree_

    def test_a_cut_that_is_better_by_little_is_taken(self):
        time = np.arange(1.0, 21.0)
        second = time > 10
        # The first column errs in one row, which weighs next to nothing.
        first = second.copy()
        first[0] = True
        weight = np.where(time == 1, 1e-6, 1.0)
        X = np.column_stack([first, second])
        model = GreedyTree(1).fit(X, time, weight)
        assert model.tree_.column[0] == 1
        losses = [GreedyTree(1).fit(X[:, [k]], time, weight).loss_ for k in (0, 1)]
        assert 1e-8 < losses[0] - losses[1] < 1e-4

    def test_min_samples_split(self):
        X, y = load_gbsg2(backend="pandas")
        tree = GreedyTree(6, min_samples_split=200).fit(X, y).tree_
        assert tree.n_samples[~tree.is_leaf].min() >= 200
        assert tree.n_splits > 2


class TestConditionalInference:
    def test_noise_is_not_split(self):
        random = np.random.default_rng(0)
        X = random.normal(size=(300, 5))
        assert ConditionalInferenceTree().fit(X, random.exponential(size=300)).tree_.n_nodes == 1

    def test_alpha_is_the_share_of_noise_that_is_split(self):
        random = np.random.default_rng(1)
        splits = sum(
            ConditionalInferenceTree(max_depth=1, alpha=0.2)
            .fit(random.normal(size=(100, 4)), random.exponential(size=100))
            .tree_.n_splits
            for _ in range(200)
        )
        assert 20 <= splits <= 60

    def test_unknown_categories_follow_the_heavier_side(self):
        random = np.random.default_rng(2)
        group = random.choice(list("abcd"), 400, p=[0.4, 0.3, 0.2, 0.1])
        time = random.exponential(np.where(np.isin(group, ["b", "c"]), 1.0, 6.0))
        X = pd.DataFrame({"group": group})
        model = ConditionalInferenceTree(max_depth=1).fit(X, time)
        root = model.tree_.cuts[0]
        light = {"b", "c"} if np.isin(group, ["b", "c"]).sum() <= 200 else {"a", "d"}
        assert set(root.categories) == light
        heavy = model.predict(X[~X["group"].isin(light)].head(1))
        with pytest.warns(UnseenCategoryWarning, match="'new' in 1 row of column 'group'"):
            risk = model.predict(pd.DataFrame({"group": ["new", None]}))
        assert risk == pytest.approx(np.repeat(heavy, 2))

    def test_many_categories_are_divided_by_their_means(self):
        random = np.random.default_rng(3)
        code = random.integers(0, 40, 2000)
        X = pd.DataFrame({"code": [f"c{number:02d}" for number in code]})
        time = random.exponential(np.where(code % 2 == 0, 1.0, 4.0))
        tree = ConditionalInferenceTree(max_depth=1).fit(X, time).tree_
        assert {int(name[1:]) % 2 for name in tree.cuts[0].categories} in ({0}, {1})
        assert len(tree.cuts[0].categories) == 20

    @pytest.mark.parametrize(
        ("lower", "upper"),
        [(1.5e-323, 2e-323), (1e-200, 2e-200), (-1.7e308, 1.7e308), (1.6e308, 1.7e308)],
    )
    def test_tiny_and_huge_values_are_tested_and_cut(self, lower, upper):
        X, time = [[lower]] * 20 + [[upper]] * 20, np.arange(1.0, 41)
        model = ConditionalInferenceTree(max_depth=1).fit(X, time)
        assert model.apply(X).tolist() == [1] * 20 + [2] * 20
        ordinary = ConditionalInferenceTree(max_depth=1).fit(np.repeat([[1], [2]], 20, 0), time)
        assert model.tests_[0].p_value == pytest.approx(ordinary.tests_[0].p_value, rel=1e-9)

    def test_leaves_keep_their_weight(self):
        X, y = load_gbsg2(backend="pandas")
        model = ConditionalInferenceTree(alpha=0.9, min_split=100, min_bucket=40).fit(X, y)
        tree = model.tree_
        assert tree.weight[tree.is_leaf].min() >= 40
        assert tree.weight[~tree.is_leaf].min() >= 100
        share = ConditionalInferenceTree(alpha=0.9, min_share=0.4).fit(X, y).tree_
        parents = np.flatnonzero(~share.is_leaf)
        for side in (share.left, share.right):
            assert (share.weight[side[parents]] >= 0.4 * share.weight[parents]).all()

    @pytest.mark.parametrize("parameters", [{"alpha": 0}, {"alpha": 1}, {"min_share": 0.6}])
    def test_bad_parameters(self, parameters):
        X, y = load_gbsg2(backend="pandas")
        with pytest.raises(ValueError, match=next(iter(parameters))):
            ConditionalInferenceTree(**parameters).fit(X, y)


class TestLocalSearch:
    def test_often_finds_the_optimum_at_depth_two(self):
        found = 0
        for seed in range(20):
            X, y, _ = make_survival_tree_data(200, censoring=0.5, random_state=seed)
            optimal = SurTree(2).fit(X, y).loss_
            local = LocalSearchTree(2, random_state=seed).fit(X, y).loss_
            assert local >= optimal * (1 - 1e-9)
            found += local <= optimal * (1 + 1e-9)
        assert found >= 16

    def test_threads_and_repetition_change_nothing(self):
        X, y = load_gbsg2(backend="pandas")
        one, three, again = (
            LocalSearchTree(4, n_restarts=20, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3, 1)
        )
        for other in (three, again):
            assert other.tree_ == one.tree_
            assert np.array_equal(other.restart_losses_, one.restart_losses_)
        different = LocalSearchTree(4, n_restarts=20, random_state=1).fit(X, y)
        assert not np.array_equal(different.restart_losses_, one.restart_losses_)

    def test_more_restarts_never_hurt(self):
        X, y = load_gbsg2(backend="pandas")
        few, many = (LocalSearchTree(4, n_restarts=n).fit(X, y) for n in (5, 50))
        assert many.loss_ <= few.loss_
        assert np.array_equal(many.restart_losses_[:5], few.restart_losses_)
        assert many.restart_losses_.min() == pytest.approx(many.loss_, rel=1e-9)

    def test_no_single_change_of_a_cut_helps(self):
        X, y = load_gbsg2(backend="pandas")
        model = LocalSearchTree(2, n_restarts=1).fit(X, y)
        holds = model.encoder_.transform(X).astype(bool)
        hazard = row_hazard(y, np.ones(len(y)), None)
        cuts = [model.encoder_.cuts_.index(cut) for cut in model.tree_.cuts]
        questions = [cuts[number] for number in model.tree_.cut if number >= 0]
        assert len(questions) == 3

        def loss(root, left, right):
            leaf = 2 * holds[:, root] + np.where(holds[:, root], holds[:, right], holds[:, left])
            return leaf_loss(y, np.ones(len(y)), hazard, leaf)

        assert loss(*questions) == pytest.approx(model.loss_)
        for place in range(3):
            for cut in range(holds.shape[1]):
                changed = [*questions[:place], cut, *questions[place + 1 :]]
                assert loss(*changed) >= model.loss_ - 1e-6

    def test_price_of_a_split(self):
        X, y = load_gbsg2(backend="pandas")
        optimal = SurTree(3).fit(X, y)
        for alpha in (2.0, 8.0, 20.0, 100.0):
            model = LocalSearchTree(3, ccp_alpha=alpha).fit(X, y)
            cost = model.loss_ + alpha * model.tree_.n_splits
            least = min(size.loss + alpha * size.splits for size in optimal.path_)
            assert least <= cost + 1e-9
            assert cost <= least * 1.01
            assert model.restart_losses_.min() == pytest.approx(cost)

    def test_number_of_splits_is_limited(self):
        X, y = load_gbsg2(backend="pandas")
        for splits in (0, 1, 4):
            assert LocalSearchTree(4, splits, n_restarts=10).fit(X, y).tree_.n_splits == splits

    def test_tuned_price_suits_rows_held_out(self):
        X, y, _ = make_survival_tree_data(600, censoring=0.3, random_state=0, backend="pandas")
        X = X.assign(**{f"noise{k}": np.random.default_rng(k).normal(size=600) for k in range(5)})
        new_X, new_y = X.iloc[300:], y[300:]
        X, y = X.iloc[:300], y[:300]
        whole = LocalSearchTree(5).fit(X, y)
        tuned = LocalSearchTree(5, ccp_alpha="auto").fit(X, y)
        assert tuned.ccp_alpha_ > 0
        assert 0 < tuned.tree_.n_splits < whole.tree_.n_splits
        assert tuned.loss(new_X, new_y) < whole.loss(new_X, new_y)

    def test_every_threshold_is_better_than_ten(self):
        X, y = load_gbsg2(backend="pandas")
        ten = SurTree(2).fit(X, y).loss_
        every = LocalSearchTree(2, n_thresholds=None, min_support=0.0, n_restarts=20).fit(X, y)
        assert every.loss_ < ten

    def test_one_event_cannot_be_held_out(self):
        X, y = load_gbsg2(backend="pandas")
        y["event"] = np.arange(686) == 5
        with pytest.raises(ValueError, match="set ccp_alpha to a number"):
            LocalSearchTree(ccp_alpha="auto").fit(X, y)

    @pytest.mark.parametrize(
        "parameters",
        [{"n_restarts": 0}, {"ccp_alpha": "best"}, {"ccp_alpha": -1}, {"validation_fraction": 1}],
    )
    def test_bad_parameters(self, parameters):
        X, y = load_gbsg2(backend="pandas")
        with pytest.raises(ValueError, match=next(iter(parameters))):
            LocalSearchTree(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "model", [SurTree(2), SurTree(4, time_limit=60.0), *HEURISTICS], ids=lambda m: type(m).__name__
)
def test_a_fit_hands_its_rows_to_the_core_once(monkeypatch, model):
    made = []
    make = Problem.__init__
    monkeypatch.setattr(Problem, "__init__", lambda *given: (made.append(given), make(*given))[1])
    X, y = load_lung()
    clone(model).fit(X, y)
    assert len(made) == 1
