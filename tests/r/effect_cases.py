"""Trees of effects whose leaves and arms have a Poisson model in R."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
from curve_cases import LOADS, Rows

from surtree import EffectTree, NotRandomisedWarning

# A column with two or three values that is taken for the arm, drawn by lot or not.
ARMS = {"gbsg2": "hormone_therapy", "lung": "sex", "rossi": "financial_aid"}


@cache
def rows(name: str, objective: str, weights: bool, entries: bool) -> tuple[Rows, np.ndarray]:
    X, y = LOADS[name](backend="pandas")
    arm = X.pop(ARMS[name]).to_numpy()
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float) if weights else np.ones(len(y))
    entry = np.floor(rng.random(len(y)) * y["time"] * 0.8) if entries else np.zeros(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRandomisedWarning)
        model = EffectTree(max_depth=2, objective=objective).fit(
            X, y, arm, weight if weights else None, entry=entry if entries else None
        )
    return Rows(X, y, weight, entry, model), arm


EFFECTS = {
    f"{name}_{objective}_{kind}": partial(rows, name, objective, *flags)
    for name in LOADS
    for objective in ("effect", "both")
    for kind, flags in (
        ("plain", (False, False)),
        ("weights", (True, False)),
        ("entry", (False, True)),
    )
}
