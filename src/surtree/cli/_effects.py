"""``surtree fit --treatment``: a tree of treatment effects, and what is honest about it."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import polars as pl

from surtree.cli._columns import Reading, read_column
from surtree.cli._console import failures, say
from surtree.cli._summary import certificate, data_text, model_json
from surtree.cli._survival import Survival
from surtree.effects import (
    EffectTree,
    NotRandomisedWarning,
    correct_effects,
    heterogeneity_test,
)


def fit_effects(
    X: pl.DataFrame, survival: Survival, arm: pl.Series, parameters: dict[str, Any]
) -> tuple[EffectTree, str, dict[str, Any]]:
    """Fit a tree of effects, test whether they differ, and correct them.

    Parameters
    ----------
    X, survival : polars.DataFrame, Survival
        The rows.
    arm : polars.Series
        The arm of each row.
    parameters : dict
        Of `EffectTree`; a ``reference`` is the text of an arm.

    Returns
    -------
    model, text, content : EffectTree, str, dict
        The model, what to print, and what JSON has.
    """
    start = perf_counter()
    given = (
        X,
        survival.y,
        read_column(arm, Reading("categorical")).to_numpy(),
        survival.weight,
        survival.entry,
        survival.id,
    )
    with failures(ValueError, TypeError), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotRandomisedWarning)
        model = EffectTree(**parameters).fit(*given)
        model.heterogeneity_ = heterogeneity_test(model, *given)
        model.correction_ = correct_effects(model, *given)
    for warning in caught:
        say(f"surtree: {warning.message}")
    test, correction = model.heterogeneity_, model.correction_
    parts = [
        f"{data_text(survival, X.width)}, {perf_counter() - start:.2f} s",
        str(model.tree_),
        certificate(model),
        str(test),
        str(correction),
    ]
    content = {
        "rows": len(survival.y),
        "events": survival.n_events,
        "columns": X.columns,
        "arms": list(model.arms_),
        "heterogeneity": {
            "p_value": test.p_value,
            "statistic": test.statistic,
            "overall": list(test.overall),
        },
        "correction": {
            "slope": correction.slope if correction.slope == correction.slope else None,
            "leaves": [vars(one) for one in correction.leaves],
        },
        **model_json(model),
    }
    return model, "\n\n".join(parts), content
