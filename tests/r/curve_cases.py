"""Trees whose leaves have a Kaplan-Meier curve in R: plain rows, rows with weights, with entry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from surtree import SurTree, datasets

LOADS = {
    "gbsg2": datasets.load_gbsg2,
    "lung": datasets.load_lung,
    "rossi": datasets.load_rossi,
}


@dataclass(frozen=True)
class Rows:
    """Rows with whole weights and entry times before their own, and the tree of them."""

    X: Any
    y: Any
    weight: Any
    entry: Any
    model: SurTree


@cache
def rows(name: str, weights: bool, entries: bool) -> Rows:
    X, y = LOADS[name](backend="pandas")
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float) if weights else np.ones(len(y))
    entry = np.floor(rng.random(len(y)) * y["time"] * 0.8) if entries else np.zeros(len(y))
    model = SurTree(max_depth=3).fit(
        X, y, weight if weights else None, entry=entry if entries else None
    )
    return Rows(X, y, weight, entry, model)


CURVES = {
    f"{name}_{kind}": partial(rows, name, *flags)
    for name in LOADS
    for kind, flags in (
        ("plain", (False, False)),
        ("weights", (True, False)),
        ("entry", (False, True)),
    )
}
