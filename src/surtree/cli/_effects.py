"""``surtree fit --treatment``: a tree of treatment effects, and what is honest about it."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, cast

import polars as pl

from surtree._support.types import Floats
from surtree.cli._console import say, shown_as_lines
from surtree.cli._search import Fitted
from surtree.cli._summary import certificate, model_json, told
from surtree.cli._survival import Survival
from surtree.effects.correction import correct_effects
from surtree.effects.heterogeneity import heterogeneity_test
from surtree.estimators._arms import NotRandomisedWarning
from surtree.estimators.effects import EffectTree
from surtree.estimators.tree import SurTree
from surtree.outcomes.effect_results import UNTESTED, effects_warning
from surtree.reading.errors import UserError, failures


def known_effects(model: SurTree) -> str:
    """Return what a model knows about whether effects differ; nothing where it has no arms."""
    if model.tree_.outcome.judged_by != "effects":
        return ""
    model = cast(EffectTree, model)
    test = model.heterogeneity_
    parts = [UNTESTED if test is None else str(test)]
    if model.correction_ is not None:
        parts.append(str(model.correction_))
    return "\n\n".join(parts)


def effects_to_predict(model: SurTree, *, uncorrected: bool) -> Floats | None:
    """Return the effects expected in new data and say so, or None for those of leaves."""
    if model.tree_.outcome.judged_by != "effects":
        if uncorrected:
            raise UserError("--uncorrected is for models of treatment effects: leave it out")
        return None
    model = cast(EffectTree, model)
    if model.tree_.n_leaves == 1:
        return None
    test, correction = model.heterogeneity_, model.correction_
    doubt = effects_warning(test)
    if test is None or uncorrected:
        say(f"{f'{doubt} ' if doubt else ''}The effects of leaves are predicted.")
        return None
    if test.is_evidence and correction is None:
        say("effects of leaves are too far apart, and this model has no correction.")
        return None
    what = "The common effect is predicted for everybody"
    if test.is_evidence and correction is not None:
        what = f"{correction.share_text} Such effects are predicted"
    say(f"{test.verdict} {what}; --uncorrected gives those of leaves.")
    return model.expected_effects()


def fit_effects(X: pl.DataFrame, survival: Survival, parameters: dict[str, Any]) -> Fitted:
    """Fit a tree of effects, test whether they differ, and correct them."""
    start = perf_counter()
    given = {"X": X, **survival.inputs}
    with failures(ValueError, TypeError), shown_as_lines(Warning):
        warnings.simplefilter("always", NotRandomisedWarning)
        model = EffectTree(**parameters).fit(**given)
        model.heterogeneity_ = heterogeneity_test(model, **given)
        model.correction_ = correct_effects(model, **given)
    test, correction = model.heterogeneity_, model.correction_
    hint = "" if parameters.get("reference") else "; --reference changes it"
    parts = (
        f"reference: {model.arms_[0]}{hint}",
        str(model.tree_),
        certificate(model),
        known_effects(model),
    )
    content = {
        "arms": model.arms_,
        "heterogeneity": {
            "p_value": test.p_value,
            "statistic": test.statistic,
            "overall": test.overall,
            "limits": test.limits,
        },
        "correction": {
            "slope": correction.slope,
            "error": correction.error,
            "leaves": correction.leaves,
        },
        **model_json(model),
    }
    return Fitted(model, **told(survival, X.columns, perf_counter() - start, *parts, **content))
