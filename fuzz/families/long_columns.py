"""Columns of many thresholds: bisection against a sweep, and first looks at some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fuzz.checks import (
    check_bounds,
    check_leaves,
    check_path,
    check_proven,
    every_cut,
    finished,
    fit,
    require,
    shown,
    tolerance,
)
from fuzz.tables import Rng, chance, draw_limits, draw_target, draw_weight, pick
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import check_parameters
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.problem import Solution, Switches
from tests.problems import Case

EVERY: dict[str, Any] = {"n_thresholds": None, "min_support": 0.0}


def _long_column(rng: Rng, n: int, n_values: int) -> pd.Series:
    """Draw a column with so many different values, if there are as many rows."""
    values = rng.normal(size=n_values) if chance(rng, 0.5) else np.arange(n_values) / 8
    places = np.concatenate([rng.permutation(n_values), rng.integers(n_values, size=n)])[:n]
    return pd.Series(values[rng.permutation(places)])


def _long_case(rng: Rng, n: int, n_values: int, depth: int, n_others: int) -> Case:
    X = pd.DataFrame({"long": _long_column(rng, n, n_values)})
    for k in range(n_others):
        kind = pick(rng, ["few", "long", "nominal"])
        if kind == "few":
            column = pd.Series(rng.integers(0, 6, n).astype(float))
        elif kind == "long":
            column = _long_column(rng, n, n_values)
        else:
            column = pd.Series(np.array(list("abcde"), dtype=object)[rng.integers(0, 5, n)])
        X[f"c{k}"] = column
    if chance(rng, 0.3):
        X["long"] = X["long"].mask(rng.random(n) < 0.1)
    y = draw_target(rng, n)
    if chance(rng, 0.5):  # times that depend on the column, so that some cuts are much better
        y["time"] = 0.1 + rng.exponential(1 + 5 * (X["long"] > X["long"].median()))
    weight = draw_weight(rng, y)
    if weight is not None:
        weight = weight + 0.5  # all rows count, so that the column keeps its values
    return Case(X, y, weight, None, draw_limits(rng, depth, n) | EVERY)


def bisection(rng: Rng) -> None:
    """Columns of 95 to 105 cuts and more, bisected and swept: the same trees; few rows by hand."""
    if chance(rng, 0.3):
        n = int(rng.integers(3, 13))
        case = _long_case(rng, n, n, pick(rng, [1, 2]) if n > 8 else pick(rng, [1, 2, 3]), 0)
        expected = every_cut(case.X)
    else:
        n_values = int(rng.integers(96, 107)) if chance(rng, 0.7) else int(rng.integers(107, 200))
        n = n_values + int(rng.integers(0, 40))
        depth, n_others = pick(rng, [(1, 2), (2, 2), (2, 1), (3, 0), (3, 0), (3, 1)])
        case = _long_case(rng, n, n_values, depth, n_others)
        expected = None
    with shown(case):
        model = SurTree(**case.limits)
        rows = read_training_data(model, RowInputs(case.X, case.y, case.weight, case.entry))
        problem, limits = make_problem(encoder_of(model), rows), check_parameters(model)

        def solved(switches: Switches, **options: Any) -> Solution:
            return problem.core.solve(limits, switches=switches, **options)

        swept = solved(Switches(bisect=10**6))
        for switches in (Switches(bisect=0), Switches()):
            other = solved(switches, n_jobs=pick(rng, [1, 2]), memory_limit=pick(rng, [None, 0]))
            _same_trees(other, swept, switches)
            early = solved(switches, time_limit=10.0 ** rng.uniform(-6, -2))
            slack = tolerance(case, float(swept.gains[0]))
            n_sizes = min(len(early.gains), len(swept.gains))
            require(
                bool((early.gain_bounds[:n_sizes] >= swept.gains[:n_sizes] - slack).all()),
                f"bounds {early.gain_bounds} below the gains {swept.gains}, {switches}",
            )
        model = fit(case)
        check_proven(model, case)
        check_leaves(model.tree_, case)
        if expected is not None:
            check_path(model, case, expected)
        else:
            losses = rows.sums.constant - swept.gains
            check_bounds(model, losses, case)


def _same_trees(one: Solution, other: Solution, what: object) -> None:
    require(
        len(one.gains) == len(other.gains)
        and np.allclose(one.gains, other.gains, rtol=1e-12, atol=1e-12),
        f"gains {one.gains} and {other.gains}, {what}",
    )
    for mine, theirs in zip(one.topologies, other.topologies, strict=True):
        require(np.array_equal(mine.cut, theirs.cut), f"cuts {mine.cut}, {theirs.cut}, {what}")


def first_look(rng: Rng) -> None:
    """Every threshold of one to three columns, with and without limits of time.

    An early end has a valid bound and no loss below the optimum.
    """
    n_columns = pick(rng, [1, 1, 2, 3])
    n = int(rng.integers(64, 220))
    depth = pick(rng, [2, 3, 4]) if n_columns == 1 and n < 110 else pick(rng, [2, 3])
    if depth == 3:
        n = min(n, 130)
    case = _long_case(rng, n, int(rng.integers(64, n + 1)), depth, n_columns - 1)
    with shown(case):
        whole = fit(case)
        check_proven(whole, case)
    losses = np.array([size.loss for size in whole.path_])
    for _ in range(3):
        options: dict[str, Any] = {"n_jobs": pick(rng, [1, 2])}
        if chance(rng, 0.7):
            options["time_limit"] = float(10.0 ** rng.uniform(-3, 0.7))
        with shown(case, **options):
            early = fit(case, **options)
            check_bounds(early, losses, case)
            check_leaves(early.tree_, case)
            ends = {*finished(case), *(["time_limit"] if "time_limit" in options else [])}
            require(early.status_ in ends, "status", early.status_)
