"""Every verb with hardly any rows: a result without NaN in print, or an error in plain words."""

import re

import numpy as np
import pytest

from surtree import (
    CompetingRisksTree,
    CompetingRisksTreeCV,
    EffectTree,
    PointsTable,
    SurTree,
    SurTreeBayes,
    SurTreeCV,
    TaughtTree,
    audit_tree,
    column_costs,
    correct_effects,
    evaluate,
    force_questions,
    heterogeneity_test,
    near_optimal,
    question_costs,
    question_swaps,
    validate,
)
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
EVENT, TIME = rng.random(60) < 0.7, rng.exponential(size=60) + 0.1
ARM = np.arange(60) % 2
MODEL = SurTree(max_depth=2).fit(X, (EVENT, TIME))
EFFECT = EffectTree(max_depth=1).fit(X, (EVENT, TIME), ARM)


def causes(y):
    return y[0].astype(int), y[1]


VERBS = {
    "SurTree": lambda X, y, arm: SurTree(max_depth=2).fit(X, y).tree_,
    "SurTreeCV": lambda X, y, arm: SurTreeCV(max_depth=1, cv=3).fit(X, y).held_out_,
    "TaughtTree": lambda X, y, arm: TaughtTree(max_depth=2).fit(X, y).tree_,
    "SurTreeBayes": lambda X, y, arm: SurTreeBayes().fit(X, y)._repr_html_(),
    "SurTreeBayes, cox": lambda X, y, arm: SurTreeBayes(cox="offset").fit(X, y).cox_,
    "PointsTable": lambda X, y, arm: PointsTable().fit(X, y).card_,
    "GreedyTree": lambda X, y, arm: GreedyTree(max_depth=2).fit(X, y).tree_,
    "ConditionalInferenceTree": lambda X, y, arm: ConditionalInferenceTree().fit(X, y).tree_,
    "LocalSearchTree": lambda X, y, arm: LocalSearchTree(n_restarts=2).fit(X, y).tree_,
    "EffectTree": lambda X, y, arm: EffectTree(max_depth=1).fit(X, y, arm).tree_,
    "CompetingRisksTree": lambda X, y, arm: CompetingRisksTree(max_depth=1).fit(X, causes(y)).tree_,
    "CompetingRisksTreeCV": lambda X, y, arm: (
        CompetingRisksTreeCV(max_depth=1, cv=3).fit(X, causes(y)).held_out_
    ),
    "evaluate": lambda X, y, arm: evaluate(MODEL, X, y, n_bootstraps=3),
    "validate": lambda X, y, arm: validate(SurTree(max_depth=1), X, y, n_bootstraps=3),
    "audit_tree": lambda X, y, arm: audit_tree(MODEL, X, y),
    "audit_tree of labels": lambda X, y, arm: audit_tree(np.arange(len(X)) % 2, X, y),
    "force_questions": lambda X, y, arm: force_questions(SurTree(max_depth=1), X, y, first="x0"),
    "column_costs": lambda X, y, arm: column_costs(SurTree(max_depth=1), X, y),
    "near_optimal": lambda X, y, arm: near_optimal(SurTree(max_depth=1).fit(X, y), X, y),
    "question_costs": lambda X, y, arm: question_costs(SurTree(max_depth=1).fit(X, y), X, y),
    "question_swaps": lambda X, y, arm: question_swaps(SurTree(max_depth=1).fit(X, y), X, y),
    "heterogeneity_test": lambda X, y, arm: heterogeneity_test(EFFECT, X, y, arm, n_draws=3),
    "correct_effects": lambda X, y, arm: correct_effects(EFFECT, X, y, arm, n_repeats=1),
}
INPUTS = {
    "0 rows": (X[:0], (EVENT[:0], TIME[:0]), ARM[:0]),
    "1 row": (X[:1], (np.array([True]), TIME[:1]), ARM[:1]),
    "2 rows": (X[:2], (np.array([True, True]), TIME[:2]), ARM[:2]),
    "all censored": (X, (np.zeros(60, dtype=bool), TIME), ARM),
    "constant columns": (np.ones((60, 3)), (EVENT, TIME), ARM),
    "equal rows": (np.ones((60, 3)), (np.ones(60, dtype=bool), np.full(60, 2.0)), ARM),
}
CENSORED = "All 60 rows are censored: at least one row needs an event"
NO_ROWS = r"There are no rows|Found array with 0 sample"
NO_FOLDS = "cv=3: Cannot have number of splits n_splits=3 greater than the number of samples"
ONE_ARM = "treatment has 1 arm .*: effects are told apart between two to 4 arms"
NO_QUESTION = "no first question of this kind divides the rows"
# What is refused, and how it is said; all else gives a result.
REFUSED = {
    **{(verb, "0 rows"): NO_ROWS for verb in VERBS},
    **{(verb, "all censored"): CENSORED for verb in VERBS},
    **{
        (verb, rows): NO_FOLDS
        for verb in ("SurTreeCV", "CompetingRisksTreeCV")
        for rows in ("1 row", "2 rows")
    },
    **{
        (verb, "1 row"): ONE_ARM for verb in ("EffectTree", "heterogeneity_test", "correct_effects")
    },
    ("force_questions", "1 row"): NO_QUESTION,
    ("force_questions", "constant columns"): NO_QUESTION,
    ("force_questions", "equal rows"): NO_QUESTION,
}


@pytest.mark.parametrize("rows", INPUTS)
@pytest.mark.parametrize("verb", VERBS)
def test_hardly_any_rows_give_a_result_or_an_error_in_plain_words(verb, rows):
    if (verb, rows) in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[verb, rows]):
            VERBS[verb](*INPUTS[rows])
    else:
        assert not re.search(r"\bnan\b", str(VERBS[verb](*INPUTS[rows])))


def test_an_audit_of_rows_that_reach_few_leaves_says_which_are_empty():
    one = audit_tree(MODEL, X[:1], (np.array([True]), TIME[:1]))
    assert [cost.cost for cost in one.split_costs] == [0.0] * MODEL.tree_.n_splits
    assert str(one).count("unknown") == MODEL.tree_.n_leaves - 1
