"""Small problems whose optimum is found by trying all trees."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pandas as pd

from fuzz.checks import (
    check_leaves,
    check_path,
    check_prediction,
    check_proven,
    check_same,
    every_cut,
    fit,
    require,
    shown,
    tolerance,
)
from fuzz.tables import (
    Rng,
    chance,
    counted,
    draw_case,
    draw_limits,
    draw_target,
    pick,
    target,
)
from tests.problems import Case, take

# Up to so many rows and columns, all trees of a depth are tried within milliseconds.
BRUTE = {0: (60, 4), 1: (60, 4), 2: (16, 3), 3: (9, 2), 4: (7, 2)}


def plain(rng: Rng) -> None:
    """Tables of all kinds with limits, weights and entry; threads, memory and order change nothing.

    Limits of depth, splits and leaves, a price of splits; small tables are compared with the
    reference, and those of 20 to 60 rows with themselves.
    """
    depth = pick(rng, [0, 1, 1, 2, 2, 2, 2, 3, 3, 4])
    small = depth < 2 or chance(rng, 0.8)
    most_rows, most_columns = BRUTE[depth] if small else (60, 5)
    n = int(rng.integers(2 if small else 20, most_rows + 1))
    case = draw_case(rng, n, int(rng.integers(1, most_columns + 1)), depth)
    case.limits["n_thresholds"] = pick(rng, [1, 3, 3, 10, None])
    options = {"ccp_alpha": pick(rng, [0.0, 0.0, 0.1, 0.5])}
    with shown(case, **options):
        model = fit(case, **options)
        if small:
            holds = model.encoder_.transform(counted(case).X).astype(bool)
            if case.limits["n_thresholds"] is None:
                holds = every_cut(counted(case).X, case.limits["category_cuts"])
            check_path(model, case, holds)
        check_proven(model, case)
        check_leaves(model.tree_, case, model.loss_)
        if chance(rng, 0.5):
            check_leaves(pick(rng, model.path_).tree, case)
        if chance(rng, 0.2):
            check_prediction(model, case)
        if chance(rng, 0.5):
            _in_another_way(rng, case, model, options)


def _in_another_way(rng: Rng, case: Case, model, options: dict) -> None:
    """Fit once more in a way that must not change the answer."""
    way = pick(rng, ["threads", "memory", "rows", "columns", "depth"])
    if way in ("threads", "memory"):
        changed = {"n_jobs": 2} if way == "threads" else {"memory_limit": pick(rng, [0, 1000])}
        other = fit(case, **options | changed)
        require(model.tree_ == other.tree_ and model.path_ == other.path_, way, "change the path")
    elif way == "rows":
        check_same(model, fit(take(case, rng.permutation(len(case.y))), **options), case, way)
    elif way == "columns":
        columns = rng.permutation(case.X.columns).tolist()
        check_same(model, fit(replace(case, X=case.X[columns]), **options), case, way)
    else:
        deeper = fit(case, **options | {"max_depth": case.limits["max_depth"] + 1})
        loss, deep = model.path_[-1].loss, deeper.path_[len(model.path_) - 1].loss
        require(deep <= loss + tolerance(counted(case), loss), "deeper is worse:", deep, loss)


def _chain(rng: Rng, n: int) -> np.ndarray:
    """Draw values from a few floats next to each other, perhaps with some far away."""
    start = pick(
        rng,
        [
            *(0.3, 1 / 3, 1.0, 2.0, -1.0, 123456.789, float(2**53), 0.0, -0.0, 5e-324, 1e-310),
            *(2.2250738585072014e-308, 1e-300, 1e308, -1e308, sys.float_info.max),
        ],
    )
    toward = pick(rng, [-math.inf, math.inf])
    values = [start]
    for _ in range(int(rng.integers(1, 6))):
        step = values[-1]
        for _ in range(pick(rng, [1, 1, 1, 2, 3])):
            step = math.nextafter(step, toward)
        if math.isfinite(step):
            values.append(step)
    if chance(rng, 0.4):
        values += [0.0, -0.0, 1.0, -1e308][: int(rng.integers(1, 5))]
    return rng.choice(values, n)


def neighbours(rng: Rng) -> None:
    """Neighbouring floats, denormals, 1e308 and both zeros, with every threshold and with few.

    Every threshold is compared with all cuts made by hand, a few thresholds with the cuts that
    the encoder found.
    """
    n = int(rng.integers(2, 13))
    X = pd.DataFrame({f"c{k}": _chain(rng, n) for k in range(int(rng.integers(1, 3)))})
    if chance(rng, 0.2):
        X["c0"] = X["c0"].mask(rng.random(n) < 0.3)
    depth = pick(rng, [1, 2, 2, 3]) if n < 9 else pick(rng, [1, 2])
    limits = draw_limits(rng, depth, n) | {"n_thresholds": None, "min_support": 0.0}
    case = Case(X, draw_target(rng, n), None, None, limits)
    with shown(case):
        every = fit(case)
        check_leaves(every.tree_, case)
        check_path(every, case, every_cut(case.X))
    n_thresholds = pick(rng, [10, 3])
    with shown(case, n_thresholds=n_thresholds):
        few = fit(case, n_thresholds=n_thresholds)
        check_leaves(few.tree_, case)
        check_path(few, case, few.encoder_.transform(case.X).astype(bool))
        require(every.loss_ <= few.loss_ + tolerance(case, every.loss_), "few beat every threshold")


def _extreme_weights(rng: Rng, y: np.ndarray) -> np.ndarray:
    n, event = len(y), y["event"]
    kind = pick(
        rng,
        [
            *("wide", "wide", "light events", "light events", "heavy event", "two", "denormal"),
            *("huge", "zeros", "equal"),
        ],
    )
    if kind == "wide":
        return 10.0 ** rng.uniform(-12, 12, n)
    if kind == "light events":
        return np.where(event, 1.0, 10.0 ** rng.uniform(0, 16, n)) * pick(rng, [1.0, 1e-8, 1e8])
    if kind == "heavy event":
        heavy = np.ones(n)
        heavy[np.flatnonzero(event)[0]] = 10.0 ** rng.uniform(4, 20)
        return heavy
    if kind == "two":
        return rng.choice([1.0, pick(rng, [1e6, 1e8, 1e12, 1e16, 1e24])], n)
    if kind == "denormal":
        scale = pick(rng, [1e-308, 1e-310, 1e-315, 1e-320, 5e-324])
        return scale * rng.integers(1, pick(rng, [2, 9]), n)
    if kind == "huge":
        return np.full(n, pick(rng, [1e290, 1e300, 1e304, 1e306])) * rng.integers(1, 4, n)
    if kind == "zeros":
        weight = np.where(rng.random(n) < 0.5, 0.0, 10.0 ** rng.uniform(-6, 6, n))
        weight[np.flatnonzero(event)[0]] = 1.0
        return weight
    return np.full(n, pick(rng, [1e-12, 1e-3, 0.1, 7.0, 1e12, 1e100, 1e-100]))


def weights(rng: Rng) -> None:
    """Weights over 24 orders of magnitude, light events, denormal, huge, zero and equal weights.

    The answer is optimal to the solver's tolerance, relative to the weight of the events; where
    weights are uneven it may have a gap within the tolerance for that, and a valid bound; or there
    is a `ValueError` that speaks of the weights.
    """
    depth = pick(rng, [0, 1, 2, 2, 3, 3])
    most_rows, most_columns = BRUTE[depth]
    n = int(rng.integers(2, min(most_rows, 30) + 1))
    case = draw_case(rng, n, int(rng.integers(1, most_columns + 1)), depth)
    # No entry times: hazards by hand and from a cumulative curve then differ more than weights do.
    case = replace(case, weight=_extreme_weights(rng, case.y), entry=None)
    case.limits.pop("shrinkage", None)  # it counts events of weight one
    case.limits["n_thresholds"] = pick(rng, [3, 10, None])
    if chance(rng, 0.5):  # rows that hardly weigh anything count in full for the limits of leaves
        case.limits[pick(rng, ["min_samples_leaf", "min_events_leaf"])] = pick(rng, [1, 2, 3])
    if chance(rng, 0.05):  # as many rows as it takes to need memory of some size
        n = 60
        X = pd.DataFrame(rng.integers(0, 4, (n, 3)).astype(float), columns=list("abc"))
        y = target(rng.random(n) < 0.7, rng.exponential(size=n))
        case = Case(X, y, _extreme_weights(rng, y), None, {"max_depth": 2, "n_thresholds": 3})
    with shown(case):
        model = fit(case)
        holds = model.encoder_.transform(counted(case).X).astype(bool)
        check_path(model, case, holds)
        check_leaves(model.tree_, case, model.loss_)
        if chance(rng, 0.3):
            check_prediction(model, case)
