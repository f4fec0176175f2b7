"""The problem that a fitted model has solved, from the rows that it was fitted on."""

from __future__ import annotations

from typing import Any

from surtree.averages.taught import TaughtTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.data.rows import read_rows
from surtree.estimators.parameters import require_parameters
from surtree.estimators.tree import SurTree
from surtree.fitting.conditions import condition_texts, has_conditions
from surtree.fitting.row_digest import row_digest
from surtree.fitting.training import FitProblem, make_problem, reader_of, rows_to_fit
from surtree.tree.resolve import chosen_model, last_step


def fitted_problem(
    model: Any, given: RowInputs, what: str, *, with_conditions: bool = False
) -> tuple[SurTree, FitProblem]:
    """Return the tree that a model is, or has chosen, and the problem that it has solved."""
    if last_step(model).transformers:
        raise TypeError(
            "model is a pipeline with transformers: pass its last step, pipeline[-1], and the "
            "table that it sees, pipeline[:-1].transform(X)"
        )
    fitted = chosen_model(model)
    if not isinstance(fitted, SurTree):
        raise TypeError(f"model must be a fitted SurTree or SurTreeCV; got {fitted!r}")
    if isinstance(fitted, TaughtTree):
        raise TypeError(
            f"a taught tree follows its teacher, and there is no {what} of it on the rows: pass "
            f"SurTree(max_depth={fitted.max_depth}), fitted"
        )
    if "treatment" in fitted.tree_.outcome.row_columns and given.treatment is None:
        raise ValueError(
            f"there is no {what} of a tree of treatment effects without its arms: near_optimal, "
            "question_costs, column_costs and force_questions take them, as treatment"
        )
    if not with_conditions:
        require_no_conditions(fitted, what)
    require_parameters(fitted)
    data = rows_to_fit(fitted, read_rows(fitted, given, reader_of(fitted)))
    problem = make_problem(encoder_of(fitted), data)
    known = fitted.row_digest_
    if known is not None and known != row_digest(problem):
        raise ValueError(
            "these are not the rows that the model was fitted on: pass the same X, y, "
            "sample_weight, entry and id as to fit"
        )
    return fitted, problem


def require_no_conditions(model: SurTree, what: str) -> None:
    """Raise an error where a model has conditions on whole trees."""
    if has_conditions(model):
        raise ValueError(
            f"there is no {what} of a tree with {' and '.join(condition_texts(model))}: pass a "
            "model without monotone and max_columns; near_optimal lists trees with them"
        )
