"""Every type that a user meets can be imported from where its users look for it."""

import inspect
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import surtree
import surtree.datasets
import surtree.export
import surtree.heuristics
import surtree.metrics
import surtree.outcomes
import surtree.plot
import surtree.report
from surtree import SurTree, SurTreeCV, audit_tree, cost_complexity_path
from surtree.datasets import load_gbsg2, make_survival_tree_data
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree
from surtree.metrics import calibration

PUBLIC = (surtree, surtree.heuristics, surtree.metrics, surtree.datasets, surtree.outcomes)


def types_of(values):
    """Return the types of this package among values, their public attributes and their items."""
    found, pending, seen = set(), list(values), {}
    while pending:
        value = pending.pop()
        if id(value) in seen or isinstance(value, str | bytes | type):
            continue
        seen[id(value)] = value  # alive, so that no other object gets its id
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.dtype == "O"):
            pending += list(value)
        elif type(value).__module__.startswith("surtree"):
            found.add(type(value))
            names = [name for name in dir(value) if not name.startswith("_")]
            held = [getattr(value, name, None) for name in names]
            pending += [part for part in held if not callable(part)]
    return found


@pytest.fixture(scope="module")
def met():
    """What a user holds in hand after trying everything once."""
    X, y = load_gbsg2()
    shown = []
    model = SurTree(3, progress=shown.append).fit(X, y)
    search = SurTreeCV(1, cv=2, progress=shown.append).fit(X, y)
    others = [
        estimator.fit(X, y)
        for estimator in (GreedyTree(2), ConditionalInferenceTree(2), LocalSearchTree(2))
    ]
    return [
        *(model, search, *others, *shown),
        model.tree_.rules(),
        model.predict_survival_function(X[:1]),
        surtree.leaf_curves(model.tree_),
        surtree.confidence_band(model.tree_, int(model.tree_.leaves[0])),
        audit_tree(others[0], X, y),
        cost_complexity_path(X, y, estimator=SurTree(1)),
        calibration(y, model.predict_survival_function(X), 1000.0),
        make_survival_tree_data(50, random_state=0)[-1],
    ]


def test_every_type_that_a_user_meets_has_a_public_address(met):
    found = types_of(met)
    assert {kind.__name__ for kind in found} >= {"Size", "Cut", "StepFunction", "SplitCost", "Rule"}
    hidden = [
        kind.__qualname__
        for kind in found
        if not any(getattr(module, kind.__name__, None) is kind for module in PUBLIC)
    ]
    assert hidden == []


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_all_public_names_are_there(module):
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize(
    "module", [*PUBLIC[:-1], surtree.export, surtree.plot, surtree.report], ids=lambda m: m.__name__
)
def test_all_that_users_meet_says_what_it_is(module):
    silent = []
    for name in module.__all__:
        value = getattr(module, name)
        if not inspect.getdoc(value):
            silent.append(name)
        members = vars(value).items() if inspect.isclass(value) else ()
        silent += [
            f"{name}.{member}"
            for member, held in members
            if not member.startswith("_") and (callable(held) or isinstance(held, property))
            if not inspect.getdoc(getattr(value, member))
        ]
    assert silent == []
