"""What must not change the optimum, and what may only improve it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import Case, cases, take
from surtree import SurTree
from surtree.datasets import load_gbsg2, make_survival_tree_data

check = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def losses(case: Case, **parameters: object) -> list[float]:
    model = SurTree(**case.limits | parameters)
    model.fit(case.X, case.y, sample_weight=case.weight, entry=case.entry)
    return [size.loss for size in model.path_]


def same(one: list[float], other: list[float]) -> None:
    n = max(len(one), len(other))
    padded = [path + path[-1:] * (n - len(path)) for path in (one, other)]
    np.testing.assert_allclose(*padded, rtol=1e-9, atol=1e-9)


@check
@given(cases(max_rows=24), st.randoms())
def test_order_of_rows(case: Case, random):
    rows = list(range(len(case.y)))
    random.shuffle(rows)
    same(losses(case), losses(take(case, np.array(rows))))


@check
@given(cases(max_rows=24))
def test_order_of_columns(case: Case):
    same(losses(case), losses(replace(case, X=case.X[case.X.columns[::-1]])))


@check
@given(cases(max_rows=24))
def test_negated_columns(case: Case):
    # Quantiles round halves to even, which is not symmetric; all thresholds are.
    negated = case.X.copy()
    for name in negated.columns:
        if negated[name].dtype == float:
            negated[name] = -negated[name]
    same(losses(case, n_thresholds=None), losses(replace(case, X=negated), n_thresholds=None))


@check
@given(cases(max_rows=12))
def test_a_row_twice_is_a_row_of_weight_two(case: Case):
    case.limits.pop("min_samples_leaf", None)  # limits count rows, whatever their weight
    case.limits.pop("min_events_leaf", None)
    twice = np.arange(len(case.y)) % 2 == 0
    weight = np.where(twice, 2.0, 1.0)
    rows = np.repeat(np.arange(len(case.y)), weight.astype(int))
    same(losses(replace(case, weight=weight)), losses(take(replace(case, weight=None), rows)))


@check
@given(cases(max_rows=24))
def test_a_row_of_weight_zero_is_absent(case: Case):
    keep = np.arange(len(case.y)) % 3 > 0
    if not case.y["event"][keep].any():
        return
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    case = replace(case, weight=weight)
    same(
        losses(take(case, np.flatnonzero(keep))),
        losses(replace(case, weight=np.where(keep, weight, 0.0))),
    )


@check
@given(cases(max_rows=24))
def test_more_splits_and_more_depth_never_hurt(case: Case):
    path = losses(case)
    assert all(b <= a for a, b in pairwise(path))
    case.limits.pop("max_splits", None)
    by_depth = [losses(case, max_depth=depth)[-1] for depth in range(4)]
    assert all(b <= a + 1e-9 for a, b in pairwise(by_depth))


@check
@given(cases(max_rows=24))
def test_tighter_leaves_never_help(case: Case):
    free = {"min_samples_leaf": 1, "min_events_leaf": 0}
    loose, tight = losses(case, **free)[-1], losses(case)[-1]
    assert loose <= tight + 1e-9


def test_nested_thresholds_never_hurt():
    # The thresholds of 1, 3, 9, 27 quantiles are each among those of the next.
    X, y, _ = make_survival_tree_data(500, random_state=3)
    model = SurTree(max_depth=3, min_support=0.0)
    found = [model.set_params(n_thresholds=n).fit(X, y).loss_ for n in (1, 3, 9, 27)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_columns_of_many_bins_are_searched_in_full():
    # Too many bins for a table over pairs: every one of them is searched by recursion, and a finer
    # choice of thresholds is never worse than a coarser one among them.
    rng = np.random.default_rng(5)
    n = 1300
    X = pd.DataFrame({"many": rng.permutation(n) / 8, "few": rng.integers(0, 4, n)})
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"] = rng.random(n) < 0.6
    y["time"] = rng.exponential(1 + (X["many"] > 80) * X["few"]) + 0.1
    coarse = X.assign(many=np.searchsorted(np.arange(0, 163, 0.4), X["many"]) * 0.4)
    fine = SurTree(max_depth=2, n_thresholds=None, min_support=0.0).fit(X, y)
    less = SurTree(max_depth=2, n_thresholds=None, min_support=0.0).fit(coarse, y)
    assert fine.loss_ <= less.loss_
    assert fine.encoder_.transform(X).shape[1] > 512 > less.encoder_.transform(coarse).shape[1]


def test_gap_is_a_proof():
    X, y = load_gbsg2()
    whole = SurTree(max_depth=4).fit(X, y)
    cut_short = SurTree(max_depth=4, time_limit=1e-6).fit(X, y)
    assert cut_short.status_ == "time_limit"
    assert cut_short.lower_bound_ <= whole.loss_ <= cut_short.loss_
    assert cut_short.gap_ == pytest.approx(1 - cut_short.lower_bound_ / cut_short.loss_)
    for early, late in zip(cut_short.path_, whole.path_, strict=True):
        assert early.lower_bound <= late.loss + 1e-9
        assert early.loss >= late.loss - 1e-9
