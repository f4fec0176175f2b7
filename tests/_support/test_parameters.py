"""Whatever a parameter is set to: it works, or an error says which parameter cannot be used."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EventStratifiedKFold,
    SurTree,
    SurTreeCV,
    audit_tree,
    cost_complexity_path,
)
from surtree.cli._fit import fit
from surtree.cli._validate import validate
from surtree.cuts.encoder import Encoder
from surtree.datasets import make_survival_tree_data
from surtree.export import export_text
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.solver.core import n_threads

NASTY = (
    0, -1, 2**31, 2**63, 2**70, 10**400, -(10**400), math.nan, math.inf, -math.inf, 1e300, 5e-324,
    "x", "", None, True, False, np.int64(3), np.int8(3), np.uint8(3), np.float32(0.25),
    np.float64(0.25), np.float32("nan"), Fraction(1, 4), 1j, [], (), object(),
)  # fmt: skip

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 9, (30, 2)).astype(float)
Y = np.array([(k % 4 > 0, 1.0 + time) for k, time in enumerate(RANDOM.random(30))], dtype="?,f8")
MODEL = GreedyTree(max_depth=1).fit(X, Y)
PATH = cost_complexity_path(X, Y)
TRUTH = make_survival_tree_data(5, random_state=0, depth=1)[2]


def of_an_estimator() -> list[Any]:
    estimators = (
        SurTree(max_depth=2),
        SurTree(max_depth=2, n_thresholds=None, time_limit=9.0),
        SurTreeCV(max_depth=1, cv=2),
        GreedyTree(),
        ConditionalInferenceTree(min_split=4, min_bucket=2),
        LocalSearchTree(n_restarts=2),
        LocalSearchTree(n_restarts=2, ccp_alpha="auto"),
        Encoder(),
    )
    return [
        pytest.param(type(estimator), estimator.get_params(), name, id=f"{estimator} {name}")
        for estimator in estimators
        for name in estimator.get_params()
    ]


@pytest.mark.parametrize(("estimator", "others", "name"), of_an_estimator())
def test_an_estimator_works_or_says_which_parameter_it_cannot_use(estimator, others, name):
    for value in NASTY:
        works_or_names(name, value, lambda **p: estimator(**others | p).fit(X, Y))


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda **p: audit_tree(MODEL, X, Y, **p), ("max_depth", "time_limit", "n_jobs")),
        (lambda **p: cost_complexity_path(X, Y, estimator=SurTree(1, **p)), ("min_samples_leaf",)),
        (lambda **p: PATH.tree(**p), ("ccp_alpha",)),
        (lambda **p: list(EventStratifiedKFold(**p).split(X, Y)), ("n_splits", "random_state")),
        (lambda **p: make_survival_tree_data(**{"n": 9} | p),
         ("n", "censoring", "factor", "random_state", "depth")),
        (lambda **p: TRUTH.sample(**{"n": 9} | p), ("n", "random_state")),
        (lambda **p: export_text(MODEL.tree_, **p), ("max_depth", "spacing", "decimals")),
    ],
)  # fmt: skip
def test_a_function_works_or_says_which_parameter_it_cannot_use(function, names):
    for name in names:
        for value in NASTY:
            works_or_names(name, value, function)


def works_or_names(name: str, value: Any, call: Callable[..., Any]) -> None:
    try:
        call(**{name: value})
    except Exception as error:
        if not (isinstance(error, ValueError) and name in str(error)):
            pytest.fail(f"{name}={value!r}: {type(error).__name__}: {error}")


# What is larger than anything means what it says.


@pytest.mark.parametrize("estimator", [SurTree, GreedyTree, LocalSearchTree, SurTreeCV])
@pytest.mark.parametrize("name", ["min_samples_leaf", "min_events_leaf"])
@pytest.mark.parametrize(
    "size",
    [31, 2**31 - 1, 2**31, 2**70, 10**400],
    ids=["31", "2**31 - 1", "2**31", "2**70", "10**400"],
)
def test_no_leaf_is_larger_than_the_table(estimator, name, size):
    options = {"cv": 2} if estimator is SurTreeCV else {}
    assert estimator(max_depth=2, **options, **{name: size}).fit(X, Y).tree_.n_leaves == 1


@pytest.mark.parametrize("n_thresholds", [10, None])
@pytest.mark.parametrize(
    "more",
    [{"max_splits": 10**400}, {"memory_limit": 10**400}, {"n_jobs": 2**40}, {"n_jobs": -(2**40)},
     {"time_limit": math.inf}, {"time_limit": 10**400}, {"time_limit": 1e10},
     {"max_categories": 2**70}],
)  # fmt: skip
def test_a_limit_beyond_all_reason_is_none(n_thresholds, more):
    X = RANDOM.random((200, 2))
    y = RANDOM.exponential(size=200)
    plain = SurTree(max_depth=2, n_thresholds=n_thresholds, min_support=0).fit(X, y)
    model = SurTree(max_depth=2, n_thresholds=n_thresholds, min_support=0, **more).fit(X, y)
    assert model.status_ == "optimal"
    assert model.tree_ == plain.tree_


def test_more_thresholds_than_values_are_all():
    every = SurTree(max_depth=2, n_thresholds=None, min_support=0).fit(X, Y)
    assert SurTree(max_depth=2, n_thresholds=2**70, min_support=0).fit(X, Y).loss_ == every.loss_


@pytest.mark.parametrize(
    ("n_jobs", "n_processors", "expected"),
    [(None, 8, 1), (1, 8, 1), (3, 8, 3), (12, 8, 12), (2**40, 8, 1024),
     (-1, 8, 8), (-2, 8, 7), (-8, 8, 1), (-9, 8, 1), (-1, None, 1)],
)  # fmt: skip
def test_negative_jobs_leave_processors_free(monkeypatch, n_jobs, n_processors, expected):
    monkeypatch.setattr("os.cpu_count", lambda: n_processors)
    assert n_threads(n_jobs) == expected


def test_more_jobs_than_folds():
    plain = SurTreeCV(max_depth=2, cv=3).fit(X, Y)
    assert SurTreeCV(max_depth=2, cv=3, n_jobs=2**40).fit(X, Y).tree_ == plain.tree_


def test_a_split_that_must_be_worth_more_than_everything():
    for estimator in (SurTree, GreedyTree, LocalSearchTree):
        assert estimator(max_depth=2, ccp_alpha=1e308).fit(X, Y).tree_.n_leaves == 1


def test_every_way_to_one_tree_has_the_same_depth_by_default():
    of_commands = [
        inspect.signature(command).parameters["max_depth"].default for command in (fit, validate)
    ]
    models = (SurTree, SurTreeCV, CompetingRisksTree, CompetingRisksTreeCV, GreedyTree)
    depths = [model().max_depth for model in (*models, LocalSearchTree)]
    assert {*depths, *of_commands} == {3}
