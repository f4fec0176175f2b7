"""Random small problems of every kind that a model can be, for the second program."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from surtree import CompetingRisksTree, EffectTree, SurTree

KINDS = ("one event", "causes", "chosen causes", "both", "effect")


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and what it was fitted with."""

    model: Any
    X: pd.DataFrame
    y: Any
    given: dict[str, Any]


def table(random: np.random.Generator, n: int) -> pd.DataFrame:
    """Return numbers, ties, booleans, sets of categories and an order, with missing values."""
    columns = {
        "number": random.permutation(n) / 4,
        "ties": random.integers(0, 3, n).astype(float),
        "flag": random.random(n) < 0.5,
        "set": random.choice(list("abcde"), n).astype(object),
        "order": pd.Categorical(random.choice(["I", "II", "III"], n), ["I", "II", "III"], True),
    }
    chosen = random.choice(list(columns), 3, replace=False)
    X = pd.DataFrame({name: columns[name] for name in chosen})
    for name in X:
        if random.random() < 0.4:
            values = X[name].astype(object) if X[name].dtype == bool else X[name]
            gone = random.random(n) < 0.2
            X[name] = values.mask(gone, np.nan if X[name].dtype == float else None)
    return X


def fit_some(seed: int, **parameters: Any) -> Fitted:
    """Return a random small problem, fitted; its kind is the rest of its seed by five."""
    random = np.random.default_rng(seed)
    kind, n = KINDS[seed % len(KINDS)], int(random.integers(16, 32))
    X = table(random, n)
    time = random.integers(1, 12, n).astype(float)  # with ties
    event = random.random(n) < 0.7
    event[np.argmax(time)] = True
    given: dict[str, Any] = {}
    if random.random() < 0.4:
        given["sample_weight"] = random.choice([0.0, 0.5, 1.0, 2.0, 2.7], n)
    if random.random() < 0.4:
        given["entry"] = np.where(random.random(n) < 0.5, time * random.random(n) * 0.9, 0.0)
    limits = {
        "max_depth": int(random.choice([1, 2, 2, 3])),
        "max_splits": random.choice([None, 2, 4]),
        "min_samples_leaf": int(random.choice([1, 1, 4])),
        "min_events_leaf": int(random.choice([0, 0, 2])),
        "shrinkage": float(random.choice([0.0, 0.0, 1.5])),
        "min_support": 0.0,
        "n_thresholds": int(random.choice([2, 5])),
    } | parameters
    y: Any = event, time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind in ("causes", "chosen causes"):
            y = np.where(event, random.integers(1, 4, n), 0), time
            causes = None if kind == "causes" else {1: 1.0, 2: 0.3}
            present = np.asarray(given.get("sample_weight", np.ones(n))) > 0
            if causes and not {1, 2} <= set(y[0][present]):
                causes = None
            model = CompetingRisksTree(causes=causes, **limits).fit(X, y, **given)
        elif kind in ("both", "effect"):
            arm = np.arange(n) % int(random.integers(2, 4))
            given["treatment"] = random.permutation(arm)
            if "sample_weight" in given:
                given["sample_weight"] = np.maximum(given["sample_weight"], 0.5)
            least = int(random.choice([0, 2]))
            if least and limits["min_events_leaf"]:
                limits["min_events_leaf"] = 0
            model = EffectTree(objective=kind, min_events_arm=least, **limits).fit(X, y, **given)
        else:
            model = SurTree(**limits).fit(X, y, **given)
    return Fitted(model, X, y, given)
