"""Every public result has a line for a prompt, and HTML for a notebook, without its arrays."""

import re
import warnings
from functools import cache

import pytest

import surtree
from surtree import (
    CompetingRisksTree,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    audit_tree,
    column_costs,
    compare,
    correct_effects,
    cost_complexity_path,
    evaluate,
    force_questions,
    heterogeneity_test,
    keep,
    leaf_curves,
    leaf_hazard_ratios,
    near_optimal,
    question_costs,
    question_swaps,
    validate,
    verify,
)
from surtree.datasets import load_gbsg2, load_rossi
from surtree.heuristics import GreedyTree

# What is called or given, and no result.
NO_RESULTS = {
    "EventStratifiedKFold",
    "FoldProgress",
    "FirstTree",
    "LandmarkRows",
    "Objective",
    "PersonRanges",
    "PointsCard",
    "Reversal",
    "Progress",
    "RTree",
    "SurvivalEstimator",
    "TreeEstimator",
    "CompetingRisksTreeCV",
}
LONGEST = 400


def _roots():
    X, y = load_gbsg2(backend="pandas")
    model = SurTree(max_depth=2).fit(X, y)
    search = SurTreeCV(max_depth=1, cv=3).fit(X, y)
    table, outcome = load_rossi(backend="pandas")
    effects = EffectTree(max_depth=1, min_events_arm=5).fit(table, outcome, "financial_aid")
    swaps = question_swaps(model, X, y, n_folds=0)
    yield from (model, search, effects, swaps, keep(model, swaps.swaps[0]))
    yield CompetingRisksTree(max_depth=1).fit(X, (y["event"] * 1, y["time"]))
    yield validate(model, X, y, n_bootstraps=3)
    yield evaluate(model, X, y, n_bootstraps=3)
    yield heterogeneity_test(effects, table, outcome, "financial_aid", n_draws=19)
    yield correct_effects(effects, table, outcome, "financial_aid", n_repeats=2)
    yield force_questions(SurTree(max_depth=2), X, y, first="age")
    yield column_costs(SurTree(max_depth=1), X, y)
    yield question_costs(model, X, y)
    yield near_optimal(model, X, y)
    yield audit_tree(GreedyTree(max_depth=2).fit(X, y), X, y)
    yield verify(model, X, y)
    yield cost_complexity_path(X, y, estimator=SurTree(max_depth=1))
    yield compare({"a": SurTree(max_depth=1), "b": SurTree(max_depth=2)}, X, y)
    yield from (PointsTable().fit(X, y), SurTreeBayes().fit(X, y), TaughtTree().fit(X, y))
    yield from (leaf_curves(model.tree_), leaf_hazard_ratios(model.tree_), model.tree_.rules())
    yield from (model.predict_survival_function(X.head(1)), effects.effects_)


@cache
def instances():
    """Return one object of each class that some result has, by the name of the class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known, waiting, done = {}, [(one, 3) for one in _roots()], {}
        while waiting:
            one, deep = waiting.pop()
            if id(one) in done or deep < 0:
                continue
            done[id(one)] = one
            parts = []
            if isinstance(one, dict):
                parts = list(one.values())
            elif isinstance(one, (tuple, list)):
                parts = list(one)
            elif type(one).__module__.startswith("surtree"):
                known.setdefault(type(one).__name__, one)
                names = [*getattr(one, "__dict__", ()), *getattr(one, "__dataclass_fields__", ())]
                # What else is public, and where it is.
                names += ["path_", "card_", "rules_", "cuts", "baseline_"]
                parts = [getattr(one, name, None) for name in names if not name.startswith("_")]
                waiting += [(part, deep - 1) for part in parts]
                continue
            waiting += [(part, deep) for part in parts[:3]]
    return known


CLASSES = [
    name
    for name in surtree.__all__
    if isinstance(getattr(surtree, name), type)
    and not name.endswith("Warning")
    and name not in NO_RESULTS
]


@pytest.mark.parametrize("name", CLASSES)
def test_a_result_is_a_line_and_html_where_it_prints_more(name):
    if name not in instances():
        # Results that only few models have: those with arrays must show themselves.
        known = getattr(surtree, name)
        arrays = re.search("Floats|NDArray", str(getattr(known, "__annotations__", "")))
        assert not arrays or hasattr(known, "_repr_html_")
        return
    one = instances()[name]
    line = repr(one)
    assert len(line) <= LONGEST
    assert "\n" not in line
    assert "array(" not in line
    if "\n" in str(one):
        assert one._repr_html_().startswith("<")
        assert "array(" not in one._repr_html_()
