"""Questions and audits of causes and of arms: against all trees, tried one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from all_trees import everything
from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    audit_tree,
    column_costs,
    force_questions,
    near_optimal,
    question_costs,
)
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.datasets import load_melanoma
from surtree.estimators.parameters import limits_of
from surtree.fitting.training import read_training_data
from surtree.solver import reference

check = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = ("causes", "one cause", "effect", "both")


@st.composite
def problems(draw):
    """Draw an estimator, and the arguments of its verbs."""
    n = draw(st.integers(6, 14))

    def numbers(values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))

    X = pd.DataFrame({name: numbers([0.0, 1.0, 2.0, 3.0]) for name in "abc"})
    code, time = numbers([0, 1, 2]), numbers([1.0, 2.0, 2.5, 3.0, 5.0])
    code[:2] = [1, 2]
    given = {"X": X, "sample_weight": numbers([1.0, 2.0, 0.5]) if draw(st.booleans()) else None}
    if draw(st.booleans()):
        given["entry"] = time * numbers([0.0, 0.3])
    kind = draw(st.sampled_from(KINDS))
    parameters = {
        "max_depth": draw(st.integers(1, 2)),
        "shrinkage": draw(st.sampled_from([0.0, 1.0])),
        "min_support": 0.0,
        "min_events_leaf": draw(st.integers(0, 1)),
    }
    if kind in ("causes", "one cause"):
        causes = None if kind == "causes" else 2
        return CompetingRisksTree(**parameters, causes=causes), given | {"y": (code, time)}
    arm = numbers([0, 1])
    arm[:2] = [0, 1]
    model = EffectTree(**parameters, objective=kind, min_events_arm=draw(st.integers(0, 1)))
    return model, given | {"y": (code > 0, time), "treatment": arm}


def sums_of(model, given):
    """Return the row sums of a problem: other tests compare these with their definition."""
    data = read_training_data(model, RowInputs(**given))
    return data, limits_of(model, data.target)


def answers_of(model, data, names):
    """Return the answers to all questions about some columns."""
    leave_out = {k for k, name in enumerate(data.table.names) if name not in names}
    encoder = encoder_of(model)
    encoder.fit_encode(data.table, data.table_weight, data.sums, leave_out)
    cuts = [cut.holds(data.table.column(cut.column)) for cut in encoder.cuts_]
    return np.array(cuts, dtype=bool).reshape(len(cuts), data.table.n_rows).T[data.present]


def best_loss(model, given, names):
    data, limits = sums_of(model, given)
    solution = reference.solve(answers_of(model, data, names), data.sums, limits)
    return data.sums.constant - solution.gains[-1]


def best_with_first(model, given, name):
    data, limits = sums_of(model, given)
    holds = answers_of(model, data, "abc")
    below = replace(limits, max_depth=limits.max_depth - 1)
    losses = []
    for answers in answers_of(model, data, [name]).T:
        sides = (~answers, answers)
        if all(
            rows.any() and data.sums.counts[count][rows].sum() >= least
            for rows in sides
            for count, least in limits.least.items()
        ):
            gains = [
                reference.solve(holds[rows], data.sums.take(rows), below).gains[-1]
                for rows in sides
            ]
            losses.append(data.sums.constant - sum(gains))
    return min(losses, default=None)


@check
@given(problems(), st.sampled_from("abc"))
def test_the_best_tree_with_a_first_question(problem, name):
    model, rows = problem
    expected = best_with_first(model, rows, name)
    if expected is None:
        with pytest.raises(ValueError, match="no first question of this kind"):
            force_questions(model, **rows, first=name)
        return
    forced = force_questions(model, **rows, first=name)
    scale = 1e-9 * max(1.0, abs(expected))
    assert forced.loss == pytest.approx(expected, abs=scale)
    assert forced.tree.total_loss == pytest.approx(expected, abs=scale)
    assert forced.status == "optimal"
    assert forced.tree.cuts[forced.tree.cut[0]].name == name
    assert forced.tree.outcome.name == ("arms" if "treatment" in rows else "causes")
    free = min(best_loss(model, rows, "abc"), expected)
    assert forced.free_loss == pytest.approx(free, abs=scale)


@check
@given(problems())
def test_columns_cost_what_the_best_tree_without_them_loses(problem):
    model, rows = problem
    costs = column_costs(model, **rows)
    scale = 1e-9 * max(1.0, costs.leaf_loss)
    for column in costs.columns:
        without = best_loss(model, rows, set("abc") - {column.name})
        assert column.without == pytest.approx(without, abs=scale)
        first = best_with_first(model, rows, column.name)
        assert column.first == (None if first is None else pytest.approx(first, abs=scale))


@check
@given(problems())
def test_an_audit_finds_the_best_tree_of_the_same_size(problem):
    model, rows = problem
    coarse = clone(model).set_params(n_thresholds=1).fit(**rows)
    audit = audit_tree(coarse, **rows, encoder=encoder_of(model))
    scale = 1e-9 * max(1.0, audit.leaf_loss)
    assert audit.loss == pytest.approx(coarse.loss_, abs=scale)
    data, limits = sums_of(model, rows)
    shape = replace(limits, max_depth=coarse.tree_.depth, max_splits=coarse.tree_.n_splits)
    best = reference.solve(answers_of(model, data, "abc"), data.sums, shape)
    assert audit.optimum.loss == pytest.approx(data.sums.constant - best.gains[-1], abs=scale)
    costs = sum(split.cost for split in audit.split_costs)
    assert costs == pytest.approx(audit.loss - audit.optimum.loss, abs=10 * scale)


@check
@given(problems(), st.sampled_from([0.0, 0.1, 0.6]))
def test_near_trees_and_prices_are_those_of_all_trees(problem, within):
    model, given_ = problem
    model = clone(model).fit(**given_)
    rows, trees = everything(model, given_, model.tree_.n_splits)
    constant, scale = rows.data.sums.constant, rows.data.sums.scale
    tolerance = 1e-9 * (1 + scale)
    best = max(tree.gain for tree in trees)
    least = best - within * (best - trees[0].gain)
    near = near_optimal(model, **given_, within=within)
    assert near.end == "complete"
    gains = {tree.leaves: tree.gain for tree in trees}.values()
    surely = sorted(constant - gain for gain in gains if gain > least + tolerance)
    assert len(surely) <= near.n_trees <= sum(gain >= least - tolerance for gain in gains)
    np.testing.assert_allclose(near.losses[: len(surely)], surely, atol=tolerance)
    cuts = rows.encoder.cuts_
    for node in question_costs(model, **given_).nodes[:1]:
        expected = {}
        for tree in trees:
            if tree.node.left is not None:
                known = expected.get(tree.node.cut, np.inf)
                expected[tree.node.cut] = min(known, constant - tree.gain)
        found = {cuts.index(one.cut): one.loss for one in node.questions}
        assert found.keys() == expected.keys()
        for cut, loss in expected.items():
            assert found[cut] == pytest.approx(loss, abs=tolerance)


def test_a_tuned_tree_is_asked_and_audited():
    X, y = load_melanoma()
    search = CompetingRisksTreeCV(max_depth=2, cv=3).fit(X, y)
    costs = column_costs(search, X, y, first=False)
    assert costs.loss == pytest.approx(search.best_estimator_.loss_)
    audit = audit_tree(search, X, y)
    assert audit.missed == pytest.approx(0, abs=1e-9)
    assert "theta 2" in str(audit)


def test_a_tree_of_causes_without_its_estimator_is_audited():
    X, y = load_melanoma()
    model = CompetingRisksTree(max_depth=2).fit(X, y)
    assert audit_tree(model.tree_, X, y).loss == pytest.approx(model.loss_)
