"""Tables of many columns: screened in single precision first, and not."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.checks import require, shown
from fuzz.tables import Rng, chance, draw_case, pick
from surtree import SurTree
from surtree.cuts.encoder import encoder_of
from surtree.data.named import RowInputs
from surtree.estimators.parameters import check_parameters
from surtree.fitting.training import make_problem, read_training_data
from surtree.solver.problem import Solution, Switches


def screening(rng: Rng) -> None:
    """Five to twenty columns, some of them twice, at depth three: the same bits either way."""
    case = draw_case(rng, int(rng.integers(5, 90)), int(rng.integers(5, 20)), 3)
    for name in list(case.X):
        if chance(rng, 0.1):
            case.X[f"{name} again"] = case.X[name]
    with shown(case):
        model = SurTree(**case.limits)
        rows = read_training_data(model, RowInputs(case.X, case.y, case.weight, case.entry))
        problem, limits = make_problem(encoder_of(model), rows), check_parameters(model)

        def solved(screen: int, **options: Any) -> Solution:
            return problem.core.solve(limits, switches=Switches(screen=screen), **options)

        exact, screened = solved(0), solved(2, n_jobs=pick(rng, [1, 2]))
        require(
            np.array_equal(screened.gains, exact.gains),
            f"gains {screened.gains}, not {exact.gains}",
        )
        for mine, theirs in zip(screened.topologies, exact.topologies, strict=True):
            require(np.array_equal(mine.cut, theirs.cut), f"cuts {mine.cut}, not {theirs.cut}")
