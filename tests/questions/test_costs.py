"""The price of every question at every node, compared with all trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from all_trees import check, everything, fit_small, question_at
from problems import cases
from surtree import SurTree, SurTreeCV, force_questions, question_costs
from surtree.datasets import load_gbsg2
from surtree.solver.core import Problem


@check
@given(cases(max_rows=10), st.booleans())
def test_prices_are_those_of_all_trees(case, with_causes):
    if with_causes and case.y["event"].sum() < 2:
        return
    model, rows = fit_small(case, with_causes)
    costs = question_costs(model, *rows)
    tree = model.tree_
    problem, trees = everything(model, rows, tree.n_splits)
    constant, cuts = problem.data.sums.constant, problem.encoder.cuts_
    best = constant - max(each.gain for each in trees)
    tolerance = 1e-9 * (1 + problem.data.sums.scale)
    assert costs.loss == pytest.approx(best, abs=tolerance)
    assert len(costs.nodes) == tree.n_splits
    asked = {node.path: cuts.index(node.asked) for node in costs.nodes}
    for node in costs.nodes:
        above = [node.path[:k] for k in range(len(node.path))]
        expected: dict[int, float] = {}
        for each in trees:
            cut = question_at(each.node, node.path)
            if cut is None or any(question_at(each.node, p) != asked[p] for p in above):
                continue
            expected[cut] = min(expected.get(cut, np.inf), constant - each.gain)
        priced = {cuts.index(question.cut): question for question in node.questions}
        assert priced.keys() == expected.keys()
        for cut, loss in expected.items():
            assert priced[cut].loss == pytest.approx(loss, abs=tolerance)
            assert priced[cut].cost == pytest.approx(loss - best, abs=tolerance)


@pytest.fixture(scope="module")
def gbsg2():
    X, y = load_gbsg2()
    return SurTree(max_depth=3, max_splits=5, shrinkage=1).fit(X, y), X, y


def test_prices_of_a_trial(gbsg2):
    model, X, y = gbsg2
    costs = question_costs(model, X, y)
    assert [node.path for node in costs.nodes] == ["", "n", "nn", "ny", "y"]
    first = [(each.column, round(100 * each.share, 1)) for each in costs[""].columns()[:3]]
    assert first == [
        ("positive_nodes", 0.0),
        ("progesterone_receptor", 1.7),
        ("estrogen_receptor", 7.2),
    ]
    assert all(node.questions[0].cost == 0 for node in costs.nodes)
    assert len(costs.records()) == sum(len(node.questions) for node in costs.nodes)
    assert "progesterone_receptor > 26" in str(costs)
    assert "<table>" in costs._repr_html_()
    assert len(repr(costs)) < 80


def test_a_search_has_the_prices_of_the_tree_that_it_chose():
    X, y = load_gbsg2()
    search = SurTreeCV(max_depth=2, cv=2).fit(X, y)
    assert question_costs(search, X, y).loss == pytest.approx(search.best_estimator_.loss_)


def test_a_time_limit_leaves_out_nodes(gbsg2, monkeypatch):
    model, X, y = gbsg2
    solve, calls = Problem.side_gains, []

    def late(self, *args, **kwargs):
        calls.append(1)
        _, gains = solve(self, *args, **kwargs)
        return ("optimal" if len(calls) <= 3 else "time_limit"), gains

    monkeypatch.setattr(Problem, "side_gains", late)
    costs = question_costs(model, X, y)
    assert costs.status == "time_limit"
    assert [node.path for node in costs.nodes] == ["", "n", "y"]
    assert "the time limit ended the search" in costs.note()


def test_what_has_no_prices(gbsg2):
    model, X, y = gbsg2
    with pytest.raises(ValueError, match="not the rows that the model was fitted on"):
        question_costs(model, X[:600], y[:600])
    with pytest.raises(TypeError, match="fitted"):
        question_costs(model.tree_, X, y)
    with pytest.raises(KeyError, match="'yy' is no split of the tree"):
        question_costs(model, X, y)["yy"]


def test_a_forced_tree_has_the_price_of_its_question(gbsg2):
    model, X, y = gbsg2
    costs = question_costs(model, X, y)
    asked = {node.path: node.asked for node in costs.nodes}
    for node in costs.nodes:
        above = {node.path[:k]: asked[node.path[:k]] for k in range(len(node.path))}
        for question in node.questions[:: max(len(node.questions) // 3, 1)]:
            at = above | {node.path: question.cut}
            forced = force_questions(model, X, y, at=at)
            assert forced.loss == pytest.approx(question.loss)
            assert forced.tree.cuts[forced.tree.cut[0]].name == at[""].name


def test_paths_that_make_no_sense():
    X, y = load_gbsg2()
    model = SurTree(max_depth=2)
    for wrong, message in (
        ({"at": {"y": "age"}}, "'y' is below '': say what is asked there as well"),
        ({"at": {"": "age", "left": "age"}}, "a path has a y or n for each answer"),
        ({"at": {"": "age"}, "first": "age"}, "are the same question"),
        ({"at": {"": "age", "y": "age", "yn": "age"}}, "do not fit into max_depth=2"),
        ({"at": {"": ("age", 60), "n": ("age", 70)}}, "no questions of this kind divide the rows"),
    ):
        with pytest.raises(ValueError, match=message):
            force_questions(model, X, y, **wrong)
