"""Questions by force: the optimum given a first question, or without columns, by brute force."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, cases, limits_of, relative_risk_rows, row_hazard
from surtree import Cut, Encoder, SurTree, SurTreeCV, column_costs, force_questions
from surtree.datasets import load_gbsg2, load_lung
from surtree.solver import reference

check = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def fit(case: Case, X: pd.DataFrame) -> SurTree:
    return SurTree(**case.limits).fit(X, case.y, sample_weight=case.weight, entry=case.entry)


def force(case: Case, **wishes):
    model = SurTree(**case.limits)
    return force_questions(model, case.X, case.y, case.weight, case.entry, **wishes)


def encoder(case: Case) -> Encoder:
    names = ("n_thresholds", "min_support", "category_cuts")
    return Encoder(**{name: case.limits[name] for name in names})


def answers_of(case: Case, names: list[str]) -> np.ndarray:
    """Return the answers of all rows to all questions about some columns."""
    if not names:
        return np.empty((len(case.y), 0), dtype=bool)
    X = case.X[names]
    return encoder(case).fit(X, case.y).transform(X).astype(bool)


def best_with_first(case: Case, name: str, no: list[str], yes: list[str]) -> float | None:
    """Return the smallest loss of a tree that asks about a column first, from the definition."""
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    hazard = row_hazard(case.y, weight, case.entry)
    events, event = weight * case.y["event"], case.y["event"]
    limits = limits_of(case)
    most = 2**limits.max_depth - 1 if limits.max_splits is None else limits.max_splits
    below = replace(limits, max_depth=limits.max_depth - 1, max_splits=most - 1)
    tables = [answers_of(case, [c for c in case.X if c not in left_out]) for left_out in (no, yes)]
    losses = []
    for answers in answers_of(case, [name]).T:
        sides = list(zip(tables, (~answers, answers), strict=True))
        counts = [(rows.sum(), event[rows].sum()) for _, rows in sides]
        least = max(limits.min_samples_leaf, 1), limits.min_events_leaf
        if (np.min(counts, axis=0) < least).any():
            continue
        no_gains, yes_gains = (
            reference.solve(
                holds[rows],
                relative_risk_rows(
                    events[rows],
                    (weight * hazard)[rows],
                    event[rows],
                    case.limits.get("shrinkage", 0.0),
                ),
                below,
            ).gains
            for holds, rows in sides
        )
        gain = max(
            one + other
            for i, one in enumerate(no_gains)
            for j, other in enumerate(yes_gains)
            if i + j + 1 <= most
        )
        losses.append(-(events @ np.log(hazard)) - gain)
    return min(losses, default=None)


def with_a_split(case: Case) -> Case:
    """Return a problem that allows a split, small enough for the reference solver."""
    case.limits["max_depth"] = min(max(case.limits["max_depth"], 1), 3)
    if case.limits.get("max_splits", 1) < 1:
        case.limits["max_splits"] = 1
    return case


@check
@given(cases(max_rows=14), st.data())
def test_the_best_tree_with_a_first_question_and_columns_left_out_below_it(case, data):
    case = with_a_split(case)
    names = list(case.X.columns)
    first = data.draw(st.sampled_from(names))
    no, yes = (data.draw(st.lists(st.sampled_from(names), unique=True)) for _ in range(2))
    expected = best_with_first(case, first, no, yes)
    if expected is None:
        with pytest.raises(ValueError, match="no first question of this kind divides the rows"):
            force(case, first=first, forbid={"no": no, "yes": yes})
        return
    found = force(case, first=first, forbid={"no": no, "yes": yes})
    scale = max(1.0, abs(expected), case.y["event"].sum())
    assert found.loss == pytest.approx(expected, abs=1e-9 * scale)
    assert found.tree.total_loss == pytest.approx(found.loss, abs=1e-9 * scale)
    assert found.status == "optimal"
    assert found.lower_bound == found.loss
    assert found.tree.cuts[found.tree.cut[0]].name == first
    below = {"no": int(found.tree.left[0]), "yes": int(found.tree.right[0])}
    for side, forbidden in (("no", no), ("yes", yes)):
        nodes = [below[side]]
        for node in nodes:
            if found.tree.left[node] >= 0:
                assert found.tree.cuts[found.tree.cut[node]].name not in forbidden
                nodes += [found.tree.left[node], found.tree.right[node]]
    free = min(fit(case, case.X).loss_, found.loss)
    assert found.free_loss == pytest.approx(free, abs=1e-9 * scale)
    assert found.cost >= 0


@check
@given(cases(max_rows=20))
def test_columns_cost_what_the_best_tree_without_them_loses(case):
    case = with_a_split(case)
    found = column_costs(SurTree(**case.limits), case.X, case.y, case.weight, case.entry)
    whole = fit(case, case.X)
    scale = max(1.0, whole.path_[0].loss, case.y["event"].sum())
    assert found.loss == pytest.approx(whole.loss_, abs=1e-9 * scale)
    assert found.leaf_loss == pytest.approx(whole.path_[0].loss, abs=1e-9 * scale)
    assert {column.name for column in found.columns} == set(case.X.columns)
    for column in found.columns:
        rest = case.X.drop(columns=column.name)
        # A table needs a column.
        loss = fit(case, rest).loss_ if rest.shape[1] else whole.path_[0].loss
        assert column.without == pytest.approx(loss, abs=1e-9 * scale)
        assert column.without >= whole.loss_ - 1e-9 * scale
        expected = best_with_first(case, column.name, [], [])
        assert (column.first is None) is (expected is None)
        if expected is not None:
            assert column.first == pytest.approx(expected, abs=1e-9 * scale)
        assert 0 <= found.share(column.without) <= 1 + 1e-9


def test_given_questions():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(2)
    by_pair = force_questions(model, X, y, first=("age", 50))
    assert by_pair.tree.cuts[by_pair.tree.cut[0]].rule == "age > 50"
    assert force_questions(model, X, y, first=Cut(0, "age", threshold=50.0)).loss == by_pair.loss
    by_grade = force_questions(model, X, y, first=("tumor_grade", ["III", "II"]))
    assert by_grade.tree.cuts[by_grade.tree.cut[0]].categories == ("II", "III")
    free = SurTree(2).fit(X, y)
    asked = free.tree_.cuts[free.tree_.cut[0]]
    same = force_questions(free, X, y, first=asked)
    assert same.loss == pytest.approx(free.loss_)
    assert same.cost == pytest.approx(0, abs=1e-9 * free.loss_)
    assert "the cost is 0, 0.0 % of what the free tree explains" in str(
        force_questions(free, X, y, forbid=["age"])
    )


def test_missing_values_go_to_the_better_side_unless_the_question_says():
    X, y = load_lung(backend="pandas")
    free = force_questions(SurTree(2), X, y, first=("karnofsky_physician", 75))
    sides = [
        force_questions(
            SurTree(2), X, y, first=Cut(0, "karnofsky_physician", threshold=75.0, missing=side)
        ).loss
        for side in (False, True)
    ]
    assert free.loss == min(sides) < max(sides)


def test_a_search_stands_for_what_it_chose_and_a_time_limit_for_what_it_had_time_for():
    X, y = load_gbsg2(backend="pandas")
    search = SurTreeCV(2, cv=3).fit(X, y)
    found = force_questions(search, X, y, forbid=["positive_nodes"])
    best = SurTree(**search.best_params_).fit(X.drop(columns="positive_nodes"), y)
    assert found.loss == pytest.approx(best.loss_)
    assert found.free_loss == pytest.approx(search.best_estimator_.loss_)
    late = force_questions(SurTree(5, time_limit=1e-6), X, y, first="age")
    assert late.status == "time_limit"
    assert late.lower_bound <= late.loss
    assert late.free_loss <= late.loss


def test_a_price_on_splits():
    X, y = load_gbsg2(backend="pandas")
    for alpha in (0.0, 5.0, 1000.0):
        found = force_questions(SurTree(3, ccp_alpha=alpha), X, y, first="age")
        paths = [force_questions(SurTree(3, k), X, y, first="age") for k in range(1, 8)]
        prices = [one.loss + alpha * one.tree.n_splits for one in paths]
        assert found.loss + alpha * found.tree.n_splits == pytest.approx(min(prices))


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"first": "agee"}, "'agee' is no column of the table: there are age, "),
        ({"first": 7}, r"first must be the name of a column, a Cut, or a column and a threshold"),
        ({"first": ("age", ["old"])}, "first must be the name of a column"),
        ({"first": ("tumor_grade", ["IV"])}, "first must name some of the categories of 'tumor_g"),
        ({"forbid": "age"}, "forbid must be a list of columns"),
        ({"forbid": {"yes": ["age"]}}, "say what is asked first"),
        ({"forbid": {"left": ["age"]}, "first": "age"}, "below 'yes' and 'no'"),
        ({"first": ("age", 500)}, "no first question of this kind divides the rows"),
    ],
)
def test_what_is_refused(wishes, message):
    X, y = load_gbsg2(backend="pandas")
    with pytest.raises(ValueError, match=message):
        force_questions(SurTree(2), X, y, **wishes)
    with pytest.raises(ValueError, match="needs max_depth and max_splits of 1 or more"):
        force_questions(SurTree(0), X, y, first="age")
